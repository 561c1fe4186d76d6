"""Tables that strangers bring: a defined answer, or an error that says what to do."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from latently.factor import CCA, PCA, DictionaryLearning, FactorAnalysis, KernelCCA


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(200, 3))
    return Z, Z @ rng.normal(size=(3, 6)) + 0.1 * rng.normal(size=(200, 6))


class TestRelevantComponents:
    """The target that n_components='relevant' asks about."""

    def test_it_counts_the_directions_that_matter(self, rows):
        Z, X = rows
        assert PCA("relevant").fit(X, Z[:, 0]).n_components_ <= 3
        assert PCA("relevant").fit(X, Z).n_components_ == 3
        assert PCA("relevant").fit(X, np.where(Z[:, 0] > 0, "high", "low")).n_components_ <= 3

    def test_it_is_that_of_trusted_rows_with_robust(self, rows):
        Z, X = rows
        far = X.copy()
        far[:10] += 50
        model = PCA("relevant", robust=True).fit(far, Z)
        assert model.n_components_ == 3
        np.testing.assert_array_equal(np.flatnonzero(model.distrusted_), np.arange(10))

    @pytest.mark.parametrize("robust", [False, True])
    def test_what_no_target_can_be(self, rows, robust):
        Z, X = rows
        model = PCA("relevant", robust=robust)
        with pytest.raises(ValueError, match="give y to fit"):
            model.fit(X)
        with pytest.raises(ValueError, match="X has .* rows: give a target for each row"):
            model.fit(X, Z[:100, 0])
        with pytest.raises(ValueError, match="y contains NaN"):
            model.fit(X, np.full(200, np.nan))
        with pytest.raises(ValueError, match="y is constant"):
            model.fit(X, np.full(200, 7.5))


class TestRank:
    """More components than the data have directions."""

    line = np.outer(np.arange(30.0), [1.0, 2.0, 3.0])

    @pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh", "randomized"])
    @pytest.mark.parametrize(("scale", "offset"), [(1, 0), (1e-12, 0), (1, 1e8)])
    def test_pca_says_so(self, solver, scale, offset):
        with pytest.warns(ConvergenceWarning, match="rank 1: 1 of 2 components have no variance"):
            model = PCA(2, svd_solver=solver).fit(offset + scale * self.line)
        np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-9)
        assert model.explained_variance_ratio_[0] == pytest.approx(1)

    def test_a_constant_table_has_rank_zero(self):
        with pytest.warns(ConvergenceWarning, match="rank 0"):
            model = PCA(1).fit(np.full((30, 3), 0.1))
        assert model.explained_variance_ == pytest.approx(0, abs=1e-30)
        with pytest.warns(ConvergenceWarning, match="rank 0"):
            assert not PCA(1, robust=True).fit(np.full((30, 3), 0.1)).distrusted_.any()

    def test_nothing_is_said_where_all_components_were_wanted(self):
        assert PCA().fit(self.line).components_.shape == (3, 3)

    def test_canonical_correlations_refuse(self):
        Y = np.random.default_rng(0).normal(size=(30, 2))
        with pytest.raises(ValueError, match="X varies in 1 independent directions"):
            CCA(2).fit(self.line, Y)


def test_robust_components_of_rows_that_are_mostly_one():
    X = np.vstack([np.ones((30, 2)), np.random.default_rng(0).normal(size=(10, 2))])
    with pytest.warns(ConvergenceWarning, match="rank 0"):
        model = PCA(1, robust=True).fit(X)
    np.testing.assert_array_equal(np.flatnonzero(model.distrusted_), np.arange(30, 40))
    np.testing.assert_allclose(model.mean_, 1)


def test_sparse_rows_with_missing_values_are_refused():
    X = sparse.csr_array([[1.0, np.nan], [0.0, 2.0], [3.0, 0.0]])
    with pytest.raises(ValueError, match="sparse and contains NaN: give dense rows"):
        PCA(1).fit(X)


@pytest.mark.parametrize("model", [CCA(1), KernelCCA(1)], ids=repr)
def test_views_of_different_length_are_refused(model):
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="X has 20 rows and [yY] has 19"):
        model.fit(rng.normal(size=(20, 2)), rng.normal(size=(19, 2)))


class TestHowFitsEnded:
    """`reason_`, `converged_` and `trace_` of iterative fits."""

    def test_em_of_principal_components(self, rows):
        gaps = np.where(np.random.default_rng(1).random(rows[1].shape) < 0.2, np.nan, rows[1])
        model = PCA(2).fit(gaps)
        assert (model.reason_, model.converged_) == ("converged", True)
        assert (np.diff(model.trace_) >= 0).all()
        with pytest.warns(ConvergenceWarning, match="max_iter"):
            model.set_params(max_iter=2).fit(gaps)
        assert (model.reason_, model.converged_, len(model.trace_)) == ("max_iter", False, 2)
        assert not hasattr(model.fit(rows[1]), "reason_")

    def test_power_iteration(self, rows):
        assert PCA(2, svd_solver="power", random_state=0).fit(rows[1]).reason_ == "converged"
        with pytest.warns(ConvergenceWarning, match="max_iter"):
            model = PCA(2, svd_solver="power", max_iter=1, random_state=0).fit(rows[1])
        assert (model.reason_, model.converged_) == ("max_iter", False)

    @pytest.mark.parametrize("make", [FactorAnalysis, DictionaryLearning])
    def test_alternating_fits(self, rows, make):
        model = make(3, tol=1e-3, random_state=0).fit(rows[1])
        assert (model.reason_, model.converged_, len(model.trace_)) == ("converged", True, model.n_iter_)
        assert (np.diff(model.trace_) >= 0).all()
        with pytest.warns(ConvergenceWarning, match="max_iter"):
            model.set_params(max_iter=2, tol=1e-15).fit(rows[1])
        assert (model.reason_, model.converged_) == ("max_iter", False)

    def test_batches_leave_no_trace(self, rows):
        model = DictionaryLearning(3, batch_size=50, random_state=0).fit(rows[1])
        assert model.reason_ in ("converged", "max_iter")
        assert not hasattr(model, "trace_")
        assert not hasattr(model.partial_fit(rows[1]), "reason_")
