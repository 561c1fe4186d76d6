"""Log densities of Gaussians of many columns by triangular products.

A whitened row U' z of an upper triangular root U takes only the first coordinates in its first columns, so columns are
taken in bands, those of all components side by side. What is left out are products with zeros.
"""

import itertools
from collections.abc import Iterator

import numpy as np

from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.inputs import Array

# From so many columns on BLAS is faster at it than our own kernels.
WIDE = 48
# Bands and rows that are worked on together: more bands are fewer multiplications, of matrices that are narrower.
_BANDS, _BLOCK = 4, 512


def suits_bands(params: GaussianParams) -> bool:
    """Whether log densities are best taken in bands: of full covariances, and means not far from the origin."""
    return params.kind == "full" and params.means.shape[1] >= WIDE and params.is_near


def banded_joint(params: GaussianParams, X: Array, joint: Array) -> None:
    """Fill joint (n, k) with log p(x_i, component k) of complete rows."""
    (k, d), frame, bands = params.means.shape, params.frame, list(_bands(params))
    rows = np.ones((min(_BLOCK, len(X)), 1 + d))  # the first column is what means are multiplied by
    work = [np.empty((len(rows), band.shape[1])) for band in bands]
    for start in range(0, len(X), _BLOCK):
        out = joint[start : start + _BLOCK]
        Z = rows[: len(out)]
        np.subtract(X[start : start + _BLOCK], frame.origin, out=Z[:, 1:])
        Z[:, 1:] /= frame.scale
        out[:] = params.constants
        for band, room in zip(bands, work, strict=True):
            Y = np.dot(Z[:, : len(band)], band, out=room[: len(Z)]).reshape(len(Z), k, -1)
            out -= 0.5 * np.einsum("ikj,ikj->ik", Y, Y)


def _bands(params: GaussianParams) -> Iterator[Array]:
    """(1 + stop, k * width) minus the whitened means, and some columns of all roots, down to the diagonal."""
    edges = np.arange(_BANDS + 1) * params.means.shape[1] // _BANDS
    for first, stop in itertools.pairwise(edges):
        means, roots = params.whitened_means[:, None, first:stop], params.roots[:, :stop, first:stop]
        whole = np.concatenate([-means, roots], axis=1)
        yield whole.transpose(1, 0, 2).reshape(1 + stop, -1)
