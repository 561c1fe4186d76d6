"""Families whose columns are independent of each other: one parameter (or two) per column."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.distributions.base import Distribution
from latently.distributions.inputs import Array, ColumnError, no_negative
from latently.distributions.statistics import Additive, as_sums


class Columns(Distribution):
    """A distribution with independent columns; parameters have shape (d,), a number is one column."""

    # parameters

    def __post_init__(self) -> None:
        """Freeze the parameters, at one common shape (d,)."""
        if all(getattr(self, name) is None for name in self.PARAMETERS):
            return
        self._ready()
        arrays = np.broadcast_arrays(*(np.atleast_1d(getattr(self, name)) for name in self.PARAMETERS))
        if arrays[0].ndim != 1 or arrays[0].size == 0:
            names = ", ".join(self.PARAMETERS)
            raise ValueError(f"{names} of {type(self).__name__} must have shape (d,), not {arrays[0].shape}")
        for name, array in zip(self.PARAMETERS, arrays, strict=True):
            self._check_parameter(name, self._freeze(name, array))

    def _check_parameter(self, name: str, values: Array) -> None:
        if (values <= 0).any():
            raise ValueError(f"{name} of {type(self).__name__} must be positive, got {values}")

    def _width(self) -> int | None:
        first = getattr(self, self.PARAMETERS[0])
        return None if first is None else len(first)

    def _n_parameters(self) -> int:
        return len(self.PARAMETERS) * self.n_columns

    @property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """Every column by itself."""
        return tuple((c,) for c in range(self.n_columns))

    def _marginal(self, columns: list[int]) -> Distribution:
        chosen: dict[str, Any] = {name: getattr(self, name)[columns] for name in self.PARAMETERS}
        return replace(self, **chosen)  # type: ignore[type-var]

    def _conditional(self, columns: list[int], values: Array, rest: list[int]) -> Distribution:
        return self._marginal(rest)

    # evaluation

    def _log_prob(self, X: Array) -> Array:
        missing = np.isnan(X)
        outside = self._outside(X)
        usable = np.where(missing | outside, self._inner(), X)  # any value with a density will do
        terms = np.where(outside, -np.inf, self._column_log_prob(usable))
        return np.asarray(np.where(missing, 0.0, terms).sum(axis=1))

    def _entropy(self) -> float:
        return float(np.sum(self._column_entropy()))

    @abstractmethod
    def _outside(self, X: Array) -> NDArray[np.bool_]: ...

    @abstractmethod
    def _column_log_prob(self, X: Array) -> Array:
        """Give the log density of every entry (n, d); all entries are inside the support."""

    @abstractmethod
    def _column_entropy(self) -> Array: ...

    def _inner(self) -> float:
        """Give a value inside the support of every member of the family."""
        return 1.0


def per_column(stats: Additive, n_features: int, who: Distribution, shared: bool = False) -> list[Array]:
    """Split summed features into `n_features` arrays of shape (d,).

    They must be of as many columns as `who` has; a prior with one column (shared) goes with any number.
    """
    total = as_sums(stats, type(who).__name__).total
    d, odd = divmod(total.size, n_features)
    width = who._width()
    if odd or d == 0 or not (width in (None, d) or (shared and width == 1)):
        raise ValueError(f"{total.size} summed features are not {n_features} for each column of {who}")
    return list(total.reshape(n_features, d))


def with_weight(weight: Array) -> Array:
    """Give back weights per column (d,), none of them zero."""
    weight = no_negative(weight, "weights")
    if (weight <= 0).any():
        raise ColumnError(
            int(np.argmin(weight > 0)), "has no observed values (or no weight): give a prior or leave it out"
        )
    return weight
