"""C4.5's pruning: errors are estimated pessimistically; a sub-tree becomes a leaf, or its largest branch is raised."""

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from latently.predict.tree.growth.multiway import branches_of, shared_out

Array = NDArray[np.float64]
Rows = NDArray[np.int64]
_SMALL: Final = 1e-6
_SLACK: Final = 0.1  # errors by which a smaller tree may be worse


def extra_errors(n: float, errors: float, confidence: float) -> float:
    """Errors to be added to those seen among n cases: up to the upper limit of a binomial share.

    Examples
    --------
    >>> round(extra_errors(6, 0, 0.25), 3), round(extra_errors(16, 1, 0.25), 3)
    (1.238, 1.476)
    """
    if errors < 1:
        base = n * (1 - confidence ** (1 / n))
        return float(base if errors == 0 else base + errors * (extra_errors(n, 1.0, confidence) - base))
    if errors + 0.5 >= n:
        return max(n - errors, 0.0)
    z = float(ndtri(1 - confidence))
    f = (errors + 0.5) / n
    upper = (f + z * z / (2 * n) + z * math.sqrt(f / n - f * f / n + z * z / (4 * n * n))) / (1 + z * z / n)
    return upper * n - errors


def pruned(table: Any, root: Any, confidence: float) -> Any:
    """Collapse and prune a tree of classes under construction."""
    if not table.is_class:
        raise ValueError("pessimistic pruning is for classes")
    _collapse(root)
    _Pruning(table, confidence).prune(root)
    return root


def _wrong(stats: Array) -> float:
    return float(stats.sum() - stats.max())


def _collapse(root: Any) -> None:
    """Make leaves of sub-trees that make no fewer errors than a leaf; from the root on."""
    below: dict[int, float] = {}
    order = [root]
    for node in order:  # grows while it is walked through: parents come first
        order.extend(node.children)
    for node in reversed(order):
        below[id(node)] = _wrong(node.stats) if node.is_leaf else sum(below[id(child)] for child in node.children)
    stack = [root]
    while stack:
        node = stack.pop()
        if not node.is_leaf and below[id(node)] >= _wrong(node.stats) - 1e-3:
            node.children = []
        stack.extend(node.children)


def _estimated(stats: Array, confidence: float) -> float:
    n = float(stats.sum())
    if n < _SMALL:
        return 0.0
    wrong = _wrong(stats)
    return wrong + extra_errors(n, wrong, confidence)


class _Pruning:
    """A tree that is being pruned.

    A branch that is raised gets the rows of its siblings in addition to its own: only the nodes that those come to are
    counted and looked at again. Where rows miss the value that is asked for, all shares change, and with them all
    nodes below.
    """

    def __init__(self, table: Any, confidence: float) -> None:
        self.table, self.confidence = table, confidence
        self.errors: dict[int, float] = {}  # estimated, of the sub-trees that are done
        self.gaps: set[int] = set()  # nodes with rows that miss the value they are asked for

    def prune(self, root: Any) -> None:
        """Prune sub-trees before what is above them; one that was raised is looked at again."""
        stack = [(root, False)]
        while stack:
            node, is_pruned_below = stack.pop()
            if id(node) in self.errors:
                continue
            if node.is_leaf:
                self.errors[id(node)] = _estimated(node.stats, self.confidence)
            elif not is_pruned_below:
                stack.append((node, True))
                stack.extend((child, False) for child in node.children)
            elif self._is_raised(node):
                stack.append((node, False))

    def _is_raised(self, node: Any) -> bool:
        """Make a leaf of a node, or raise its largest branch (True then), if that promises fewer errors."""
        self._note_gaps(node)
        weights = np.array([child.stats.sum() for child in node.children])
        largest = node.children[len(weights) - 1 - int(np.argmax(weights[::-1] >= weights.max() - _SMALL))]
        as_tree = sum(self.errors[id(child)] for child in node.children)
        as_leaf, raised = _estimated(node.stats, self.confidence), self._errors_raised(node, largest)
        self.errors[id(node)] = as_tree
        if as_leaf <= as_tree + _SLACK + _SMALL and as_leaf <= raised + _SLACK + _SMALL:
            node.children, self.errors[id(node)] = [], as_leaf
        elif raised <= as_tree + _SLACK + _SMALL:
            self._raise(node, largest)
            del self.errors[id(node)]
            return True
        return False

    def _note_gaps(self, node: Any) -> None:
        self.gaps.discard(id(node))
        if self._misses(node, node.rows):
            self.gaps.add(id(node))

    def _misses(self, node: Any, rows: Rows) -> bool:
        return bool((branches_of(self.table, node, self.table.X[rows, node.feature])[0] < 0).any())

    def _errors_raised(self, node: Any, largest: Any) -> float:
        """Estimated errors of a node's largest branch if all rows of the node came to it."""
        total = self.errors[id(largest)]
        for reached, rows, weights, is_all in self._reached(node, largest):
            if reached.is_leaf:
                stats = self._stats(reached, rows, weights, is_all)
                total += _estimated(stats, self.confidence) - self.errors[id(reached)]
        return total

    def _raise(self, node: Any, largest: Any) -> None:
        """Put the largest branch in the place of a node, and give it the node's rows."""
        for reached, rows, weights, is_all in list(self._reached(node, largest)):
            reached.stats = self._stats(reached, rows, weights, is_all)
            reached.rows, reached.weights = (rows, weights) if is_all else _together(reached, rows, weights)
            del self.errors[id(reached)]
        node.feature, node.threshold, node.children = largest.feature, largest.threshold, largest.children

    def _stats(self, node: Any, rows: Rows, weights: Array, is_all: bool) -> Array:
        stats = self.table.stats_of(rows, weights)
        return np.asarray(stats if is_all else node.stats + stats)

    def _reached(self, node: Any, largest: Any) -> Iterator[tuple[Any, Rows, Array, bool]]:
        """Nodes of the largest branch whose rows change if it is raised: all rows there, or those that are added."""
        stack = [(largest, node.rows, node.weights, True)]
        if id(node) not in self.gaps:
            others = [child for child in node.children if child is not largest]
            rows, weights = np.concatenate([c.rows for c in others]), np.concatenate([c.weights for c in others])
            stack = [(largest, rows, weights, False)]
        while stack:
            node, rows, weights, is_all = stack.pop()
            if not (is_all or node.is_leaf) and (id(node) in self.gaps or self._misses(node, rows)):
                (rows, weights), is_all = _together(node, rows, weights), True
            yield node, rows, weights, is_all
            if not node.is_leaf:
                parts = shared_out(self.table, node, rows, weights, self.table.X[rows, node.feature])
                pairs = zip(node.children, parts, strict=True)
                stack.extend((child, p.rows, p.weights, is_all) for child, p in pairs if is_all or len(p.rows))


def _together(node: Any, rows: Rows, weights: Array) -> tuple[Rows, Array]:
    """The rows of a node and others, in their order."""
    rows, weights = np.concatenate([node.rows, rows]), np.concatenate([node.weights, weights])
    order = rows.argsort()
    return rows[order], weights[order]
