"""Distances between rows, and neighbours."""

from latently.geometry.distances import distances, median_distance, squared_distances
from latently.geometry.neighbours import Neighbours, nearest, within

__all__ = ["Neighbours", "distances", "median_distance", "nearest", "squared_distances", "within"]
