"""Distributions: one file per family, with densities, samples, statistics that add, and fits from them."""

from tacit.distributions.base import Distribution, ExponentialFamily, Family
from tacit.distributions.bernoulli import Bernoulli
from tacit.distributions.beta import Beta
from tacit.distributions.categorical import Categorical
from tacit.distributions.dirichlet import Dirichlet
from tacit.distributions.divergence import entropy, kl_divergence
from tacit.distributions.exponential import Exponential
from tacit.distributions.gamma import Gamma
from tacit.distributions.gaussian import Gaussian
from tacit.distributions.inputs import ColumnError
from tacit.distributions.mixture import MixtureDistribution
from tacit.distributions.multinomial import Multinomial
from tacit.distributions.normal_inverse_wishart import NormalInverseWishart
from tacit.distributions.poisson import Poisson
from tacit.distributions.prior import Prior
from tacit.distributions.product import Product
from tacit.distributions.statistics import Additive, Moments, Parts, Sums

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
