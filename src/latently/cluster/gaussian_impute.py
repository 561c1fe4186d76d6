"""What a Gaussian mixture knows of the missing entries of a row, given the observed ones."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from sklearn.utils.validation import check_is_fitted, check_random_state

from latently.cluster.gaussian_given import stored_params
from latently.cluster.gaussian_holes import HoledRows, coloured, describe_holed, holed_rows
from latently.cluster.gaussian_params import GaussianParams
from latently.learn.protocol import Array
from latently.learn.reduce import single_threaded_blas
from latently.learn.skin import read_rows

# Halvings of a bracket of some twenty standard deviations: what is left is below rounding.
_HALVINGS = 60
# Numbers that are held at a time of what all components say of all entries.
_ENTRIES = 2**21


@dataclass(frozen=True, eq=False)
class Holed:
    """Rows with holes, and what each component says of them in the frame of its parameters."""

    params: GaussianParams
    rows: HoledRows
    places: NDArray[np.intp]  # (n,) where they stand in the table
    shares: Array  # (n, k) responsibilities given what was observed
    completed: Array  # (k, n, d) holes at their conditional means
    spread: Array  # (k, n, d) variances of the holes

    def mean(self) -> Array:
        """(n, d) conditional means."""
        return np.einsum("nk,knd->nd", self.shares, self.completed)

    def draw(self, rng: np.random.RandomState) -> Array:
        """(n, d) one joint draw for each row."""
        n, k = self.shares.shape
        chosen = (self.shares.cumsum(axis=1) < rng.uniform(size=(n, 1))).sum(axis=1).clip(max=k - 1)
        noise = coloured(self.params, self.rows, chosen, rng.standard_normal(self.rows.Z.shape))
        return self.completed[chosen, np.arange(n)] + noise

    def quantile(self, level: float) -> Array:
        """(n, d) quantile of each hole's own mixture, by bisection."""
        holes = self.rows.holes
        shares, means = self.shares[holes.nonzero()[0]].T, self.completed[:, holes]  # (k, h)
        deviations = np.sqrt(self.spread[:, holes])
        low, high = (means - 10 * deviations).min(axis=0), (means + 10 * deviations).max(axis=0)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            below = (shares * ndtr((middle - means) / deviations)).sum(axis=0)
            low, high = np.where(below < level, middle, low), np.where(below < level, high, middle)
        out = self.rows.Z.copy()
        out[holes] = (low + high) / 2
        return out

    def put(self, table: Array, values: Array) -> None:
        """Write values of the frame into the holes of a table."""
        table[self.places] = np.where(self.rows.holes, self.params.frame.outward(values), table[self.places])


class GaussianImputation:
    """Conditional means, intervals and draws of missing entries."""

    def impute_mean(self, X: Any) -> Array:
        """The rows with each missing entry at its mean given the observed ones."""
        filled, parts = self._holed(X)
        for part in parts:
            part.put(filled, part.mean())
        return filled

    def impute_interval(self, X: Any, level: float = 0.9) -> tuple[Array, Array]:
        """Lower and upper end of an equal-tailed interval for each missing entry; observed ones stand twice."""
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, got {level}")
        lower, parts = self._holed(X)
        upper = lower.copy()
        for part in parts:
            part.put(lower, part.quantile((1 - level) / 2))
            part.put(upper, part.quantile((1 + level) / 2))
        return lower, upper

    def impute_draws(self, X: Any, n_draws: int = 1, random_state: Any = None) -> Array:
        """(n_draws, n, d) rows with the missing entries drawn jointly given the observed ones."""
        rng = check_random_state(random_state)
        filled, parts = self._holed(X)
        draws = np.tile(filled, (n_draws, 1, 1))
        for part in parts:
            for draw in draws:
                part.put(draw, part.draw(rng))
        return draws

    def _holed(self, X: Any) -> tuple[Array, Iterator[Holed]]:
        check_is_fitted(self)
        rows = read_rows(self, X, reset=False, allow_nan=True).astype(np.float64)
        return rows, _described(stored_params(self), rows)


def _described(params: GaussianParams, table: Array) -> Iterator[Holed]:
    """What is known of the rows with holes, some at a time."""
    holed = np.flatnonzero(np.isnan(table).any(axis=1))
    size = max(64, _ENTRIES // params.means.size)
    for start in range(0, len(holed), size):
        places = holed[start : start + size]
        rows = holed_rows(table[places], params.frame)
        with single_threaded_blas():
            joint, completed, spread = describe_holed(params, rows)
        shares = np.exp(joint - joint.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        yield Holed(params, rows, places[rows.order], shares, completed, spread)
