"""Reading items of several nodes: lists of arrays, of token lists, of sparse matrices, or rows with lengths."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from latently.data.tables.matrix import as_matrix
from latently.data.tables.values import is_missing
from latently.structure.protocol import Ints
from latently.structure.tokens import TokenFeatures, is_token_list


def stacked(X: Any, lengths: Any, tokens: TokenFeatures | None = None) -> tuple[Any, Ints]:
    """The rows of all items, (N, d), and how many each one has."""
    if lengths is not None:
        rows = _rows_of(X, "X")
        return rows, checked_lengths(lengths, rows.shape[0])
    if hasattr(X, "shape") and len(X.shape) == 2:
        raise ValueError("X is one table: give `lengths`, the number of rows of each sequence, or a list of tables")
    items = list(X)
    if not items:
        raise ValueError("X has 0 sample(s): a minimum of 1 is required")
    if is_token_list(items[0]):
        items = (tokens or TokenFeatures()).transform(items)
    rows = [_rows_of(item, f"item {i} of X") for i, item in enumerate(items)]
    for i, item in enumerate(rows):
        if item.shape[1] != rows[0].shape[1]:
            raise ValueError(f"item {i} of X has {item.shape[1]} features, but item 0 has {rows[0].shape[1]}")
    together = sparse.vstack(rows, format="csr") if sparse.issparse(rows[0]) else np.vstack(rows)
    return together, np.array([item.shape[0] for item in rows], dtype=np.int64)


def _rows_of(item: Any, name: str) -> Any:
    """A checked table of at least one row."""
    if sparse.issparse(item):
        rows = sparse.csr_matrix(item, dtype=np.float64)
        if not np.isfinite(rows.data).all():
            raise ValueError(f"{name} contains NaN or infinity: fill in or drop what is missing")
        if rows.shape[0] == 0:
            raise ValueError(f"{name} is empty: leave out what has no nodes")
        return rows
    if hasattr(item, "__len__") and len(item) == 0:
        raise ValueError(f"{name} is empty: leave out what has no nodes")
    return np.ascontiguousarray(as_matrix(item, name=name))


def checked_lengths(lengths: Any, n_rows: int) -> Ints:
    """Lengths of sequences that make up the rows."""
    found = np.asarray(lengths)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise ValueError(f"lengths must be whole numbers, one for each sequence, got {lengths!r:.80}")
    if (found < 1).any():
        raise ValueError(f"item {int(np.argmax(found < 1))} of X is empty: leave out what has no nodes")
    if found.sum() != n_rows:
        raise ValueError(f"lengths sum to {int(found.sum())}, but X has {n_rows} rows")
    return found.astype(np.int64)


def flat_labels(y: Any, lengths: Ints, given_lengths: bool) -> NDArray[Any]:
    """The labels of all nodes, (N,); an error names the item whose labels do not fit."""
    if given_lengths and len(y) == int(lengths.sum()) and not _is_nested(y):
        return np.asarray(y)
    items = [np.asarray(item).reshape(-1) for item in y]
    if len(items) != len(lengths):
        raise ValueError(f"X has {len(lengths)} items, but y has {len(items)}")
    for i, (labels, length) in enumerate(zip(items, lengths, strict=True)):
        if len(labels) != length:
            raise ValueError(f"item {i} has {length} nodes in X, but {len(labels)} labels in y")
    if any(labels.dtype.kind == "O" for labels in items):
        return np.concatenate([labels.astype(object) for labels in items])
    return np.concatenate(items)


def _is_nested(y: Sequence[Any]) -> bool:
    return not isinstance(y[0], str) and hasattr(y[0], "__len__")


def missing_labels(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Which labels are None or NaN."""
    if labels.dtype.kind == "O":
        return np.array([is_missing(label) for label in labels], dtype=bool)
    return np.isnan(labels) if labels.dtype.kind == "f" else np.zeros(len(labels), dtype=bool)


def split(values: NDArray[Any], lengths: Ints) -> list[NDArray[Any]]:
    """Values of all nodes, item by item."""
    return np.split(values, np.cumsum(lengths)[:-1])
