"""Categorical: one column of codes 0..C-1."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from latently.distributions.base import UNSET, Distribution
from latently.distributions.family import ExponentialFamily
from latently.distributions.inputs import LOG_ZERO, Array, no_negative
from latently.distributions.priors.base import as_prior
from latently.distributions.priors.dirichlet import Dirichlet
from latently.distributions.statistics import Additive, as_sums
from latently.distributions.unconstrained import logit_gradient


@dataclass(frozen=True, eq=False)
class Categorical(ExponentialFamily):
    """One column of category codes 0, 1, ..., C-1.

    Features are one indicator per category; the conjugate prior is `Dirichlet`. A code outside them has
    probability 0; NaN is missing.

    Parameters
    ----------
    probabilities : (C,) summing to one
    n_categories : C; a template that leaves it out takes the largest code it sees, plus one

    Examples
    --------
    >>> colour = Categorical(n_categories=3).fit([0, 0, 1, 0])
    >>> colour.prob([0, 2, float("nan")])
    array([0.75, 0.  , 1.  ])
    """

    probabilities: Array = UNSET
    n_categories: int | None = None

    PARAMETERS: ClassVar[tuple[str, ...]] = ("probabilities",)
    SCALES: ClassVar[tuple[str, ...]] = ("simplex",)
    IS_CODED: ClassVar[bool] = True
    _DISCRETE: ClassVar[bool] = True
    _ENDS: ClassVar[tuple[float, float]] = (0, np.inf)

    # parameters

    def __post_init__(self) -> None:
        """Freeze and check the probabilities."""
        if self.probabilities is not None:
            p = self._freeze("probabilities", as_simplex(self.probabilities, "Categorical"))
            if self.n_categories not in (None, len(p)):
                raise ValueError(f"{len(p)} probabilities given, but n_categories is {self.n_categories}")
            object.__setattr__(self, "n_categories", len(p))

    @property
    def VALUES(self) -> str:  # type: ignore[override]  # noqa: N802
        """What the column may hold."""
        return "codes 0, 1, ..." if self.n_categories is None else f"codes 0..{self.n_categories - 1}"

    def _width(self) -> int:
        return 1

    def _n_parameters(self) -> int:
        return len(self.probabilities) - 1

    # statistics

    def _outside(self, X: Array) -> NDArray[np.bool_]:
        top = np.inf if self.n_categories is None else self.n_categories
        return np.asarray((X < 0) | (top <= X) | ((np.floor(X) != X) & ~np.isnan(X)))

    def _features(self, X: Array, origin: Array | None) -> Array:
        seen = np.flatnonzero(~np.isnan(X[:, 0]))
        codes = X[seen, 0].astype(np.intp)
        C = self.n_categories or int(codes.max(initial=0)) + 1
        indicators = np.zeros((len(X), C))
        indicators[seen, codes] = 1.0
        return indicators

    def _natural(self, origin: Array | None) -> Array:
        return np.asarray(np.maximum(special.xlogy(1.0, self.probabilities), LOG_ZERO))

    # evaluation

    def _log_prob(self, X: Array) -> Array:
        outside = self._outside(X)[:, 0]
        missing = np.isnan(X[:, 0])
        codes = np.where(outside | missing, 0, X[:, 0]).astype(np.intp)
        found = special.xlogy(1.0, self.probabilities)[codes]
        return np.where(outside, -np.inf, np.where(missing, 0.0, found))

    def _mean(self) -> Array:
        return np.array([np.arange(len(self.probabilities)) @ self.probabilities])

    def _variance(self) -> Array:
        return np.asarray((np.arange(len(self.probabilities)) - self._mean()) ** 2 @ self.probabilities)[None]

    def _mode(self) -> Array:
        return np.array([float(np.argmax(self.probabilities))])

    def _entropy(self) -> float:
        return float(special.entr(self.probabilities).sum())

    def _cdf(self, X: Array) -> Array:
        steps = np.concatenate([[0.0], np.minimum(np.cumsum(self.probabilities), 1.0)])
        steps[-1] = 1.0
        codes = np.clip(np.floor(np.nan_to_num(X)) + 1, 0, len(steps) - 1).astype(np.intp)
        return np.asarray(steps[codes])

    def _quantile(self, q: Array, upper: bool = False) -> Array:
        level = 1 - q if upper else q
        ends = np.cumsum(self.probabilities)
        last = int(np.flatnonzero(self.probabilities)[-1])
        return np.minimum(np.searchsorted(ends, level), last).astype(np.float64)

    def _kl(self, other: Distribution) -> float | None:
        if not isinstance(other, Categorical):
            return None
        C = max(len(self.probabilities), len(other.probabilities))
        p, q = (np.pad(d.probabilities, (0, C - len(d.probabilities))) for d in (self, other))
        return float(special.kl_div(p, q).sum())

    def _atoms(self) -> Array | None:
        return np.arange(len(self.probabilities), dtype=np.float64)[:, None]

    # sampling

    def _sample(self, n: int, rng: np.random.Generator) -> Array:
        return rng.choice(len(self.probabilities), size=(n, 1), p=self.probabilities).astype(np.float64)

    # fit

    def from_statistics(self, stats: Additive, prior: Dirichlet | None = None) -> Self:
        """Shares of the categories; with a Dirichlet prior, the mode of the posterior."""
        return type(self)(shares(stats, prior, self, self.n_categories))

    def gradient(self, stats: Additive) -> Array:
        """Counts less those expected."""
        return logit_gradient(as_sums(stats, "Categorical").total, self.probabilities)


def as_simplex(values: Array, who: str) -> Array:
    """Give probabilities (C,) that sum to one exactly, from some that do to rounding."""
    p = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if p.ndim != 1 or p.size == 0 or not np.isfinite(p).all() or (p < 0).any():
        raise ValueError(f"probabilities of {who} must be finite, not negative, of shape (C,), got {p}")
    if abs(p.sum() - 1) > 1e-8:
        raise ValueError(f"probabilities of {who} must sum to 1, not to {p.sum():.10g}")
    return np.asarray(p / p.sum())


def shares(stats: Additive, prior: Dirichlet | None, who: Distribution, C: int | None) -> Array:
    """Estimate probabilities (C,) from counts: maximum likelihood, or the mode under a Dirichlet prior."""
    counts = no_negative(as_sums(stats, type(who).__name__).total, "counts")
    if C not in (None, counts.size):
        raise ValueError(f"counts of {counts.size} categories do not fit {who}")
    if prior is not None:
        return as_prior(prior, Dirichlet, who).posterior(stats).mode
    if counts.sum() <= 0:
        raise ValueError(f"{type(who).__name__} has no observed values (or no weight): give a Dirichlet prior")
    return np.asarray(counts / counts.sum())
