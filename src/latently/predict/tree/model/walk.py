"""Trees of thresholds, and rows, as rows pass through them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently import compiled

Array = NDArray[np.float64]
NODE: Final = np.dtype([("threshold", np.float64), ("feature", np.uint32), ("first", np.uint32)])
"""A node as rows pass through it, of one piece since memory is what they wait for."""
NOT_SINGLE: Final = np.empty(0, dtype=np.int16)


@dataclass(frozen=True, eq=False)
class Walk:
    """A tree of thresholds with a side for missing values, as rows pass through it.

    Attributes
    ----------
    nodes : (n,) of the type NODE; a leaf leads to itself, since nothing is above its threshold
    likely : (n,) the class of the highest share, if there is one output of classes
    single : (n,) the only class of a leaf, -1 of others; empty for numbers and for several outputs
    missing_right : (n,) whether a missing value goes to the second child
    width : number of columns
    """

    nodes: NDArray[Any]
    likely: NDArray[np.unsignedinteger[Any]]
    single: NDArray[np.int16]
    missing_right: NDArray[np.bool_]
    width: int

    @cached_property
    def nodes_for_missing(self) -> NDArray[Any]:
        """(n,) for rows with missing values: of the columns that come twice, each node looks at that of its side."""
        nodes = self.nodes.copy()
        inner = nodes["first"] != np.arange(len(nodes))
        nodes["feature"][inner & self.missing_right] += self.width
        most = np.finfo(np.float64).max  # an infinite threshold parts missing values from all others
        nodes["threshold"][inner] = np.minimum(nodes["threshold"][inner], most)
        return nodes

    def leaves(self, rows: "PassingRows") -> NDArray[np.uint64]:
        """(n,) the leaf of each row."""
        at = np.empty(len(rows.values), dtype=np.uint64)
        compiled.tree.walk.fill_leaves(rows.values, 0, len(at), self.nodes_for(rows), at)
        return at

    def nodes_for(self, rows: "PassingRows") -> NDArray[Any]:
        """(n,) of the type NODE, for rows with or without missing values."""
        return self.nodes_for_missing if rows.any_missing else self.nodes


def make_walk(threshold: Array, feature: Any, first: Any, missing: Any, value: Array, width: int) -> Walk:
    """Bring a tree of thresholds, whose leaves have -1 for a first child, into the form that rows pass through."""
    leaf, (outputs, classes) = first < 0, value.shape[1:]
    nodes = np.empty(len(first), dtype=NODE)
    nodes["first"] = np.where(leaf, np.arange(len(first)), first)
    nodes["feature"] = np.where(leaf, 0, feature)
    nodes["threshold"] = np.where(leaf, np.inf, threshold)
    likely, single = np.zeros(1, dtype=np.uint8), NOT_SINGLE  # one class: a root alone
    if outputs == 1 and classes > 1:
        likely = value[:, 0].argmax(axis=1).astype(np.min_scalar_type(classes))
        if classes < 1 << 15:
            single = np.where(value[:, 0].max(axis=1) == 1.0, likely.astype(np.int16), np.int16(-1))
    return Walk(nodes, likely, single, missing == 1, width)


@dataclass(frozen=True, eq=False)
class PassingRows:
    """Rows as they pass through trees of thresholds.

    Attributes
    ----------
    values : (n, d) the rows; if any value is missing, (n, 2 d): with -inf in its place, which is never above a
        threshold, and with inf, which always is
    any_missing : whether any value is missing
    """

    values: Array
    any_missing: bool

    @classmethod
    def of(cls, X: Array) -> "PassingRows":
        """Make rows ready.

        Examples
        --------
        >>> PassingRows.of(np.array([[1.0, np.nan]])).values
        array([[  1., -inf,   1.,  inf]])
        """
        if not np.isnan(X.min()):
            return cls(X, False)
        lost = np.isnan(X)
        return cls(np.hstack([np.where(lost, -np.inf, X), np.where(lost, np.inf, X)]), True)
