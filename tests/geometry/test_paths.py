"""Shortest paths in graphs whose edges differ in length by orders of magnitude, beside scipy's Dijkstra."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from latently.geometry.graph import shortest_paths


@pytest.mark.parametrize("spread", [0.0, 1.0, 4.0])
def test_paths_are_those_of_dijkstra(spread):
    """Long edges reach a node first; short ones that come later move it to an earlier bucket while it waits."""
    rng = np.random.default_rng(int(spread))
    n, edges = 400, 4000
    ends = rng.integers(n, size=(2, edges))
    lengths = np.exp(spread * rng.normal(size=edges))
    graph = sparse.coo_array((lengths, ends), shape=(n, n)).tocsr()
    np.testing.assert_allclose(shortest_paths(graph), dijkstra(graph), rtol=1e-12)
