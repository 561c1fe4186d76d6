"""Dictionary learning: scikit-learn's iterations, the notes' objective, sums that add."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import DictionaryLearning as Peer
from sklearn.exceptions import ConvergenceWarning

from latently.factor import DictionaryLearning
from latently.factor.sparse.atoms import CodeSums, Problem
from latently.factor.sparse.learning import fading
from latently.learn import threads


def rows(n=300, d=10, k=12, seed=0):
    """Sparse codes of unit atoms, with noise."""
    rng = np.random.default_rng(seed)
    atoms = rng.normal(size=(k, d))
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    codes = rng.normal(size=(n, k)) * (rng.uniform(size=(n, k)) < 0.2)
    return 3 * codes @ atoms + 0.05 * rng.normal(size=(n, d)), atoms


def learnt(X, k, **options):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return DictionaryLearning(k, random_state=0, **options).fit(X)


@pytest.mark.parametrize(("algorithm", "k"), [("lars", 5), ("lars", 15), ("cd", 5)])
def test_iterations_are_those_of_scikit_learn(algorithm, k):
    X, _ = rows()
    options = {"max_iter": 15, "fit_algorithm": algorithm, "random_state": 0}
    peer = Peer(k, **options).fit(X)
    ours = learnt(X, k, max_iter=15, fit_algorithm=algorithm)
    np.testing.assert_allclose(ours.error_, peer.error_, rtol=1e-6)
    np.testing.assert_allclose(ours.components_, peer.components_, atol=1e-4)


def test_atoms_are_found():
    X, atoms = rows(2000)
    model = learnt(X, 12, alpha=0.3, max_iter=200, fit_algorithm="cd")
    assert np.abs(model.components_ @ atoms.T).max(axis=0).min() > 0.97
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1, rtol=1e-9)
    assert (np.diff(model.error_) <= 1e-9 * model.error_[0]).all()


class TestNotes:
    """min 1/N sum |x - s D|^2 + alpha |s|_1 + eta |D|_F^2."""

    X, _ = rows()

    def objective(self, model, codes, D=None):
        D = model.components_ if D is None else D
        fit = ((self.X - codes @ D) ** 2).sum() + model.alpha * np.abs(codes).sum()
        return fit / len(self.X) + model.eta * (D**2).sum()

    def test_objective_is_the_one_told(self):
        model = learnt(self.X, 8, eta=0.05, alpha=0.2, transform_algorithm="lasso_cd", tol=1e-10)
        assert model.converged_
        found = self.objective(model, model.transform(self.X))
        assert found == pytest.approx(model.error_[-1], rel=1e-6)
        assert (np.diff(model.error_) <= 1e-12).all()

    def test_end_is_stationary(self):
        """No small change of the atoms, with the codes that then are best, does better."""
        model = learnt(self.X, 6, eta=0.05, alpha=0.2, transform_algorithm="lasso_lars", tol=1e-13, max_iter=5000)
        rng, D = np.random.default_rng(0), model.components_.copy()
        least = self.objective(model, model.transform(self.X))
        for _ in range(10):
            model.components_ = D + 1e-3 * rng.normal(size=D.shape)
            assert self.objective(model, model.transform(self.X)) > least - 1e-9

    def test_atoms_are_ridge_regression(self):
        model = learnt(self.X, 5, eta=0.1, alpha=0.2, max_iter=3)
        A, B, n = model.statistics_.A, model.statistics_.B, len(self.X)
        D, _, _ = Problem(0.2, 0.1).updated(model.statistics_, model.components_)
        before = Problem(0.2, 0.1).cost(model.statistics_, model.components_)
        ridge = np.linalg.solve(A + n * 0.1 * np.eye(5), B)
        assert Problem(0.2, 0.1).cost(model.statistics_, ridge) <= before
        assert np.isfinite(D).all()

    def test_scales_of_atoms_and_codes_are_balanced(self):
        """At the optimum alpha |s_j|_1 / N = 2 eta |D_j|^2 for each atom: neither pays to be longer."""
        model = learnt(self.X, 6, eta=0.05, alpha=0.2, tol=1e-12, max_iter=3000)
        length = (model.components_**2).sum(axis=1)
        np.testing.assert_allclose(0.2 * model.statistics_.norm / len(self.X), 0.1 * length, rtol=1e-6)

    def test_atoms_that_do_not_pay_are_zero(self):
        model = learnt(self.X, 6, eta=1e4, alpha=1.0)
        assert not model.components_.any()
        assert not model.transform(self.X).any()


class TestNonNegative:
    X = np.abs(rows()[0])

    @pytest.mark.parametrize("eta", [None, 0.05])
    def test_codes_and_atoms(self, eta):
        model = learnt(
            self.X, 6, alpha=0.2, eta=eta, positive_code=True, positive_dict=True, transform_algorithm="lasso_cd",
            max_iter=30,
        )  # fmt: skip
        assert (model.components_ >= 0).all()
        assert (model.transform(self.X) >= 0).all()
        assert (np.diff(model.error_) <= 1e-9 * model.error_[0]).all()

    def test_where_it_has_no_meaning(self):
        model = learnt(self.X, 3, positive_code=True, max_iter=2)
        with pytest.raises(ValueError, match="Positive constraint not supported for 'omp'"):
            model.transform(self.X)


class TestSums:
    X, _ = rows(3000)

    def test_sums_by_hand(self):
        rng = np.random.default_rng(0)
        X, S, D = rng.normal(size=(20, 4)), rng.normal(size=(20, 3)), rng.normal(size=(3, 4))
        sums = CodeSums.of(X[:7], S[:7]) + CodeSums.of(X[7:], S[7:])
        assert sums.squares(D) == pytest.approx(((X - S @ D) ** 2).sum())
        assert Problem(0.5).cost(sums, D) == pytest.approx(((X - S @ D) ** 2).sum() / 2 + 0.5 * np.abs(S).sum())
        left = sums - CodeSums.of(X[7:], S[7:])
        np.testing.assert_allclose(left.A, S[:7].T @ S[:7], atol=1e-12)

    def test_partial_fit_adds(self):
        D = np.random.default_rng(1).normal(size=(8, 10))
        model = DictionaryLearning(8, dict_init=D, random_state=0)
        for part in np.split(self.X, 3):
            model.partial_fit(part)
        assert model.statistics_.rows == 3000
        assert model.statistics_.power == pytest.approx((self.X**2).sum())
        assert len(model.error_) == 3

    def test_merged_sums_are_those_of_both(self):
        D = np.random.default_rng(1).normal(size=(8, 10))
        one, two, both = (
            DictionaryLearning(8, dict_init=D, random_state=0).partial_fit(part)
            for part in (self.X[:1000], self.X[1000:], self.X)
        )
        one.merge(two)
        np.testing.assert_allclose(one.statistics_.A, both.statistics_.A, rtol=1e-10)
        np.testing.assert_allclose(one.statistics_.B, both.statistics_.B, atol=1e-8)
        cost = Problem(1.0).cost
        assert cost(one.statistics_, one.components_) <= cost(both.statistics_, both.components_) + 1e-9

    def test_models_of_other_starts_do_not_merge(self):
        one, two = (DictionaryLearning(4, random_state=0).partial_fit(part) for part in (self.X[:500], self.X[500:]))
        with pytest.raises(ValueError, match="different atoms"):
            one.merge(two)
        with pytest.raises(TypeError, match="cannot merge a Peer|cannot merge a DictionaryLearning|cannot merge"):
            one.merge(Peer())

    def test_batches_come_near_the_whole(self):
        whole = learnt(self.X, 12, alpha=0.3, max_iter=100, fit_algorithm="cd")
        batched = learnt(self.X, 12, alpha=0.3, batch_size=100, max_iter=60, fit_algorithm="cd")
        codes = [model.set_params(transform_algorithm="lasso_cd").transform(self.X) for model in (whole, batched)]
        costs = [
            ((self.X - s @ m.components_) ** 2).sum() / 2 + 0.3 * np.abs(s).sum()
            for m, s in zip((whole, batched), codes, strict=True)
        ]
        assert costs[1] < 1.15 * costs[0]
        assert batched.error_[-1] < batched.error_[0]

    @pytest.mark.parametrize(("t", "theta"), [(1, 4), (3, 12), (4, 16), (10, 22)])
    def test_earlier_batches_fade_as_in_the_paper(self, t, theta):
        """Mairal et al. (2009), for batches of 4 at time t: theta is 4 t for t < 4, and 16 + t - 4 from there."""
        assert fading(t - 1, 4) == pytest.approx((theta + 1 - 4) / (theta + 1))

    def test_files_and_dask_give_the_same(self, tmp_path):
        import dask.array as da

        pd.DataFrame(self.X, columns=[f"x{j}" for j in range(10)]).to_parquet(tmp_path / "x.parquet")
        D = np.random.default_rng(1).normal(size=(6, 10))
        options = {"dict_init": D, "max_iter": 5}
        here = learnt(self.X, 6, **options)
        there = learnt(str(tmp_path / "x.parquet"), 6, **options)
        np.testing.assert_allclose(there.components_, here.components_, atol=1e-9)
        spread = learnt(da.from_array(self.X, chunks=(700, 10)), 6, **options)
        np.testing.assert_allclose(spread.components_, here.components_, atol=1e-9)
        there.transform(str(tmp_path / "x.parquet"), to=tmp_path / "codes.parquet")
        found = pd.read_parquet(tmp_path / "codes.parquet").to_numpy()
        np.testing.assert_allclose(found, here.transform(self.X), atol=1e-7)


def test_threads_change_nothing():
    X, _ = rows(5000)
    found = []
    for n in (1, 2):
        with threads(n):
            found.append(learnt(X, 8, max_iter=3).components_)
    assert np.array_equal(*found)


def test_transform_uses_the_alpha_of_the_fit():
    X, _ = rows()
    model = learnt(X, 8, alpha=0.7, transform_algorithm="lasso_cd", max_iter=5)
    gradient = np.abs((X - model.transform(X) @ model.components_) @ model.components_.T)
    assert gradient.max() == pytest.approx(0.7, abs=1e-5)


def test_digits_need_few_atoms():
    X = load_digits().data / 16
    X = X - X.mean(axis=0)
    model = learnt(X[:500], 40, alpha=0.5, max_iter=20, fit_algorithm="cd", transform_algorithm="lasso_cd")
    codes = model.transform(X[500:1000])
    assert 2 < np.count_nonzero(codes, axis=1).mean() < 15
    lost = ((X[500:1000] - codes @ model.components_) ** 2).sum() / (X[500:1000] ** 2).sum()
    assert lost < 0.45


def test_more_atoms_than_rows_and_columns():
    X, _ = rows(20)
    model = learnt(X, 40, alpha=0.1, max_iter=20)
    assert np.isfinite(model.components_).all()
    assert model.error_[-1] < model.error_[0]


def test_bad_input_is_named():
    X, _ = rows()
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"'x2'.*latently\.impute\.Imputer"):
        DictionaryLearning(3).fit(X)
    with pytest.raises(ValueError, match="dict_init must have 10 columns"):
        DictionaryLearning(3, dict_init=np.ones((3, 4))).fit(rows()[0])
    with pytest.raises(ValueError, match="Expected 3, got 5"):
        learnt(rows()[0], 3, max_iter=1).inverse_transform(np.zeros((2, 5)))


def test_running_out_is_told():
    with pytest.warns(ConvergenceWarning, match="did not converge in 2 iterations"):
        model = DictionaryLearning(5, max_iter=2, random_state=0).fit(rows()[0])
    assert not model.converged_
