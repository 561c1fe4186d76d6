"""What a model says along one column, all others staying as they are."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from latently.data.tables.values import is_missing
from latently.plot.axes import Array, Display, colours, place

_CATEGORIES: Final = ("text", "levels", "ordered", "object", "boolean")
_MOST_CATEGORIES: Final = 20


@dataclass(eq=False)
class PartialDependenceDisplay(Display):
    """What a model says on average if one column had this or that value, all others staying as they are.

    Parameters
    ----------
    column
        Its name.
    grid
        (g,) values of the column: numbers, or categories.
    average
        (g,) mean answer at each of them: of the class asked about, or of the number.
    individual
        (g, rows) answers for single rows.
    about
        What the answers are.

    Attributes
    ----------
    ax_, figure_, line_, bars_
        Where it was drawn, and the line of the mean, or its bars for categories.

    Examples
    --------
    >>> import numpy as np
    >>> from latently.predict import DecisionTreeRegressor
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> tree = DecisionTreeRegressor(max_depth=1).fit(X, 2.0 * (X[:, 0] > 0.5))
    >>> display = PartialDependenceDisplay.from_estimator(tree, X, 0, grid=[0.2, 0.8])
    >>> display.average.round(6).tolist()
    [0.0, 2.0]
    """

    column: str
    grid: NDArray[Any]
    average: Array
    individual: Array
    about: str

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        column: Any,
        *,
        target: Any = None,
        grid: Any = None,
        rows: int = 50,
        ax: Any = None,
    ) -> Self:
        """Draw what a fitted model says along a column: a line for numbers, bars for categories.

        Parameters
        ----------
        estimator
            Anything with `predict`, or `predict_proba` if it has classes.
        X
            Rows to average over, as an array or a frame.
        column
            The column, by name or position.
        target
            The class whose probability is asked about; the last one if None.
        grid
            Values to ask about. If None, 40 between the 2nd and the 98th percentile of numbers, or all categories by
            their share of the rows (the 20 most frequent of more).
        rows
            How many single rows to show.
        ax
            Axes to draw on; new ones if None.
        """
        from latently.data.tables import frames
        from latently.data.tables.matrix import as_table

        names = frames.column_names(as_table(X, "X"))
        j = place(column, names)
        values = _grid(X, names[j]) if grid is None else np.asarray(grid)
        ask, about = _question(estimator, target)
        found = np.array([ask(_with(X, names[j], j, value)) for value in values.tolist()])
        return cls(str(names[j]), values, found.mean(axis=1), found[:, :rows], about).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        ax = self._on(ax)
        if self.grid.dtype.kind in "iuf":
            ax.plot(self.grid, self.individual, color="0.8", lw=0.6, zorder=1)
            (self.line_,) = ax.plot(self.grid, self.average, color=colours(1)[0], lw=2.5, zorder=2)
        else:
            self._draw_categories(ax)
        ax.set(xlabel=self.column, ylabel=self.about)
        return self

    def _draw_categories(self, ax: Any) -> None:
        """Bars of the means, with the answers for single rows over them."""
        places = np.arange(len(self.grid))
        self.bars_ = ax.bar(places, self.average, width=0.6, color=colours(1)[0], alpha=0.6, zorder=1)
        for at, answers in zip(places, self.individual, strict=True):
            ax.plot(np.full(len(answers), at), answers, ".", color="0.3", ms=3, alpha=0.5, zorder=2)
        turned = sum(len(str(value)) for value in self.grid) > 60
        ax.set_xticks(places, [str(value) for value in self.grid], rotation=45 if turned else 0)


def _grid(X: Any, name: str) -> NDArray[Any]:
    """Values of a column to ask about."""
    from latently.data.tables import frames
    from latently.data.tables.matrix import as_table

    view = frames.views(as_table(X, "X"))[name]
    if view.kind in _CATEGORIES:
        counts = Counter(value for value in view.to_list() if not is_missing(value))
        if not counts:
            raise ValueError(f"column {name!r} has no known value: give the grid")
        return np.array([value for value, _ in counts.most_common(_MOST_CATEGORIES)], dtype=object)
    seen = np.asarray(view.to_floats(f"column {name!r}"), dtype=np.float64)
    if np.isnan(seen).all():
        raise ValueError(f"column {name!r} has no known value: give the grid")
    return np.unique(np.nanpercentile(seen, np.linspace(2, 98, 40)))


def _question(estimator: Any, target: Any) -> tuple[Any, str]:
    if not hasattr(estimator, "classes_"):
        return lambda rows: np.asarray(estimator.predict(rows), dtype=np.float64), "prediction"
    classes = list(estimator.classes_)
    if target is not None and target not in classes:
        raise ValueError(f"there is no class {target!r}; the classes are {classes}")
    k = len(classes) - 1 if target is None else classes.index(target)
    return lambda rows: np.asarray(estimator.predict_proba(rows))[:, k], f"probability of {classes[k]}"


def _with(X: Any, name: str, j: int, value: Any) -> Any:
    """The table with one column set to a value."""
    from latently.data.tables import frames

    if not frames.is_frame(X):
        rows = np.array(X, dtype=np.float64)
        rows[:, j] = value
        return rows
    columns = {n: view.to_list() for n, view in frames.views(X).items()}
    columns[name] = [value] * frames.row_count(X)
    return frames.restore_types(frames.from_columns(columns, X), X)
