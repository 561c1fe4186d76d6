"""Distributions: one file per family, with densities, samples, statistics that add, and fits from them."""

from latently.distributions.base import Distribution
from latently.distributions.divergence import entropy, kl_divergence
from latently.distributions.families.bernoulli import Bernoulli
from latently.distributions.families.categorical import Categorical
from latently.distributions.families.exponential import Exponential
from latently.distributions.families.gamma import Gamma
from latently.distributions.families.gaussian import Gaussian
from latently.distributions.families.mixture import MixtureDistribution
from latently.distributions.families.multinomial import Multinomial
from latently.distributions.families.negative_binomial import NegativeBinomial
from latently.distributions.families.poisson import Poisson
from latently.distributions.families.product import Product
from latently.distributions.families.von_mises import VonMises
from latently.distributions.family import ExponentialFamily, Family
from latently.distributions.inputs import ColumnError
from latently.distributions.names import family_named
from latently.distributions.priors.base import Prior
from latently.distributions.priors.beta import Beta
from latently.distributions.priors.dirichlet import Dirichlet
from latently.distributions.priors.normal_inverse_wishart import NormalInverseWishart
from latently.distributions.priors.pseudo_rows import PseudoRows
from latently.distributions.statistics import Additive, Moments, Parts, Sums

__all__ = [
    "Additive",
    "Bernoulli",
    "Beta",
    "Categorical",
    "ColumnError",
    "Dirichlet",
    "Distribution",
    "Exponential",
    "ExponentialFamily",
    "Family",
    "Gamma",
    "Gaussian",
    "MixtureDistribution",
    "Moments",
    "Multinomial",
    "NegativeBinomial",
    "NormalInverseWishart",
    "Parts",
    "Poisson",
    "Prior",
    "Product",
    "PseudoRows",
    "Sums",
    "VonMises",
    "entropy",
    "family_named",
    "kl_divergence",
]
