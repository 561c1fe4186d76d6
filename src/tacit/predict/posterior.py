"""From sums to a distribution over the weights of a linear regression, as fitted attributes."""

from typing import Any

import numpy as np

from tacit.predict.evidence import Array, Hyper, Problem, Spectrum, State, maximise, whiten


def least_squares(problem: Problem) -> dict[str, Any]:
    """Maximum likelihood: the weights of least norm if columns depend on each other."""
    spectrum = Spectrum.of(problem)
    weights = spectrum.along / spectrum.values
    noise = max(spectrum.residual(weights) / problem.n, np.finfo(float).tiny)
    return {
        "coef_": spectrum.vectors @ weights,
        "sigma_": (spectrum.vectors * (noise / spectrum.values)) @ spectrum.vectors.T,
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
