"""KMeans beside scikit-learn's: the same clusters from the same centres, and what only ours does."""

import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans as Peer
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning

from latently.cluster import GaussianMixture
from latently.cluster.kmeans import KMeans
from latently.learn import threads


def table(n, d, k, kind, seed=0):
    rng = np.random.default_rng(seed)
    if kind == "noise":
        X = rng.normal(size=(n, d))
    else:
        X = rng.normal(size=(k, d))[rng.integers(k, size=n)] * 3 + rng.normal(size=(n, d))
    return X, X[rng.choice(n, k, replace=False)]


def search_by(search, monkeypatch):
    """Look for the nearest centre in one of three ways, whichever would be fastest."""
    least = {True: 0, False: 10**9}
    monkeypatch.setattr("latently.learn.kmeans.model.BOUNDS_WORK", least[search == "bounds"])
    monkeypatch.setattr("latently.learn.kmeans.model.BOUNDS_CENTRES", least[search == "bounds"])
    for name in ("PRODUCT_WORK", "PRODUCT_COLUMNS"):
        monkeypatch.setattr(f"latently.learn.kmeans.rows.{name}", least[search == "products"])


def assert_same(ours, theirs):
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.inertia_, theirs.inertia_, rtol=1e-10)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ["blobs", "noise"])
@pytest.mark.parametrize(
    ("n", "d", "k"), [(3000, 16, 100), (5000, 2, 8), (40, 3, 40), (2000, 1, 30), (1500, 33, 17), (300, 3, 1)]
)
@pytest.mark.parametrize("search", ["bounds", "direct", "products"])
def test_same_clusters_as_scikit_learn_from_the_same_centres(n, d, k, kind, search, monkeypatch):
    search_by(search, monkeypatch)
    X, start = table(n, d, k, kind)
    assert_same(KMeans(k, init=start).fit(X), Peer(k, init=start, n_init=1).fit(X))


def test_same_clusters_on_digits_with_sample_weights():
    X = load_digits().data
    weights = np.random.default_rng(0).uniform(0, 3, size=len(X))
    weights[::7] = 0
    start = X[:40]
    theirs = Peer(40, init=start, n_init=1).fit(X, sample_weight=weights)
    assert_same(KMeans(40, init=start).fit(X, sample_weight=weights), theirs)
    assert KMeans(40, init=start).fit(X, sample_weight=weights).score(X, sample_weight=weights) == pytest.approx(
        theirs.score(X, sample_weight=weights)
    )


@pytest.mark.parametrize("tol", [0.0, 1e-2])
def test_stops_where_scikit_learn_stops(tol):
    X, start = table(2000, 5, 20, "noise")
    ours = KMeans(20, init=start, tol=tol).fit(X)
    assert_same(ours, Peer(20, init=start, tol=tol, n_init=1).fit(X))
    assert (ours.converged_, ours.reason_) == (True, "converged")


def test_a_fit_that_ran_out_of_iterations_says_so():
    X, start = table(2000, 5, 20, "noise")
    with pytest.warns(ConvergenceWarning, match="did not converge in 3 iterations: raise max_iter"):
        model = KMeans(20, init=start, max_iter=3).fit(X)
    assert (model.converged_, model.reason_, model.n_iter_) == (False, "max_iter", 3)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_a_fit_that_converged_or_was_stopped_says_nothing():
    X, start = table(2000, 5, 20, "noise")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        steps = KMeans(20, init=start).fit(X).n_iter_
        assert KMeans(20, init=start, max_iter=steps).fit(X).converged_  # the last iteration may be the one
        KMeans(20, init=start).fit(X, on_iteration=lambda step: True)
        GaussianMixture(20, init_params="kmeans", max_iter=0, random_state=0).fit(X)


def test_a_start_need_not_be_at_an_optimum(monkeypatch):
    # the iterations of the k-means that a mixture starts from are no business of its user
    monkeypatch.setattr(KMeans.__init__, "__kwdefaults__", {**KMeans.__init__.__kwdefaults__, "max_iter": 1})
    X, _ = table(2000, 5, 20, "noise")
    assert KMeans(20).max_iter == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GaussianMixture(20, max_iter=0, random_state=0).fit(X)


def test_a_hook_can_stop_the_fit():
    X, start = table(2000, 5, 20, "noise")
    model = KMeans(20, init=start).fit(X, on_iteration=lambda step: step.iteration == 2)
    assert (model.converged_, model.reason_, model.n_iter_) == (False, "stopped", 2)


@pytest.mark.parametrize("start", ["k-means++", "random"])
def test_finds_separate_clusters_from_its_own_starts(start):
    X, truth = make_blobs(600, centers=[[0, 0], [20, 0], [0, 20], [20, 20]], random_state=0)
    model = KMeans(4, init=start, n_init=10, random_state=0).fit(X)
    pairs = set(zip(truth.tolist(), model.labels_.tolist(), strict=True))
    assert len(pairs) == 4


def test_a_start_can_be_a_function():
    X = load_iris().data
    model = KMeans(3, init=lambda X, k, random_state: X[[0, 60, 120]]).fit(X)
    assert_same(model, Peer(3, init=X[[0, 60, 120]], n_init=1).fit(X))


def test_the_best_of_several_starts_is_kept():
    X, _ = table(500, 4, 12, "blobs")
    single = [KMeans(12, init="random", n_init=1, random_state=s).fit(X).inertia_ for s in range(4)]
    many = KMeans(12, init="random", n_init=20, random_state=0).fit(X).inertia_
    assert many <= min(single) * 1.02
    assert many <= KMeans(12, init="random", n_init=5, random_state=0).fit(X).inertia_


@pytest.mark.filterwarnings("ignore:the fit did not converge")
def test_results_do_not_depend_on_threads_or_on_running():
    X, start = table(70_000, 4, 20, "noise")
    fits = []
    for n in (1, 2, 3):
        with threads(n):
            fits.append(KMeans(20, init=start, max_iter=15).fit(X))
    for other in fits[1:]:
        np.testing.assert_array_equal(other.cluster_centers_, fits[0].cluster_centers_)
        np.testing.assert_array_equal(other.labels_, fits[0].labels_)
        assert other.trace_ == fits[0].trace_
    seeded = [KMeans(20, max_iter=5, random_state=3).fit(X).inertia_ for _ in range(2)]
    assert seeded[0] == seeded[1]


@pytest.mark.parametrize(("n", "d", "k"), [(3000, 6, 30), (3000, 2, 5)])
@pytest.mark.parametrize(("shift", "scale"), [(1e8, 1.0), (0.0, 1e-6), (0.0, 1e6), (-1e8, 1e2)])
def test_offset_and_scale_change_nothing(n, d, k, shift, scale):
    X, _ = table(n, d, k, "blobs")
    moved = X * scale + shift
    there, here = KMeans(k, init=moved[:k]).fit(moved), KMeans(k, init=X[:k]).fit((moved - shift) / scale)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    np.testing.assert_allclose((there.cluster_centers_ - shift) / scale, here.cluster_centers_, atol=1e-6)
    np.testing.assert_allclose(there.inertia_ / scale**2, here.inertia_, rtol=1e-6)


def test_inertia_at_an_offset_keeps_its_digits():
    X = np.random.default_rng(0).integers(0, 50, size=(400, 3)).astype(float)
    there, here = KMeans(6, init=X[:6] + 2.0**27).fit(X + 2.0**27), KMeans(6, init=X[:6]).fit(X)
    np.testing.assert_allclose(there.inertia_, here.inertia_, rtol=1e-9)


def test_the_trace_rises_and_ends_at_the_inertia():
    X, start = table(3000, 8, 25, "noise")
    model = KMeans(25, init=start, tol=0).fit(X)
    constant = len(X) * (8 / 2 * np.log(np.pi) + np.log(25))
    assert len(model.trace_) == model.n_iter_ + 1
    assert (np.diff(model.trace_) >= -1e-9 * abs(model.trace_[0])).all()
    np.testing.assert_allclose(-model.trace_[-1] - constant, model.inertia_, rtol=1e-12)


def test_an_empty_cluster_keeps_its_centre_or_takes_the_farthest_row():
    X = np.array([[0.0, 0.0], [0.5, 0.0], [0.5, 1.0], [1.0, 1.0]])
    start = np.array([[0.5, 0.5], [3.0, 3.0]])
    split = KMeans(2, init=start, empty="split").fit(X)
    assert split.inertia_ == pytest.approx(0.25)
    assert split.n_iter_ == Peer(2, init=start, n_init=1).fit(X).n_iter_
    with pytest.warns(ConvergenceWarning, match="distinct clusters \\(1\\)"):
        keep = KMeans(2, init=start).fit(X)
    np.testing.assert_allclose(keep.cluster_centers_, [[0.5, 0.5], [3.0, 3.0]])


def test_several_empty_clusters_are_filled_as_scikit_learn_fills_them():
    X, _ = table(400, 3, 4, "blobs")
    start = np.vstack([X[:3], np.full((4, 3), [[100.0], [200.0], [300.0], [400.0]])])
    assert_same(KMeans(7, init=start, empty="split").fit(X), Peer(7, init=start, n_init=1).fit(X))


def test_a_row_without_weight_does_not_fill_an_empty_cluster():
    X = np.array([[0.0], [1.0], [3.0], [50.0]])
    model = KMeans(2, init=[[1.0], [-200.0]], empty="split").fit(X, sample_weight=[1, 1, 1, 0])
    np.testing.assert_allclose(model.cluster_centers_.ravel(), [0.5, 3.0])


def test_weights_count_as_repeats():
    X, start = table(300, 3, 6, "blobs")
    times = np.random.default_rng(0).integers(1, 5, size=len(X))
    weighted, repeated = KMeans(6, init=start, tol=0), KMeans(6, init=start, tol=0)
    weighted.fit(X, sample_weight=times)
    repeated.fit(np.repeat(X, times, axis=0))
    np.testing.assert_array_equal(np.repeat(weighted.labels_, times), repeated.labels_)
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_)
    np.testing.assert_allclose(weighted.inertia_, repeated.inertia_)
    np.testing.assert_allclose(weighted.cluster_weights_, np.bincount(repeated.labels_))


def test_single_precision_stays_single():
    X, start = table(2000, 4, 20, "blobs")
    single, double = (KMeans(20, init=start).fit(X.astype(t)) for t in (np.float32, np.float64))
    assert single.cluster_centers_.dtype == single.transform(X.astype(np.float32)).dtype == np.float32
    assert double.cluster_centers_.dtype == np.float64
    np.testing.assert_allclose(single.inertia_, double.inertia_, rtol=1e-4)
    np.testing.assert_array_equal(single.predict(X.astype(np.float32)), single.labels_)


def test_partial_fit_carries_the_means_on_as_mini_batches_do():
    X, _ = table(900, 3, 5, "blobs")
    weights = np.random.default_rng(1).uniform(0.5, 2, size=len(X))
    ours, theirs = KMeans(5, init=X[:5]), MiniBatchKMeans(5, init=X[:5], n_init=1, reassignment_ratio=0)
    for part in np.array_split(np.arange(900), 6):
        ours.partial_fit(X[part], sample_weight=weights[part])
        theirs.partial_fit(X[part], sample_weight=weights[part])
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_)
    np.testing.assert_allclose(ours.cluster_weights_.sum(), weights.sum())
    np.testing.assert_array_equal(ours.labels_, ours.predict(X[part]))
    assert ours.inertia_ == pytest.approx(-ours.score(X[part], sample_weight=weights[part]))
    assert ours.n_iter_ == 6


def test_partial_fit_goes_on_from_a_fit():
    X, start = table(600, 2, 3, "blobs")
    model = KMeans(3, init=start).fit(X)
    before, counts = model.cluster_centers_.copy(), np.bincount(model.labels_, minlength=3)
    model.partial_fit(before[1:2] + 0.3)
    np.testing.assert_allclose(model.cluster_centers_[[0, 2]], before[[0, 2]])
    np.testing.assert_allclose(model.cluster_centers_[1], before[1] + 0.3 / (counts[1] + 1))


def test_verbose_prints_lines_away_from_a_terminal(capsys):
    X, start = table(500, 3, 4, "blobs")
    KMeans(4, init=start, verbose=1).fit(X)
    told = capsys.readouterr().out
    assert "Initialization complete" in told
    assert "Iteration 0, inertia" in told
    KMeans(4, init=start).fit(X)
    assert capsys.readouterr().out == ""


def test_columns_of_the_transform_are_named():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(load_iris().data, columns=["a", "b", "c", "d"])
    model = KMeans(3, random_state=0).set_output(transform="pandas").fit(frame)
    assert list(model.transform(frame).columns) == ["kmeans0", "kmeans1", "kmeans2"]
    assert list(model.feature_names_in_) == ["a", "b", "c", "d"]


def test_offsets_and_ties_are_decided_in_double_precision(monkeypatch):
    """Single precision cannot tell these rows apart; what it leaves open is compared as exactly as without it."""
    rng = np.random.default_rng(5)
    centres = 1e8 + rng.normal(size=(12, 40))
    centres[7] = centres[3]  # the first of equals wins
    X = np.concatenate([centres + 1e-6 * rng.normal(size=centres.shape), centres, (centres[:-1] + centres[1:]) / 2])
    found = []
    for search in ("products", "direct"):
        search_by(search, monkeypatch)
        found.append(
            KMeans(12, init=centres).fit(X, sample_weight=np.r_[np.zeros(35), 1.0][: len(X)] + 1e-9).predict(X)
        )
    np.testing.assert_array_equal(*found)


def test_starts_by_products_draw_no_row_twice(monkeypatch):
    search_by("products", monkeypatch)
    rows = np.random.default_rng(6).normal(size=(10, 30)) * 1e-3 + 1e5
    X = np.repeat(rows, 50, axis=0)
    found = KMeans(10, random_state=0).fit(X)
    assert found.inertia_ < 1e-12 * len(X)
    with pytest.warns(ConvergenceWarning, match="distinct clusters"):
        KMeans(11, random_state=0).fit(X)
