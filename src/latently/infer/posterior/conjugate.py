"""Exact posteriors: the conjugate priors of our families, and the distribution of each of their parameters."""

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np
from scipy import stats

from latently.distributions import Beta, Dirichlet, Gamma, NormalInverseWishart
from latently.distributions.base import Distribution
from latently.distributions.family import Family
from latently.distributions.priors.base import Prior
from latently.infer.factors import Floats
from latently.infer.posterior.line import nodes_of
from latently.infer.posterior.methods import Result, average_of_draws
from latently.infer.posterior.summaries import Empirical, Marginal


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
