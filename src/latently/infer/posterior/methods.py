"""What a way to a posterior must give, and the ways that need no sampler: exact, and by Gauss."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, singledispatch
from typing import Any

import numpy as np
from scipy import stats

from latently.distributions import Beta, Dirichlet, Gamma, NormalInverseWishart
from latently.distributions.base import Distribution
from latently.distributions.family import Family
from latently.distributions.priors.base import Prior
from latently.infer.factors import Floats
from latently.infer.posterior.line import nodes_of
from latently.infer.posterior.optimise import curvature, modes
from latently.infer.posterior.summaries import Empirical, Marginal
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


def exact(prior: Prior, family: Family, data: Any) -> Result:
    """Update a conjugate prior by the statistics of the data."""
    seen = family.statistics(data)
    after = prior.posterior(seen)
    draws = after.sample(20_000, 0)
    covariance = np.cov(draws, rowvar=False).reshape(after.n_columns, -1)
    variance = np.asarray(after.variance)
    # correlations from draws, variances exactly
    scale = np.sqrt(variance / np.diag(covariance))
    marginals = marginals_of(after, draws)
    single = after.n_columns == 1
    return Result(
        "exact",
        np.asarray(after.mean),
        lambda: np.asarray(after.mode),
        covariance * scale[:, None] * scale,
        marginals,
        prior.log_marginal(seen),
        lambda n, rng: after.sample(n, rng),
        _by_quantiles(marginals[0]) if single else average_of_draws(lambda n, rng: after.sample(n, rng)),
        {"distribution": after},
    )


def _by_quantiles(marginal: Marginal) -> Callable[[Callable[[Floats], Floats]], float]:
    """Average over one parameter: the integral of f(quantile(u)) over u, on panels that narrow to both ends."""
    half = 0.5 ** np.arange(1, 41)
    nodes, weights = nodes_of(np.concatenate([[0.0], half[::-1], 1 - half[1:], [1.0]]))
    places = np.asarray(marginal.ppf(nodes.ravel()))[:, None]
    return lambda function: float(weights.ravel() @ function(places))


@singledispatch
def marginals_of(after: Distribution, draws: Floats) -> list[Marginal]:
    """Give the distribution of each column; from draws where there is no closed form."""
    return [Empirical(column) for column in draws.T]


@marginals_of.register
def _(after: Beta, draws: Floats) -> list[Marginal]:
    return [stats.beta(a, b) for a, b in zip(after.a, after.b, strict=True)]


@marginals_of.register
def _(after: Gamma, draws: Floats) -> list[Marginal]:
    return [stats.gamma(k, scale=1 / r) for k, r in zip(after.shape, after.rate, strict=True)]


@marginals_of.register
def _(after: Dirichlet, draws: Floats) -> list[Marginal]:
    total = after.concentration.sum()
    return [stats.beta(a, total - a) for a in after.concentration]


@marginals_of.register
def _(after: NormalInverseWishart, draws: Floats) -> list[Marginal]:
    d = after.n_dimensions
    # full: the variance of one column of an inverse Wishart is inverse gamma with d - 1 degrees less
    dof = np.broadcast_to(after.dof - (d - 1 if after.kind == "full" else 0), (d,))
    scatter = np.broadcast_to(np.diag(after.scatter) if after.kind == "full" else after.scatter, (d,))
    kappa = np.broadcast_to(after.kappa, (d,))
    spread = np.sqrt(scatter / (kappa * dof))
    means = [stats.t(n, m, s) for n, m, s in zip(dof, after.location, spread, strict=True)]
    variances = [stats.invgamma(n / 2, scale=s / 2) for n, s in zip(dof, scatter, strict=True)]
    if after.kind == "spherical":
        return [*means, variances[0]]
    if after.kind == "diag":
        return [*means, *variances]
    rows, columns = np.triu_indices(d)
    rest: list[Marginal] = [Empirical(column) for column in draws[:, d:].T]
    return [*means, *(variances[i] if i == j else r for i, j, r in zip(rows, columns, rest, strict=True))]


def names_of(after: Distribution, family: Family) -> tuple[str, ...]:
    """Name the columns of a conjugate posterior by the parameters of its family."""
    if not isinstance(after, NormalInverseWishart):
        (name,) = type(family).PARAMETERS
        many = after.n_columns > 1
        return tuple(f"{name}[{j}]" if many else name for j in range(after.n_columns))
    d = after.n_dimensions
    means = [f"mean[{j}]" if d > 1 else "mean" for j in range(d)]
    if after.kind == "full":
        rest = [f"covariance[{i},{j}]" if d > 1 else "variance" for i, j in zip(*np.triu_indices(d), strict=True)]
    else:
        rest = [f"variance[{j}]" for j in range(d)] if after.kind == "diag" and d > 1 else ["variance"]
    return (*means, *rest)


def fitted_row(family: Family) -> Floats:
    """Write the parameters of a fitted family as a row of its conjugate prior."""
    values = [np.asarray(getattr(family, name), dtype=np.float64) for name in type(family).PARAMETERS]
    if values[-1].ndim == 2:  # a full covariance: its upper triangle
        values[-1] = values[-1][np.triu_indices(len(values[-1]))]
    return np.concatenate([np.atleast_1d(v).ravel() for v in values])
