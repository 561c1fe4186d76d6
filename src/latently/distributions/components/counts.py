"""Columns of counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import special

from latently import compiled
from latently.distributions import ColumnError, Distribution, Gamma, Poisson
from latently.distributions.components.discrete import DiscreteBlock, Tally, Values
from latently.distributions.components.slab import Ints, Slab, safe_log
from latently.distributions.inputs import Array
from latently.distributions.quantiles import bisected


@dataclass(frozen=True, eq=False)
class CountBlock(DiscreteBlock):
    """Columns of counts; the numbers are Poisson rates."""

    FAMILIES: ClassVar[tuple[str, ...]] = ("Poisson",)
    RANGES: ClassVar[Mapping[str, tuple[float, float]]] = {"rate": (0.0, np.inf)}
    SCALE: ClassVar[str] = "log"

    def checked(self, X: Array) -> Array:
        """See that columns hold whole numbers from 0 on, or nothing."""
        wrong = (X < 0) | ((np.floor(X) != X) & ~np.isnan(X))
        if wrong.any():
            row, column = (int(i) for i in np.argwhere(wrong)[0])
            value = f"{X[row, column]:g} in row {row}"
            raise ValueError(f"column {self.names[column]!r} has {value}: Poisson takes whole numbers from 0 on")
        return X

    def as_points(self, X: Array) -> Array:
        """Roots of counts, whose variance does not grow with the mean."""
        return super().as_points(np.sqrt(X))

    def first(self, X: Array, k: int) -> Values:
        """All components alike."""
        return Values(np.ones((k, self.size)))

    def log_density(self, theta: Values, slab: Slab, out: Array) -> None:
        """Add the log probabilities."""
        base = slab.kept(("gammaln", *self.columns), lambda: self._base(slab))
        compiled.components.columns.linear_density(slab.X, self.places, safe_log(theta.values), theta.values, out)
        out -= base

    def _base(self, slab: Slab) -> Array:
        """(n,) sum of log x!, which no parameter touches."""
        return np.asarray(special.gammaln(np.nan_to_num(slab.take(self.places)) + 1).sum(axis=1))

    def expect(self, theta: Values, slab: Slab, R: Array) -> Tally:
        """Events, and entries observed."""
        events, trials = np.zeros(theta.values.shape), np.zeros(theta.values.shape)
        compiled.components.columns.linear_sums(slab.X, self.places, R, events, trials)
        return Tally(events, trials)

    def rounding(self, theta: Values) -> float:
        """Terms of the size of rate x log rate cancel in the log probability of a large count."""
        sizes = theta.values * (1 + np.abs(safe_log(theta.values)))
        return 2 * np.finfo(float).eps * float(sizes.sum(axis=1).max())

    def _pseudo(self, name: str, means: Array, given: Any) -> tuple[Any, Any]:
        """Prior of a column; a strength is that many rows with the mean count of all rows together, or as many events.

        Whichever is less: a row with the mean of clusters far apart would be more than all that a cluster of small
        counts has seen. Counts have a natural unit, so a few events cannot outweigh many rows, whatever the mean.
        """
        prior, mean = self._checked(name, given, Gamma), float(means[0])
        if not isinstance(prior, Gamma):
            return prior * min(mean, 1.0), prior / max(mean, 1.0)
        if prior.n_columns != 1 or prior.shape[0] < 1:
            raise ColumnError(name, f"needs a Gamma prior of one column with shape >= 1, got {prior}")
        return prior.shape - 1, prior.rate

    def cross(self, theta: Values, stats: Tally) -> Array:
        """Expected log densities, without what no parameter touches."""
        return safe_log(theta.values) @ stats.events.T - theta.values @ stats.trials.T

    def distributions(self, theta: Values, k: int) -> list[tuple[Distribution, tuple[int, ...]]]:
        """One Poisson of all columns."""
        return [(Poisson(theta.values[k]), self.columns)]

    def _numbers(self, given: Distribution, at: int) -> Array:
        if not isinstance(given, Poisson):
            raise ColumnError(self.names[at], f"holds counts, which {given} does not fit")
        return given.rate

    def sample(self, theta: Values, labels: Ints, rng: Any) -> Array:
        """Draw counts."""
        return np.asarray(rng.poisson(theta.values[labels]), dtype=np.float64)

    def fill(self, theta: Values, slab: Slab, R: Array) -> Array:
        """Rates, averaged over the components."""
        return R.T @ theta.values

    def interval(self, theta: Values, slab: Slab, R: Array, level: float) -> tuple[Array, Array]:
        """Quantiles of mixtures of Poissons."""
        X = slab.take(self.places)
        ends = np.zeros((2, *X.shape))
        rows, columns = np.nonzero(np.isnan(X))
        rates, share = theta.values[:, columns], R[:, rows]
        for out, q in zip(ends, ((1 - level) / 2, (1 + level) / 2), strict=True):
            tails = np.array([Poisson(r)._quantile(np.array([[q]]))[0] for r in theta.values])[:, columns]
            out[rows, columns] = bisected(
                lambda x: np.einsum("kn,kn->n", share, special.pdtr(np.maximum(x, 0.0), rates) * (x >= 0)),
                tails.min(axis=0), tails.max(axis=0), q, True,
            )  # fmt: skip
        return ends[0], ends[1]
