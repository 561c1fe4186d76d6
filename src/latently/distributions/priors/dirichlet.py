"""Dirichlet: probabilities that sum to one; the prior of Categorical and Multinomial."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from scipy import special

from latently.distributions.base import Distribution
from latently.distributions.inputs import Array
from latently.distributions.priors.base import Prior
from latently.distributions.statistics import Additive, as_sums


@dataclass(frozen=True, eq=False)
class Dirichlet(Prior):
    """Dirichlet distribution over rows of C probabilities.

    As a prior of `Categorical` or `Multinomial`, concentration - 1 acts like counts seen before: 2 is
    Laplace's rule, and 1 + m p the m-estimate (n_i + m p_i) / (n + m). A single number serves any number of
    categories.

    Parameters
    ----------
    concentration : (C,) positive; a density over the first C - 1 probabilities

    Examples
    --------
    >>> from latently.distributions import Categorical
    >>> Categorical().fit([0, 0, 1, 2], prior=Dirichlet(2.0)).probabilities
    array([0.429, 0.286, 0.286])
    """

    concentration: Array

    PARAMETERS: ClassVar[tuple[str, ...]] = ("concentration",)
    _ENDS: ClassVar[tuple[float, float]] = (0, 1)

    # parameters

    def __post_init__(self) -> None:
        """Freeze and check the concentration."""
        values = self._freeze("concentration", np.atleast_1d(self.concentration))
        if values.ndim != 1 or values.size == 0 or (values <= 0).any():
            raise ValueError(f"concentration of Dirichlet must be positive with shape (C,), got {values}")

    def _width(self) -> int:
        return len(self.concentration)

    def _n_parameters(self) -> int:
        return self.n_columns

    # statistics

    def posterior(self, stats: Additive) -> Self:
        """Add the counts to the concentration."""
        counts = as_sums(stats, "Dirichlet").total
        if self.n_columns not in (1, counts.size):
            raise ValueError(f"counts of {counts.size} categories do not fit {self}")
        return type(self)(self.concentration + counts)

    def log_marginal(self, stats: Additive) -> float:
        """Log probability of the rows in the order they came, the probabilities integrated out."""
        after = self.posterior(stats).concentration
        before = np.broadcast_to(self.concentration, after.shape)
        return _log_beta(after) - _log_beta(before) + as_sums(stats, "Dirichlet").base

    # evaluation

    def _log_prob(self, X: Array) -> Array:
        missing = np.isnan(X)
        if (missing.any(axis=1) & ~missing.all(axis=1)).any():
            raise ValueError("a row of probabilities must be complete, or missing as a whole")
        off = ((X < 0) | (X > 1)).any(axis=1) | (np.abs(X.sum(axis=1) - 1) > 1e-9)
        usable = np.where(off[:, None] | missing, 1 / self.n_columns, X)
        terms = special.xlogy(self.concentration - 1, usable)
        off |= (terms == -np.inf).any(axis=1)  # on an edge without density, whatever the other edges say
        inside = np.where(off[:, None], 0.0, terms).sum(axis=1) - _log_beta(self.concentration)
        return np.where(missing.any(axis=1), 0.0, np.where(off, -np.inf, inside))

    def _mean(self) -> Array:
        return np.asarray(self.concentration / self.concentration.sum())

    def _variance(self) -> Array:
        mean = self._mean()
        return np.asarray(mean * (1 - mean) / (self.concentration.sum() + 1))

    def _mode(self) -> Array:
        excess = self.concentration - 1
        if (excess < 0).any():
            c = int(np.argmax(excess < 0))
            raise ValueError(
                f"no mode: the Dirichlet density is unbounded where category {c} (concentration "
                f"{self.concentration[c]:g} < 1) has probability 0; take a concentration >= 1"
            )
        if excess.sum() == 0:
            raise ValueError("no single mode: the Dirichlet density is flat; see data, or raise the concentration")
        return np.asarray(excess / excess.sum())

    def _entropy(self) -> float:
        a, total = self.concentration, self.concentration.sum()
        spread = (total - len(a)) * special.digamma(total) - ((a - 1) * special.digamma(a)).sum()
        return float(_log_beta(a) + spread)

    def _kl(self, other: Distribution) -> float | None:
        if not isinstance(other, Dirichlet):
            return None
        a, b = self.concentration, other.concentration
        expected_log = special.digamma(a) - special.digamma(a.sum())
        return float(_log_beta(b) - _log_beta(a) + ((a - b) * expected_log).sum())

    # sampling

    def _sample(self, n: int, rng: np.random.Generator) -> Array:
        return rng.dirichlet(self.concentration, size=n)


def _log_beta(a: Array) -> float:
    return float(special.gammaln(a).sum() - special.gammaln(a.sum()))
