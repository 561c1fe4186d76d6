"""How much two columns tell about each other under a fitted mixture."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from latently.report.study.view import View, log_sum

Values = NDArray[np.float64]
_DRAWS: Final = 2000


class Told:
    """Mutual information of pairs of columns under a mixture, over rows drawn from it.

    Parameters
    ----------
    view
        The mixture.
    rng
        For the draws.
    """

    def __init__(self, view: View, rng: np.random.Generator) -> None:
        self.view = view
        self.place = {int(j): at for at, j in enumerate(view.numeric)}
        self.log_weights = np.log(np.maximum(view.weights, 1e-300))
        labels = rng.choice(view.size, _DRAWS, p=view.weights / view.weights.sum())
        roots = np.linalg.cholesky(view.covariances)
        normal = rng.standard_normal((_DRAWS, len(view.numeric)))
        self.scores = view.means[labels] + np.einsum("nij,nj->ni", roots[labels], normal)
        spots = rng.random((_DRAWS, len(view.tables)))
        self.codes = {
            j: np.minimum((np.cumsum(table, axis=1)[labels] < spot[:, None]).sum(axis=1), table.shape[1] - 1)
            for (j, table), spot in zip(view.tables.items(), spots.T, strict=True)
        }
        self.known: dict[int, Values] = {}
        self.means: dict[int, float] = {}

    def strength(self, a: int, b: int) -> float:
        """The correlation that tells as much as columns a and b tell about each other, 0 to 1."""
        one, other = self._alone(a), self._alone(b)
        both = self._numbers(a, b) if a in self.place and b in self.place else one + other
        information = self._mean_log(both) - self._mean_log_alone(a) - self._mean_log_alone(b)
        return float(np.sqrt(1 - np.exp(-2 * max(information, 0.0))))

    def _mean_log(self, logs: Values) -> float:
        """Mean log density over the draws, from the (draws, K) log density in each component."""
        return float(log_sum(logs + self.log_weights).mean())

    def _mean_log_alone(self, j: int) -> float:
        if j not in self.means:
            self.means[j] = self._mean_log(self._alone(j))
        return self.means[j]

    def _alone(self, j: int) -> Values:
        """(draws, K) log density of one column in each component."""
        if j not in self.known:
            if j in self.place:
                at = self.place[j]
                self.known[j] = _normal(self.scores[:, at], self.view.means[:, at], self.view.covariances[:, at, at])
            else:
                self.known[j] = np.log(np.maximum(self.view.tables[j], 1e-300)).T[self.codes[j]]
        return self.known[j]

    def _numbers(self, a: int, b: int) -> Values:
        """(draws, K) log density of two columns of scores: that of a, and that of b given a."""
        x, y, means, spread = self.place[a], self.place[b], self.view.means, self.view.covariances
        slope = spread[:, x, y] / spread[:, x, x]
        rest = spread[:, y, y] - slope * spread[:, x, y]
        expected = means[:, y] + slope * (self.scores[:, x][:, None] - means[:, x])
        return self._alone(a) + _normal(self.scores[:, y], expected, np.maximum(rest, 1e-12))


def _normal(x: Values, mean: Values, variance: Values) -> Values:
    return np.asarray(-0.5 * ((x[:, None] - mean) ** 2 / variance + np.log(2 * np.pi * variance)))
