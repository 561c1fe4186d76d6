"""Joints from what was seen: counts with a prior, rows of a table."""

from collections.abc import Hashable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from latently.data.tables import frames
from latently.data.tables.column_view import ColumnView
from latently.data.tables.values import is_missing
from latently.distributions.inputs import as_weights
from latently.infer.factors import Codes, Dense, Factor, Floats, check_size
from latently.infer.joint.labels import Variables, compact

MISSING = ("raise", "drop", "value")


def smoothed(variables: Variables, counts: Factor, prior: Any) -> Factor:
    """Give (counts + prior) / total: the mean of the posterior under a Dirichlet prior."""
    pseudo = getattr(prior, "concentration", prior)
    if not np.any(np.asarray(pseudo)):
        return _normalised(counts)
    shape = tuple(len(values) for values in variables.values())
    check_size(shape, variables)
    table = _as_table(counts, shape) + _pseudo_counts(pseudo, shape)
    return Dense(tuple(variables), table / table.sum())


def _normalised(factor: Factor) -> Factor:
    values = factor.table if isinstance(factor, Dense) else factor.values
    total = values.sum()
    if not total > 0:
        raise ValueError("every count is zero: count something, or give a prior above zero")
    if isinstance(factor, Dense):
        return Dense(factor.names, values / total)
    return type(factor)(factor.names, factor.shape, factor.codes, values / total)


def _as_table(factor: Factor, shape: tuple[int, ...]) -> Floats:
    if isinstance(factor, Dense):
        return factor.table
    table = np.zeros(shape)
    table[tuple(factor.codes.T)] = factor.values
    return table


def _pseudo_counts(prior: Any, shape: tuple[int, ...]) -> Floats:
    pseudo = np.asarray(prior, dtype=np.float64)
    if pseudo.ndim == 1 and pseudo.size in (1, prod(shape)):
        # a Dirichlet: one number for every cell, or one per cell in the order of the flattened table
        pseudo = pseudo.reshape(shape if pseudo.size > 1 else ())
    if pseudo.ndim and pseudo.shape != shape:
        raise ValueError(f"the prior has shape {pseudo.shape}: give one number, or the shape {shape}")
    if not np.all(np.isfinite(pseudo) & (pseudo >= 0)):
        raise ValueError("the prior must be pseudo-counts: no negative number, NaN or inf")
    return pseudo


def read_rows(
    frame: Any, columns: Sequence[str] | None, weights: ArrayLike | None, missing: str
) -> tuple[Variables, Factor]:
    """Count the distinct rows of a table: its variables, with the values in it, and the counts."""
    if missing not in MISSING:
        raise ValueError(f"missing must be one of {', '.join(MISSING)}; got {missing!r}")
    read = {name: _read(column) for name, column in _chosen(frame, columns).items()}
    codes = np.column_stack([c for c, _ in read.values()])
    weight = as_weights(weights, len(codes))
    variables = {name: values for name, (_, values) in read.items()}
    codes, weight = _deal_with_missing(codes, weight, variables, missing)
    if len(codes) == 0:
        raise ValueError("the table has no complete rows: nothing to count")
    shape = tuple(len(values) for values in variables.values())
    return variables, compact(tuple(variables), shape, codes, weight)


def _chosen(frame: Any, columns: Sequence[str] | None) -> dict[str, ColumnView]:
    if isinstance(frame, Mapping):
        kinds = {str(n): np.asarray(list(c), dtype=object) for n, c in frame.items()}
        found = {n: ColumnView(n, "object", c) for n, c in kinds.items()}
        if len({len(c) for c in kinds.values()}) > 1:
            raise ValueError(f"columns differ in length: { ({n: len(c) for n, c in kinds.items()}) }")
    else:
        found = frames.views(frame)
    absent = [n for n in columns or () if n not in found]
    if absent:
        raise ValueError(f"column {absent[0]!r} is not in the table, which has {', '.join(map(repr, found))}")
    chosen = {n: found[n] for n in columns} if columns is not None else found
    if not chosen:
        raise ValueError("the table has no columns: nothing to make a joint of")
    return chosen


def _read(column: ColumnView) -> tuple[Codes, tuple[Hashable, ...]]:
    """Give the codes of a column, -1 for what is missing, and its values in order."""
    entries = column.to_list()
    present = {v for v in entries if not is_missing(v)}
    values = tuple(column.levels) if column.levels else tuple(_in_order(present))
    position = {value: i for i, value in enumerate(values)}
    codes = [-1 if is_missing(v) else position[v] for v in entries]
    return np.array(codes, dtype=np.intp), values


def _in_order(values: set[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda v: (type(v).__name__, repr(v)))


def _deal_with_missing(codes: Codes, weight: Floats, variables: Variables, missing: str) -> tuple[Codes, Floats]:
    absent = codes < 0
    if missing == "value":
        for i, name in enumerate(list(variables)):
            if absent[:, i].any():
                variables[name] = (*variables[name], None)
                codes[absent[:, i], i] = len(variables[name]) - 1
        return codes, weight
    if missing == "raise" and absent.any():
        column = list(variables)[int(np.argmax(absent.any(axis=0)))]
        raise ValueError(
            f"column {column!r} has missing values: missing='drop' leaves those rows out, "
            "missing='value' makes None a value of its own"
        )
    whole = ~absent.any(axis=1)
    return codes[whole], weight[whole]
