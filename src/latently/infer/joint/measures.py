"""Entropy, divergence and information of products of factors, without ever writing the whole table."""

from collections.abc import Iterable, Sequence

import numpy as np

from latently.infer.factors import Codes, Dense, Factor, Floats, Sparse, as_sparse, matching
from latently.infer.joint.eliminate import eliminate


def cells_of(factors: Iterable[Factor], names: Sequence[str]) -> Sparse:
    """Give the normalised marginal over `names` as a list of its cells, in the order of the names."""
    cells = as_sparse(eliminate(factors, names).rest)
    at = [cells.names.index(name) for name in names]
    shape = tuple(cells.shape[i] for i in at)
    return Sparse(tuple(names), shape, cells.codes[:, at], cells.values / cells.values.sum())


def expected_log(factors: Sequence[Factor], of: Iterable[Factor]) -> float:
    """Give sum_f E[log f] over the factors `of`, under the normalised product of `factors`."""
    total = 0.0
    for factor in of:
        cells = cells_of(factors, factor.names)
        values = _values_at(factor, cells)
        if np.any(values <= 0):
            return -np.inf
        total += float(cells.values @ np.log(values))
    return total


def _values_at(factor: Factor, cells: Sparse) -> Floats:
    if isinstance(factor, Dense):
        return np.broadcast_to(factor.lookup(cells.columns()), cells.values.shape)
    values = np.zeros(len(cells.values))
    rows, others = matching(cells, factor, list(cells.names))
    values[rows] = factor.values[others]
    return values


def information(cells: Sparse, left: Sequence[str], right: Sequence[str], given: Sequence[str]) -> float:
    """Give I(left; right | given) in nats, from the cells of their joint."""
    both = _group_totals(cells, [*left, *given]) * _group_totals(cells, [*right, *given])
    ratio = cells.values * _group_totals(cells, list(given)) / both
    return max(0.0, float(cells.values @ np.log(ratio)))


def _group_totals(cells: Sparse, names: Sequence[str]) -> Floats:
    """For each cell, the sum over all cells that agree with it on `names`."""
    if not names:
        return np.full(len(cells.values), cells.values.sum())
    at: Codes = np.array([cells.names.index(n) for n in names], dtype=np.intp)
    where = np.unique(cells.codes[:, at], axis=0, return_inverse=True)[1].ravel()
    return np.bincount(where, weights=cells.values).astype(np.float64)[where]
