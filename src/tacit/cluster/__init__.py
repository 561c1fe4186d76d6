"""Clusters: hard and soft."""

from tacit.cluster.gaussian_mixture import GaussianMixture
from tacit.cluster.kmeans import KMeans

__all__ = ["GaussianMixture", "KMeans"]
