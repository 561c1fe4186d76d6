"""What every linear Gaussian model says about rows: mean density, draws, missing entries."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from latently.distributions.inputs import generator
from latently.factor.linear_gaussian import LinearGaussian
from latently.factor.rows import each_row, read_table, verified
from latently.learn.estimator.sums import summing

Array = NDArray[Any]


class GaussianAnswers(ABC):
    """Answers of a model that has a density and can score rows."""

    @abstractmethod
    def density(self) -> LinearGaussian:
        """The Gaussian of the rows."""

    @abstractmethod
    def score_samples(self, X: Any) -> Array:
        """(n,) log density of what is observed of each row."""

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log density of the rows."""
        total, n = self._total(X)
        return float(total / n)

    @summing
    def _total(self, X: Any) -> Array:
        scores = self.score_samples(X)
        return np.array([scores.sum(dtype=np.float64), len(scores)])

    def _densities(self, rows: Array) -> Array:
        density = self.density()

        def fill(part: Array, out: Array) -> None:
            out[:] = density.log_density(part)

        return each_row(rows, fill)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Array:
        """(n_samples, d) rows drawn from the density."""
        return self.density().sample(n_samples, generator(random_state))

    def impute_mean(self, X: Any) -> Array:
        """The rows with missing entries at their expectation given the rest of the row."""
        return self.density().imputed(self._rows(X))

    def impute_interval(self, X: Any, level: float = 0.9) -> tuple[Array, Array]:
        """Lower and upper ends of an interval for each missing entry; observed entries stand in both."""
        return self.density().interval(self._rows(X), level)

    def impute_draws(self, X: Any, n_draws: int = 5, random_state: Any = None) -> list[Array]:
        """The rows several times over, missing entries drawn given the rest of the row."""
        return self.density().draws(self._rows(X), n_draws, generator(random_state))

    def _rows(self, X: Any) -> Array:
        check_is_fitted(self)
        return np.asarray(verified(read_table(self, X, reset=False)), dtype=np.float64)
