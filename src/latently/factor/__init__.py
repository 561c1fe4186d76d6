"""Few hidden causes of many columns: principal components, factors, canonical correlations."""

from latently.factor.cca.cca import CCA
from latently.factor.cca.kernel_cca import KernelCCA
from latently.factor.factor_analysis.estimator import FactorAnalysis
from latently.factor.pca.pca import PCA

__all__ = ["CCA", "PCA", "FactorAnalysis", "KernelCCA"]
