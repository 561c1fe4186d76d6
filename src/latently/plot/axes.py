"""What all displays share: axes to draw on, colours of groups, columns by name or place."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


def colours(n: int) -> Any:
    """(n, 4) colours of groups; they repeat after ten."""
    import matplotlib

    return matplotlib.colormaps["tab10"](np.arange(n) % 10)


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
