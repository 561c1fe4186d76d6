"""Two ways to the optimum: the gradient is exact, and both ways end at the same top."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from latently.cluster import GaussianMixture
from latently.data.open import as_source
from latently.distributions import NormalInverseWishart
from latently.distributions.components.gaussian.params import KINDS
from latently.learn import reducing
from latently.learn.engine.gradient import ascend

IRIS = load_iris().data
FAITHFUL = np.loadtxt(Path(__file__).parents[1] / "reference" / "old_faithful.csv", delimiter=",", skiprows=1)
CLOSELY = {"tol": 1e-11, "max_iter": 5000, "random_state": 0}


def incomplete(X, share=0.2):
    X = X.copy()
    X[np.random.default_rng(0).uniform(size=X.shape) < share] = np.nan
    return X


def top(method, X, k, kind, **options):
    return GaussianMixture(k, covariance_type=kind, method=method, **{**CLOSELY, **options}).fit(X)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize(
    "X", [IRIS, FAITHFUL, incomplete(IRIS), incomplete(FAITHFUL)], ids=["iris", "geyser", "holed-iris", "holed-geyser"]
)
def test_both_ways_reach_the_same_top(kind, k, X):
    by_em, by_gradient = (top(method, X, k, kind) for method in ("em", "gradient"))
    assert by_gradient.converged_
    assert by_gradient.score_samples(X).sum() == pytest.approx(by_em.score_samples(X).sum(), abs=1e-6)
    np.testing.assert_allclose(by_gradient.means_, by_em.means_, rtol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("prior", [False, True])
def test_the_gradient_is_that_of_the_objective(kind, prior):
    own = NormalInverseWishart([3.0, 60.0], 2.0, np.diag([1.0, 50.0]), 6.0)
    if kind in ("diag", "spherical"):
        own = NormalInverseWishart([3.0, 60.0], 2.0, [1.0, 50.0] if kind == "diag" else 4.0, 6.0, kind=kind)
    options = {"prior": {"components": own, "weights": 3.0}} if prior else {"reg_covar": 0.01}
    mixture = GaussianMixture(2, covariance_type=kind, random_state=0, **options).fit(FAITHFUL)
    model, params = mixture._engine()
    rng = np.random.default_rng(0)
    vector = model.pack(params) + 0.1 * rng.normal(size=model.pack(params).shape)
    with reducing(as_source(incomplete(FAITHFUL))) as reduce:

        def objective(v):
            there = model.unpack(params, v)
            return reduce(lambda chunk: model.expect(there, chunk)).bound + model.log_prior(there)

        there = model.unpack(params, vector)
        stats = reduce(lambda chunk: model.expect(there, chunk))
        expected = approx_fprime(vector, objective, 1e-6)
        np.testing.assert_allclose(model.gradient(there, stats), expected, rtol=1e-4, atol=2e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_packing_loses_nothing(kind):
    model, params = GaussianMixture(3, covariance_type=kind, random_state=0).fit(IRIS)._engine()
    back = model.unpack(params, model.pack(params))
    for name in ("weights", "means", "covariances"):
        np.testing.assert_allclose(getattr(back, name), getattr(params, name), rtol=1e-10, atol=1e-14)


def test_the_trace_never_falls_and_starts_at_the_start():
    mixture = top("gradient", FAITHFUL, 3, "full", means_init=FAITHFUL[:3], tol=1e-8)
    assert (np.diff(mixture.lower_bounds_) >= 0).all()
    assert len(mixture.lower_bounds_) == mixture.n_iter_ + 1
    start = GaussianMixture(3, means_init=FAITHFUL[:3], max_iter=0, random_state=0).fit(FAITHFUL)
    assert mixture.lower_bounds_[0] == pytest.approx(start.lower_bound_)


def test_the_end_is_told_as_it_is():
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        short = top("gradient", FAITHFUL, 3, "full", max_iter=3)
    assert (short.reason_, short.converged_, short.n_iter_) == ("max_iter", False, 3)
    halted = GaussianMixture(3, method="gradient", random_state=0)
    halted.fit(FAITHFUL, on_iteration=lambda step: step.iteration == 2)
    assert (halted.reason_, halted.converged_, halted.n_iter_) == ("stopped", False, 2)
    kept = top("gradient", FAITHFUL, 2, "full", max_iter=0)
    assert (kept.n_iter_, kept.converged_) == (0, False)
    # to the last digit: the line search finds nothing better, on a slope that is flat
    assert top("gradient", FAITHFUL, 2, "full", tol=0.0).converged_


def test_many_rows_and_weights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 2)) + 4 * (rng.uniform(size=(40_000, 1)) < 0.3)
    w = rng.integers(1, 3, size=40_000)
    results = []
    for method in ("em", "gradient"):
        mixture = GaussianMixture(2, method=method, tol=1e-10, max_iter=500, random_state=0)
        results.append(mixture.fit(X, sample_weight=w))
    assert results[0].lower_bound_ == pytest.approx(results[1].lower_bound_, abs=1e-9)
    np.testing.assert_allclose(results[0].means_, results[1].means_, atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_a_component_on_one_point_is_finite_by_either_way(kind):
    X = np.concatenate([np.full((50, 2), 3.0), np.random.default_rng(0).normal(size=(50, 2))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        mixture = GaussianMixture(2, covariance_type=kind, method="gradient", random_state=0).fit(X)
    assert np.isfinite(mixture.covariances_).all()
    assert np.isfinite(mixture.lower_bound_)


def test_a_slope_that_leads_nowhere_is_not_called_convergence():
    class Wrong:
        """Says that the top is to the left of where it is."""

        def expect(self, mean, chunk):
            from latently.learn import Statistics

            return Statistics(1.0, -(float(mean) ** 2))

        def update(self, mean, stats):
            return mean

        def log_prior(self, mean):
            return 0.0

        def pack(self, mean):
            return np.array([mean])

        def unpack(self, like, vector):
            return float(vector[0])

        def gradient(self, mean, stats):
            return np.array([-1.0])

    with reducing(as_source([[0.0]])) as reduce:
        fit = ascend(Wrong(), 0.0, reduce, tol=1e-6)
    assert (fit.reason, fit.converged, fit.params) == ("stalled", False, 0.0)


class Steep:
    """Rows about a mean at zero, known to be within a tenth or so: -5 mean^2 per row."""

    def expect(self, mean, chunk):
        from latently.learn import Statistics

        return Statistics(chunk.n_rows, -5.0 * chunk.n_rows * float(mean) ** 2)

    def update(self, mean, stats):
        return mean

    def log_prior(self, mean):
        return 0.0

    def pack(self, mean):
        return np.array([mean])

    def unpack(self, like, vector):
        return float(vector[0])

    def gradient(self, mean, stats):
        return np.array([-10.0 * stats.rows * float(mean)])


@pytest.mark.parametrize("n", [1, 50])
@pytest.mark.parametrize("tol", [1.0, 0.01])
def test_a_step_that_gains_little_across_a_ridge_is_not_the_end(n, tol):
    # the first step leads over the top to the other side, where the height is much the same and the gradient is steep
    with reducing(as_source(np.zeros((n, 1)))) as reduce:
        fit = ascend(Steep(), 0.53, reduce, tol=tol, max_iter=50)
    assert fit.reason == "converged"
    assert abs(10.0 * fit.params) <= np.sqrt(tol)
