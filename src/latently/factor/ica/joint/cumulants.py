"""Fourth-order cumulants of white data, by blocked products of pairs of coordinates."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latently.distributions.statistics import Additive
from latently.factor.ica.white_data import WhiteData
from latently.learn.engine.protocol import Array

_ROWS = 512  # pairs of 20 coordinates of as many rows stay in the cache of a core


@dataclass(frozen=True, eq=False)
class FourthMoments(Additive):
    """Sums of z_i z_j z_k z_l over rows, (p, p) for the p pairs i <= j and k <= l."""

    sums: Array


def pairs_of(k: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First and second coordinate of the pairs i <= j."""
    first, second = np.triu_indices(k)
    return first.astype(np.intp), second.astype(np.intp)


def fourth_moments(Z: Array) -> FourthMoments:
    """Sum up white rows (n, k)."""
    first, second = pairs_of(Z.shape[1])
    sums = np.zeros((len(first), len(first)))
    for a in range(0, len(Z), _ROWS):
        block = np.ascontiguousarray(Z[a : a + _ROWS].T)
        products = block[first] * block[second]  # (p, rows)
        sums += products @ products.T
    return FourthMoments(sums)


def cumulant_matrices(data: WhiteData) -> Array:
    """(k, k, p) cumulant matrices Q_ij[k, l] = cum(z_i, z_j, z_k, z_l), those of i < j by the square root of two.

    With that factor, the sum of their squares is that of all k^2 of them.
    """
    k = data.n_components
    first, second = pairs_of(k)
    moments = data.sum_rows(fourth_moments).sums / data.n_rows
    Q = np.empty((k, k, len(first)))
    Q[first, second] = Q[second, first] = moments
    one = np.eye(k)
    Q -= one[:, :, None] * one[first, second]
    Q -= one[:, first][:, None] * one[:, second][None] + one[:, second][:, None] * one[:, first][None]
    return np.asarray(Q * np.where(first == second, 1.0, np.sqrt(2.0)))


def kurtosis_of(Q: Array, W: Array) -> Array:
    """(k,) excess kurtosis of the sources W z, from the cumulant matrices of z."""
    first, second = pairs_of(len(W))
    weights = W[:, first] * W[:, second] * np.where(first == second, 1.0, np.sqrt(2.0))  # (k, p)
    return np.asarray(np.einsum("ia,abp,ip,ib->i", W, Q, weights, W, optimize=True))


def fobi(Z: Array) -> Array:
    """(k, k) rotation of white rows by one matrix of fourth moments, E[|z|^2 z z']: quick, and less precise.

    Sources must differ in their kurtosis.
    """
    weights = (Z**2).sum(axis=1)
    _, vectors = np.linalg.eigh((Z * weights[:, None]).T @ Z / len(Z))
    return np.asarray(vectors.T)
