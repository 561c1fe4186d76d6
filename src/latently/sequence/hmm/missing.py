"""Missing entries of sequences: what is expected there, between which ends it lies, and draws of it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import special
from sklearn.utils import check_random_state

from latently.distributions import Categorical, Gaussian
from latently.distributions.families.mixture import MixtureDistribution, bisected
from latently.sequence.inference.chain import Array


class MissingValuesMixin:
    """Missing entries, given everything that is observed in their sequence."""

    def conditional_mean(self, X: Any, lengths: Any = None) -> Array:
        """The rows with missing entries at their expectation given whole sequences.

        A category is not averaged: it is the most probable one.
        """
        data = self._read(X, lengths, reset=False)  # type: ignore[attr-defined]
        filled = data.values.copy()
        for t, absent, given, weights in self._with_missing(data):
            filled[t, absent] = _expected(given, weights)
        return np.asarray(filled)

    def conditional_interval(self, X: Any, lengths: Any = None, *, level: float = 0.9) -> tuple[Array, Array]:
        """Ends (n, d) of equal-tailed intervals of the missing entries given whole sequences.

        Where a value is observed, both ends are that value. Categories have no order to speak of: both ends are the
        most probable one.
        """
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, got {level}")
        data = self._read(X, lengths, reset=False)  # type: ignore[attr-defined]
        low, high = data.values.copy(), data.values.copy()
        normal: list[tuple[int, int, Array, Array, Array]] = []
        for t, absent, given, weights in self._with_missing(data):
            for column, place in enumerate(absent.tolist()):
                singles = [part.marginal(column) for part in given]
                if all(isinstance(single, Gaussian) for single in singles):
                    centre, sd = np.array([(s.mean[0], np.sqrt(s.variance[0])) for s in singles]).T
                    normal.append((t, place, weights, centre, sd))
                else:
                    low[t, place], high[t, place] = _ends(singles, weights, level)
        if normal:
            rows, columns, *parts = (np.array(entry) for entry in zip(*normal, strict=True))
            low[rows, columns], high[rows, columns] = _normal_ends(*parts, level)
        return low, high

    def conditional_draws(self, X: Any, lengths: Any = None, *, n_draws: int = 1, random_state: Any = None) -> Array:
        """Draws (n_draws, n, d) of the rows, with missing entries drawn from their distribution given all rows."""
        if n_draws < 1:
            raise ValueError(f"n_draws must be at least 1, got {n_draws}")
        rng = check_random_state(random_state)
        data = self._read(X, lengths, reset=False)  # type: ignore[attr-defined]
        paths = self.sample_paths(data, n_paths=n_draws, random_state=rng)  # type: ignore[attr-defined]
        draws = np.repeat(data.values[None], n_draws, axis=0)
        for t, absent, given, _ in self._with_missing(data):
            for k in np.unique(paths[:, t]):
                chosen = np.flatnonzero(paths[:, t] == k)
                draws[np.ix_(chosen, [t], absent)] = given[k].sample(len(chosen), rng)[:, None, :]
        return np.asarray(draws)

    def impute_mean(self, X: Any, lengths: Any = None) -> Array:
        """Do what `conditional_mean` does, by the name that mixtures have for it."""
        return self.conditional_mean(X, lengths)

    def impute_interval(self, X: Any, level: float = 0.9, lengths: Any = None) -> tuple[Array, Array]:
        """Do what `conditional_interval` does, by the name that mixtures have for it."""
        return self.conditional_interval(X, lengths, level=level)

    def impute_draws(self, X: Any, n_draws: int = 1, random_state: Any = None, lengths: Any = None) -> Array:
        """Do what `conditional_draws` does, by the name that mixtures have for it."""
        return self.conditional_draws(X, lengths, n_draws=n_draws, random_state=random_state)

    def _with_missing(self, data: Any) -> Iterator[tuple[int, Any, list[Any], Array]]:
        """Incomplete rows: which row, which columns, their distribution in each state, and the states' weights."""
        missing = np.isnan(data.values)
        rows = np.flatnonzero(missing.any(axis=1)).tolist()
        posterior = self.predict_proba(data) if rows else np.empty((0, 0))  # type: ignore[attr-defined]
        parts = self._states()
        for t in rows:
            absent, seen = np.flatnonzero(missing[t]), np.flatnonzero(~missing[t])
            values = data.values[t, seen]
            yield t, absent, [part.conditional(seen, values) for part in parts] if len(seen) else parts, posterior[t]

    def _states(self) -> list[Any]:
        """Distribution of each state of the model."""
        parts = self._model().emission.distributions(self._theta())  # type: ignore[attr-defined]
        return list(parts[:: self._copies()])  # type: ignore[attr-defined]


def _most_probable(singles: list[Any], weights: Array) -> float:
    size = max(len(single.probabilities) for single in singles)
    table = np.array([np.pad(s.probabilities, (0, size - len(s.probabilities))) for s in singles])
    return float(np.argmax(weights @ table))


def _expected(given: list[Any], weights: Array) -> Array:
    means = weights @ np.array([part.mean for part in given])
    for column in range(given[0].n_columns):
        singles = [part.marginal(column) for part in given]
        if all(isinstance(single, Categorical) for single in singles):
            means[column] = _most_probable(singles, weights)
    return np.asarray(means)


def _ends(singles: list[Any], weights: Array, level: float) -> tuple[float, float]:
    if all(isinstance(single, Categorical) for single in singles):
        best = _most_probable(singles, weights)
        return best, best
    low, high = MixtureDistribution(weights / weights.sum(), singles).interval(level)[:, 0]
    return float(low), float(high)


def _normal_ends(weights: Array, centres: Array, sds: Array, level: float) -> list[Array]:
    """Ends (N,) of intervals of mixtures of normals, all (N, K), all at once."""

    def cdf(x: Array) -> Array:
        return np.asarray((weights * special.ndtr((x[:, None] - centres) / sds)).sum(axis=1))

    found = []
    for q in ((1 - level) / 2, (1 + level) / 2):
        ends = centres + sds * special.ndtri(q)
        used = weights > 0
        low, high = np.where(used, ends, np.inf).min(axis=1), np.where(used, ends, -np.inf).max(axis=1)
        found.append(bisected(cdf, low, high, np.full(len(low), q), np.zeros(len(low), dtype=bool)))
    return found
