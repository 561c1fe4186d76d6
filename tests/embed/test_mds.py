from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn import manifold
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.isotonic import IsotonicRegression

from latently.embed import MDS, ClassicalMDS, PseudoEuclidean, SammonMapping, smacof
from latently.embed.mds.placement import placed
from latently.embed.mds.smacof import Majorisation
from latently.embed.mds.stress import MonotoneOrder, pulls_of

REFERENCE = Path(__file__).parents[1] / "reference"


def eurodist():
    return squareform(np.genfromtxt(REFERENCE / "eurodist.csv", delimiter=",", skip_header=1)[:, 1])


def swiss():
    return np.genfromtxt(REFERENCE / "swiss.csv", delimiter=",", skip_header=1)[:, 2:]


def test_road_distances_have_the_eigenvalues_that_r_finds():
    with pytest.warns(UserWarning, match="9 of the 21 dimensions have a negative eigenvalue"):
        model = ClassicalMDS(21, metric="precomputed").fit(eurodist())
    assert model.eigenvalues_[0] == pytest.approx(19538377.09, abs=0.01)
    assert (model.eigenvalues_ < 0).sum() == 9
    assert np.isfinite(model.embedding_).all()
    assert not model.embedding_[:, 12:].any()
    two = ClassicalMDS(metric="precomputed").fit(eurodist())
    assert two.goodness_of_fit_ == pytest.approx((0.7537543, 0.8679134), abs=1e-7)  # cmdscale's GOF


def test_classical_scaling_of_distances_places_new_points_exactly():
    X = np.random.default_rng(0).normal(size=(30, 3)) + 1e6
    model = ClassicalMDS(3).fit(X[:20])
    Y = np.vstack([model.embedding_, model.transform(X[20:])])
    np.testing.assert_allclose(pdist(Y), pdist(X), rtol=1e-6)
    given = ClassicalMDS(3, metric="precomputed").fit(squareform(pdist(X[:20])))
    np.testing.assert_allclose(given.transform(squareform(pdist(X))[20:, :20]), Y[20:], atol=1e-5)


def test_the_pulls_are_the_gradient_of_the_stress():
    rng = np.random.default_rng(0)
    points, D = rng.normal(size=(7, 2)), squareform(pdist(rng.normal(size=(7, 3))))
    W = squareform(rng.uniform(size=21))
    for weights in (None, W):
        found = pulls_of(points, D, weights)
        for place in ((0, 0), (3, 1)):
            up, down = points.copy(), points.copy()
            up[place] += 1e-6
            down[place] -= 1e-6
            slope = (pulls_of(up, D, weights).stress - pulls_of(down, D, weights).stress) / 2e-6
            assert slope == pytest.approx(-2 * found.pulls[place], abs=1e-6)


def test_disparities_are_an_isotonic_regression():
    rng = np.random.default_rng(0)
    pairs, distances = rng.integers(1, 9, 45).astype(float), rng.uniform(size=45)
    fitted = IsotonicRegression().fit_transform(pairs, distances)
    found = MonotoneOrder.of(pairs).disparities(distances)
    np.testing.assert_allclose(found, fitted * np.sqrt(45 / (fitted**2).sum()))


@pytest.mark.parametrize("metric", [True, False])
def test_plain_steps_are_those_of_the_peer(metric):
    X = load_iris().data[::2]
    peer = manifold.MDS(metric_mds=metric, init="random", n_init=1, random_state=3, max_iter=40).fit(X)
    start = np.random.RandomState(3).uniform(size=(len(X), 2))
    ours = Majorisation(metric, 40, normalised=not metric, relaxation=1.0).run(squareform(pdist(X)), start)
    assert ours.stress == pytest.approx(peer.stress_, rel=1e-2)
    assert (ours.n_iter, ours.converged) == (40, False)


def test_longer_steps_never_raise_the_stress_and_need_fewer():
    X = load_iris().data[::2]
    D, start = squareform(pdist(X)), np.random.RandomState(3).uniform(size=(len(X), 2))
    stresses = [Majorisation(max_iter=m, eps=0.0).run(D, start).stress for m in range(2, 30)]
    assert (np.diff(stresses) <= 0).all()
    plain = [Majorisation(relaxation=step).run(D, start) for step in (1.0, 1.8)]
    assert plain[1].n_iter < 0.7 * plain[0].n_iter
    assert plain[1].stress == pytest.approx(plain[0].stress, rel=1e-2)


def test_too_few_iterations_are_said():
    with pytest.warns(ConvergenceWarning):
        model = MDS(init="random", random_state=3, max_iter=20).fit(load_iris().data[::2])
    assert not model.converged_
    assert model.n_iter_ == 20


@pytest.mark.parametrize("settings", [{"init": "classical_mds"}, {"init": "random", "n_init": 4, "random_state": 0}])
def test_metric_scaling_recovers_a_configuration(settings):
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = MDS(max_iter=5000, eps=1e-15, **settings).fit(X[:30])
    np.testing.assert_allclose(pdist(model.embedding_), pdist(X[:30]), atol=1e-5)
    Y = np.vstack([model.embedding_, model.transform(X[30:])])
    np.testing.assert_allclose(pdist(Y), pdist(X), atol=1e-4)
    np.testing.assert_array_equal(model.transform(X[:30]), model.embedding_)


def test_more_starts_are_never_worse_and_threads_do_not_matter():
    from latently.learn import threads

    D = eurodist()
    kept = {"metric": "precomputed", "init": "random", "random_state": 0, "n_components": 1, "max_iter": 500}
    many = MDS(n_init=6, **kept).fit(D)
    with threads(1):
        again = MDS(n_init=6, **kept).fit(D)
    np.testing.assert_array_equal(many.embedding_, again.embedding_)
    stresses = [smacof(D, n_components=1, random_state=i, max_iter=500)[1] for i in range(3)]
    assert many.stress_ <= max(stresses)


def test_sammon_stress_of_swiss_provinces_is_at_most_that_of_mass():
    X = swiss()
    model = SammonMapping(random_state=0).fit(X)
    D, d = pdist(X), pdist(model.embedding_)
    assert model.stress_ == pytest.approx(((D - d) ** 2 / D).sum() / D.sum(), rel=1e-9)
    assert model.stress_ <= 0.003826
    assert SammonMapping(random_state=1, metric="precomputed").fit(squareform(D)).stress_ <= 0.003826


def test_duplicates_stand_at_one_place_and_count():
    X = load_iris().data[:40:2, :2]
    model = SammonMapping(random_state=0).fit(np.vstack([X, X[:5], X[:5]]))
    np.testing.assert_array_equal(model.embedding_[:5], model.embedding_[-5:])
    D, d = pdist(np.vstack([X, X[:5], X[:5]])), pdist(model.embedding_)
    apart = D > 0
    assert model.stress_ == pytest.approx(((D - d)[apart] ** 2 / D[apart]).sum() / D.sum(), rel=1e-9)
    assert np.isfinite(MDS(random_state=0, init="random", eps=1e-3).fit(np.repeat(X, 3, axis=0)).embedding_).all()
    assert SammonMapping().fit(np.ones((4, 2))).stress_ == 0


def test_new_points_stand_where_their_stress_is_least():
    rng = np.random.default_rng(0)
    points, D = rng.normal(size=(12, 2)), rng.uniform(1, 3, size=(2, 12))
    for weighted in (False, True):
        W = 1 / D if weighted else np.ones_like(D)
        at = placed(D, points, weighted=weighted)
        stress = (W * (D - np.linalg.norm(at[:, None] - points, axis=2)) ** 2).sum(axis=1)
        grid = np.stack(np.meshgrid(*[np.linspace(-4, 4, 81)] * 2), axis=-1).reshape(-1, 1, 2)
        away = np.linalg.norm(grid - points, axis=2)  # (6561, 12)
        for i in range(2):
            assert stress[i] <= (W[i] * (D[i] - away) ** 2).sum(axis=1).min() + 1e-9


@pytest.mark.parametrize("model", [ClassicalMDS, MDS, SammonMapping])
def test_what_is_no_distance_is_an_error_that_says_so(model):
    D = eurodist()
    crooked = D.copy()
    crooked[0, 1] += 1
    with pytest.raises(ValueError, match="symmetric"):
        model(metric="precomputed").fit(crooked)
    below = D.copy()
    below[0, 1] = below[1, 0] = -1
    with pytest.raises(ValueError, match=r"0 and 1 is negative .*PseudoEuclidean"):
        model(metric="precomputed").fit(below)
    with pytest.raises(ValueError, match=r"NaN.*latently.factor.PCA"):
        model().fit([[1.0, np.nan], [2.0, 1.0]])
    with pytest.warns(UserWarning, match="metric='precomputed'"):
        model().fit(D[:6, :6])


def test_the_two_parts_give_the_dissimilarities_back():
    rng = np.random.default_rng(0)
    D = squareform(rng.uniform(1, 9, size=45))
    model = PseudoEuclidean(None, metric="precomputed").fit(D)
    gaps = model.embedding_[:, None] - model.embedding_
    np.testing.assert_allclose((model.signs_ * gaps**2).sum(axis=2), D**2, atol=1e-8)
    values = np.linalg.eigvalsh(-0.5 * (np.eye(10) - 0.1) @ D**2 @ (np.eye(10) - 0.1))
    assert model.negative_share_ == pytest.approx(-values[values < 0].sum() / np.abs(values).sum())
    np.testing.assert_allclose(model.transform(D), model.embedding_, atol=1e-8)
    assert model.positive_map_.shape[1] + model.negative_map_.shape[1] == 9
    assert (np.diff((model.negative_map_**2).sum(axis=0)) <= 1e-9).all()


def test_pseudo_euclidean_says_what_it_did_to_the_input():
    D = squareform(np.random.default_rng(0).uniform(1, 2, size=10))
    with pytest.warns(UserWarning, match="not symmetric: the mean of both directions"):
        model = PseudoEuclidean().fit(D + np.triu(np.ones((5, 5)), 1))
    assert model.asymmetry_ > 0.05
    np.testing.assert_allclose(model.embedding_, PseudoEuclidean().fit(D + 0.5 * (1 - np.eye(5))).embedding_)
    D[0, 1] = D[1, 0] = -1
    with pytest.warns(UserWarning, match="2 dissimilarities are negative"):
        PseudoEuclidean().fit(D)
    S = np.diag([3.0, 2.0, -9.0])
    assert PseudoEuclidean(input="similarity").fit(S).negative_share_ > 0
    squared = PseudoEuclidean(input="squared_dissimilarity").fit(np.abs(D) ** 2)
    np.testing.assert_allclose(squared.eigenvalues_, PseudoEuclidean().fit(np.abs(D)).eigenvalues_, atol=1e-9)
