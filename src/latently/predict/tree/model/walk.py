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
BY_NODE, NUMBER, CLASS = range(3)  # what the threshold of a leaf is: nothing, its value, its only class


@dataclass(frozen=True, eq=False)
class Walk:
    """A tree of thresholds with a side for missing values, as rows pass through it.

    Attributes
    ----------
    nodes : (n,) of the type NODE; a leaf leads to itself, since it compares with the last column of rows, which is NaN
    leaf_holds : what the threshold of a leaf is; of a leaf of several classes it is -1
    likely : (n,) the class of the highest share, if there is one output of classes
    missing_right : (n,) whether a missing value goes to the second child
    width : number of columns
    """

    nodes: NDArray[Any]
    leaf_holds: int
    likely: NDArray[np.unsignedinteger[Any]]
    missing_right: NDArray[np.bool_]
    width: int

    @cached_property
    def nodes_for_missing(self) -> NDArray[Any]:
        """(n,) for rows with missing values: of the columns that come twice, each node looks at that of its side."""
        nodes = self.nodes.copy()
        inner = nodes["first"] != np.arange(len(nodes))
        nodes["feature"][inner & self.missing_right] += self.width + 1
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
    nodes["feature"] = np.where(leaf, width, feature)
    holds, said, likely = BY_NODE, np.zeros(1), np.zeros(1, dtype=np.uint8)  # one class: a root alone
    if outputs == 1 and classes == 1:
        holds, said = NUMBER, value[:, 0, 0]
    elif outputs == 1:
        likely = value[:, 0].argmax(axis=1).astype(np.min_scalar_type(classes))
        holds, said = CLASS, np.where(value[:, 0].max(axis=1) == 1.0, likely, -1.0)
    nodes["threshold"] = np.where(leaf, said, threshold)
    return Walk(nodes, holds, likely, missing == 1, width)


@dataclass(frozen=True, eq=False)
class PassingRows:
    """Rows as they pass through trees of thresholds.

    Attributes
    ----------
    values : (n, d + 1) the rows and a column of NaN; if any value is missing, (n, 2 d + 1): the rows with -inf in its
        place, which is never above a threshold, NaN, and the rows with inf in its place, which always is
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
        array([[  1., -inf,  nan,   1.,  inf]])
        """
        (n, d), any_missing = X.shape, bool(np.isnan(X.min()))
        values = np.empty((n, 2 * d + 1 if any_missing else d + 1))
        values[:, :d], values[:, d] = X, np.nan
        if any_missing:
            lost = np.isnan(X)
            values[:, d + 1 :] = np.where(lost, np.inf, X)
            values[:, :d][lost] = -np.inf
        return cls(values, any_missing)
