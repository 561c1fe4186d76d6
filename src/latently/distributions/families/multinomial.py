"""Multinomial: rows of counts over C categories."""

from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from latently.distributions.base import UNSET, Distribution
from latently.distributions.families.categorical import as_simplex, shares
from latently.distributions.family import ExponentialFamily
from latently.distributions.inputs import LOG_ZERO, Array, as_rows, as_weights
from latently.distributions.iterate import until_still
from latently.distributions.priors.dirichlet import Dirichlet
from latently.distributions.statistics import Additive, Sums, as_sums
from latently.distributions.unconstrained import logit_gradient


@dataclass(frozen=True, eq=False)
class Multinomial(ExponentialFamily):
    """Rows of C counts, given how many there are in a row.

    Features are the counts; the conjugate prior is `Dirichlet`. In a partly missing row the observed counts
    are multinomial again: among themselves, or, if `n_trials` says how many there were, with the rest in one
    category.

    Parameters
    ----------
    probabilities : (C,) summing to one
    n_trials : total of every row; left out, each row's own total is taken as given, and `sample`, `mean`,
        `variance`, `mode` and `entropy` cannot be asked for

    Examples
    --------
    >>> words = Multinomial(n_trials=4).fit([[3, 1, 0], [1, 1, 2]])
    >>> words.mean
    array([2., 1., 1.])
    >>> words.prob([[2, 1, 1]])
    array([0.188])
    """

    probabilities: Array = UNSET
    n_trials: int | None = None

    PARAMETERS: ClassVar[tuple[str, ...]] = ("probabilities",)
    SCALES: ClassVar[tuple[str, ...]] = ("simplex",)
    VALUES: ClassVar[str] = "whole numbers from 0 on, that sum to n_trials where that is given"
    _DISCRETE: ClassVar[bool] = True
    _ENDS: ClassVar[tuple[float, float]] = (0, np.inf)

    # parameters

    def __post_init__(self) -> None:
        """Freeze and check the probabilities."""
        if self.probabilities is not None:
            self._freeze("probabilities", as_simplex(self.probabilities, "Multinomial"))
        if self.n_trials is not None and (self.n_trials < 0 or self.n_trials != int(self.n_trials)):
            raise ValueError(f"n_trials must be a whole number, not {self.n_trials}")

    def _width(self) -> int | None:
        return None if self.probabilities is None else len(self.probabilities)

    def _n_parameters(self) -> int:
        return self.n_columns - 1

    def _trials(self) -> int:
        if self.n_trials is None:
            raise ValueError("this Multinomial does not know its row totals: give n_trials")
        return int(self.n_trials)

    # statistics

    def _outside(self, X: Array) -> NDArray[np.bool_]:
        missing = np.isnan(X)
        bad = (X < 0) | np.isinf(X) | ((np.floor(X) != X) & ~missing)
        if self.n_trials is not None:
            total = np.where(bad, 0.0, np.nan_to_num(X)).sum(axis=1)
            wrong = (total > self.n_trials) | ((total < self.n_trials) & ~missing.any(axis=1))
            bad |= (wrong & ~bad.any(axis=1))[:, None] & ~missing
        return np.asarray(bad)

    def _features(self, X: Array, origin: Array | None) -> Array:
        missing = np.isnan(X)
        partly = missing.any(axis=1) & ~missing.all(axis=1)
        if partly.any():
            raise ValueError(
                f"row {int(np.argmax(partly))} is partly missing: use expected_statistics of a fitted "
                "Multinomial, or fit"
            )
        return np.asarray(np.nan_to_num(X))

    def _natural(self, origin: Array | None) -> Array:
        return np.asarray(np.maximum(special.xlogy(1.0, self.probabilities), LOG_ZERO))

    def _log_base(self, X: Array) -> Array:
        counts = np.nan_to_num(X)
        return np.asarray(special.gammaln(counts.sum(axis=1) + 1) - special.gammaln(counts + 1).sum(axis=1))

    def expected_statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> Additive:
        """Sum up counts with missing ones at their expectation, in proportion to their probabilities."""
        rows = self._ready()._supported(as_rows(X, self.n_columns))
        missing = np.isnan(rows) & ~np.isnan(rows).all(axis=1, keepdims=True)
        counts = np.nan_to_num(rows)
        seen, hidden = counts.sum(axis=1), missing @ self.probabilities
        if self.n_trials is None:
            scale = np.divide(seen, 1 - hidden, out=np.zeros(len(rows)), where=hidden < 1)
        else:
            scale = np.divide(self.n_trials - seen, hidden, out=np.zeros(len(rows)), where=hidden > 0)
        filled = counts + missing * self.probabilities * scale[:, None]
        return Sums(as_weights(weights, len(rows)) @ filled)

    # evaluation

    def _log_prob(self, X: Array) -> Array:
        outside, missing = np.asarray(self._outside(X).any(axis=1)), np.isnan(X)
        counts = np.where(outside[:, None] | missing, 0.0, X)
        seen, hidden = counts.sum(axis=1), np.clip(missing @ self.probabilities, 0.0, 1 - 2**-53)
        body = (special.xlogy(counts, self.probabilities) - special.gammaln(counts + 1)).sum(axis=1)
        if self.n_trials is None:
            body += special.gammaln(seen + 1) - special.xlog1py(seen, -hidden)
        else:
            rest = np.where(missing.any(axis=1), self.n_trials - seen, 0.0)
            body += special.gammaln(seen + rest + 1) + special.xlogy(rest, hidden) - special.gammaln(rest + 1)
        impossible = outside | (special.xlogy(counts, self.probabilities) == -np.inf).any(axis=1)
        return np.where(impossible, -np.inf, np.where(missing.all(axis=1), 0.0, body))

    def _mean(self) -> Array:
        return np.asarray(self._trials() * self.probabilities)

    def _variance(self) -> Array:
        return np.asarray(self._trials() * self.probabilities * (1 - self.probabilities))

    def _mode(self) -> Array:
        # no count of the mode is below floor(n p); what is left goes, one by one, where it costs least
        counts = np.floor(self._mean())
        for _ in range(self._trials() - int(counts.sum())):
            counts[np.argmax(self.probabilities / (counts + 1))] += 1
        return counts

    def _entropy(self) -> float:
        n = self._trials()
        x = np.arange(n + 1.0)
        p = self.probabilities[:, None]
        log_choose = special.gammaln(n + 1) - special.gammaln(x + 1) - special.gammaln(n - x + 1)
        binomial = np.exp(log_choose + special.xlogy(x, p) + special.xlog1py(n - x, -p))  # (C, n + 1)
        expected = float((binomial @ special.gammaln(x + 1)).sum())  # sum_c E log x_c!
        return n * float(special.entr(p).sum()) - float(special.gammaln(n + 1)) + expected

    def _kl(self, other: Distribution) -> float | None:
        if not isinstance(other, Multinomial):
            return None
        if self._trials() != other._trials():
            return np.inf
        return self._trials() * float(special.kl_div(self.probabilities, other.probabilities).sum())

    def _atoms(self) -> Array | None:
        n, C = self._trials(), self.n_columns
        if comb(n + C - 1, C - 1) > 100_000:
            return None
        bars = np.array(list(combinations(range(n + C - 1), C - 1)), dtype=np.float64).reshape(-1, C - 1)
        edges = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, n + C - 1)))
        return np.diff(edges, axis=1) - 1

    # sampling

    def _sample(self, n: int, rng: np.random.Generator) -> Array:
        return rng.multinomial(self._trials(), self.probabilities, size=n).astype(np.float64)

    # fit

    def from_statistics(self, stats: Additive, prior: Dirichlet | None = None) -> Self:
        """Shares of the counts; with a Dirichlet prior, the mode of the posterior."""
        return replace(self, probabilities=shares(stats, prior, self, self._width()))

    def gradient(self, stats: Additive) -> Array:
        """Counts less those expected."""
        return logit_gradient(as_sums(stats, "Multinomial").total, self.probabilities)

    def default_prior(self, stats: Additive, strength: float, spread: Array | None) -> Dirichlet:
        """A Dirichlet about the shares of all rows."""
        return Dirichlet(1 + strength * self.from_statistics(stats).probabilities)

    def fit(self, X: ArrayLike, weights: ArrayLike | None = None, prior: Dirichlet | None = None) -> Self:
        """Fit to the rows of X; with partly missing rows, by EM until the probabilities stand still."""
        rows = self._supported(as_rows(X, self._width()))
        missing = np.isnan(rows)
        if (missing.any(axis=1) == missing.all(axis=1)).all():
            return super().fit(rows, weights, prior)
        start = replace(self, probabilities=np.full(rows.shape[1], 1 / rows.shape[1]))
        return until_still(
            start,
            lambda current: current.from_statistics(current.expected_statistics(rows, weights), prior),
            lambda old, new: float(np.abs(new.probabilities - old.probabilities).max()),
        )
