"""Distances between rows."""

from latently.geometry.distances import distances, median_distance, squared_distances

__all__ = ["distances", "median_distance", "squared_distances"]
