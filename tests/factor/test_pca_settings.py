"""PCA: how many components, rows that do not belong, and bad input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.decomposition._pca import _assess_dimension
from sklearn.exceptions import ConvergenceWarning

from latently.factor import PCA
from latently.factor.pca.dimension import held_out, log_evidence


def signal(n=400, d=10, q=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, q)) @ (2 * rng.normal(size=(q, d))) + rng.normal(size=(n, d))


def test_evidence_as_scikit_learn_has_it():
    variances = np.sort(np.random.default_rng(0).gamma(2, size=8))[::-1]
    theirs = [_assess_dimension(variances, k, 50) for k in range(1, 8)]
    ours = log_evidence(variances, 50)
    assert np.allclose(np.diff(ours), np.diff(theirs))


@pytest.mark.parametrize("how", ["mle", "held-out"])
def test_the_number_of_components_is_found(how):
    assert PCA(how, random_state=0).fit(signal()).n_components_ == 3
    assert all(PCA(how, random_state=0).fit(signal(n=1000, q=4, seed=s)).n_components_ == 4 for s in range(5))


def test_held_out_densities_are_those_of_fits_without_the_fold():
    X = signal(n=60, d=4, q=2)
    fold = np.random.RandomState(0).permutation(60) % 5
    expected = np.zeros((5, 3))
    for f in range(5):
        train, test = X[fold != f], X[fold == f]
        for k in (1, 2, 3):
            model = PCA(k).fit(train)
            model.explained_variance_ *= (len(train) - 1) / len(train)
            model.noise_variance_ *= (len(train) - 1) / len(train)
            expected[f, k - 1] = model.score_samples(test).mean()
    assert np.allclose(held_out(X, None, np.random.RandomState(0)), expected)


def test_as_many_components_as_the_target_needs():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 12)) * 100 * 0.5 ** np.arange(12)
    y = X[:, :4] @ np.array([0.01, 0.02, -0.04, 0.08]) + 0.3 * rng.normal(size=500)
    assert PCA("relevant").fit(X, y).n_components_ == 4
    assert PCA("relevant").fit(X, (y > 0).astype(int)).n_components_ <= 6
    with pytest.raises(ValueError, match="give y"):
        PCA("relevant").fit(X)


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_rows_that_do_not_belong_are_found_and_left_out(share):
    rng = np.random.default_rng(2)
    X = signal(n=300, d=6, q=2)
    bad = rng.random(300) < share
    dirty = X.copy()
    dirty[bad] = 40 * rng.normal(size=6) + rng.normal(size=(bad.sum(), 6))
    clean, robust, plain = PCA(2).fit(X[~bad]), PCA(2, robust=True).fit(dirty), PCA(2).fit(dirty)

    def angle(model):
        return np.linalg.svd(model.components_ @ clean.components_.T, compute_uv=False).min()

    assert robust.distrusted_[bad].all()
    assert robust.distrusted_[~bad].mean() < 0.02
    assert angle(robust) > 0.999 > 0.99 > angle(plain)
    assert np.allclose(robust.explained_variance_, clean.explained_variance_, rtol=0.05)


def test_robust_changes_little_where_nothing_is_wrong():
    X = signal(n=2000, d=5, q=2)
    plain, robust = PCA(2).fit(X), PCA(2, robust=True).fit(X)
    assert robust.distrusted_.mean() < 0.01
    assert np.allclose(plain.components_, robust.components_, atol=0.02)
    wide = np.random.default_rng(0).normal(size=(30, 100))
    wide[3] += 50
    assert PCA(2, robust=True).fit(wide).distrusted_[3]
    assert np.isfinite(PCA(robust=True).fit(load_iris().data).components_).all()
    assert PCA(0.9, robust=True).fit(load_wine().data).n_components_ >= 1


# bad input


def test_more_components_than_columns_or_rows():
    with pytest.raises(ValueError, match="n_components=5 must be between 0 and min"):
        PCA(5).fit(signal(d=4))
    with pytest.raises(ValueError, match="must be between 1 and min"):
        PCA(5, svd_solver="power").fit(signal(d=4))


@pytest.mark.parametrize("solver", ["full", "covariance_eigh", "randomized", "power"])
def test_rank_deficient_rows_have_components_without_variance(solver):
    X = signal(n=100, d=3)
    X = np.column_stack([X, X[:, 0], np.ones(100)])
    with pytest.warns(ConvergenceWarning, match="rank 3: 2 of 5 components"):
        model = PCA(5, svd_solver=solver, random_state=0).fit(X)
    assert np.allclose(model.explained_variance_[3:], 0, atol=1e-8)
    assert np.allclose(model.components_ @ model.components_.T, np.eye(5), atol=1e-6)
    assert np.isfinite(model.score_samples(X)).all()
    assert np.allclose(model.inverse_transform(model.transform(X)), X, atol=1e-6)


def test_constant_tables_and_single_rows():
    model = PCA().fit(np.ones((30, 3)))
    assert np.array_equal(model.explained_variance_ratio_, np.zeros(3))
    with pytest.raises(ValueError, match="more than 1 sample"):
        PCA().fit(np.ones((1, 3)))
    with pytest.raises(ValueError, match="weights sum to 1"):
        PCA().fit(np.eye(3), sample_weight=[0.5, 0.25, 0.25])


def test_infinite_values_are_named():
    X = signal()
    X[3, 2] = np.inf
    for solver in ("auto", "full", "randomized"):
        with pytest.raises(ValueError, match="'x2' of X contains inf"):
            PCA(3, svd_solver=solver).fit(X)
    with pytest.raises(ValueError, match="'x2' of X contains inf"):
        PCA(3).fit(signal()).transform(X)


def test_nan_where_it_cannot_be_taken():
    X = signal()
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="'x2' has missing values: partial_fit"):
        PCA(3).partial_fit(X)
    with pytest.raises(ValueError, match=r"'x2' has missing values.*Imputer"):
        PCA(3, robust=True).fit(X)
    with pytest.raises(ValueError, match="held-out.* needs complete rows"):
        PCA("held-out").fit(X)


def test_fits_that_keep_no_sums_say_so():
    X = load_digits().data[:100]
    model = PCA(3, svd_solver="full").fit(X)
    with pytest.raises(ValueError, match="keeps no sums"):
        model.partial_fit(X)
    with pytest.raises(ValueError, match="never learnt"):
        PCA(3).partial_fit(X).forget(X + 100)
    with pytest.raises(TypeError, match="cannot merge"):
        model.merge(object())


def test_sparse_rows_refuse_what_would_make_them_dense():
    S = sparse.random_array((50, 10), density=0.2, rng=np.random.default_rng(0), format="csr")
    with pytest.raises(TypeError, match="only support sparse"):
        PCA(2, svd_solver="full").fit(S)
    with pytest.raises(TypeError, match="dense rows"):
        PCA(2, robust=True).fit(S)
