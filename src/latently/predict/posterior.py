"""From sums to a distribution over the weights of a linear regression, as fitted attributes."""

from typing import Any

import numpy as np

from latently.predict.evidence import Array, Hyper, Problem, Spectrum, State, maximise, whiten

NO_NOISE = 1e-100  # stands for a variance of zero, and can be divided by


def least_squares(problem: Problem) -> dict[str, Any]:
    """Maximum likelihood: the weights of least norm, in the units of the columns, if these are dependent."""
    size = np.sqrt(np.diagonal(problem.xx))
    unit = np.where(size > 0, size, 1.0)
    inner = Problem(problem.n, problem.xx / unit / unit[:, None], problem.xy / unit, problem.yy)
    spectrum = Spectrum.of(inner)
    weights = spectrum.along / spectrum.values
    noise = max(spectrum.residual(weights) / problem.n, NO_NOISE)
    back = spectrum.vectors / unit[:, None]
    return {
        "coef_": back @ weights,
        "sigma_": (back * (noise / spectrum.values)) @ back.T,
        "alpha_": 1 / noise,
        "lambda_": 0.0,
        "trace_": np.array([-0.5 * problem.n * (np.log(2 * np.pi * noise) + 1)]),
        "converged_": True,
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
) -> dict[str, Any]:
    """Posterior under the prior N(mean, (lam shape)^-1), with the precisions found as `maximise` says."""
    inner, back = whiten(problem, shape, mean)
    spectrum = Spectrum.of(inner)
    best, trace, converged = maximise(spectrum, start, hyper, learn, tol, max_iter)
    # Directions that the data say nothing about keep the prior's variance 1 / lam.
    gain = 1 / (best.lam + best.alpha * spectrum.values) - 1 / best.lam
    vectors = spectrum.vectors
    inside = np.eye(len(mean)) / best.lam + (vectors * gain) @ vectors.T
    return {
        "coef_": mean + back @ (vectors @ spectrum.weights(best.alpha, best.lam)),
        "sigma_": back @ inside @ back.T,
        "alpha_": best.alpha,
        "lambda_": best.lam,
        "trace_": np.array(trace),
        "converged_": converged,
    }
