"""PCA: somebody else's numbers, scikit-learn beside ours, and ways to the same model."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn import decomposition
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning

import latently
from latently.data import as_source
from latently.factor import PCA

# R's USArrests: murder, assault, urban population, rape for each state, 1973.
ARRESTS = np.fromstring(
    """
    13.2 236 58 21.2 10 263 48 44.5 8.1 294 80 31 8.8 190 50 19.5 9 276 91 40.6 7.9 204 78 38.7 3.3 110 77 11.1
    5.9 238 72 15.8 15.4 335 80 31.9 17.4 211 60 25.8 5.3 46 83 20.2 2.6 120 54 14.2 10.4 249 83 24 7.2 113 65 21
    2.2 56 57 11.3 6 115 66 18 9.7 109 52 16.3 15.4 249 66 22.2 2.1 83 51 7.8 11.3 300 67 27.8 4.4 149 85 16.3
    12.1 255 74 35.1 2.7 72 66 14.9 16.1 259 44 17.1 9 178 70 28.2 6 109 53 16.4 4.3 102 62 16.5 12.2 252 81 46
    2.1 57 56 9.5 7.4 159 89 18.8 11.4 285 70 32.1 11.1 254 86 26.1 13 337 45 16.1 0.8 45 44 7.3 7.3 120 75 21.4
    6.6 151 68 20 4.9 159 67 29.3 6.3 106 72 14.9 3.4 174 87 8.3 14.4 279 48 22.5 3.8 86 45 12.8 13.2 188 59 26.9
    12.7 201 80 25.5 3.2 120 80 22.9 2.2 48 32 11.2 8.5 156 63 20.7 4 145 73 26.2 5.7 81 39 9.3 2.6 53 66 10.8
    6.8 161 60 15.6
    """,
    sep=" ",
).reshape(50, 4)
SOLVERS = ["full", "covariance_eigh", "randomized", "power"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_arrests_as_r_prcomp_has_them(solver):
    X = (ARRESTS - ARRESTS.mean(axis=0)) / ARRESTS.std(axis=0, ddof=1)
    model = PCA(svd_solver=solver, random_state=0).fit(X)
    assert np.allclose(np.sqrt(model.explained_variance_), [1.5748783, 0.9948694, 0.5971291, 0.4164494], atol=1e-7)
    murder = [0.5358995, 0.4181809, 0.3412327, 0.6492278]  # R's rotation, up to sign
    assert np.allclose(np.abs(model.components_[:, 0]), murder, atol=1e-6)


@pytest.mark.parametrize("k", [1, 5, 13])
@pytest.mark.parametrize("solver", SOLVERS)
def test_wine_as_scikit_learn_has_it(solver, k):
    X = load_wine().data
    X = X / X.std(axis=0)
    ours, theirs = PCA(k, svd_solver=solver, random_state=0).fit(X), decomposition.PCA(k, svd_solver="full").fit(X)
    for name in ("mean_", "components_", "explained_variance_", "explained_variance_ratio_", "singular_values_"):
        assert np.allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-6, atol=1e-7), name
    assert np.isclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-6)
    assert np.allclose(ours.transform(X), theirs.transform(X), atol=1e-5)
    assert np.allclose(
        ours.inverse_transform(ours.transform(X)), theirs.inverse_transform(theirs.transform(X)), atol=1e-6
    )
    if solver != "power":
        assert np.allclose(ours.score_samples(X), theirs.score_samples(X))
        assert np.allclose(ours.get_covariance(), theirs.get_covariance())
        assert np.allclose(ours.get_precision(), theirs.get_precision(), rtol=1e-6)


def test_the_density_is_a_gaussian_and_whitening_does_not_change_it():
    X = load_iris().data
    for whiten in (False, True):
        model = PCA(2, whiten=whiten).fit(X)
        gaussian = multivariate_normal(model.mean_, model.get_covariance())
        assert np.allclose(model.score_samples(X), gaussian.logpdf(X))
        assert np.allclose(model.get_precision() @ model.get_covariance(), np.eye(4), atol=1e-10)
    drawn = model.sample(20_000, random_state=0)
    assert np.allclose(np.cov(drawn.T), model.get_covariance(), atol=0.1)


def test_digits_randomized_finds_at_least_the_variance_of_the_peer():
    X = np.tile(load_digits().data, (1, 9)) + np.random.default_rng(0).normal(size=(1797, 576))
    ours, theirs = PCA(15, random_state=0).fit(X), decomposition.PCA(15, random_state=0).fit(X)
    exact = decomposition.PCA(15, svd_solver="full").fit(X)
    assert ours._fit_svd_solver == "randomized"
    assert np.abs(ours.explained_variance_ - exact.explained_variance_).max() < 1e-6 * exact.explained_variance_[0]
    assert ours.explained_variance_.sum() >= theirs.explained_variance_.sum() * (1 - 1e-9)


def test_randomized_of_wide_and_of_nearly_all_components():
    rng = np.random.default_rng(1)
    for shape, k in (((60, 900), 5), ((900, 60), 50), ((60, 900), 50)):
        X = rng.normal(size=shape) * np.linspace(5, 0.1, shape[1])
        ours, exact = (
            PCA(k, svd_solver="randomized", random_state=0).fit(X),
            decomposition.PCA(k, svd_solver="full").fit(X),
        )
        assert np.allclose(ours.explained_variance_, exact.explained_variance_, rtol=1e-3)
        assert np.allclose(ours.components_ @ ours.components_.T, np.eye(k), atol=1e-8)


def test_one_pass_over_files_dask_batches_and_sparse_rows(tmp_path):
    pd = pytest.importorskip("pandas")
    da = pytest.importorskip("dask.array")
    X = load_wine().data
    whole = PCA(5, svd_solver="covariance_eigh").fit(X)
    pd.DataFrame(X, columns=[f"c{j}" for j in range(13)]).to_parquet(tmp_path / "wine.parquet", row_group_size=50)
    batches = PCA(5).partial_fit(X[:100]).partial_fit(X[100:])
    others = [
        PCA(5).fit(str(tmp_path / "wine.parquet")),
        PCA(5).fit(da.from_array(X, chunks=(60, 13))),
        PCA(5).fit(as_source(X, chunk_rows=30)),
        batches,
        PCA(5).partial_fit(X[:90]).merge(PCA(5).partial_fit(X[90:])),
        PCA(5).partial_fit(np.vstack([X, X[:7] + 1])).forget(X[:7] + 1),
        PCA(5, svd_solver="covariance_eigh").fit(sparse.csr_array(X)),
    ]
    for model in others:
        assert np.allclose(model.components_, whole.components_, atol=1e-7)
        assert np.allclose(model.explained_variance_, whole.explained_variance_, rtol=1e-8)
    out = others[0].transform(str(tmp_path / "wine.parquet"), to=tmp_path / "scores.parquet")
    assert np.allclose(pd.read_parquet(out).to_numpy(), whole.transform(X), atol=1e-6)
    assert np.isclose(others[0].score(str(tmp_path / "wine.parquet")), whole.score(X))


def test_memory_does_not_grow_with_the_file(tmp_path, monkeypatch):
    """The pass holds a few chunks: what it allocates at its peak is the same for four times the rows."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("latently.data.stored.source.KEEP_BYTES", 0)  # small tables would be kept whole
    peaks = []
    for n in (200_000, 800_000):
        path = tmp_path / f"{n}.parquet"
        X = np.random.default_rng(0).normal(size=(n, 4))
        pq.write_table(pa.table({f"c{j}": X[:, j] for j in range(4)}), path, row_group_size=20_000)
        PCA(2).fit(str(path))
        tracemalloc.start()
        PCA(2).fit(str(path))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0] + 1e6


def test_weights_count_like_repeats():
    rng = np.random.default_rng(2)
    X, counts = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3)), rng.integers(1, 4, size=40)
    for solver in SOLVERS:
        weighted = PCA(2, svd_solver=solver, random_state=0).fit(X, sample_weight=counts)
        repeated = PCA(2, svd_solver=solver, random_state=0).fit(np.repeat(X, counts, axis=0))
        assert np.allclose(weighted.components_, repeated.components_, atol=1e-6)
        assert np.allclose(weighted.explained_variance_, repeated.explained_variance_)
    S = sparse.random_array((300, 20), density=0.3, rng=np.random.default_rng(0), format="csr")
    w = rng.integers(1, 4, size=300)
    arpack = PCA(3, svd_solver="arpack", random_state=0).fit(S, sample_weight=w)
    dense = PCA(3, svd_solver="full").fit(np.repeat(S.toarray(), w, axis=0))
    assert np.allclose(arpack.explained_variance_, dense.explained_variance_)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_far_from_zero_costs_nothing(solver, dtype):
    X = np.round(np.random.default_rng(3).normal(size=(200, 3)) * [8, 4, 2])
    offset = 1e8 if dtype == np.float64 else 4096
    near, far = (PCA(3, svd_solver=solver, random_state=0).fit((X + shift).astype(dtype)) for shift in (0, offset))
    assert np.allclose(near.explained_variance_, far.explained_variance_, rtol=1e-6)
    assert np.allclose(near.transform(X.astype(dtype)), far.transform((X + offset).astype(dtype)), atol=1e-3)
    assert far.components_.dtype == dtype


def test_small_units_keep_their_components():
    X = np.random.default_rng(4).normal(size=(200, 4)) @ np.diag([4, 3, 2, 1])
    small, large = PCA("mle").fit(X * 1e-12), PCA("mle").fit(X)
    assert small.n_components_ == large.n_components_
    assert np.allclose(small.components_, large.components_)


def test_power_iteration_says_when_it_has_not_converged():
    X = np.random.default_rng(0).normal(size=(100, 5))
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = PCA(2, svd_solver="power", max_iter=2, random_state=0).fit(X)
    assert not model.converged_
    assert model.n_iter_ == 2


def test_pickles_and_files(tmp_path):
    X = load_iris().data
    X[::7, 1] = np.nan
    for model in (PCA(2).fit(X), PCA(2, robust=True).fit(load_iris().data)):
        latently.save(model, tmp_path / "m.latently")
        assert np.array_equal(latently.load(tmp_path / "m.latently").transform(X[:5]), model.transform(X[:5]))
