"""What all displays share: axes to draw on, colours of groups, columns by name or place, grids over two of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.data.tables import frames

Array = NDArray[np.float64]


def axes_of(ax: Any) -> tuple[Any, Any]:
    """Axes to draw on and their figure; new ones if None."""
    if ax is None:
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError("latently.plot draws with matplotlib: pip install 'latently[plot]'") from error
        ax = plt.subplots()[1]
    return ax, ax.figure


@dataclass(eq=False)
class Display:
    """Base of the displays, which know where they were drawn."""

    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

    def _on(self, ax: Any) -> Any:
        """The axes to draw on, remembered."""
        self.ax_, self.figure_ = axes_of(ax)
        return self.ax_


def colours(n: int) -> Any:
    """(n, 4) colours of groups; they repeat after ten."""
    import matplotlib

    return matplotlib.colormaps["tab10"](np.arange(n) % 10)


def column_names(model: Any) -> tuple[str, ...]:
    """Names of the columns of a fitted model; x0, x1, ... if it was fitted to an array."""
    if getattr(model, "schema_", None) is not None:
        return tuple(model.schema_.names)
    known = getattr(model, "feature_names_in_", None)
    return frames.default_names(model.n_features_in_) if known is None else tuple(map(str, known))


def place(column: Any, names: Sequence[str]) -> int:
    """Position of a column that is given by name or by position."""
    if isinstance(column, str):
        if column not in names:
            raise ValueError(f"there is no column {column!r}; the columns are {', '.join(names)}")
        return list(names).index(column)
    if not -len(names) <= int(column) < len(names):
        raise ValueError(f"there is no column {column}: the model has {len(names)}, counted from 0")
    return int(column) % len(names)


def pair(columns: Sequence[Any], names: Sequence[str]) -> list[int]:
    """Positions of two different columns."""
    found = [place(column, names) for column in columns]
    if len(found) != 2 or found[0] == found[1]:
        raise ValueError(f"columns must be two different columns, got {list(columns)}")
    return found


def extent(values: Array, margin: float = 0.08) -> tuple[float, float]:
    """Ends of an axis that shows all values, with some room; missing values do not count."""
    seen = values[np.isfinite(values)]
    if not len(seen):
        raise ValueError("there is no observed value to draw")
    low, high = float(seen.min()), float(seen.max())
    room = margin * (high - low) or max(abs(high), 1.0) * margin
    return low - room, high + room


def grid_between(ends: Sequence[tuple[float, float]], n: int) -> tuple[Array, Array, Array]:
    """Places (n,) along two axes, and the points (n * n, 2) of the grid that they make, the first axis fastest."""
    x, y = (np.linspace(*pair, n) for pair in ends)
    return x, y, np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)


def grid_over(points: Array, n: int) -> tuple[Array, Array, Array]:
    """The same over two columns (n, 2) of a table."""
    return grid_between([extent(points[:, j]) for j in (0, 1)], n)


def one_row(row: Array, width: int) -> Array:
    """(d,) the one row that a user gives for the columns that are not drawn."""
    if row.shape != (1, width):
        raise ValueError(f"given must be one row of {width} columns, got shape {row.shape}")
    return np.asarray(row[0])
