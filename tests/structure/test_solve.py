"""The algorithms alone: the exact programme over planes, and what is said about their end."""

import numpy as np
import pytest
from scipy.optimize import minimize

from latently.structure import StructuredSVM
from latently.structure.solve.master import solve_master


def programme(seed, P=25, n=5, d=3):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(P, d)) * 10.0 ** np.arange(d)  # columns of very different sizes
    return A, rng.random(P), rng.integers(0, n, size=P), rng.random(n) + 0.5


@pytest.mark.parametrize("seed", range(3))
def test_the_programme_over_planes_is_solved_exactly(seed):
    A, offset, block, bounds = programme(seed)
    alpha = solve_master(A, offset, block, bounds, 1e-10)
    assert (alpha >= 0).all()
    assert (np.bincount(block, alpha, len(bounds)) <= bounds * (1 + 1e-9)).all()
    w = A.T @ alpha
    losses = np.zeros(len(bounds))
    np.maximum.at(losses, block, offset - A @ w)
    primal, dual = 0.5 * w @ w + bounds @ losses, alpha @ offset - 0.5 * w @ w
    assert primal == pytest.approx(dual, rel=1e-7)

    def minus_dual(a):
        return 0.5 * np.sum((A.T @ a) ** 2) - a @ offset, A @ (A.T @ a) - offset

    within = {"type": "ineq", "fun": lambda a: bounds - np.bincount(block, a, len(bounds))}
    box = [(0, None)] * len(offset)
    options = {"maxiter": 1000, "ftol": 1e-13}
    peer = minimize(minus_dual, alpha * 0, jac=True, method="SLSQP", bounds=box, constraints=[within], options=options)
    assert dual >= -peer.fun * (1 - 1e-7)


def test_features_of_very_different_sizes_converge():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = (rng.normal(size=(90, 3)) + y[:, None]) * [1.0, 100.0, 1e4] + [0.0, 1000.0, 0.0]
    found = StructuredSVM(random_state=0, max_iter=60).fit(X, y)
    assert found.converged_
    other = StructuredSVM(random_state=1, max_iter=60, tol=1e-5).fit(X, y)
    assert found.objective_ == pytest.approx(other.objective_, rel=1.1e-3)


def test_ctrl_c_ends_a_fit_after_a_round():
    class Impatient(StructuredSVM):
        def _solve(self, problem, *, bounds, start, seed, hook):
            calls = []

            def stop(iteration, primal, gap):
                calls.append(iteration)
                if iteration == 2:
                    raise KeyboardInterrupt

            return super()._solve(problem, bounds=bounds, start=start, seed=seed, hook=stop)

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 3, size=60)
    for solver in ("frank_wolfe", "cutting_plane"):
        found = Impatient(solver=solver, tol=1e-12, random_state=0).fit(X, y)
        assert (found.reason_, found.n_iter_, found.converged_) == ("interrupted", 2, False)
        assert np.isfinite(found.gap_)
