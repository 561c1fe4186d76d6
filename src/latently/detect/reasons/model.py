"""Why a model finds a row improbable: how much each of its values surprises, given the others."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from latently.data.tables.matrix import as_matrix
from latently.distributions.base import Distribution
from latently.kernel.base import Array, take


@dataclass(frozen=True, eq=False)
class Asked:
    """Rows that a fitted model is asked about.

    Parameters
    ----------
    model
        The fitted model.
    X
        The table as it came.
    rows
        (n, d) the same as floats: codes of categories, NaN for missing.
    names
        Names of the columns.
    """

    model: Any
    X: Any
    rows: Array
    names: tuple[str, ...]

    @classmethod
    def of(cls, model: Any, X: Any, names: Any) -> "Asked":
        """Read a table as the model does."""
        schema = getattr(model, "schema_", None)
        rows: Array = np.asarray(as_matrix(X, allow_nan=True) if schema is None else schema.encode(X), dtype=np.float64)
        return cls(model, X, rows, schema.names if schema is not None else names(rows.shape[1]))

    def categories(self, j: int) -> tuple[Any, ...]:
        """Categories of a column; none of a column of numbers."""
        schema = getattr(self.model, "schema_", None)
        return () if schema is None else tuple(schema.columns[j].categories)

    def without(self, j: int) -> Any:
        """The table with column j missing, as the model takes it."""
        hidden = self.rows.copy()
        hidden[:, j] = np.nan
        schema = getattr(self.model, "schema_", None)
        return hidden if schema is None else schema.decode(hidden, like=self.X)

    def scores_without(self, j: int) -> Array:
        """(n,) log density of the other columns."""
        rest = [c for c in range(self.rows.shape[1]) if c != j]
        if not rest:
            return np.zeros(len(self.rows))
        if isinstance(self.model, Distribution):
            return np.asarray(self.model.marginal(rest).log_prob(self.rows[:, rest]))
        return np.asarray(self.model.score_samples(self.without(j)))

    def expected(self, j: int) -> tuple[Array, Array]:
        """(n,) mean and deviation of a column given the others; alone, where the model has no such thing."""
        n = len(self.rows)
        if hasattr(self.model, "impute_mean") and hasattr(self.model, "impute_interval"):
            hidden = self.without(j)
            low, high = self.model.impute_interval(hidden)
            spread = np.maximum((high[:, j] - low[:, j]) / 3.29, np.finfo(float).tiny)  # a 90 % interval
            return np.asarray(self.model.impute_mean(hidden)[:, j]), np.asarray(spread)
        if isinstance(self.model, Distribution):
            alone = self.model.marginal([j])
            return np.full(n, float(alone.mean[0])), np.full(n, float(np.sqrt(alone.variance[0])))
        seen = self.rows[:, j][~np.isnan(self.rows[:, j])]
        return np.full(n, float(np.median(seen)) if len(seen) else 0.0), np.ones(n)

    def column(self, j: int, scores: Array) -> list[dict[str, Any]]:
        """The entry of one column for each row; a missing value is no surprise."""
        without, (expected, sd) = self.scores_without(j), self.expected(j)
        surprise = np.where(np.isnan(self.rows[:, j]), 0.0, without - scores)
        described = self._categories(j, expected) if self.categories(j) else self._numbers(j, expected, sd)
        return [
            {"column": self.names[j], "surprise": float(surprise[i]), "score_if_expected": float(without[i])} | entry
            for i, entry in enumerate(described)
        ]

    def _numbers(self, j: int, expected: Array, sd: Array) -> list[dict[str, Any]]:
        gaps = np.nan_to_num((self.rows[:, j] - expected) / sd)
        values = [None if np.isnan(value) else float(value) for value in self.rows[:, j]]
        return [
            {"value": value, "expected": float(expected[i]), "sd": float(sd[i]), "deviation": float(gaps[i])}
            for i, value in enumerate(values)
        ]

    def _categories(self, j: int, expected: Array) -> list[dict[str, Any]]:
        names = self.categories(j)
        values = [None if np.isnan(code) else names[int(code)] for code in self.rows[:, j]]
        return [
            {"value": value, "expected": names[int(code)], "sd": None, "deviation": 0.0}
            for value, code in zip(values, expected, strict=True)
        ]

    def columns(self, scores: Array) -> list[list[dict[str, Any]]]:
        """The entries of each row: its columns, the most surprising first."""
        parts = [self.column(j, scores) for j in range(self.rows.shape[1])]
        units = {self.names[j]: unit for j, unit in enumerate(self._units())}

        def weight(entry: dict[str, Any]) -> float:
            return -float(max(entry["surprise"] - units[entry["column"]], abs(entry["deviation"]) - 2.0))

        return [sorted(entries, key=weight) for entries in map(list, zip(*parts, strict=True))]

    def _units(self) -> list[float]:
        """Log standard deviation of each column under the model, 0 of categories.

        A density is one over the unit of its column, so surprises are compared after dividing by the spread.
        """
        nothing = replace(self, X=take(self.X, np.arange(1)), rows=np.full((1, len(self.names)), np.nan))
        sds = [1.0 if self.categories(j) else float(nothing.expected(j)[1][0]) for j in range(len(self.names))]
        return [float(np.log(sd)) for sd in sds]
