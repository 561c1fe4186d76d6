"""Distances between rows, neighbours, and paths in graphs of neighbours."""

from latently.geometry.distances import distances, median_distance, pairwise, squared_distances
from latently.geometry.graph import joined, neighbour_graph, shortest_paths
from latently.geometry.neighbours import Neighbours, nearest, within

__all__ = [
    "Neighbours", "distances", "joined", "median_distance", "nearest", "neighbour_graph", "pairwise",
    "shortest_paths", "squared_distances", "within",
]  # fmt: skip
