"""Tree kernel: how many fragments two parse trees have in common."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from latently import compiled
from latently.kernel.base import Array, Kernel
from latently.kernel.blocks import filled
from latently.kernel.ngrams import check_decay
from latently.kernel.read_tree import Tree, read_tree
from latently.learn.engine.blocks import for_blocks

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees as arrays: nodes with equal productions have equal numbers, children come before their parents.

    Parameters
    ----------
    nodes
        (N, 4) production, place of the first child in `children`, number of children, whether it is a leaf.
    starts
        (n + 1,) nodes of tree i are starts[i] to starts[i + 1] - 1.
    children
        Children of all nodes, as numbers within their tree.
    order
        (N,) nodes of each tree by production.
    first, last
        The trees that are meant: first to last - 1.
    """

    nodes: Ints
    starts: Ints
    children: Ints
    order: Ints
    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first

    @property
    def arrays(self) -> tuple[Ints, ...]:
        """What the compiled functions take."""
        return self.nodes, self.starts, self.children, self.order, self.starts


class TreeKernel(Kernel):
    """Common subset trees of two trees (Collins and Duffy, 2002).

    A fragment of a tree is a connected part that has, at each of its nodes, either all children or none of them, and
    at least one production. k(x, y) sums over all fragments that both have, each time that they occur,
    decay to the number of their productions.

    Parameters
    ----------
    decay
        Weight of each production in a fragment, above 0 and at most 1. At 1 every fragment counts as one, and a tree
        is similar to little but itself.
    leaves
        Whether a leaf alone is a fragment too, of weight one.
    normalize
        Whether to divide by sqrt(k(x, x) k(y, y)). A tree without a fragment (a leaf alone) is similar to nothing.

    Notes
    -----
    Trees are given as bracketed strings, "(NP (D the) (N apple))" or "NP(D the)(N apple)", as nested tuples,
    ("NP", ("D", "the"), ("N", "apple")), or as objects like NLTK's trees.

    Examples
    --------
    >>> TreeKernel(decay=1.0)(["(NP (D the) (N apple))", "(NP (D the) (N pear))"])
    array([[6., 3.],
           [3., 6.]])
    """

    compares = "trees"

    def __init__(self, *, decay: float = 0.4, leaves: bool = False, normalize: bool = False) -> None:
        self.decay = decay
        self.leaves = leaves
        self.normalize = normalize

    def adapted(self, X: Any) -> Kernel:
        """The kernel itself, if its parameters are right."""
        check_decay(self.decay)
        return self

    def _read(self, X: Any, Y: Any) -> tuple[Any, Any]:
        left = list(_trees(X, "X"))
        right = [] if Y is None else list(_trees(Y, "Y"))
        both, n = forest([*left, *right]), len(left)
        return replace(both, last=n), None if Y is None else replace(both, first=n)

    def _matrix(self, X: Forest, Y: Forest | None) -> Array:
        other, same = (X, True) if Y is None else (Y, False)
        out = np.zeros((len(X), len(other)))

        def fill(first: int, last: int) -> None:
            compiled.kernel.trees.block(
                *X.arrays, float(self.decay), float(self.leaves), other.first, first, last, same, out
            )

        return _finite(filled(out, fill, same))

    def _diagonal(self, X: Forest) -> Array:
        out = np.zeros(len(X))

        def fill(first: int, last: int) -> None:
            compiled.kernel.trees.diagonal(*X.arrays, float(self.decay), float(self.leaves), X.first, first, last, out)

        for_blocks(len(out), fill)
        return _finite(out)


def forest(trees: list[Tree]) -> Forest:
    """Trees as arrays."""
    productions: dict[Any, int] = {}
    nodes: list[tuple[int, int, int, bool]] = []
    children: list[int] = []
    starts = [0]
    for tree in trees:
        for label, below in tree:
            rule = (label, tuple(tree[child][0] for child in below)) if below else label
            number = productions.setdefault((bool(below), rule), len(productions))
            nodes.append((number, len(children), len(below), not below))
            children.extend(below)
        starts.append(len(nodes))
    table = np.array(nodes, dtype=np.int64).reshape(-1, 4)
    bounds = np.array(starts, dtype=np.int64)
    owner = np.repeat(np.arange(len(trees)), np.diff(bounds))
    order = np.lexsort((table[:, 0], owner)) - bounds[owner]
    return Forest(table, bounds, np.array(children, dtype=np.int64), order, 0, len(trees))


def _trees(X: Any, name: str) -> Iterator[Tree]:
    if isinstance(X, str | bytes) or not isinstance(X, Iterable):
        raise TypeError(f"{name} is a list of trees, got {type(X).__name__} {X!r:.40}")
    for i, item in enumerate(X):
        yield read_tree(item, f"{name}[{i}]")


def _finite(found: Array) -> Array:
    if not np.isfinite(found).all():
        worst = int(np.argmin(np.isfinite(found).all(axis=tuple(range(1, found.ndim)))))
        raise ValueError(f"tree {worst} has more fragments than a number can hold: use a smaller decay")
    return found
