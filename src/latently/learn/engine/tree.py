"""Sums as one fixed tree over the chunks, wherever its nodes are computed.

Leaf i is the value of chunk i. The node (level, i) is the sum of the nodes (level - 1, 2 i) and (level - 1, 2 i + 1),
in this order; a node without a right neighbour moves up as it is. The tree depends on the number of leaves alone, so
threads, processes and machines that share its nodes among them in any way come to the same bits. The error of
rounding grows with the height of the tree, not with the number of chunks.
"""

from collections.abc import Iterable
from functools import reduce
from typing import Any, TypeVar

Value = TypeVar("Value", bound=Any)
Nodes = dict[tuple[int, int], Any]
"""Nodes of the tree that are known so far, without those that have gone into a higher one."""


def tree_sum(values: Iterable[Value]) -> Value:
    """Sum values one by one as they come, holding no more of them than the tree is high.

    Examples
    --------
    >>> tree_sum(["a", "b", "c", "d", "e"])
    'abcde'
    """
    pending: list[tuple[int, Value]] = []
    for value in values:
        level = 0
        while pending and pending[-1][0] == level:
            value, level = pending.pop()[1] + value, level + 1
        pending.append((level, value))
    if not pending:
        raise ValueError("there is nothing to sum: the source has no rows")
    total: Value = reduce(lambda right, left: left + right, [value for _, value in reversed(pending)])
    return total


def plant(nodes: Nodes, place: tuple[int, int], value: Any, leaves: int) -> None:
    """Put a node among those that are known; with its neighbour there, both become the node above, and so on.

    Examples
    --------
    >>> nodes = {}
    >>> for leaf in (2, 1, 0):
    ...     plant(nodes, (0, leaf), "abc"[leaf], 3)
    >>> nodes
    {(2, 0): 'abc'}
    """
    level, i = place
    while (width := -(-leaves >> level)) > 1:  # nodes at this level
        beside = i ^ 1
        if beside < width:
            if (level, beside) not in nodes:
                break
            other = nodes.pop((level, beside))
            value = other + value if beside < i else value + other
        level, i = level + 1, i >> 1
    nodes[level, i] = value


def joined(leaves: int, *several: Nodes) -> Nodes:
    """Put the nodes of several places together.

    Examples
    --------
    >>> joined(3, {(0, 2): "c"}, {(1, 0): "ab"})
    {(2, 0): 'abc'}
    """
    nodes: Nodes = {}
    for some in several:
        for place, value in some.items():
            plant(nodes, place, value, leaves)
    return nodes


def root(nodes: Nodes) -> Any:
    """Give the sum, once all leaves are in."""
    ((_, value),) = nodes.items()
    return value
