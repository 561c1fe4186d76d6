"""Trees that a person can read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from latently.plot.axes import Display, colours

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
class TreeDisplay(Display):
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
        label = (
            [str(c) for c in (words.classes if class_names is None else class_names)] if _has_classes(words) else None
        )
        return cls(_boxes(estimator.nodes_, words, label, max_depth), label).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        ax = self._on(ax)
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
        self.figure_.set_size_inches(max(6.4, 1.6 * leaves), max(4.0, 1.5 * (height + 1)))
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
        label = classes[int(value[0].argmax())] if classes is not None else _number(words.answer(value))
        title = words.columns[int(nodes.feature[node])] if inner else label
        text = "" if parent < 0 else condition(nodes, order[parent][0], which, words)
        shares = tuple(float(v) for v in value[0]) if classes is not None else ()
        made.append(Box(float(xs[i]), depth, title, text, shares, int(nodes.samples[node]), parent, not inner))
    return made


def _number(answer: Any) -> str:
    return f"{answer:.4g}" if isinstance(answer, float) else str(answer)
