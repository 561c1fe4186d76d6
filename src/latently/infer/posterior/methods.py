"""What a way to a posterior must give, and the ways that need no sampler: exact, and by Gauss."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import stats

from latently.infer.factors import Floats
from latently.infer.posterior.optimise import curvature, modes
from latently.infer.posterior.summaries import Marginal
from latently.infer.posterior.target import Target


@dataclass(frozen=True, eq=False)
class Result:
    """A posterior, however it was found.

    Attributes
    ----------
    method : str
        "exact", "grid", "laplace" or "sample".
    mean : ndarray (d,)
        Mean.
    find_mode : callable
        Gives the place of highest density, `mode`; an error if there is none.
    covariance : ndarray (d, d)
        Covariance.
    marginals : list
        The distribution of each parameter by itself: `pdf`, `ppf`, `support`.
    log_evidence : float
        Log of the integral of prior times likelihood.
    draw : callable
        n, random generator -> draws (n, d).
    average : callable
        Function of rows (n, d) -> its mean.
    diagnostics : dict
        How far this can be trusted.
    """

    method: str
    mean: Floats
    find_mode: Callable[[], Floats]
    covariance: Floats
    marginals: Sequence[Marginal]
    log_evidence: float
    draw: Callable[[int, np.random.Generator], Floats]
    average: Callable[[Callable[[Floats], Floats]], float]
    diagnostics: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def mode(self) -> Floats:
        """The place of highest density: looked for when it is asked for, since there need not be one."""
        return self.find_mode()


def laplace(target: Target, starts: Floats, scale: Floats) -> Result:
    """Fit a Gaussian at the highest point: mean, and covariance from the curvature."""
    hills = modes(target, starts, scale, target.prior.bounds)
    if not hills:
        raise ValueError("the posterior is zero wherever it was evaluated: the prior excludes the data")
    mode, height = hills[0]
    bend = curvature(target, mode, target.prior.bounds)
    if not np.all(np.linalg.eigvalsh(bend) > 0):
        raise ValueError("the posterior has no single highest point: a Gaussian does not fit; use method='sample'")
    covariance: Floats = np.asarray(np.linalg.inv(bend), dtype=np.float64)
    d = len(mode)
    evidence = height + d / 2 * np.log(2 * np.pi) - np.linalg.slogdet(bend)[1] / 2

    def draw(n: int, rng: np.random.Generator) -> Floats:
        return rng.multivariate_normal(mode, covariance, size=n, method="cholesky")

    return Result(
        "laplace",
        mode,
        lambda: mode,
        covariance,
        [stats.norm(m, np.sqrt(v)) for m, v in zip(mode, np.diag(covariance), strict=True)],
        float(evidence),
        draw,
        average_of_draws(draw),
        {"modes": [place.tolist() for place, _ in hills]},
    )


def average_of_draws(
    draw: Callable[[int, np.random.Generator], Floats], n: int = 100_000
) -> Callable[[Callable[[Floats], Floats]], float]:
    """Give the mean of a function over draws that are the same each time."""

    def average(function: Callable[[Floats], Floats]) -> float:
        return float(np.mean(function(draw(n, np.random.default_rng(0)))))

    return average
