"""Clusters: hard and soft."""

from tacit.cluster.bernoulli_mixture import BernoulliMixture
from tacit.cluster.gaussian_mixture import GaussianMixture
from tacit.cluster.kmeans import KMeans
from tacit.cluster.mixture import Mixture

__all__ = ["BernoulliMixture", "GaussianMixture", "KMeans", "Mixture"]
