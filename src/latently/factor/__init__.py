"""Linear factors: data written as few hidden causes."""

from latently.factor.cca.cca import CCA
from latently.factor.cca.kernel_cca import KernelCCA
from latently.factor.factor_analysis.estimator import FactorAnalysis
from latently.factor.ica.fastica import FastICA
from latently.factor.ica.infomax import InfoMax
from latently.factor.ica.jade import JADE
from latently.factor.ica.tdsep import TDSEP
from latently.factor.ica.uncertainty import ICAUncertainty, ica_uncertainty
from latently.factor.pca.pca import PCA
from latently.factor.sparse.dictionary_learning import DictionaryLearning

__all__ = [
    "CCA",
    "JADE",
    "PCA",
    "TDSEP",
    "DictionaryLearning",
    "FactorAnalysis",
    "FastICA",
    "ICAUncertainty",
    "InfoMax",
    "KernelCCA",
    "ica_uncertainty",
]
