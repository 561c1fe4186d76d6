"""Scores of nodes and of pairs: w . Psi(x, y) = sum of x_v W y_v over nodes, and of P[y_u, y_v] over edges.

This is all that the models of this package have in common; how the nodes hang together is in their `Layout`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from latently.structure.inference.layout import Inference, Layout
from latently.structure.protocol import Array, Ints

MakeInference = Callable[[Layout], Inference]


@dataclass(frozen=True, eq=False)
class Shape:
    """How a vector of weights is made up.

    Parameters
    ----------
    n_columns
        Number of features of a row, d.
    n_labels
        Number of labels of a node, K.
    n_kinds
        Number of tables of pairs, E.
    basis
        (T K, V) what the columns of W mean: row t K + k is added up for label k of the t-th of the T nodes that share
        a row of features. None if V is K and every label has a column.
    allowed
        (K, K) which pairs there are; None if all.
    allowed_first
        (K,) which labels the first node may have; None if all.
    """

    n_columns: int
    n_labels: int
    n_kinds: int
    basis: Array | None = None
    allowed: NDArray[np.bool_] | None = None
    allowed_first: NDArray[np.bool_] | None = None

    @property
    def width(self) -> int:
        """Columns of W."""
        return self.n_labels if self.basis is None else int(self.basis.shape[1])

    @property
    def size(self) -> int:
        """Number of weights."""
        return self.n_columns * self.width + self.n_kinds * self.n_labels**2

    def parts(self, w: Array) -> tuple[Array, Array]:
        """W (d, V) and P (E, K, K)."""
        cut = self.n_columns * self.width
        return w[:cut].reshape(self.n_columns, self.width), w[cut:].reshape(self.n_kinds, self.n_labels, self.n_labels)


@dataclass(frozen=True, eq=False)
class Nodes:
    """Features of all nodes of some items.

    Parameters
    ----------
    rows
        (R, d) features, an array or compressed sparse rows.
    layout
        The nodes of each item, and the edges between them.
    shape
        What the weights mean.
    make
        Makes the inference of a layout.
    """

    rows: Any
    layout: Layout
    shape: Shape
    make: MakeInference

    @cached_property
    def inference(self) -> Inference:
        """Inference for these items."""
        return self.make(self.layout)

    @cached_property
    def sparse_rows(self) -> sparse.csr_matrix:
        """The features as compressed sparse rows."""
        return sparse.csr_matrix(self.rows)

    @cached_property
    def _columns(self) -> Any:
        """The features, transposed, so that sums over rows run along memory."""
        return self.rows.T.tocsr() if sparse.issparse(self.rows) else self.rows.T

    def take(self, items: Ints) -> "Nodes":
        """Some of the items."""
        layout, nodes = self.layout.take(items)
        shared = self.layout.n_nodes // max(self.rows.shape[0], 1)
        return replace(self, rows=self.rows[nodes[::shared] // shared], layout=layout)

    def scores(self, w: Array) -> tuple[Array, Array]:
        """Scores U (N, K) of the nodes and P (E, K, K) of the pairs; -inf for what is forbidden."""
        W, P = self.shape.parts(w)
        U = np.asarray(self.rows @ W)
        if self.shape.basis is not None:
            U = (U @ self.shape.basis.T).reshape(-1, self.shape.n_labels)
        if self.shape.allowed is not None:
            P = np.where(self.shape.allowed, P, -np.inf)
        if self.shape.allowed_first is not None:
            U[np.ix_(self.layout.starts, ~self.shape.allowed_first)] = -np.inf
        return U, np.ascontiguousarray(P)

    def gradient(self, M: Array, pairs: Array) -> Array:
        """Sum of Psi, given how often each node has each label, M (N, K), and the counts of pairs (E, K, K)."""
        if self.shape.basis is not None:
            M = M.reshape(self.rows.shape[0], -1) @ self.shape.basis
        return np.concatenate([np.asarray(self._columns @ M).ravel(), pairs.ravel()])

    def counts(self, labels: Ints, weights: Array) -> tuple[Array, Array]:
        """How often labels and pairs of them are there, (N, K) and (E, K, K), times the weights of the items."""
        K, layout = self.shape.n_labels, self.layout
        each = np.repeat(weights, layout.lengths)
        M = np.zeros((len(labels), K))
        M[np.arange(len(labels)), labels] = each
        code = (layout.kind * K + labels[layout.first]) * K + labels[layout.second]
        pairs = np.bincount(code, weights=each[layout.first], minlength=self.shape.n_kinds * K * K)
        return M, np.asarray(pairs, dtype=float).reshape(self.shape.n_kinds, K, K)

    def differences(self, truth: Ints, labels: Ints) -> sparse.csr_matrix:
        """(n, size) Psi(x, truth) - Psi(x, labels) of each item, sparse."""
        entries = [self._differences_of_nodes(truth, labels), *self._differences_of_pairs(truth, labels)]
        items, columns, values = (np.concatenate(part) for part in zip(*entries, strict=True))
        shape = (len(self.layout.lengths), self.shape.size)
        found = sparse.coo_matrix((values, (items, columns)), shape=shape).tocsr()
        found.eliminate_zeros()
        return found

    def _differences_of_nodes(self, truth: Ints, labels: Ints) -> tuple[Ints, Ints, Array]:
        rows, columns, signs = self._changed_columns(truth, labels)
        X = self.sparse_rows
        sizes = np.diff(X.indptr)[rows]
        where = np.repeat(X.indptr[rows] - np.cumsum(sizes) + sizes, sizes) + np.arange(int(sizes.sum()))
        shared = self.layout.n_nodes // max(self.rows.shape[0], 1)
        items = self.layout.item_of_node()[::shared][rows]
        into = X.indices[where].astype(np.int64) * self.shape.width + np.repeat(columns, sizes)
        return np.repeat(items, sizes), into, X.data[where] * np.repeat(signs, sizes)

    def _changed_columns(self, truth: Ints, labels: Ints) -> tuple[Ints, Ints, Array]:
        """Rows and columns of W where the outputs differ, and by how much."""
        if self.shape.basis is None:
            rows = np.flatnonzero(truth != labels)
            ones = np.ones(len(rows))
            return np.tile(rows, 2), np.concatenate([truth[rows], labels[rows]]), np.concatenate([ones, -ones])
        K, R = self.shape.n_labels, self.rows.shape[0]
        places = np.arange(len(truth)) % (len(truth) // max(R, 1)) * K
        change = self.shape.basis[places + truth] - self.shape.basis[places + labels]
        change = change.reshape(R, -1, self.shape.width).sum(axis=1)
        rows, columns = np.nonzero(change)
        return rows, columns, change[rows, columns]

    def _differences_of_pairs(self, truth: Ints, labels: Ints) -> list[tuple[Ints, Ints, Array]]:
        layout, K = self.layout, self.shape.n_labels
        if not len(layout.first):
            return []
        items, begin = layout.item_of_node()[layout.first], self.shape.n_columns * self.shape.width
        found = []
        for y, sign in ((truth, 1.0), (labels, -1.0)):
            code = begin + (layout.kind * K + y[layout.first]) * K + y[layout.second]
            found.append((items, code, np.full(len(items), sign)))
        return found
