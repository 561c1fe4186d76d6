"""Trees that a person can read, and what a model says along one column."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from latently.plot.axes import Array, axes_of, colours, place

_LINE = 26  # characters of a condition before it is cut


@dataclass(frozen=True)
class Box:
    """A node of the picture.

    Attributes
    ----------
    x, depth
        Where it stands: leaves are side by side, a node is above the middle of its children.
    title
        What the next split is about, or the answer of a leaf.
    condition
        What holds here and not at its parent; empty for the root.
    shares
        Shares of the classes; empty for numbers.
    samples
        Rows of the fit.
    parent
        Place of its parent among the boxes, -1 for the root.
    is_leaf
        Whether nothing below is shown.
    """

    x: float
    depth: int
    title: str
    condition: str
    shares: tuple[float, ...]
    samples: int
    parent: int
    is_leaf: bool


@dataclass(eq=False)
class TreeDisplay:
    """A decision tree as boxes and lines, with what holds on each line and the shares of the classes in each box.

    Parameters
    ----------
    boxes
        The nodes.
    classes
        Names of the classes; None for numbers.

    Attributes
    ----------
    ax_, figure_, texts_
        Where it was drawn, and the text of each box.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from latently.predict import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier(max_depth=2).fit(*load_iris(return_X_y=True))
    >>> display = TreeDisplay.from_estimator(tree, class_names=["setosa", "versicolor", "virginica"])
    >>> [box.title for box in display.boxes if box.is_leaf]
    ['setosa', 'versicolor', 'virginica']
    """

    boxes: Sequence[Box]
    classes: Sequence[str] | None
    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        max_depth: int | None = 4,
        class_names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw a fitted decision tree.

        Parameters
        ----------
        estimator
            A fitted `DecisionTreeClassifier` or `DecisionTreeRegressor`.
        max_depth
            Levels to show; what is below is left out. None for all.
        class_names
            Names of the classes; those of the fit if None.
        ax
            Axes to draw on; new ones if None.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator)
        words = estimator._words()
        told = (
            [str(c) for c in (words.classes if class_names is None else class_names)] if _has_classes(words) else None
        )
        return cls(_boxes(estimator.nodes_, words, told, max_depth), told).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        self.ax_, self.figure_ = ax, figure = axes_of(ax)
        shades = colours(len(self.classes or [0]))
        height = max(box.depth for box in self.boxes)
        self.texts_ = [self._draw(ax, box, shades) for box in self.boxes]
        for box in self.boxes:
            if box.parent >= 0:
                self._connect(ax, self.boxes[box.parent], box)
        leaves = sum(box.is_leaf for box in self.boxes)
        ax.set(xlim=(-0.6, leaves - 0.4), ylim=(-height - 0.5, 0.5))
        ax.axis("off")
        if self.classes is not None:
            import matplotlib.patches as patches

            keys = [patches.Patch(color=shade, label=name) for shade, name in zip(shades, self.classes, strict=True)]
            ax.legend(handles=keys, loc="lower left", bbox_to_anchor=(0, 1), ncols=6, fontsize="small", frameon=False)
        figure.set_size_inches(max(6.4, 1.6 * leaves), max(4.0, 1.5 * (height + 1)))
        return self

    def _draw(self, ax: Any, box: Box, shades: Any) -> Any:
        y = -float(box.depth)
        edge = "0.4"
        if box.shares:
            edge = shades[int(np.argmax(box.shares))]
            left = box.x - 0.4
            for share, shade in zip(box.shares, shades, strict=True):
                ax.fill([left, left + 0.8 * share, left + 0.8 * share, left], [y - 0.2, y - 0.2, y - 0.15, y - 0.15],
                        color=shade, lw=0, zorder=3)  # fmt: skip
                left += 0.8 * share
        style = {"boxstyle": "round", "facecolor": "white", "edgecolor": edge, "linewidth": 1.5 if box.is_leaf else 1.0}
        weight = "bold" if box.is_leaf else "normal"
        text = f"{_short(box.title)}\n{box.samples} rows"
        return ax.text(box.x, y, text, ha="center", va="center", bbox=style, fontsize=8, fontweight=weight, zorder=4)

    def _connect(self, ax: Any, above: Box, below: Box) -> None:
        ax.plot([above.x, below.x], [-above.depth, -below.depth], color="0.6", lw=1, zorder=1)
        middle = ((above.x + 2 * below.x) / 3, -(above.depth + 2 * below.depth) / 3)
        patch = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
        ax.text(*middle, _short(below.condition), ha="center", va="center", fontsize=7, bbox=patch, zorder=2)


def _has_classes(words: Any) -> bool:
    return words.classes is not None


def _short(text: str) -> str:
    return text if len(text) <= _LINE else text[: _LINE - 3] + "..."


def _boxes(nodes: Any, words: Any, classes: Sequence[str] | None, max_depth: int | None) -> list[Box]:
    """Place the nodes: leaves from left to right, others above the middle of their children."""
    from latently.predict.tree.model.rules import condition

    deepest = np.inf if max_depth is None else max_depth
    order: list[tuple[int, int, int, int]] = []  # node, depth, place of the parent, place among its children
    stack = [(0, 0, -1, 0)]
    while stack:
        node, depth, parent, which = stack.pop()
        order.append((node, depth, parent, which))
        if not nodes.is_leaf[node] and depth < deepest:
            here = len(order) - 1
            below = [(child, depth + 1, here, k) for k, child in enumerate(nodes.children(node))]
            stack.extend(reversed(below))
    parents = {parent for _, _, parent, _ in order}
    xs = np.zeros(len(order))
    n_leaves = 0
    for i in range(len(order)):
        if i not in parents:
            xs[i], n_leaves = n_leaves, n_leaves + 1
    for i in reversed(range(len(order))):
        if i in parents:
            xs[i] = np.mean([xs[j] for j, entry in enumerate(order) if entry[2] == i])
    made = []
    for i, (node, depth, parent, which) in enumerate(order):
        inner = i in parents
        value = nodes.value[node]
        told = classes[int(value[0].argmax())] if classes is not None else _number(words.answer(value))
        title = words.columns[int(nodes.feature[node])] if inner else told
        text = "" if parent < 0 else condition(nodes, order[parent][0], which, words)
        shares = tuple(float(v) for v in value[0]) if classes is not None else ()
        made.append(Box(float(xs[i]), depth, title, text, shares, int(nodes.samples[node]), parent, not inner))
    return made


def _number(answer: Any) -> str:
    return f"{answer:.4g}" if isinstance(answer, float) else str(answer)


@dataclass(eq=False)
class PartialDependenceDisplay:
    """What a model says on average if one column had this or that value, all others staying as they are.

    Parameters
    ----------
    column
        Its name.
    grid
        (g,) values of the column.
    average
        (g,) mean answer at each of them: of the class asked about, or of the number.
    individual
        (g, rows) answers for single rows.
    about
        What the answers are.

    Attributes
    ----------
    ax_, figure_, line_
        Where it was drawn, and the line of the mean.

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
    grid: Array
    average: Array
    individual: Array
    about: str
    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

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
        """Draw what a fitted model says along a numeric column.

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
            Values to ask about; 40 between the 2nd and the 98th percentile if None.
        rows
            How many single rows to show.
        ax
            Axes to draw on; new ones if None.
        """
        from latently.data.tables import frames
        from latently.data.tables.matrix import as_table

        names = frames.column_names(as_table(X, "X"))
        j = place(column, names)
        seen = np.asarray(frames.views(X)[names[j]].to_floats(f"column {names[j]!r}"), dtype=np.float64)
        if grid is None:
            grid = np.unique(np.nanpercentile(seen, np.linspace(2, 98, 40)))
        values = np.asarray(grid, dtype=np.float64)
        ask, about = _question(estimator, target)
        told = np.array([ask(_with(X, names[j], j, value)) for value in values])
        return cls(str(names[j]), values, told.mean(axis=1), told[:, :rows], about).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        self.ax_, self.figure_ = ax, _ = axes_of(ax)
        ax.plot(self.grid, self.individual, color="0.8", lw=0.6, zorder=1)
        (self.line_,) = ax.plot(self.grid, self.average, color=colours(1)[0], lw=2.5, zorder=2)
        ax.set(xlabel=self.column, ylabel=self.about)
        return self


def _question(estimator: Any, target: Any) -> tuple[Any, str]:
    if not hasattr(estimator, "classes_"):
        return lambda rows: np.asarray(estimator.predict(rows), dtype=np.float64), "prediction"
    classes = list(estimator.classes_)
    if target is not None and target not in classes:
        raise ValueError(f"there is no class {target!r}; the classes are {classes}")
    k = len(classes) - 1 if target is None else classes.index(target)
    return lambda rows: np.asarray(estimator.predict_proba(rows))[:, k], f"probability of {classes[k]}"


def _with(X: Any, name: str, j: int, value: float) -> Any:
    """The table with one column set to a value."""
    from latently.data.tables import frames

    if not frames.is_frame(X):
        rows = np.array(X, dtype=np.float64)
        rows[:, j] = value
        return rows
    columns = {n: view.to_list() for n, view in frames.views(X).items()}
    columns[name] = [value] * frames.row_count(X)
    return frames.restore_types(frames.from_columns(columns, X), X)
