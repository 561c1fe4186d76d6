"""From sums to a distribution over the weights of a linear regression, as fitted attributes."""

from typing import Any

import numpy as np

from latently.predict.linear.evidence import Array, Hyper, Problem, Spectrum, State, maximise, whiten
from latently.predict.linear.spread import spread_of

NO_NOISE = 1e-100  # stands for a variance of zero, and can be divided by


def least_squares(problem: Problem, level: bool) -> dict[str, Any]:
    """Least squares: the weights of least norm, in the units of the columns, if these are dependent.

    The noise has the residuals over their degrees of freedom for its variance; where none are left, over the rows.
    """
    size = np.sqrt(np.diagonal(problem.xx))
    unit = np.where(size > 0, size, 1.0)
    inner = Problem(problem.n, problem.xx / unit / unit[:, None], problem.xy / unit, problem.yy)
    spectrum = Spectrum.of(inner)
    weights = spectrum.along / spectrum.values
    squares = spectrum.residual(weights)
    freedom = max(problem.n - level - len(weights), 0.0)
    noise = max(squares / (freedom or problem.n), NO_NOISE)
    back = spectrum.vectors / unit[:, None]
    sigma = (back * (noise / spectrum.values)) @ back.T
    return {
        "coef_": back @ weights,
        "sigma_": sigma,
        "alpha_": 1 / noise,
        "lambda_": 0.0,
        "trace_": np.array([-0.5 * problem.n * (np.log(2 * np.pi * max(squares / problem.n, NO_NOISE)) + 1)]),
        "converged_": True,
        "freedom_": freedom,
        "_noise": noise,
        "_spread": sigma,
    }


def bayes(
    problem: Problem,
    shape: Array,
    mean: Array,
    start: State,
    hyper: Hyper,
    learn: tuple[bool, bool],
    tol: float,
    max_iter: int,
    level: bool,
) -> dict[str, Any]:
    """Posterior under the prior N(mean, (lam shape)^-1), with the precisions found as `maximise` says."""
    inner, back = whiten(problem, shape, mean)
    spectrum = Spectrum.of(inner)
    best, trace, converged = maximise(spectrum, start, hyper, learn, tol, max_iter)
    # Directions that the data say nothing about keep the prior's variance 1 / lam.
    gain = 1 / (best.lam + best.alpha * spectrum.values) - 1 / best.lam
    vectors = spectrum.vectors
    inside = np.eye(len(mean)) / best.lam + (vectors * gain) @ vectors.T
    spread = spread_of(spectrum, best, hyper, learn, level)
    return {
        "coef_": mean + back @ (vectors @ spectrum.weights(best.alpha, best.lam)),
        "sigma_": back @ inside @ back.T,
        "alpha_": best.alpha,
        "lambda_": best.lam,
        "trace_": np.array(trace),
        "converged_": converged,
        "freedom_": spread.freedom,
        "_noise": spread.noise,
        "_spread": back @ spread.weights @ back.T,
    }
