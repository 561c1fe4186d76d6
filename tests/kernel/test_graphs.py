"""Diffusion kernel, against closed forms and scipy's matrix exponential."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import expm

from latently.kernel import DiffusionKernel


@pytest.mark.parametrize(("n", "beta"), [(2, 0.3), (5, 0.1), (9, 1.0)])
def test_the_complete_graph(n, beta):
    """Kondor and Lafferty 2002."""
    found = DiffusionKernel(beta).fit(np.ones((n, n)) - np.eye(n)).matrix_
    assert np.allclose(np.diagonal(found), (1 + (n - 1) * np.exp(-n * beta)) / n)
    assert np.allclose(found[0, 1:], (1 - np.exp(-n * beta)) / n)


def laplacian_exponential(graph, beta):
    adjacency = nx.to_numpy_array(graph)
    return expm(beta * (adjacency - np.diag(adjacency.sum(axis=1))))


def test_graphs_of_networkx_keep_the_names_of_their_vertices():
    graph = nx.karate_club_graph()
    graph = nx.relabel_nodes(graph, {i: f"member {i}" for i in graph})
    k = DiffusionKernel(0.05).fit(graph)
    expected = laplacian_exponential(graph, 0.05)
    assert np.allclose(k.matrix_, expected)
    assert np.allclose(k(["member 3", "member 0"], ["member 5"]), expected[[3, 0]][:, [5]])
    assert np.allclose(k.diag(["member 7"]), expected[7, 7])
    with pytest.raises(ValueError, match="no vertex 'member 99'"):
        k(["member 99"])


def test_the_product_with_a_vector_needs_no_matrix():
    graph = nx.barabasi_albert_graph(6000, 3, seed=0)
    k = DiffusionKernel(0.2).fit(nx.to_scipy_sparse_array(graph, dtype=float))
    v = np.zeros(6000)
    v[7] = 1.0
    found = k.dot(v)
    assert np.isclose(found.sum(), 1.0)  # what diffuses is neither made nor lost
    assert "matrix_" not in vars(k)
    assert np.allclose(k([7, 3], [7])[:, 0], found[[7, 3]])
    small = DiffusionKernel(0.2).fit(nx.path_graph(30))
    assert np.allclose(small.dot(np.eye(30)), small.matrix_)


def test_positive_semi_definite_and_normalised():
    graph = nx.gnp_random_graph(40, 0.1, seed=1)
    k = DiffusionKernel(2.0, normalize=True).fit(graph)
    assert np.allclose(np.diagonal(k.matrix_), 1)
    assert np.linalg.eigvalsh(k.matrix_)[0] > -1e-10
    assert np.allclose(k(list(range(40))), k.matrix_)


def test_disconnected_graphs_and_lone_vertices():
    k = DiffusionKernel(1.0).fit(nx.disjoint_union(nx.path_graph(3), nx.path_graph(1)))
    assert np.allclose(k.matrix_[:3, 3], 0)
    assert np.isclose(k.matrix_[3, 3], 1)
    assert np.allclose(k.matrix_.sum(axis=1), 1)


def test_another_graph():
    k = DiffusionKernel(0.5).fit(nx.path_graph(4))
    first = k.matrix_
    assert k.fit(nx.cycle_graph(4)).matrix_.tolist() != first.tolist()


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (np.ones((2, 3)), "square"),
        (np.zeros((0, 0)), "no vertices"),
        (nx.Graph(), "no vertices"),
        (nx.DiGraph([(0, 1)]), "undirected"),
        ([[0, 1], [0, 0]], "symmetric"),
        ([[0, -1], [-1, 0]], "negative weights"),
        (sparse.csr_array(np.array([[0, np.nan], [np.nan, 0]])), "not finite"),
    ],
)
def test_bad_graphs_are_refused(graph, message):
    with pytest.raises(ValueError, match=message):
        DiffusionKernel().fit(graph)


def test_other_bad_input():
    with pytest.raises(ValueError, match="beta must be"):
        DiffusionKernel(0.0).fit(nx.path_graph(2))
    with pytest.raises(ValueError, match="no graph yet"):
        DiffusionKernel()([0])
    with pytest.raises(ValueError, match="2 vertices, the vector 3"):
        DiffusionKernel().fit(nx.path_graph(2)).dot(np.ones(3))
    with pytest.raises(ValueError, match="normalize"):
        DiffusionKernel(normalize=True).fit(nx.path_graph(2)).dot(np.ones(2))
