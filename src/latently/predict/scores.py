"""How well targets are predicted, also of tables that are not in memory."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from latently.data.sources.chunks import is_out_of_core
from latently.data.stored.source import StoredSource
from latently.learn.estimator.sums import summing


def _in_memory(X: Any) -> bool:
    return not isinstance(X, StoredSource) and not is_out_of_core(X)


class ClassifierScore(ClassifierMixin):
    """Accuracy, in memory as scikit-learn has it."""

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Share of the rows whose class is predicted; of a table that is not in memory `y` names a column."""
        if _in_memory(X):
            return float(super().score(X, y, sample_weight))
        right, n = self._right(X, y)
        return float(right / n)

    @summing
    def _right(self, X: Any, y: Any) -> Any:
        return np.array([np.count_nonzero(self.predict(X) == np.asarray(y)), len(y)])


class RegressorScore(RegressorMixin):
    """The share of the variance that is explained, in memory as scikit-learn has it."""

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R squared of the predictions; of a table that is not in memory `y` names a column."""
        if _in_memory(X):
            return float(super().score(X, y, sample_weight))
        total, n = self._targets(X, y)
        left, spread = self._squares(X, y, centre=total / n)
        return float(1 - left / spread) if spread > 0 else float(left == 0)

    @summing
    def _targets(self, X: Any, y: Any) -> Any:
        return np.array([np.sum(y), len(y)])

    @summing
    def _squares(self, X: Any, y: Any, *, centre: float) -> Any:
        """(2,) squared errors, and squared distances from the centre."""
        targets = np.asarray(y, dtype=np.float64)
        left = targets - self.predict(X)
        return np.array([left @ left, (targets - centre) @ (targets - centre)])
