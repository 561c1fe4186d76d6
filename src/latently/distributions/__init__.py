"""Distributions: one file per family, with densities, samples, statistics that add, and fits from them."""

from latently.distributions.base import Distribution, ExponentialFamily, Family
from latently.distributions.bernoulli import Bernoulli
from latently.distributions.beta import Beta
from latently.distributions.categorical import Categorical
from latently.distributions.dirichlet import Dirichlet
from latently.distributions.divergence import entropy, kl_divergence
from latently.distributions.exponential import Exponential
from latently.distributions.gamma import Gamma
from latently.distributions.gaussian import Gaussian
from latently.distributions.inputs import ColumnError
from latently.distributions.mixture import MixtureDistribution
from latently.distributions.multinomial import Multinomial
from latently.distributions.normal_inverse_wishart import NormalInverseWishart
from latently.distributions.poisson import Poisson
from latently.distributions.prior import Prior
from latently.distributions.product import Product
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
    "NormalInverseWishart",
    "Parts",
    "Poisson",
    "Prior",
    "Product",
    "Sums",
    "entropy",
    "kl_divergence",
]
