"""Views in coordinates of variance one, and the directions in which they vary together."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Array = NDArray[np.float64]
EPS = float(np.finfo(np.float64).eps)
ILL = 1e7
"""Ratio of variances within a view from which products of columns are too coarse: the rows are decomposed instead."""


@dataclass(frozen=True, eq=False)
class Basis:
    """Orthogonal directions of one view.

    Attributes
    ----------
    vectors : (d, r) directions, in columns of unit size
    variances : (r,) along them, largest first
    """

    vectors: Array
    variances: Array

    @property
    def condition(self) -> float:
        """Largest over smallest variance."""
        return float(self.variances[0] / self.variances[-1]) if len(self.variances) else np.inf

    def shares(self, reg: float) -> Array:
        """(r,) root of the share of each direction's variance in what it is measured by."""
        return np.asarray(np.sqrt(self.variances / ((1 - reg) * self.variances + reg)))

    def rotations(self, coordinates: Array, reg: float) -> Array:
        """(d, k) weights of the columns for directions (r, k) in coordinates of variance one, regularised."""
        return np.asarray(self.vectors / np.sqrt((1 - reg) * self.variances + reg) @ coordinates)


@dataclass(frozen=True, eq=False)
class Views:
    """Several views, each in its basis, and the correlations (r_i, r_j) between their coordinates for i < j."""

    bases: tuple[Basis, ...]
    cross: dict[tuple[int, int], Array]


def by_moments(R: Array, edges: Sequence[int]) -> Views:
    """Views from the covariance (d, d) of all their columns; view i has those from edges[i] to edges[i + 1]."""
    parts = [slice(a, b) for a, b in pairwise(edges)]
    bases = [_basis(R[part, part]) for part in parts]
    whiteners = [basis.vectors / np.sqrt(basis.variances) for basis in bases]
    pairs = _pairs(len(parts))
    cross = {(i, j): whiteners[i].T @ R[parts[i], parts[j]] @ whiteners[j] for i, j in pairs}
    return Views(tuple(bases), cross)


def _basis(S: Array) -> Basis:
    values, vectors = np.linalg.eigh(S)
    kept = values > 8 * len(S) * EPS * max(float(values[-1]), 0.0)
    return Basis(vectors[:, kept][:, ::-1], values[kept][::-1])


def by_rows(tables: Sequence[Array], weight: float) -> Views:
    """Views from their centred rows: QR, then a singular value decomposition of the small factor."""
    found = [_decomposed(table, weight) for table in tables]
    cross = {(i, j): found[i][1].T @ found[j][1] for i, j in _pairs(len(tables))}
    return Views(tuple(basis for basis, _ in found), cross)


def _decomposed(rows: Array, weight: float) -> tuple[Basis, Array]:
    """Basis of a view, and its rows (n, r) in orthonormal coordinates."""
    if len(rows) > rows.shape[1]:
        Q, R = linalg.qr(rows, mode="economic", check_finite=False)
        left, singular, right = np.linalg.svd(R)
        left = Q @ left
    else:
        left, singular, right = np.linalg.svd(rows, full_matrices=False)
    kept = singular > 8 * max(rows.shape) * EPS * singular[0]
    return Basis(right[kept].T, singular[kept] ** 2 / (weight - 1)), left[:, kept]


def _pairs(m: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(m) for j in range(i + 1, m)]


def canonical(views: Views, reg: Sequence[float]) -> tuple[list[Array], Array]:
    """Directions of each view that vary together, (d_i, r) for each view, best first, and their strength (r,).

    Two views: singular vectors of their cross-correlation. More: the sum of the scores of all views has the
    greatest variance (MAXVAR, Kettenring 1971), which is the same for two.
    """
    shares = [basis.shares(c) for basis, c in zip(views.bases, reg, strict=True)]
    cross = {(i, j): shares[i][:, None] * block * shares[j] for (i, j), block in views.cross.items()}
    if len(shares) == 2:
        left, strength, right = np.linalg.svd(cross[0, 1], full_matrices=False)
        coordinates = [left, right.T]
    else:
        coordinates, strength = _maxvar(cross, shares)
    rotations = [b.rotations(a, c) for b, a, c in zip(views.bases, coordinates, reg, strict=True)]
    return rotations, strength


def _maxvar(cross: dict[tuple[int, int], Array], shares: list[Array]) -> tuple[list[Array], Array]:
    edges = np.cumsum([0, *map(len, shares)])
    joint = np.diag(np.concatenate(shares) ** 2)
    for (i, j), block in cross.items():
        joint[edges[i] : edges[i + 1], edges[j] : edges[j + 1]] = block
        joint[edges[j] : edges[j + 1], edges[i] : edges[i + 1]] = block.T
    values, vectors = np.linalg.eigh(joint)
    r = min(map(len, shares))
    vectors, values = vectors[:, ::-1][:, :r], values[::-1][:r]
    parts = [vectors[a:b] for a, b in pairwise(edges)]
    return parts, (values - 1) / (len(shares) - 1)


def solved(R: Array, edges: Sequence[int], views: Views, reg: Sequence[float]) -> tuple[list[Array], Array, Array]:
    """Directions whose scores have variance one, the correlations (r, m, m) of the scores, and their strength (r,).

    Parameters
    ----------
    R
        (d, d) covariance of the columns of all views.
    edges
        View i has the columns from edges[i] to edges[i + 1].
    views
        The same, decomposed.
    reg
        Regularisation of each view.
    """
    rotations, strength = canonical(views, reg)
    parts = [slice(a, b) for a, b in pairwise(edges)]
    sizes = [np.sqrt(np.einsum("ij,ij->j", r, R[p, p] @ r)) for r, p in zip(rotations, parts, strict=True)]
    normed = _signed([r / np.where(s > 0, s, 1.0) for r, s in zip(rotations, sizes, strict=True)])
    return normed, _pair_correlations(R, parts, normed), strength


def _signed(rotations: list[Array]) -> list[Array]:
    """The same pairs, with signs that make the largest weight of the first view positive."""
    first = rotations[0]
    signs: Any = np.sign(first[np.abs(first).argmax(axis=0), np.arange(first.shape[1])])
    return [part * np.where(signs == 0, 1.0, signs) for part in rotations]


def _pair_correlations(R: Array, parts: list[slice], rotations: list[Array]) -> Array:
    """(r, m, m) correlations between the scores of all views."""
    r, m = min(part.shape[1] for part in rotations), len(parts)
    found = np.ones((r, m, m))
    for i, j in _pairs(m):
        cross = np.einsum("ik,ik->k", rotations[i][:, :r], R[parts[i], parts[j]] @ rotations[j][:, :r])
        found[:, i, j] = found[:, j, i] = np.clip(cross, -1, 1)
    return found


def mean_correlations(pairs: Array) -> Array:
    """(k,) mean correlation between different views, from all of them (k, m, m)."""
    m = pairs.shape[1]
    return np.asarray((pairs.sum(axis=(1, 2)) - m) / (m * (m - 1)))
