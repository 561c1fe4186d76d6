"""The m-estimate: shares of categories, drawn towards a prior."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.data.schema.column import Column

Array = NDArray[np.float64]


def m_estimate(table: Array, prior: Array, m: float | str, *, ordered: bool = False) -> Array:
    """(n_i + m p_i) / (n + m) for each category and class.

    Parameters
    ----------
    table
        (k, K) weight of each category in each class.
    prior
        (k,) the prior probabilities p.
    m
        Weight of the prior, in rows; "laplace" for as many as there are categories, which with even priors is
        Laplace's rule of adding one to each count.
    ordered
        Whether categories have an order: then half of the prior is what their neighbours have in the same
        class.

    Examples
    --------
    >>> m_estimate(np.array([[3.0], [1.0]]), np.array([0.5, 0.5]), 4.0)
    array([[0.625],
           [0.375]])
    """
    k = len(table)
    weight = float(k) if m == "laplace" else _weight(m)
    n = table.sum(axis=0)
    lean = np.repeat(prior[:, None], table.shape[1], axis=1)
    if ordered and k > 1:
        lean = np.where(n > 0, 0.5 * lean + 0.5 * _neighbours(table) / np.where(n > 0, n, 1.0), lean)
    whole = n + weight
    return np.where(whole > 0, (table + weight * lean) / np.where(whole > 0, whole, 1.0), lean)


def _weight(m: Any) -> float:
    if isinstance(m, str) or not np.isfinite(m) or m < 0:
        raise ValueError(f"m must be 'laplace' or a number that is not negative, got {m!r}")
    return float(m)


def _neighbours(table: Array) -> Array:
    """Spread counts along the order: half stays, a quarter goes to each side, what would fall off stays."""
    wide = np.vstack([table[:1], table, table[-1:]])
    return 0.5 * table + 0.25 * (wide[:-2] + wide[2:])


def prior_shares(table: Array, column: Column, p: Any) -> tuple[Array, float]:
    """Prior probabilities p of a column's categories (k,), and of a category that was never seen."""
    k = len(table)
    even = 1.0 / max(k, 1)
    if isinstance(p, str) and p == "marginal":
        counts = table.sum(axis=1)
        whole = counts.sum() + k + 1.0
        return (counts + 1.0) / (whole - 1.0) if k else np.empty(0), float(1.0 / whole)
    if p is None or (isinstance(p, Mapping) and column.name not in p):
        return np.full(k, even), even
    if not isinstance(p, Mapping):
        raise ValueError(f"p must be None, 'marginal' or a dict from columns to probabilities, got {p!r}")
    return _given(p[column.name], column), even


def _given(shares: Any, column: Column) -> Array:
    if isinstance(shares, Mapping):
        absent = [c for c in column.categories if c not in shares]
        if absent:
            raise ValueError(f"p of {column.where} has no probability for {absent}")
        shares = [shares[c] for c in column.categories]
    given = np.asarray(shares, dtype=np.float64)
    if given.shape != (column.n_categories,) or not (given >= 0).all() or not np.isclose(given.sum(), 1.0):
        raise ValueError(f"p of {column.where} must be {column.n_categories} probabilities that sum to 1, got {shares}")
    return given
