"""Every kernel through its public door, on tables small enough to run without compilation (`.ci/kernels`)."""

import numpy as np
import pytest
from hmmlearn import hmm as peers
from scipy import sparse, stats
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.cluster import KMeans as PeerKMeans
from sklearn.mixture import GaussianMixture as PeerMixture
from sklearn.naive_bayes import BernoulliNB as PeerBernoulli
from sklearn.naive_bayes import CategoricalNB as PeerCategorical
from sklearn.naive_bayes import GaussianNB as PeerGaussian
from sklearn.naive_bayes import MultinomialNB as PeerMultinomial
from sklearn.tree import DecisionTreeClassifier as PeerTree
from sklearn.tree import DecisionTreeRegressor as PeerRegressionTree

from latently.cluster import GaussianMixture, KMeans, Mixture
from latently.distributions import Gaussian, Poisson
from latently.embed import TSNE, MultipleMapsTSNE
from latently.geometry import nearest
from latently.impute import Imputer
from latently.learn.kmeans import model as lloyd
from latently.learn.kmeans import rows
from latently.predict import (
    BernoulliNB,
    CategoricalNB,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    RandomForestClassifier,
)
from latently.predict.tree.growth import levels, stored
from latently.sequence import CategoricalHMM, GaussianHMM, HiddenMarkovModel, PoissonHMM
from latently.structure import ConditionalRandomField, StructuredSVM, TreeModel

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def two_groups(n, d, apart=3.0, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + apart * (np.arange(n) % 2)[:, None]
    X[rng.random(X.shape) < missing] = np.nan
    return X


# mixtures


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize(("n", "d", "apart"), [(60, 1, 3.0), (61, 3, 3.0), (70, 8, 1.0)])
def test_five_steps_of_a_mixture_are_those_of_the_peer(kind, n, d, apart):
    X = two_groups(n, d, apart)
    start = {"weights_init": [0.4, 0.6], "means_init": X[:2], "covariance_type": kind, "reg_covar": 0.0}
    precisions = {
        "full": np.stack([np.eye(d)] * 2),
        "tied": np.eye(d),
        "diag": np.ones((2, d)),
        "spherical": np.ones(2),
    }
    theirs = PeerMixture(2, max_iter=5, tol=0, precisions_init=precisions[kind], **start).fit(X)
    ours = GaussianMixture(2, max_iter=5, tol=0, precisions_init=precisions[kind], **start).fit(X)
    order = np.argsort(ours.means_[:, 0]), np.argsort(theirs.means_[:, 0])
    np.testing.assert_allclose(ours.means_[order[0]], theirs.means_[order[1]], rtol=1e-8)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-8)


@pytest.mark.parametrize(("d", "apart"), [(26, 8.0), (26, 0.5), (98, 4.0)])
def test_wide_mixtures_have_the_densities_of_scipy(d, apart):
    X = two_groups(300 if d == 98 else 80, d, apart)
    found = GaussianMixture(2, random_state=0, max_iter=3).fit(X)
    parts = [stats.multivariate_normal(m, c).logpdf(X) for m, c in zip(found.means_, found.covariances_, strict=True)]
    np.testing.assert_allclose(found.score_samples(X), logsumexp(np.log(found.weights_) + np.array(parts).T, axis=1))
    assert (np.diff(found.lower_bounds_) >= -1e-9).all()


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_missing_entries_are_integrated_out(kind):
    X = two_groups(60, 3, missing=0.2)
    found = GaussianMixture(2, covariance_type=kind, random_state=0, max_iter=5).fit(X)
    d = X.shape[1]
    shape = {"full": lambda c: c, "tied": lambda c: c, "diag": np.diag, "spherical": lambda c: c * np.eye(d)}
    covariances = [found.covariances_] * 2 if kind == "tied" else found.covariances_
    for row, value in zip(X[:20], found.score_samples(X[:20]), strict=True):
        o = np.flatnonzero(~np.isnan(row))
        terms = [
            np.log(w) + (stats.multivariate_normal(m[o], shape[kind](c)[np.ix_(o, o)]).logpdf(row[o]) if len(o) else 0)
            for w, m, c in zip(found.weights_, found.means_, covariances, strict=True)
        ]
        assert value == pytest.approx(logsumexp(terms), rel=1e-9, abs=1e-12)
    assert (np.diff(found.lower_bounds_) >= -1e-9).all()
    low, high = found.impute_interval(X)
    assert (low <= high).all()


def test_missing_entries_of_a_group_with_a_full_covariance():
    X = two_groups(50, 3, missing=0.2)
    found = Mixture(2, families={(0, 1, 2): Gaussian()}, random_state=0, max_iter=4).fit(X)
    assert (np.diff(found.lower_bounds_) >= -1e-9).all()
    low, high = found.impute_interval(X)
    assert (low <= high).all()
    filled = Imputer(random_state=0).fit(X)
    np.testing.assert_array_equal(filled.transform(X)[~np.isnan(X)], X[~np.isnan(X)])


def test_columns_of_a_table_each_with_its_own_variance():
    X = two_groups(50, 3, missing=0.2)
    found = Mixture(2, random_state=0, max_iter=4, prior="ml").fit(X)
    parts = [[single.marginal(c) for c in range(3)] for single in found.components_]
    for row, value in zip(X[:20], found.score_samples(X[:20]), strict=True):
        seen = np.flatnonzero(~np.isnan(row))
        terms = [sum(stats.norm(p[c].mean[0], p[c].variance[0] ** 0.5).logpdf(row[c]) for c in seen) for p in parts]
        assert value == pytest.approx(logsumexp(np.log(found.weights_) + np.array(terms)), rel=1e-9, abs=1e-12)


def test_codes_and_counts_of_a_table():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 3, size=60), rng.poisson(2 + 6 * (np.arange(60) % 2))]).astype(float)
    X[::7, 0] = X[::9, 1] = np.nan
    found = Mixture(2, families={0: "categorical", 1: "counts"}, random_state=0, max_iter=4).fit(X)
    shares = np.array([single.marginal(0).probabilities for single in found.components_])
    rates = np.array([single.marginal(1).mean[0] for single in found.components_])
    for row, value in zip(X[:20], found.score_samples(X[:20]), strict=True):
        terms = np.log(found.weights_)
        terms = terms if np.isnan(row[0]) else terms + np.log(shares[:, int(row[0])])
        terms = terms if np.isnan(row[1]) else terms + stats.poisson(rates).logpmf(row[1])
        assert value == pytest.approx(logsumexp(terms), rel=1e-9, abs=1e-12)


# k-means


@pytest.mark.parametrize(("k", "d"), [(3, 2), (3, 5), (12, 3), (20, 17)])
@pytest.mark.parametrize("search", ["direct", "bounds", "products"])
def test_k_means_ends_where_the_peer_does(k, d, search, monkeypatch):
    if search == "bounds":
        for name in ("BOUNDS_WORK", "BOUNDS_CENTRES", "DIRECT_WORK"):
            monkeypatch.setattr(lloyd, name, 0)
    for name in ("PRODUCT_WORK", "PRODUCT_COLUMNS"):
        monkeypatch.setattr(rows, name, 0 if search == "products" else 10**9)
    X = two_groups(150, d, 2.0)
    theirs = PeerKMeans(k, init=X[:k], n_init=1, tol=0, max_iter=50).fit(X)
    ours = KMeans(k, init=X[:k], n_init=1, tol=0, max_iter=50).fit(X)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize(("k", "apart"), [(2, 8.0), (4, 1.0)])
def test_small_k_means_ends_at_a_fixed_point(k, apart):
    X = two_groups(60, 2, apart)
    found = KMeans(k, random_state=0, n_init=2, tol=0).fit(X)
    gaps = ((X[:, None] - found.cluster_centers_) ** 2).sum(axis=2)
    np.testing.assert_array_equal(found.labels_, gaps.argmin(axis=1))
    assert found.inertia_ == pytest.approx(gaps.min(axis=1).sum(), rel=1e-9)
    means = [X[found.labels_ == j].mean(axis=0) for j in range(k)]
    np.testing.assert_allclose(found.cluster_centers_, means, atol=1e-9)
    if k == 2:
        assert found.inertia_ == pytest.approx(PeerKMeans(2, n_init=2, random_state=0).fit(X).inertia_, rel=1e-9)


def test_k_means_with_missing_entries():
    X = two_groups(60, 3, 6.0, missing=0.1)
    found = KMeans(2, random_state=0, n_init=2).fit(X)
    group = np.arange(60) % 2
    assert (found.labels_ == group).mean() in (pytest.approx(1, abs=0.05), pytest.approx(0, abs=0.05))


# sequences


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("lengths", [[90], [20, 1, 40, 29]])
def test_chains_of_gaussians_are_those_of_the_peer(kind, lengths):
    X = np.repeat(two_groups(45, 2), 2, axis=0) + 0.1 * two_groups(90, 2, 0.0, seed=1)
    ours = GaussianHMM(2, covariance_type=kind, random_state=0, n_iter=4).fit(X, lengths)
    theirs = peers.GaussianHMM(2, covariance_type=kind)
    theirs.startprob_, theirs.transmat_, theirs.means_ = ours.startprob_, ours.transmat_, ours.means_
    theirs.covars_ = ours._covars_ if hasattr(ours, "_covars_") else ours.covars_
    assert ours.score(X, lengths) == pytest.approx(theirs.score(X, lengths), rel=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X, lengths), theirs.predict_proba(X, lengths), atol=1e-9)
    np.testing.assert_array_equal(ours.predict(X, lengths), theirs.predict(X, lengths))


@pytest.mark.parametrize("kind", ["diag", "spherical"])
def test_a_fit_in_one_call_is_that_step_by_step(monkeypatch, kind):
    X = np.repeat(two_groups(45, 2), 2, axis=0) + 0.1 * two_groups(90, 2, 0.0, seed=1)
    model = GaussianHMM(2, covariance_type=kind, random_state=0, n_iter=4)
    history = model.fit(X, [20, 1, 40, 29]).history_
    monkeypatch.setattr("latently.sequence.hmm.fit.climbed", lambda *_, **__: None)
    np.testing.assert_allclose(model.fit(X, [20, 1, 40, 29]).history_, history, rtol=1e-10)


def test_paths_of_codes_and_counts():
    rng = np.random.default_rng(0)
    C = rng.integers(0, 3, size=(60, 1))
    for ours in (CategoricalHMM(3, random_state=0, n_iter=4), PoissonHMM(3, random_state=0, n_iter=4)):
        model = ours.fit(C, [30, 30])
        logs, paths = model.decode(C, [30, 30], n_best=3)
        assert all((np.diff(each) <= 0).all() for each in logs)
        best, path = model.decode(C[:30])
        assert logs[0][0] == pytest.approx(best)
        np.testing.assert_array_equal(paths[0][0], path)
        drawn = model.sample_paths(C, [30, 30], n_paths=200, random_state=0)
        np.testing.assert_allclose((drawn == 1).mean(axis=0), model.predict_proba(C, [30, 30])[:, 1], atol=0.2)
        assert len(model.sample(20, random_state=0)[0]) == 20


def test_impossible_and_missing_rows_of_a_chain():
    X = np.array([[0.0], [0.1], [1e6], [np.nan], [1e6 + 1], [0.2]])
    model = GaussianHMM(2, random_state=0)
    model.startprob_, model.transmat_ = np.array([1.0, 0.0]), np.array([[0.5, 0.5], [0.5, 0.5]])
    model.means_, model.covars_ = np.array([[0.0], [1e6]]), np.array([[1e-4], [1.0]])
    np.testing.assert_array_equal(model.predict(X)[[0, 1, 2, 4, 5]], [0, 0, 1, 1, 0])
    assert np.isfinite(model.score(X))


def test_durations_and_inputs():
    X = np.repeat(two_groups(12, 1, 5.0), 5, axis=0) + 0.1 * two_groups(60, 1, 0.0, seed=2)
    lasting = HiddenMarkovModel(2, Gaussian(), duration=Poisson(), max_duration=16, random_state=0, n_iter=3).fit(X)
    np.testing.assert_allclose(lasting.predict_proba(X).sum(axis=1), 1)
    assert len(lasting.predict(X)) == 60
    U = (np.arange(60) % 2)[:, None].astype(float)
    told = HiddenMarkovModel(2, Gaussian(), random_state=0, n_iter=3).fit(X, inputs=U)
    np.testing.assert_allclose(told.predict_proba(X, inputs=U).sum(axis=1), 1)
    logs, paths = told.decode(X, inputs=U, n_best=2)
    np.testing.assert_array_equal(paths[0][0], told.predict(X, inputs=U))
    assert logs[0][0] >= logs[0][1]
    assert told.sample_paths(X, inputs=U, n_paths=2, random_state=0).shape == (2, 60)


# naive Bayes


@pytest.mark.parametrize(
    ("ours", "theirs", "counts"),
    [
        (GaussianNB(var_smoothing=0), PeerGaussian(var_smoothing=0), False),
        (BernoulliNB(), PeerBernoulli(), True),
        (CategoricalNB(), PeerCategorical(), True),
        (MultinomialNB(), PeerMultinomial(), True),
    ],
    ids=lambda value: type(value).__name__,
)
def test_naive_bayes_is_that_of_the_peer(ours, theirs, counts):
    X = np.random.default_rng(0).integers(0, 4, size=(60, 3)) if counts else two_groups(60, 3)
    y = np.arange(60) % 2
    w = np.random.default_rng(1).integers(1, 4, size=60)
    for weights in (None, w):
        ours.fit(X, y, sample_weight=weights), theirs.fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)


def test_naive_bayes_of_sparse_counts_is_that_of_the_peer():
    X = sparse.csr_array(np.random.default_rng(0).poisson(0.5, size=(60, 12)))
    y = np.arange(60) % 3
    ours, theirs = MultinomialNB().fit(X, y), PeerMultinomial().fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)


def test_naive_bayes_of_a_table_with_missing_values():
    X = two_groups(60, 3, missing=0.2)
    y = np.arange(60) % 2
    plain = GaussianNB().fit(X, y)
    np.testing.assert_allclose(plain.predict_proba(X).sum(axis=1), 1)
    assert NaiveBayes().fit(X, y).score(X, y) > 0.8


# trees


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(
    "params",
    [{}, {"criterion": "entropy"}, {"min_samples_leaf": 4}, {"max_leaf_nodes": 5}, {"min_weight_fraction_leaf": 0.1}],
    ids=str,
)
def test_classification_trees_fit_as_well_as_the_peers(params, missing):
    X, y = two_groups(70, 3, 0.8, missing), np.arange(70) % 3
    ours, theirs = DecisionTreeClassifier(**params).fit(X, y), PeerTree(random_state=0, **params).fit(X, y)
    assert ours.get_n_leaves() == theirs.get_n_leaves() or "min_samples_leaf" in params or missing
    assert ours.score(X, y) >= theirs.score(X, y) - 0.06
    alone = DecisionTreeClassifier(max_depth=1, **params).fit(X, y), PeerTree(max_depth=1, **params).fit(X, y)
    np.testing.assert_allclose(*(tree.tree_.weighted_n_node_samples @ tree.tree_.impurity for tree in alone))


@pytest.mark.parametrize("criterion", ["squared_error", "poisson", "absolute_error"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_regression_trees_are_those_of_the_peer(criterion, missing):
    X = two_groups(60, 3, 1.0, missing)
    y = 1.0 + np.abs(np.nan_to_num(X[:, 0]) + 0.1 * np.arange(60))
    for params in ({"max_depth": 2}, {"min_samples_leaf": 3, "max_depth": 2}):
        trees = [make(criterion=criterion, **params).fit(X, y) for make in (DecisionTreeRegressor, PeerRegressionTree)]
        np.testing.assert_allclose(trees[0].predict(X), trees[1].predict(X), rtol=1e-9)


def test_monotone_and_random_splits_and_categories():
    X = two_groups(60, 2, 1.0)
    y = X[:, 0] + np.sin(5 * X[:, 1])
    rising = DecisionTreeRegressor(monotonic_cst=[1, 0], significance=0.5).fit(X, y)
    assert (np.diff(rising.predict(np.column_stack([np.linspace(-3, 6, 50), np.zeros(50)]))) >= 0).all()
    assert DecisionTreeRegressor(splitter="random", random_state=0).fit(X, y).score(X, y) == pytest.approx(1)
    named = np.array([["a", "b", "c"][i % 3] for i in range(60)], dtype=object)[:, None]
    for make in (DecisionTreeClassifier.cart, DecisionTreeClassifier.id3, DecisionTreeClassifier.c45):
        assert make().fit(named, named[:, 0] == "b").score(named, named[:, 0] == "b") == 1


def test_c45_of_numbers_with_missing_values():
    X, y = two_groups(60, 2, 4.0, 0.2), np.arange(60) % 2
    tree = DecisionTreeClassifier.c45().fit(X, y)
    np.testing.assert_allclose(tree.predict_proba(X).sum(axis=1), 1)
    assert tree.score(X, y) > 0.9


@pytest.mark.parametrize("fetched", [0, 20, 1000])
def test_trees_by_sums_over_chunks_are_those_of_the_table(fetched, monkeypatch, tmp_path):
    import pandas as pd

    monkeypatch.setattr(levels, "FETCHED_ROWS", fetched)
    monkeypatch.setattr(stored, "CODES_BYTES", 0)
    X, y = two_groups(60, 3, 0.8, 0.1), np.arange(60) % 3
    frame = pd.DataFrame(X, columns=list("abc"))
    frame.assign(y=y).to_parquet(tmp_path / "rows.parquet")
    for least in (1, 3):
        here = RandomForestClassifier(2, min_samples_leaf=least, random_state=0).fit(frame, y)
        there = clone(here).fit(str(tmp_path / "rows.parquet"), "y")
        np.testing.assert_allclose(here.predict_proba(frame), there.predict_proba(frame))


# maps


def test_pulls_of_three_points_on_a_line():
    from latently.embed.mds.stress import MonotoneOrder, pulls_of

    D = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 2.0], [2.0, 2.0, 0.0]])
    found = pulls_of(np.array([[0.0], [1.0], [3.0]]), D)
    np.testing.assert_allclose(found.pulls.ravel(), [1.0, 0.0, -1.0])  # only the first and the last are too far apart
    assert (found.stress, found.squares) == (1.0, 14.0)
    np.testing.assert_allclose(pulls_of(np.array([[0.0], [1.0], [3.0]]), D, 2 * np.ones((3, 3))).stress, 2.0)
    fitted = MonotoneOrder.of(np.array([1.0, 2.0, 3.0])).disparities(np.array([1.0, 3.0, 2.0]))
    np.testing.assert_allclose(fitted / fitted[0], [1.0, 2.5, 2.5])


def test_shortest_paths_in_a_ring_of_five():
    from latently.geometry.graph import shortest_paths

    ring = np.roll(np.eye(5), 1, axis=1) * [1.0, 2.0, 3.0, 4.0, 20.0]
    found = shortest_paths(sparse.csr_array(ring + ring.T))
    np.testing.assert_allclose(found, floyd_warshall(ring + ring.T))


def floyd_warshall(table):
    far = np.where(table > 0, table, np.inf)
    np.fill_diagonal(far, 0.0)
    for k in range(len(far)):
        far = np.minimum(far, far[:, [k]] + far[[k]])
    return far


# neighbours and maps


def test_neighbours_of_few_rows_are_those_of_sorted_distances():
    X = np.random.default_rng(0).normal(size=(40, 14))
    X[20:] = 1e3 + 1e-6 * X[20:]  # single precision does not tell these apart
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    np.fill_diagonal(D, np.inf)
    np.testing.assert_array_equal(nearest(X, 3, method="exact").indices, np.argsort(D, axis=1)[:, :3])
    np.testing.assert_array_equal(nearest(D, 3, metric="precomputed").indices, np.argsort(D, axis=1)[:, :3])


@pytest.mark.parametrize("method", ["exact", "fft"])
@pytest.mark.parametrize("d", [2, 3])
def test_sixty_steps_of_tsne_separate_two_groups(d, method):
    X = two_groups(30, 3, 9.0)
    found = TSNE(d, perplexity=4, max_iter=60, method=method, random_state=0).fit(X)
    middle = [found.embedding_[g::2].mean(axis=0) for g in (0, 1)]
    spread = max(found.embedding_[g::2].std() for g in (0, 1))
    assert np.abs(middle[0] - middle[1]).max() > spread
    assert np.isfinite(found.transform(X[:2] + 0.1)).all()


def test_two_maps_have_shares_that_sum_to_one():
    found = MultipleMapsTSNE(2, perplexity=3, max_iter=2, random_state=0).fit(two_groups(12, 2))
    np.testing.assert_allclose(found.weights_.sum(axis=1), 1.0)
    assert found.similarities().sum() == pytest.approx(1.0)


# structured output


@pytest.mark.parametrize("rescale", ["margin", "slack"])
def test_labelled_trees_bring_both_objectives_together(rescale):
    rng = np.random.default_rng(0)
    parents = np.array([-1, 0, 0, 1])
    X, y = [(rng.normal(size=(4, 2)), parents) for _ in range(6)], [rng.integers(0, 2, size=4) for _ in range(6)]
    found = StructuredSVM(TreeModel(), rescale=rescale, random_state=0).fit(X, y)
    assert found.dual_objective_ <= found.objective_ <= found.dual_objective_ / (1 - 1e-3)
    field = ConditionalRandomField(TreeModel()).fit(X, y)
    best = field.k_best(X[:1], 16)[0]
    assert best.probabilities.sum() == pytest.approx(1.0)
    ones = [p for labels, p in zip(best.outputs, best.probabilities, strict=True) if labels[3] == 1]
    assert field.predict_proba(X[:1])[0][3, 1] == pytest.approx(sum(ones))
