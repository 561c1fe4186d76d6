"""CCA: SAS's numbers, closed forms, several views, tests, ways to the same model, bad input."""

import numpy as np
import pytest
from scipy import linalg
from sklearn.datasets import load_linnerud, load_wine
from sklearn.linear_model import LinearRegression

from latently.factor import CCA, KernelCCA
from latently.kernel import RBF, Linear, NGramKernel

X, Y = load_linnerud(return_X_y=True)
SOLVERS = ["auto", "qr", "moments"]


def pair(n=500, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 2))
    views = [z @ rng.normal(size=(2, d)) + noise * rng.normal(size=(n, d)) for d in (5, 4)]
    return views[0], views[1]


def correlations(a, b):
    return np.array([np.corrcoef(u, v)[0, 1] for u, v in zip(a.T, b.T, strict=True)])


@pytest.mark.parametrize("solver", SOLVERS)
def test_linnerud_as_sas_cancorr_has_it(solver):
    model = CCA(3, solver=solver).fit(X, Y)
    assert np.allclose(model.canonical_correlations_, [0.79560815, 0.20055604, 0.07257029], atol=1e-8)
    # standardised coefficients of the first exercise variable
    assert np.allclose(
        model.x_rotations_[:, 0] * np.sign(model.x_rotations_[1, 0]), [0.3495, 1.0540, -0.7164], atol=1e-4
    )
    found = model.wilks()
    assert np.allclose(found.wilks, [0.35039053, 0.95472266, 0.99473355], atol=1e-8)
    assert np.allclose(found.f, [2.05, 0.18, 0.08], atol=5e-3)
    assert np.allclose(found.df2, [34.223, 30, 16], atol=1e-3)
    assert np.allclose(found.p_values, [0.0635, 0.9491, 0.7748], atol=5e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_correlations_solve_the_eigenvalue_problem(solver):
    A, B = pair()
    model = CCA(4, solver=solver).fit(A, B)
    S = np.cov(np.hstack([A, B]).T)
    inner = np.linalg.solve(S[:5, :5], S[:5, 5:]) @ np.linalg.solve(S[5:, 5:], S[5:, :5])
    assert np.allclose(model.canonical_correlations_**2, np.sort(linalg.eigvals(inner).real)[::-1][:4], atol=1e-10)
    a, b = model.transform(A, B)
    assert np.allclose(np.cov(a.T), np.eye(4), atol=1e-8)
    assert np.allclose(correlations(a, b), model.canonical_correlations_)
    assert np.allclose(a, model.transform(A))
    cross = np.corrcoef(A.T, a.T)[:5, 5:]
    assert np.allclose(model.x_loadings_, cross)  # of scaled columns
    assert np.allclose(np.linalg.norm(model.x_weights_, axis=0), 1)


def test_all_pairs_predict_as_least_squares_does():
    A, B = pair()
    expected = LinearRegression().fit(A, B)
    model = CCA(4).fit(A, B)
    assert np.allclose(model.predict(A), expected.predict(A))
    assert np.allclose(model.coef_, expected.coef_)
    assert CCA(1).fit(A, B[:, 0]).predict(A).shape == (500,)
    square = CCA(4).fit(A[:, :4], B)
    assert np.allclose(square.inverse_transform(square.transform(A[:, :4])), A[:, :4])


def test_regularised_as_the_generalised_eigenvalue_problem_has_it():
    A, B = pair(n=60)
    A, B = (M / M.std(axis=0, ddof=1) for M in (A - A.mean(axis=0), B - B.mean(axis=0)))
    S = np.cov(np.hstack([A, B]).T)
    left = np.zeros((9, 9))
    left[:5, 5:], left[5:, :5] = S[:5, 5:], S[5:, :5]
    right = linalg.block_diag(0.7 * S[:5, :5] + 0.3 * np.eye(5), 0.4 * S[5:, 5:] + 0.6 * np.eye(4))
    vectors = linalg.eigh(left, right)[1][:, ::-1][:, :2]
    for solver in SOLVERS:
        model = CCA(2, reg=[0.3, 0.6], solver=solver).fit(A, B)
        assert np.allclose(correlations(model.transform(A), A @ vectors[:5]) ** 2, 1)
        assert np.allclose(model.canonical_correlations_, correlations(A @ vectors[:5], B @ vectors[5:]))


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(60, 1))
    A, B = (z @ rng.normal(size=(1, d)) + 0.5 * rng.normal(size=(60, d)) for d in (200, 90))
    assert np.allclose(CCA(1).fit(A, B).canonical_correlations_, 1)
    train, test = slice(0, 40), slice(40, 60)
    model = CCA(1, reg=0.5).fit(A[train], B[train])
    held_out = correlations(*model.transform(A[test], B[test]))
    assert held_out[0] > 0.9


def test_three_views_share_what_two_do_not():
    rng = np.random.default_rng(1)
    z = rng.normal(size=(800, 1))
    views = [z @ rng.normal(size=(1, d)) + rng.normal(size=(800, d)) for d in (4, 3, 5)]
    model = CCA(2).fit(views)
    scores = model.transform(views)
    measured = [np.corrcoef([s[:, 0] for s in scores])[i, j] for i, j in ((0, 1), (0, 2), (1, 2))]
    assert np.isclose(model.canonical_correlations_[0], np.mean(measured))
    assert model.canonical_correlations_[0] > 0.6 > 0.15 > abs(model.canonical_correlations_[1])
    assert all(abs(np.corrcoef(s[:, 0], z[:, 0])[0, 1]) > 0.6 for s in scores)
    # the sum of the whitened views' directions is the leading eigenvector of the joint correlations
    both = CCA(2).fit(views[:2])
    assert np.allclose(both.canonical_correlations_, CCA(2).fit(*views[:2]).canonical_correlations_)


def test_permutations_agree_with_wilks_and_know_chance():
    A, B = pair(n=80)
    model = CCA(4).fit(A, B)
    found, wilks = model.permutation_test(A, B, 499, random_state=0), model.wilks()
    assert np.allclose(found.wilks, wilks.wilks)
    assert (found.p_values[:2] <= 0.002).all()
    assert np.allclose(found.p_values[2:], wilks.p_values[2:], atol=0.15)
    rng = np.random.default_rng(0)
    chance = [
        CCA(1).fit(a, b).permutation_test(a, b, 99, random_state=0).p_values[0]
        for a, b in (((rng.normal(size=(30, 3)), rng.normal(size=(30, 2)))) for _ in range(40))
    ]
    assert 0.3 < np.mean(chance) < 0.7


def test_one_pass_over_files_dask_and_batches(tmp_path):
    pd = pytest.importorskip("pandas")
    da = pytest.importorskip("dask.array")
    A, B = pair()
    whole = CCA(3).fit(A, B)
    frame = pd.DataFrame(np.hstack([A, B]), columns=list("abcdefghi"))
    frame.to_parquet(tmp_path / "x.parquet", row_group_size=100)
    path = str(tmp_path / "x.parquet")
    others = [
        CCA(3).fit(path, list("fghi")),
        CCA(3).fit(path, list("fghi"), columns=list("abcde")),
        CCA(3).fit(da.from_array(A, chunks=(130, 5)), da.from_array(B, chunks=(200, 4))),
        CCA(3).partial_fit(A[:200], B[:200]).partial_fit(A[200:], B[200:]),
        CCA(3).fit(A[:300], B[:300]).merge(CCA(3).fit(A[300:], B[300:])),
        CCA(3).fit(np.vstack([A, A[:9]]), np.vstack([B, B[:9]])).forget(A[:9], B[:9]),
        CCA(3).fit(A, B, sample_weight=np.full(500, 2.0)),
    ]
    for other in others:
        assert np.allclose(other.canonical_correlations_, whole.canonical_correlations_, atol=1e-9)
    assert list(others[0].feature_names_in_) == list("abcde")
    with pytest.raises(ValueError, match="names of its columns"):
        CCA(3).fit(path, B)


def test_missing_values():
    A, B = pair(n=3000)
    rng = np.random.default_rng(0)
    gaps, other = A.copy(), B.copy()
    gaps[rng.random(A.shape) < 0.2] = np.nan
    other[rng.random(B.shape) < 0.1] = np.nan
    model, complete = CCA(2).fit(gaps, other), CCA(2).fit(A, B)
    assert np.allclose(model.canonical_correlations_, complete.canonical_correlations_, atol=0.03)
    scores = model.transform(gaps)
    assert np.isfinite(scores).all()
    assert correlations(scores, complete.transform(A)).min() > 0.85


def test_nearly_collinear_columns_are_decomposed_by_rows():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(200, 2))
    B = A[:, :1] + 0.5 * rng.normal(size=(200, 1))
    tilted = np.column_stack([A[:, 0], A[:, 0] + 1e-6 * A[:, 1]])  # the same space
    assert np.isclose(
        CCA(1).fit(tilted, B).canonical_correlations_[0], CCA(1).fit(A, B).canonical_correlations_[0], atol=1e-9
    )
    far = CCA(2).fit(np.round(X) + 1e8, np.round(Y) - 1e8)
    assert np.allclose(
        far.canonical_correlations_, CCA(2).fit(np.round(X), np.round(Y)).canonical_correlations_, atol=1e-6
    )


# kernels


@pytest.mark.parametrize("reg", [0.0, 0.3])
def test_the_linear_kernel_is_cca(reg):
    A, B = pair()
    linear, kernel = CCA(3, scale=False, reg=reg).fit(A, B), KernelCCA(3, kernel="linear", reg=reg, tol=1e-14).fit(A, B)
    assert np.allclose(kernel.canonical_correlations_, linear.canonical_correlations_)
    for ours, theirs in zip(kernel.transform(A, B), linear.transform(A, B), strict=True):
        assert np.allclose(np.abs(correlations(ours, theirs)), 1)


def test_kernels_find_what_is_not_linear_in_new_rows_of_either_view():
    rng = np.random.default_rng(0)
    A = rng.uniform(-2, 2, size=(600, 2))
    B = np.column_stack([A[:, 0] ** 2, rng.normal(size=600)]) + 0.1 * rng.normal(size=(600, 2))
    assert CCA(1).fit(A[:400], B[:400]).canonical_correlations_[0] < 0.25
    for how in ("cholesky", "nystroem"):
        model = KernelCCA(1, approximation=how, random_state=0).fit(A[:400], B[:400])
        a, b = model.transform(A[400:], B[400:])
        assert correlations(a, b)[0] > 0.9
        assert np.allclose(model.transform_view(B[400:], 1), b)
        assert np.corrcoef(model.predict(A[400:])[:, 0], B[400:, 0])[0, 1] > 0.9


def test_kernel_cca_by_the_dual_eigenvalue_problem():
    """(1 - c) K K / (n - 1) + c K in place of the covariances, K centred, solved whole."""
    rng = np.random.default_rng(1)
    A = rng.normal(size=(60, 2))
    B = np.abs(A) + 0.3 * rng.normal(size=(60, 2))
    H = np.eye(60) - 1 / 60
    Ka, Kb = (H @ RBF(width=1.0)(M) @ H for M in (A, B))
    bases = []
    for K in (Ka, Kb):
        values, vectors = np.linalg.eigh(K)
        kept = values > 1e-9
        bases.append(vectors[:, kept] * np.sqrt(values[kept]))
    Za, Zb = bases
    S = [0.9 * Z.T @ Z / 59 + 0.1 * np.eye(Z.shape[1]) for Z in bases]
    root = [np.linalg.inv(np.linalg.cholesky(s)) for s in S]
    left, _, right = np.linalg.svd(root[0] @ Za.T @ Zb @ root[1].T / 59)
    expected = np.corrcoef(Za @ root[0].T @ left[:, 0], Zb @ root[1].T @ right[0])[0, 1]
    model = KernelCCA(1, kernel=RBF(width=1.0), reg=0.1, tol=1e-12).fit(A, B)
    assert np.isclose(model.canonical_correlations_[0], expected, atol=1e-6)
    assert model.missed_[0] < 1e-10


def test_regularisation_falls_with_the_number_of_rows_unless_given():
    A, B = np.random.default_rng(0).normal(size=(2, 1001, 1))
    assert KernelCCA(max_features=5).fit(A[:1000], B[:1000]).reg_ == [0.01, 0.01]
    assert KernelCCA(max_features=5).fit(A, B).reg_ == [0.001, 0.001]
    assert KernelCCA(max_features=5, reg=[0.2, 0.3]).fit(A, B).reg_ == [0.2, 0.3]


def test_infinite_values_of_either_view_are_named():
    A, B = pair()
    for view, name in ((0, "X"), (1, "Y")):
        for value in (np.inf, 1e160):
            views = [A.copy(), B.copy()]
            views[view][3, 1] = value
            model = CCA(1).fit(A, B)
            for learn in (model.fit, model.partial_fit, lambda a, b: CCA(1).fit(a, b, sample_weight=np.ones(len(a)))):
                with pytest.raises(ValueError, match=f"column 'x1' of {name}"):
                    learn(*views)
            with pytest.raises(ValueError, match=f"column 'x1' of {name}"):
                model.transform_view(views[view], view)


def test_strings_against_numbers():
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 6, size=(150, 2))
    words = ["ab" * a + "cd" * b for a, b in counts]
    model = KernelCCA(2, kernel=[NGramKernel(2), Linear()], reg=0.01).fit(words, counts.astype(float))
    assert (model.canonical_correlations_ > 0.9).all()
    assert model.transform(words[:3]).shape == (3, 2)


def test_bad_views():
    A, B = pair()
    missing = A.copy()
    missing[0, 1] = np.nan
    with pytest.raises(ValueError, match="X has 500 rows and Y has 499"):
        CCA(1).fit(A, B[:-1])
    with pytest.raises(ValueError, match="X has 500 rows and y has 499"):
        KernelCCA(1).fit(A, B[:-1])
    with pytest.raises(ValueError, match=r"'x1' of X contains NaN.*latently.factor.CCA"):
        KernelCCA(1).fit(missing, B)
    with pytest.raises(ValueError, match="partial_fit and forget need complete rows"):
        CCA(1).partial_fit(missing, B)
    with pytest.raises(ValueError, match="upper bound is 4"):
        CCA(5).fit(A, B)
    flat = np.column_stack([A[:, 0], A[:, 0], np.ones(500)])
    with pytest.raises(ValueError, match="X varies in 1 independent directions only"):
        CCA(2).fit(flat, B)
    assert np.isfinite(CCA(1).fit(flat, B).x_rotations_).all()
    with pytest.raises(ValueError, match="reg must be between 0 and 1"):
        CCA(1, reg=[0.1, 2.0]).fit(A, B)
    with pytest.raises(ValueError, match="one view alone"):
        CCA(1).fit([A])
    with pytest.raises(ValueError, match="too few for this test"):
        CCA(1).fit(A[:8], B[:8]).wilks()
    with pytest.raises(ValueError, match="use permutation_test"):
        CCA(1, reg=0.1).fit(A, B).wilks()
    with pytest.raises(ValueError, match="more than 1 sample"):
        CCA(1).fit(A[:1], B[:1])
    with pytest.raises(ValueError, match="constant, or its rows few"):
        KernelCCA(1).fit(np.ones((20, 2)), B[:20])


def test_wine_by_class_as_discriminant_analysis():
    """Against indicators of the classes, canonical correlations are those of linear discriminants."""
    data = load_wine()
    labels = (data.target[:, None] == np.arange(2)).astype(float)
    within = sum(np.cov(data.data[data.target == k].T) * ((data.target == k).sum() - 1) for k in range(3))
    total = np.cov(data.data.T) * (len(data.data) - 1)
    ratios = np.sort(linalg.eigh(total - within, total, eigvals_only=True))[::-1][:2]
    assert np.allclose(CCA(2).fit(data.data, labels).canonical_correlations_ ** 2, ratios, atol=1e-8)


@pytest.mark.parametrize("offset", [1, 500])
def test_many_rows_in_blocks_are_the_rows_at_once(offset):
    """More rows than a chunk: views are put beside each other block by block, about zero if they are near it."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(40_000, 2))
    A, B = (Z @ rng.normal(size=(2, d)) + rng.normal(size=(40_000, d)) + offset for d in (5, 4))
    sums, rows = CCA(2, solver="moments").fit(A, B), CCA(2, solver="qr").fit(A, B)
    np.testing.assert_allclose(sums.canonical_correlations_, rows.canonical_correlations_, rtol=1e-9)
    np.testing.assert_allclose(sums.means_[1], B.mean(axis=0), rtol=1e-12)
