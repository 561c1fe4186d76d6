import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import subspace_angles
from scipy.sparse.csgraph import shortest_path
from sklearn.datasets import make_swiss_roll
from sklearn.manifold import Isomap as PeerIsomap
from sklearn.manifold import LocallyLinearEmbedding as PeerLLE

from latently.embed import Isomap, LocallyLinearEmbedding
from latently.embed.lle.local import barycentre_weights
from latently.geometry.graph import components, joined, neighbour_graph, shortest_paths, undirected
from latently.geometry.neighbours import nearest
from latently.learn import threads


def roll(n, seed=0):
    """Rows on a Swiss roll, and their places (n, 2) on the sheet that was rolled up."""
    X, t = make_swiss_roll(n, random_state=seed)
    along = (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2  # length of the spiral r = t
    return X, np.column_stack([along, X[:, 1]])


def correlation_of_distances(Y, sheet):
    pairs = np.triu_indices(len(Y), 1)
    gaps = [np.linalg.norm(P[:, None] - P, axis=2)[pairs] for P in (Y, sheet)]
    return np.corrcoef(*gaps)[0, 1]


def test_shortest_paths_are_those_of_scipy():
    rng = np.random.default_rng(0)
    table = np.where(rng.random((60, 60)) < 0.06, rng.uniform(0.01, 5, (60, 60)) ** 3, 0.0)
    graph = sparse.csr_array(np.triu(table, 1) + np.triu(table, 1).T)
    expected = shortest_path(graph, directed=False)
    np.testing.assert_allclose(shortest_paths(graph), expected)
    assert np.isinf(expected).any()
    with threads(1):
        np.testing.assert_array_equal(shortest_paths(graph, [3, 1]), shortest_paths(graph)[[3, 1]])
    with pytest.raises(ValueError, match="length 0 or more"):
        shortest_paths(sparse.csr_array(np.array([[0.0, -1.0], [1.0, 0.0]])))


def test_duplicates_are_neighbours_at_distance_zero():
    X = np.repeat([[0.0], [1.0], [2.0]], 2, axis=0)
    graph = undirected(neighbour_graph(nearest(X, 2), 6))
    assert components(graph)[0] == 1
    np.testing.assert_allclose(shortest_paths(graph), np.abs(X - X.T))


def test_components_are_joined_by_the_shortest_edges():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(8, 2)) + np.array([10 * i, 0]) for i in range(3)])
    graph = undirected(neighbour_graph(nearest(X, 4), 24))
    count, which = components(graph)
    assert count == 3
    D = np.linalg.norm(X[:, None] - X, axis=2)
    whole = joined(graph, X).toarray()
    for a, b in ((0, 1), (0, 2), (1, 2)):
        added = whole[np.ix_(which == a, which == b)]
        assert added.max() == pytest.approx(D[np.ix_(which == a, which == b)].min())
        assert (added > 0).sum() == 1
    np.testing.assert_allclose(joined(graph, D, "precomputed").toarray(), whole)


def test_isomap_unrolls_the_swiss_roll():
    X, sheet = roll(1000)
    model = Isomap(n_neighbors=10).fit(X)
    assert correlation_of_distances(model.embedding_, sheet) > 0.99
    for column in range(2):
        fitted = np.column_stack([model.embedding_, np.ones(1000)])
        left = sheet[:, column] - fitted @ np.linalg.lstsq(fitted, sheet[:, column], rcond=None)[0]
        assert 1 - left.var() / sheet[:, column].var() > 0.98
    peer = PeerIsomap(n_neighbors=10).fit(X)
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(peer.embedding_), atol=1e-6)
    new = roll(50, seed=1)[0]
    np.testing.assert_allclose(np.abs(model.transform(new)), np.abs(peer.transform(new)), atol=1e-6)
    assert model.reconstruction_error() == pytest.approx(peer.reconstruction_error())


def test_landmarks_give_nearly_the_same_map():
    X, sheet = roll(1000)
    model = Isomap(n_neighbors=10, n_landmarks=100, random_state=0).fit(X)
    assert model.dist_matrix_.shape == (100, 1000)
    assert correlation_of_distances(model.embedding_, sheet) > 0.99
    np.testing.assert_allclose(model.transform(X[:5]), model.embedding_[:5], atol=1e-8)


def test_isomap_says_that_the_graph_falls_apart():
    X = np.array([0.0, 1, 2, 5, 6, 7])[:, None]
    with pytest.warns(UserWarning, match=r"number of connected components .* is 2"):
        model = Isomap(n_neighbors=2).fit(X)
    assert model.n_connected_components_ == 2
    np.testing.assert_allclose(model.dist_matrix_, np.abs(X - X.T))
    with pytest.raises(ValueError, match="no neighbour within radius"):
        Isomap(n_neighbors=None, radius=3.5, n_components=1).fit(X).transform([[100.0]])
    with pytest.raises(ValueError, match="9 neighbours were asked for, but there are 5 other rows"):
        Isomap(n_neighbors=9).fit(X)
    with pytest.raises(ValueError, match=r"NaN.*latently\.factor\.PCA"):
        Isomap().fit([[np.nan], [1.0]])


def test_weights_are_the_best_that_sum_to_one():
    rng = np.random.default_rng(0)
    x, Z = rng.normal(size=(4, 5)), rng.normal(size=(4, 3, 5))
    for i, found in enumerate(barycentre_weights(x, Z, 1e-12)):
        edges = (Z[i, 1:] - Z[i, 0]).T
        rest = np.linalg.lstsq(edges, x[i] - Z[i, 0], rcond=None)[0]
        np.testing.assert_allclose(found, [1 - rest.sum(), *rest], atol=1e-8)


@pytest.mark.parametrize("solver", ["dense", "arpack"])
@pytest.mark.parametrize("method", ["standard", "modified", "ltsa"])
def test_locally_linear_maps_span_what_those_of_the_peer_span(method, solver):
    X = roll(300)[0]
    settings = {"n_neighbors": 12, "method": method, "random_state": 0}
    ours = LocallyLinearEmbedding(eigen_solver=solver, tol=1e-10, **settings).fit(X)
    peer = PeerLLE(eigen_solver="dense", **settings).fit(X)
    assert subspace_angles(ours.embedding_, peer.embedding_).max() < 1e-5
    assert ours.reconstruction_error_ == pytest.approx(peer.reconstruction_error_, rel=1e-5)


def test_hessians_are_of_quadratic_terms_alone():
    # the peer takes all directions that are not linear, and so gives the map of "ltsa"
    X, sheet = roll(800)
    settings = {"n_neighbors": 10, "eigen_solver": "dense"}
    ours = LocallyLinearEmbedding(method="hessian", **settings).fit(X).embedding_
    peer = PeerLLE(method="hessian", **settings).fit(X).embedding_
    same = PeerLLE(method="ltsa", **settings).fit(X).embedding_
    assert subspace_angles(peer, same).max() < 1e-6
    assert 1e-4 < subspace_angles(ours, peer).max() < np.radians(10)
    left = sheet - sheet.mean(axis=0)
    left = left - ours @ (ours.T @ left)
    assert (left.var(axis=0) < 0.01 * sheet.var(axis=0)).all()


def test_new_rows_are_the_same_means_of_their_neighbours():
    X = roll(400)[0]
    model = LocallyLinearEmbedding(n_neighbors=8, random_state=0).fit(X)
    new = (X[:20] + X[nearest(X, 1).indices[:20, 0]]) / 2
    peer = PeerLLE(n_neighbors=8, random_state=0).fit(X)
    peer.embedding_ = model.embedding_
    np.testing.assert_allclose(model.transform(new), peer.transform(new), atol=1e-7)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)


def test_neighbours_by_radius_differ_in_number():
    X = roll(300)[0]
    counted = LocallyLinearEmbedding(n_neighbors=None, radius=6.0, method="ltsa").fit(X)
    assert counted.embedding_.shape == (300, 2)
    assert counted.transform(X[:3] + 0.01).shape == (3, 2)
    everyone = LocallyLinearEmbedding(n_neighbors=None, radius=1e6, n_components=1).fit(X[:30])
    number = LocallyLinearEmbedding(n_neighbors=29, n_components=1).fit(X[:30])
    np.testing.assert_allclose(np.abs(everyone.embedding_), np.abs(number.embedding_), atol=1e-6)


def test_neighbourhoods_that_cannot_be_kept_are_refused():
    X = roll(60)[0]
    with pytest.raises(ValueError, match="needs at least 6 for 2 dimensions: raise n_neighbors"):
        LocallyLinearEmbedding(method="hessian").fit(X)
    with pytest.raises(ValueError, match="all columns are constant"):
        LocallyLinearEmbedding().fit(np.ones((20, 3)))
    with pytest.raises(ValueError, match="at most the number of columns"):
        LocallyLinearEmbedding(n_components=4).fit(X)
    with pytest.raises(ValueError, match="Both n_neighbors and radius"):
        LocallyLinearEmbedding(radius=1.0).fit(X)
    with pytest.warns(UserWarning, match="number of connected components"):
        LocallyLinearEmbedding(n_neighbors=4).fit(np.concatenate([X[:20], X[:20] + 1e4]))
