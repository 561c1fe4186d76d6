"""Clusters: hard and soft."""

from latently.cluster.bernoulli_mixture import BernoulliMixture
from latently.cluster.gaussian.mixture import GaussianMixture
from latently.cluster.kmeans import KMeans
from latently.cluster.mixture.mixture import Mixture

__all__ = ["BernoulliMixture", "GaussianMixture", "KMeans", "Mixture"]
