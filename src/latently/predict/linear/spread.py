"""How far the answers of a linear regression spread: a Student's t, with what is not known of its precisions in it.

Given the ratio rho = lambda / alpha the noise integrates out: with S = residual + rho |w|^2 and nu degrees of freedom
its variance is S / nu times an inverse chi-square. Over rho a grid is summed, each point with its evidence.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, polygamma

from latently.predict.linear.evidence import EPS, Array, Hyper, Spectrum, State

# Prior of rho in units of the mean eigenvalue, per unit of log rho: rho^0.02 where signals are strong, rho^-0.05 where
# there is none, so weak that intervals of a few rows hold what they say at every strength.
_STRONG, _NONE = 0.02, 0.05
_COARSE = np.linspace(-60.0, 20.0, 161)  # log rho, in the same units
_FINE = 81
# Points with less than this share of the highest density are not looked at again.
_NEGLIGIBLE = 1e-7


@dataclass(frozen=True, eq=False)
class Grid:
    """Settings of the precisions, and how probable they are.

    Attributes
    ----------
    shares : (g,) probabilities
    noise : (g,) variance of the noise at each
    ratio : (g,) precision of the weights over that of the noise
    freedom : degrees of freedom that the variances at a point still have, infinite if they are known there
    """

    shares: Array
    noise: Array
    ratio: Array
    freedom: float


@dataclass(frozen=True, eq=False)
class Spread:
    """Squared scales of a Student's t, and its degrees of freedom.

    Attributes
    ----------
    noise : of the noise
    weights : (d, d) of the weights about their estimate
    freedom : degrees of freedom; 0 if the rows are too few to estimate the noise
    """

    noise: float
    weights: Array
    freedom: float


def spread_of(spectrum: Spectrum, best: State, hyper: Hyper, learn: tuple[bool, bool], level: bool) -> Spread:
    """Spread about the posterior mean at `best`, in the whitened weights.

    Parameters
    ----------
    spectrum
        The problem.
    best
        The precisions found, or given.
    hyper
        Gamma priors on the precisions.
    learn
        Whether the noise precision and the weight precision were found.
    level
        Whether a level was taken out, which costs a degree of freedom.
    """
    if not learn[0]:
        return _matched(spectrum, best, Grid(np.ones(1), np.array([1 / best.alpha]), np.array([_ratio(best)]), np.inf))
    if spectrum.problem.n - level <= 0:
        return Spread(1 / best.alpha, np.eye(len(spectrum.problem.xy)) / best.lam, 0.0)
    weigh = _integrated if learn[1] else _at_fixed_weights
    unit = max(float(spectrum.values.mean()) if len(spectrum.values) else 1.0, 1e-300)
    grid = weigh(spectrum, unit * np.exp(_COARSE), best, hyper, level)
    kept = np.flatnonzero(grid.shares > _NEGLIGIBLE * grid.shares.max())
    ends = _COARSE[max(kept[0] - 1, 0)], _COARSE[min(kept[-1] + 1, len(_COARSE) - 1)]
    return _matched(spectrum, best, weigh(spectrum, unit * np.exp(np.linspace(*ends, _FINE)), best, hyper, level))


def _ratio(state: State) -> float:
    return state.lam / state.alpha


def _integrated(spectrum: Spectrum, ratio: Array, best: State, hyper: Hyper, level: bool) -> Grid:
    """Both precisions unknown: the noise is integrated out at each ratio."""
    left = ratio[:, None] / (spectrum.values + ratio[:, None])  # (g, r) share of each weight that the prior has
    # y'y - w'X'y, at each ratio
    squares = spectrum.problem.yy - (spectrum.along**2 / spectrum.values * (1 - left)).sum(axis=1)
    squares = np.maximum(squares, EPS**2 * spectrum.problem.yy) + 2 * (hyper.alpha_2 + ratio * hyper.lambda_2)
    freedom = spectrum.problem.n - level + 2 * (hyper.alpha_1 + hyper.lambda_1)
    log = 0.5 * (np.log(left).sum(axis=1) - freedom * np.log(np.maximum(squares, 1e-300)))
    return Grid(
        _shares(log + hyper.lambda_1 * np.log(ratio), ratio, spectrum), squares / freedom, ratio, float(freedom)
    )


def _at_fixed_weights(spectrum: Spectrum, ratio: Array, best: State, hyper: Hyper, level: bool) -> Grid:
    """The noise alone unknown: the prior of the weights is as given."""
    alpha = best.lam / ratio
    w = alpha[:, None] * spectrum.along / (best.lam + alpha[:, None] * spectrum.values)
    rest = spectrum.problem.yy - 2 * w @ spectrum.along + w**2 @ spectrum.values
    fit = alpha * (np.maximum(rest, EPS**2 * spectrum.problem.yy) + 2 * hyper.alpha_2) + best.lam * (w**2).sum(axis=1)
    grown = np.log1p(alpha[:, None] * spectrum.values / best.lam).sum(axis=1)
    log = 0.5 * ((spectrum.problem.n - level + 2 * hyper.alpha_1) * np.log(alpha) - fit - grown)
    return Grid(_shares(log, ratio, spectrum), 1 / alpha, ratio, np.inf)


def _shares(log: Array, ratio: Array, spectrum: Spectrum) -> Array:
    """(g,) probabilities on a grid that is even in log ratio."""
    unit = max(float(spectrum.values.mean()) if len(spectrum.values) else 1.0, 1e-300)
    log = log + _STRONG * np.log(ratio / unit) - (_STRONG + _NONE) * np.log1p(ratio / unit)
    weight = np.exp(log - log.max())
    return np.asarray(weight / weight.sum())


def _matched(spectrum: Spectrum, best: State, grid: Grid) -> Spread:
    """One Student's t for all points of a grid: as wide, and as unsure of its width, as they are together."""
    factor, freedom = _student(grid, _typical(spectrum, grid))
    shares, noise, ratio = factor * grid.shares, grid.noise, grid.ratio
    inside = (shares * noise) @ (1 / (spectrum.values + ratio[:, None]))  # (r,)
    w = spectrum.along / (spectrum.values + ratio[:, None])
    apart = np.sqrt(shares)[:, None] * (w - spectrum.weights(best.alpha, best.lam))
    vectors = spectrum.vectors
    covariance = (vectors * inside) @ vectors.T + _outer(vectors @ apart.T)
    if vectors.shape[1] < len(vectors):  # directions that the data say nothing about keep the prior's variance
        covariance += float((shares * noise) @ (1 / ratio)) * (np.eye(len(vectors)) - vectors @ vectors.T)
    return Spread(float(shares @ noise), covariance, freedom)


def _outer(root: Array) -> Array:
    return root @ root.T


def _typical(spectrum: Spectrum, grid: Grid) -> Array:
    """(g,) variance of the answer for a row like those that were learnt."""
    n, (d, r) = spectrum.problem.n, spectrum.vectors.shape
    within = (spectrum.values / (spectrum.values + grid.ratio[:, None])).sum(axis=1)
    # With fewer rows than columns new rows leave the span of the old ones; a constant column stays constant.
    beyond = (d - r) * spectrum.values.mean() / grid.ratio if r and r >= n - 1 else 0.0
    return np.asarray(grid.noise * (1 + (1 + within + beyond) / n))


def _student(grid: Grid, variance: Array) -> tuple[float, float]:
    """Factor for the mean variance, and degrees of freedom, that give the log variance its mean and its variance."""
    log = np.log(np.maximum(variance, 1e-300))
    mean = float(grid.shares @ log)
    apart = float(grid.shares @ (log - mean) ** 2) + _log_variance(grid.freedom)
    freedom = _freedom(apart)
    scale = np.exp(mean + _log_bias(freedom) - _log_bias(grid.freedom))
    return float(scale / max(float(grid.shares @ variance), 1e-300)), freedom


def _freedom(apart: float) -> float:
    """Degrees of freedom of the inverse chi-square whose log has this variance."""
    if apart < _log_variance(1e9):
        return np.inf
    return float(np.exp(brentq(lambda log: _log_variance(np.exp(log)) - apart, np.log(1e-6), np.log(2e9))))


def _log_variance(freedom: float) -> float:
    return float(polygamma(1, freedom / 2)) if np.isfinite(freedom) else 0.0


def _log_bias(freedom: float) -> float:
    return float(digamma(freedom / 2) - np.log(freedom / 2)) if np.isfinite(freedom) else 0.0
