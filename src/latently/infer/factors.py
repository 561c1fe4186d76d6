"""Factors: non-negative tables over named variables, dense or as a list of cells, and their products.

A factor knows variables by name and values by their position (code). What the values mean is the business of
`Joint`; how to order sums is the business of `eliminate`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Codes: TypeAlias = NDArray[np.intp]
Floats: TypeAlias = NDArray[np.float64]

CELLS = 1 << 26  # the largest table built in memory: half a gigabyte of floats


@dataclass(frozen=True)
class Dense:
    """A full table: one axis per variable."""

    names: tuple[str, ...]
    table: Floats

    def sizes(self) -> dict[str, int]:
        """Give the number of values of each variable."""
        return dict(zip(self.names, self.table.shape, strict=True))

    def restrict(self, evidence: Mapping[str, int]) -> "Dense":
        """Fix variables at one value each; they leave the table."""
        at = tuple(evidence.get(name, slice(None)) for name in self.names)
        return Dense(tuple(n for n in self.names if n not in evidence), np.asarray(self.table[at]))

    def lookup(self, codes: Mapping[str, Codes]) -> Floats:
        """Read the table at many assignments at once."""
        if not self.names:
            return np.asarray(self.table)
        return self.table[tuple(codes[name] for name in self.names)]


@dataclass(frozen=True)
class Sparse:
    """The cells that are not zero: a row of codes and a value each."""

    names: tuple[str, ...]
    shape: tuple[int, ...]
    codes: Codes  # (cells, variables)
    values: Floats  # (cells,)

    def sizes(self) -> dict[str, int]:
        """Give the number of values of each variable."""
        return dict(zip(self.names, self.shape, strict=True))

    def restrict(self, evidence: Mapping[str, int]) -> "Sparse":
        """Fix variables at one value each; they leave the factor."""
        fixed = [(i, evidence[n]) for i, n in enumerate(self.names) if n in evidence]
        rows = np.all([self.codes[:, i] == code for i, code in fixed], axis=0) if fixed else slice(None)
        keep = [i for i, n in enumerate(self.names) if n not in evidence]
        return Sparse(
            tuple(self.names[i] for i in keep),
            tuple(self.shape[i] for i in keep),
            self.codes[rows][:, keep],
            self.values[rows],
        )

    def columns(self) -> dict[str, Codes]:
        """Give the codes by variable."""
        return {name: self.codes[:, i] for i, name in enumerate(self.names)}


Factor: TypeAlias = Dense | Sparse


def multiply(factors: Iterable[Dense], names: tuple[str, ...], sizes: Mapping[str, int]) -> Floats:
    """Multiply dense factors into one table whose axes are `names`."""
    shape = tuple(sizes[name] for name in names)
    check_size(shape, names)
    table = np.ones(shape)
    for factor in factors:
        order = np.argsort([names.index(n) for n in factor.names])
        axes = tuple(sizes[n] if n in factor.names else 1 for n in names)
        table *= factor.table.transpose(order).reshape(axes)
    return table


def check_size(shape: tuple[int, ...], names: Iterable[str]) -> None:
    """Refuse a table that would not fit, and say over which variables it is."""
    cells = prod(shape)
    if cells > CELLS or len(shape) > 60:
        listed = list(names)
        shown = ", ".join(listed[:8]) + (f" and {len(listed) - 8} more" if len(listed) > 8 else "")
        raise ValueError(
            f"this needs one table of {cells:.3g} cells over {shown}: ask for fewer variables together, "
            "or break the joint into factors over fewer variables"
        )


def merge_cells(factor: Sparse) -> Sparse:
    """Add up cells with the same codes and drop those that are zero."""
    if not factor.names:
        total = np.array([factor.values.sum()])
        return Sparse((), (), np.zeros((1, 0), dtype=np.intp), total)
    cells, where = np.unique(factor.codes, axis=0, return_inverse=True)
    totals: Floats = np.bincount(where.ravel(), weights=factor.values, minlength=len(cells)).astype(np.float64)
    kept = totals > 0
    return Sparse(factor.names, factor.shape, cells[kept], totals[kept])


def join(left: Sparse, right: Sparse) -> Sparse:
    """Multiply two sparse factors: the pairs of cells that agree on the variables they share."""
    shared = [n for n in left.names if n in right.names]
    new = [i for i, n in enumerate(right.names) if n not in shared]
    rows, others = matching(left, right, shared)
    return Sparse(
        left.names + tuple(right.names[i] for i in new),
        left.shape + tuple(right.shape[i] for i in new),
        np.hstack([left.codes[rows], right.codes[others][:, new]]),
        left.values[rows] * right.values[others],
    )


def matching(left: Sparse, right: Sparse, shared: list[str]) -> tuple[Codes, Codes]:
    """Rows of both factors that agree on the shared variables, as two index arrays of equal length."""
    at = [np.array([f.names.index(n) for n in shared], dtype=np.intp) for f in (left, right)]
    both = np.vstack([left.codes[:, at[0]], right.codes[:, at[1]]])
    key = np.unique(both, axis=0, return_inverse=True)[1].ravel() if shared else np.zeros(len(both), np.intp)
    mine, theirs = key[: len(left.codes)], key[len(left.codes) :]
    order = np.argsort(theirs, kind="stable")
    first = np.searchsorted(theirs[order], mine, side="left")
    count = np.searchsorted(theirs[order], mine, side="right") - first
    check_size((int(count.sum()),), left.names + right.names)
    rows = np.repeat(np.arange(len(mine)), count)
    step = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
    return rows, order[np.repeat(first, count) + step]


def as_sparse(factor: Factor) -> Sparse:
    """Write a factor as the list of its cells."""
    if isinstance(factor, Sparse):
        return factor
    codes = np.argwhere(factor.table > 0).astype(np.intp)
    return Sparse(factor.names, factor.table.shape, codes, factor.table[factor.table > 0].ravel())
