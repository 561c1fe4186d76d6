"""Parameters as a vector without constraints, and back: logarithms, logits, Cholesky factors.

A family says by `SCALES` how each of its parameters is written; gradients, standard errors and bounds follow from that.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from latently.distributions.inputs import Array

AT_BOUND = 1e-6
"""A probability below this is at its bound: it has no error of its own."""

Transform = Callable[[Array], Array]


def _itself(values: Array) -> Array:
    return np.asarray(values, dtype=np.float64)


SCALES: dict[str, tuple[Transform, Transform, tuple[float, float]]] = {
    "real": (_itself, _itself, (-np.inf, np.inf)),
    "log": (np.log, np.exp, (0.0, np.inf)),
    "logit": (special.logit, special.expit, (0.0, 1.0)),
}
"""Scales of numbers that stand by themselves: to the vector, back, and what the numbers may be anyway."""


class Reader:
    """Takes pieces off the front of a vector."""

    def __init__(self, vector: Array) -> None:
        self._vector, self._at = vector, 0

    def take(self, shape: tuple[int, ...]) -> Array:
        """The next numbers, in this shape."""
        size = int(np.prod(shape))
        piece = self._vector[self._at : self._at + size]
        self._at += size
        return piece.reshape(shape)


def packed(values: Array, scale: str) -> Array:
    """Numbers as a flat vector on their scale; "simplex" is for probabilities that sum to one."""
    if scale == "simplex":
        return logits(values, True)
    return np.ravel(SCALES[scale][0](np.atleast_1d(values)))


def unpacked(reader: Reader, like: Array, scale: str) -> Array:
    """Numbers of the same shape as `like`, from the next ones of a vector."""
    if scale == "simplex":
        return from_logits(reader, like, True)
    return SCALES[scale][1](reader.take(np.shape(like)))


# probabilities


def logits(p: Array, free: Any) -> Array:
    """Logarithms of the probabilities that are free and positive."""
    return np.asarray(np.log(p[free & (p > 0)]))


def from_logits(reader: Reader, p: Array, free: Any) -> Array:
    """Probabilities like p, whose free and positive entries share what they had in p."""
    rows = np.array(p, dtype=np.float64, ndmin=2)
    used = np.broadcast_to(free & (p > 0), np.shape(p)).reshape(rows.shape)
    z = np.full(rows.shape, -np.inf)
    z[used] = reader.take((int(used.sum()),))
    for r in range(len(rows)):
        if used[r].any():
            rows[r, used[r]] = special.softmax(z[r, used[r]]) * rows[r, used[r]].sum()
    return rows.reshape(np.shape(p))


def logit_gradient(counts: Array, p: Array, free: Any = True) -> Array:
    """Gradient of sum counts log p in the logits of those p that are free and positive, row by row."""
    used = np.broadcast_to(free & (p > 0), np.shape(p))
    counted, shares = np.where(used, counts, 0.0), np.where(used, p, 0.0)
    mass = shares.sum(axis=-1, keepdims=True)
    gradient = counted - shares / np.where(mass > 0, mass, 1.0) * counted.sum(axis=-1, keepdims=True)
    return np.asarray(gradient[used])


# covariances


def cholesky_row(matrices: Array) -> Array:
    """Lower triangles (..., d (d + 1) / 2) of the Cholesky factors, their diagonals as logarithms."""
    lower = np.linalg.cholesky(matrices)
    rows, columns = np.tril_indices(lower.shape[-1])
    entries = lower[..., rows, columns]
    return np.where(rows == columns, np.log(np.where(rows == columns, entries, 1.0)), entries)


def from_cholesky_row(entries: Array, d: int) -> Array:
    """The matrices (..., d, d) whose rows these are."""
    rows, columns = np.tril_indices(d)
    lower = np.zeros((*entries.shape[:-1], d, d))
    lower[..., rows, columns] = np.where(rows == columns, np.exp(np.where(rows == columns, entries, 0.0)), entries)
    return np.asarray(lower @ np.swapaxes(lower, -1, -2))


def cholesky_gradient(matrices: Array, inner: Array) -> Array:
    """Gradient in `cholesky_row`, given that in the matrices with their entries taken as independent."""
    lower = np.linalg.cholesky(matrices)
    rows, columns = np.tril_indices(lower.shape[-1])
    by_entry = (2 * inner @ lower)[..., rows, columns]
    return np.where(rows == columns, by_entry * lower[..., rows, columns], by_entry)


def cholesky_units(sd: Array) -> Array:
    """A row of a Cholesky factor has the unit of its column (..., d); the diagonal is in logarithms."""
    rows, columns = np.tril_indices(sd.shape[-1])
    return np.where(rows == columns, 1.0, sd[..., rows])


# directions


@dataclass(frozen=True, eq=False)
class Directions:
    """Numbers (P,) of a vector: the unit of each, the row of logits it is in (-1 for none), whether it is at a bound.

    Logits of a row may all be shifted together, and means and Cholesky factors have units: here is how large a step in
    each is small, and which of them say the same.
    """

    unit: Array
    row: NDArray[np.int64]
    at_bound: NDArray[np.bool_]

    @classmethod
    def plain(cls, unit: Array) -> "Directions":
        """Numbers that are free by themselves."""
        flat = np.ravel(unit)
        return cls(flat, np.full(flat.shape, -1), np.zeros(flat.shape, dtype=bool))

    @classmethod
    def logits(cls, p: Array, free: Any = True) -> "Directions":
        """Those of probabilities, as `logits` lists them."""
        used = np.atleast_2d(np.broadcast_to(free & (p > 0), np.shape(p)))
        values = np.atleast_2d(p)[used]
        return cls(np.ones(len(values)), np.nonzero(used)[0], values < AT_BOUND)

    @classmethod
    def joined(cls, pieces: "list[Directions]") -> "Directions":
        """Several, one after the other."""
        rows, n = [], 0
        for piece in pieces:
            rows.append(np.where(piece.row >= 0, piece.row + n, -1))
            n += int(piece.row.max(initial=-1)) + 1
        unit, at_bound = (np.concatenate([getattr(p, name) for p in pieces]) for name in ("unit", "at_bound"))
        return cls(unit, np.concatenate(rows), at_bound)

    def if_learnt(self, learnt: bool) -> "Directions":
        """The same, constrained to where it is unless it is learnt."""
        return self if learnt else replace(self, at_bound=np.ones(len(self.unit), dtype=bool))

    def without(self, fixed: NDArray[np.bool_]) -> "Directions":
        """The same, with some numbers (P,) constrained to where they are."""
        return replace(self, at_bound=self.at_bound | fixed)

    def matrix(self) -> Array:
        """Independent directions (P, F), each with the length of a unit: a shift of all logits of a row is none."""
        columns = [np.diag(self.unit)[:, (self.row < 0) & ~self.at_bound]]
        for row in range(int(self.row.max(initial=-1)) + 1):
            members = np.flatnonzero((self.row == row) & ~self.at_bound)
            contrasts = np.zeros((len(self.unit), max(len(members) - 1, 0)))
            contrasts[members] = _contrasts(len(members))
            columns.append(contrasts)
        return np.hstack(columns)


def _contrasts(n: int) -> Array:
    """Orthonormal directions (n, n - 1) that sum to zero."""
    return np.linalg.qr(np.eye(n)[:, :-1] - 1 / n)[0] if n > 1 else np.zeros((n, 0))
