"""C4.5's pruning: errors are estimated pessimistically; a sub-tree becomes a leaf, or its largest branch is raised."""

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Array = NDArray[np.float64]
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
    _prune(table, root, confidence)
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


def _errors_of(table: Any, node: Any, rows: NDArray[np.int64], weights: Array, confidence: float) -> float:
    """Estimated errors of a sub-tree if other rows came to it."""
    total, stack = 0.0, [(node, rows, weights)]
    while stack:
        node, rows, weights = stack.pop()
        if node.is_leaf:
            total += _estimated(table.stats_of(rows, weights), confidence)
            continue
        parts = _shared(table, node, rows, weights)
        stack.extend((child, p.rows, p.weights) for child, p in zip(node.children, parts, strict=True))
    return total


def _shared(table: Any, node: Any, rows: NDArray[np.int64], weights: Array) -> list[Any]:
    from latently.predict.tree.growth.multiway import shared_out

    return shared_out(table, node, rows, weights, table.X[rows, node.feature])


def _prune(table: Any, root: Any, confidence: float) -> None:
    """Prune sub-trees before what is above them; one that was raised is looked at again."""
    stack = [(root, False)]
    errors: dict[int, float] = {}
    while stack:
        node, is_pruned_below = stack.pop()
        if node.is_leaf:
            errors[id(node)] = _estimated(node.stats, confidence)
        elif not is_pruned_below:
            stack.append((node, True))
            stack.extend((child, False) for child in node.children)
        elif _replaced(table, node, sum(errors[id(child)] for child in node.children), errors, confidence):
            stack.append((node, False))


def _replaced(table: Any, node: Any, as_tree: float, errors: dict[int, float], confidence: float) -> bool:
    """Make a leaf of a node, or raise its largest branch (True then), if that promises fewer errors."""
    weights = np.array([child.stats.sum() for child in node.children])
    largest = node.children[len(weights) - 1 - int(np.argmax(weights[::-1] >= weights.max() - _SMALL))]
    raised = _errors_of(table, largest, node.rows, node.weights, confidence)
    as_leaf = _estimated(node.stats, confidence)
    errors[id(node)] = as_tree
    if as_leaf <= as_tree + _SLACK + _SMALL and as_leaf <= raised + _SLACK + _SMALL:
        node.children, errors[id(node)] = [], as_leaf
    elif raised <= as_tree + _SLACK + _SMALL:
        node.feature, node.threshold, node.children = largest.feature, largest.threshold, largest.children
        _redistribute(table, node)
        return True
    return False


def _redistribute(table: Any, root: Any) -> None:
    """Give the rows of a node to the branches it has now."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.is_leaf:
            continue
        for child, part in zip(node.children, _shared(table, node, node.rows, node.weights), strict=True):
            child.rows, child.weights, child.stats = part.rows, part.weights, part.stats
        stack.extend(node.children)
