"""Missing values as a picture: which columns have missing values, and which missing values come together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from latently.data import infer_schema
from latently.plot.axes import Array, Display


@dataclass(eq=False)
class MissingnessDisplay(Display):
    """Patterns of missing values: a line for each, the most frequent first, with the number of its rows.

    Parameters
    ----------
    patterns
        (p, d) True where a pattern misses a column.
    counts
        (p,) rows of each pattern.
    shares
        (d,) share of missing values in each column, of all rows.
    names
        Names of the columns.
    n_rows
        Number of rows of the table; patterns beyond those shown count.

    Attributes
    ----------
    ax_, figure_, image_
        Where it was drawn, and the patterns.

    Examples
    --------
    >>> nan = float("nan")
    >>> table = [[1, nan], [2, nan], [3, 1], [nan, nan], [4, 2], [5, 3]]
    >>> display = MissingnessDisplay.from_table(table)
    >>> display.patterns.tolist(), display.counts.tolist(), display.shares.round(2).tolist()
    ([[False, False], [False, True], [True, True]], [3, 2, 1], [0.17, 0.5])
    """

    patterns: NDArray[np.bool_]
    counts: NDArray[np.intp]
    shares: Array
    names: Sequence[str]
    n_rows: int

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        missing: Sequence[Any] | Mapping[str, Sequence[Any]] = (),
        max_patterns: int = 12,
        ax: Any = None,
    ) -> Self:
        """Draw the missing values of a table.

        Parameters
        ----------
        table
            A dataframe, an array or nested lists.
        missing
            Values that stand for a missing one, in all columns or by the name of the column.
        max_patterns
            How many patterns to show; the number of rarer ones is in the label of the axis.
        ax
            Axes to draw on; new ones if None.
        """
        if max_patterns < 1:
            raise ValueError(f"max_patterns must be at least 1, got {max_patterns}")
        schema = infer_schema(table, missing=missing)
        absent = np.isnan(schema.encode(table))
        patterns, counts = np.unique(absent, axis=0, return_counts=True)
        order = np.argsort(-counts, kind="stable")[:max_patterns]
        display = cls(patterns[order], counts[order], absent.mean(axis=0), schema.names, len(absent))
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        from matplotlib.colors import ListedColormap

        ax = self._on(ax)
        p, d = self.patterns.shape
        shades = ListedColormap(["#e8edf2", "#b03a48"])
        self.image_ = ax.imshow(self.patterns, cmap=shades, vmin=0, vmax=1, aspect="auto", interpolation="nearest")
        labels = [f"{name} ({share:.0%})" for name, share in zip(self.names, self.shares, strict=True)]
        ax.set_xticks(np.arange(d), labels, rotation=45, ha="right", rotation_mode="anchor")
        ax.set_yticks(np.arange(p), [f"{count}" for count in self.counts])
        ax.set_xticks(np.arange(d + 1) - 0.5, minor=True)
        ax.set_yticks(np.arange(p + 1) - 0.5, minor=True)
        ax.grid(which="minor", color="white", linewidth=2)
        ax.tick_params(which="both", length=0)
        ax.set(ylabel="rows with this pattern", xlabel="column (share missing)")
        rest = self.n_rows - int(self.counts.sum())
        ax.set_title(
            "missing values in red" + (f"; {rest} rows have rarer patterns" if rest else ""), fontsize="medium"
        )
        return self
