"""Estimators that learn from moments of the rows: more rows, fewer rows, two models in one."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from latently.data.sources.chunks import ChunkSource
from latently.data.tables.matrix import check_weights
from latently.distributions.inputs import ColumnError
from latently.distributions.statistics import Moments
from latently.factor.moments import less, moments_of
from latently.factor.rows import read_table, verified
from latently.learn.estimator.parameters import checked


class LearnsBySums(ABC):
    """`partial_fit`, `forget` and `merge` of a model whose `statistics_` are moments.

    A subclass gives `_settle(moments)`, which finds its parameters, and `_without_sums()`, which says why it has
    none after some fits.
    """

    statistics_: Moments
    n_features_in_: int
    _takes_sparse = False

    @abstractmethod
    def _settle(self, moments: Moments) -> Self:
        """Parameters from sums over the rows."""

    @abstractmethod
    def _without_sums(self) -> str:
        """Why there are no sums, and what to do."""

    def _needs_rows(self) -> bool:
        """Whether the settings need more than sums over the rows."""
        return False

    @checked
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows, which must be complete; as if all had been given to `fit`."""
        first = not hasattr(self, "components_")
        new = self._sums(X, sample_weight, reset=first)
        return self._settle(new if first else self._known() + new)

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Undo the learning of rows; rows never learnt are an error, and change nothing."""
        check_is_fitted(self)
        return self._settle(less(self._known(), self._sums(X, sample_weight, reset=False)))

    def merge(self, other: Self) -> Self:
        """Take in what another model has learnt, as if its rows had been learnt here."""
        check_is_fitted(self)
        if type(other) is not type(self):
            raise TypeError(f"cannot merge a {type(other).__name__} into a {type(self).__name__}")
        check_is_fitted(other)
        return self._settle(self._known() + other._known())

    def _known(self) -> Moments:
        if not hasattr(self, "statistics_"):
            raise ValueError(self._without_sums())
        return self.statistics_

    def _sums(self, X: Any, sample_weight: Any, *, reset: bool) -> Moments:
        """Moments of complete rows; an error names a column with missing values."""
        if self._needs_rows():
            raise ValueError("partial_fit and forget have sums, not rows: robust and this n_components need fit")
        rows = read_table(self, X, reset=reset, accept_sparse=self._takes_sparse)
        weights = None if isinstance(rows, ChunkSource) else check_weights(sample_weight, rows.shape[0])
        moments = moments_of(rows, weights)
        finite = np.isfinite(np.diagonal(moments.second))
        if not finite.all():
            verified(rows)
            reason = "has missing values: partial_fit and forget need complete rows; fit takes missing values"
            raise self._named(ColumnError(int(np.argmin(finite)), reason))
        return moments

    def _named(self, problem: ColumnError) -> ColumnError:
        """The error with the name of the column."""
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        return problem.named(str(names[int(problem.column)]))
