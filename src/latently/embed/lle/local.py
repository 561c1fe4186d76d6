"""What a row and its neighbours say about a map, for many rows at a time.

Each method gives, for a batch of b rows with k neighbours each, blocks (b, q, q) that penalise maps of these points in
which their neighbourhood is not what it was; the sum of all blocks is the alignment matrix.
"""

from dataclasses import dataclass

import numpy as np

from latently.geometry.distances import Array


def barycentre_weights(x: Array, Z: Array, reg: float) -> Array:
    """Weights (b, k), summing to one, that write rows (b, d) best as means of their neighbours (b, k, d).

    The Gram matrix of the neighbours gets a ridge of `reg` times its trace, since it is singular for k > d.

    Examples
    --------
    >>> barycentre_weights(np.array([[1.0]]), np.array([[[0.0], [4.0]]]), 1e-9).round(6)
    array([[0.75, 0.25]])
    """
    gram, trace = _gram(Z - x[:, None])
    ridge = np.where(trace > 0, reg * trace, reg)
    weights = np.linalg.solve(gram + ridge[:, None, None] * np.eye(Z.shape[1]), np.ones((*Z.shape[:2], 1)))[:, :, 0]
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Tangents:
    """Local tangent space alignment (Zhang and Zha, 2004): a map is linear in the local principal coordinates."""

    n_components: int

    def blocks(self, x: Array, Z: Array) -> Array:
        """(b, k, k) projections on what is not linear, of the neighbours alone."""
        basis = np.concatenate([_constant(Z), _coordinates(Z, self.n_components)], axis=2)
        return np.asarray(np.eye(Z.shape[1]) - basis @ basis.transpose(0, 2, 1))


@dataclass(frozen=True)
class Hessians:
    """Hessian eigenmaps (Donoho and Grimes, 2003): a map has no second derivatives along the manifold."""

    n_components: int
    tol: float = 1e-4

    def blocks(self, x: Array, Z: Array) -> Array:
        """(b, k, k) squared Hessian estimates of the neighbours alone."""
        d = self.n_components
        local = _coordinates(Z, d)
        first, second = np.triu_indices(d)
        terms = np.concatenate([np.ones((*Z.shape[:2], 1)), local, local[:, :, first] * local[:, :, second]], axis=2)
        hessian = np.linalg.qr(terms)[0][:, :, d + 1 :]
        sums = hessian.sum(axis=1, keepdims=True)
        hessian = hessian / np.where(np.abs(sums) < self.tol, 1.0, sums)
        return np.asarray(hessian @ hessian.transpose(0, 2, 1))


@dataclass(frozen=True)
class ManyWeights:
    """Modified LLE (Zhang and Wang, 2006): several sets of weights for a row, from all directions that cost little.

    `eta` is the ratio of small to large eigenvalues up to which a direction costs little.
    """

    n_components: int
    eta: float
    reg: float = 1e-3
    tol: float = 1e-12

    def blocks(self, x: Array, Z: Array) -> Array:
        """(b, 1 + k, 1 + k) penalties of the row itself and its neighbours."""
        values, vectors = _spectrum(Z - x[:, None])
        k = Z.shape[1]
        total = values.sum(axis=1)
        inner = vectors.sum(axis=1)  # (b, k) V'1
        weights = np.einsum("bij,bj->bi", vectors, inner / (values + self.reg * _or_one(total)[:, None]))
        weights /= weights.sum(axis=1, keepdims=True)
        used = np.arange(k) >= k - self._how_many(values)[:, None]  # (b, k) directions that cost little
        V, inner, count = vectors * used[:, None], inner * used, used.sum(axis=1)
        alpha = np.sqrt((inner**2).sum(axis=1) / count)
        h = alpha[:, None] * used - inner
        size = np.linalg.norm(h, axis=1)
        h = np.where(size[:, None] < self.tol, 0.0, h / _or_one(size)[:, None])
        W = (1 - alpha)[:, None, None] * weights[:, :, None] * used[:, None]
        W += V - 2 * (V @ h[:, :, None]) * h[:, None]
        whole = np.concatenate([-used[:, None].astype(float), W], axis=1)  # (b, 1 + k, k)
        return np.asarray(whole @ whole.transpose(0, 2, 1))

    def _how_many(self, values: Array) -> Array:
        """(b,) sets of weights: as many as have a small share of the eigenvalues, at least one, k - d at most."""
        k = values.shape[1]
        large = np.cumsum(values, axis=1)[:, :-1]  # of the k - s largest, s = k - 1 ... 1
        ratios = np.maximum(values.sum(axis=1, keepdims=True) - large, 0.0) / _or_one(large)
        return np.asarray(np.clip((ratios < self.eta).sum(axis=1), 1, k - self.n_components))


def small_to_large(x: Array, Z: Array, n_components: int) -> Array:
    """(b,) sum of the eigenvalues beyond the map's dimensions, over that of its dimensions."""
    values = _spectrum(Z - x[:, None])[0]
    return np.asarray(values[:, n_components:].sum(axis=1) / _or_one(values[:, :n_components].sum(axis=1)))


def _gram(gaps: Array) -> tuple[Array, Array]:
    gram = gaps @ gaps.transpose(0, 2, 1)
    return gram, np.trace(gram, axis1=1, axis2=2)


def _spectrum(gaps: Array) -> tuple[Array, Array]:
    """Eigenvalues (b, k) of Gram matrices, the largest first, and eigenvectors (b, k, k); rounding becomes zero."""
    values, vectors = np.linalg.eigh(_gram(gaps)[0])
    values = values[:, ::-1]
    floor = values.shape[1] * np.finfo(float).eps * values[:, :1]
    return np.where(values > floor, values, 0.0), vectors[:, :, ::-1]


def _coordinates(Z: Array, d: int) -> Array:
    """(b, k, d) leading principal coordinates of neighbours, of length one."""
    return _spectrum(Z - Z.mean(axis=1, keepdims=True))[1][:, :, :d]


def _constant(Z: Array) -> Array:
    return np.full((*Z.shape[:2], 1), 1.0 / np.sqrt(Z.shape[1]))


def _or_one(values: Array) -> Array:
    return np.asarray(np.where(values > 0, values, 1.0))
