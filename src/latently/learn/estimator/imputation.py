"""Missing values of rows whose columns are independent within a component, and rows drawn from the components."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from latently.learn.engine.protocol import Array

# Rows that an interval is taken from.
DRAWS = 2000


class ImputationMixin:
    """What `latently.impute.Imputer` asks of a model, and `sample`.

    A subclass gives `_component_means()` (k, d) and `_draw(labels, rng)`, rows (n, d) of the given components.
    """

    def impute_mean(self, X: Any) -> Array:
        """The rows (n, d), with missing entries at their means given what is observed."""
        rows, shares = self._with_shares(X)
        return np.where(np.isnan(rows), shares @ self._component_means(), rows)

    def impute_draws(self, X: Any, n_draws: int = 1, random_state: Any = None) -> Array:
        """(n_draws, n, d) the rows, with missing entries drawn given what is observed."""
        rows, shares = self._with_shares(X)
        rng = check_random_state(random_state)
        return np.stack([self._filled(rows, shares, rng) for _ in range(n_draws)])

    def impute_interval(self, X: Any, level: float = 0.9) -> tuple[Array, Array]:
        """Ends of an interval for each missing entry, as draws have it; observed entries stand in both."""
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, got {level}")
        rows, shares = self._with_shares(X)
        rng = np.random.RandomState(0)
        means, low, high = self._component_means(), rows.copy(), rows.copy()
        within = self._draw(np.repeat(np.arange(len(means)), DRAWS), rng).reshape(len(means), DRAWS, -1)
        for i, j in zip(*np.nonzero(np.isnan(rows)), strict=True):
            picked = rng.choice(len(means), DRAWS, p=shares[i])
            values = within[picked, np.arange(DRAWS), j]
            low[i, j], high[i, j] = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
        return low, high

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Array, Array]:
        """Draw rows (n_samples, d) and their components (n_samples,)."""
        if n_samples < 1:
            raise ValueError(f"n_samples must be at least 1, got {n_samples}")
        rng = check_random_state(random_state)
        weights = self.statistics_.counts / self.statistics_.counts.sum()  # type: ignore[attr-defined]
        labels = rng.choice(len(weights), n_samples, p=weights)
        return self._draw(labels, rng), labels

    def _with_shares(self, X: Any) -> tuple[Array, Array]:
        rows = np.array(self._read(X), dtype=np.float64)  # type: ignore[attr-defined]
        return rows, self._memberships(rows)  # type: ignore[attr-defined]

    def _filled(self, rows: Array, shares: Array, rng: np.random.RandomState) -> Array:
        labels = (shares.cumsum(axis=1) < rng.uniform(size=(len(rows), 1))).sum(axis=1).clip(max=shares.shape[1] - 1)
        return np.where(np.isnan(rows), self._draw(labels, rng), rows)

    def _component_means(self) -> Array:
        """(k, d) mean of each component."""
        raise NotImplementedError(f"{type(self).__name__} does not say the means of its components")

    def _draw(self, labels: Array, rng: np.random.RandomState) -> Array:
        """(n, d) rows of the given components."""
        raise NotImplementedError(f"{type(self).__name__} does not draw rows of its components")
