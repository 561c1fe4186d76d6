"""Affinities: probabilities that points are neighbours, from Gaussians of a given perplexity."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from latently import compiled
from latently.geometry.distances import Array
from latently.geometry.neighbours import Neighbours
from latently.learn.engine.blocks import for_blocks

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Affinities:
    """Joint probabilities p_ij, symmetric, sum 1, as the rows of a sparse matrix.

    Attributes
    ----------
    ends
        (n + 1,) where the entries of each row begin.
    who
        Columns of the entries.
    p
        The entries.
    """

    ends: Ints
    who: npt.NDArray[np.int32]
    p: Array

    @property
    def n(self) -> int:
        """How many points."""
        return len(self.ends) - 1

    @classmethod
    def of(cls, matrix: sparse.csr_array) -> "Affinities":
        """From a sparse matrix with those values."""
        return cls(
            matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), np.asarray(matrix.data, dtype=float)
        )

    @classmethod
    def dense(cls, P: Array) -> "Affinities":
        """From a full matrix (n, n)."""
        return cls.of(sparse.csr_array(P))

    def matrix(self) -> sparse.csr_array:
        """As a sparse matrix (n, n)."""
        return sparse.csr_array((self.p, self.who, self.ends), shape=(self.n, self.n))


def conditional(squares: Array, perplexity: float | Sequence[float]) -> Array:
    """p(j | i) of neighbours at squared distances (n, k); with several perplexities, the mean over them.

    Parameters
    ----------
    squares
        (n, k) squared distances.
    perplexity
        Two to the entropy of each row (in bits): about how many neighbours count.

    Examples
    --------
    >>> p = conditional(np.array([[1.0, 2.0, 3.0, 9.0]]), 2.0)
    >>> p.round(2)
    array([[0.75, 0.2 , 0.05, 0.  ]])
    >>> float(2.0 ** -(p * np.log2(p)).sum())
    2.0
    """
    scales = np.atleast_1d(np.asarray(perplexity, dtype=float))
    squares = np.ascontiguousarray(squares, dtype=float)
    total = np.zeros(squares.shape)
    for scale in scales:
        total += _one_scale(squares, float(scale))
    return total / len(scales)


def _one_scale(squares: Array, perplexity: float) -> Array:
    out, precisions = np.empty(squares.shape), np.empty(len(squares))

    def fill(start: int, stop: int) -> None:
        gaps = np.empty(squares.shape[1])
        compiled.embed.affinities.conditional(
            squares[start:stop], math.log(perplexity), gaps, out[start:stop], precisions[start:stop]
        )

    for_blocks(len(squares), fill)
    return out


def joint(found: Neighbours, perplexity: float | Sequence[float]) -> Affinities:
    """p_ij = (p(j | i) + p(i | j)) / (2 n), between points that are neighbours of one another in either direction.

    Parameters
    ----------
    found
        Nearest neighbours of each of n points.
    perplexity
        See `conditional`.
    """
    n, k = found.indices.shape
    rows = conditional(found.distances**2, perplexity)
    one_way = sparse.csr_array((rows.ravel(), found.indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    return symmetric(one_way)


def symmetric(one_way: sparse.csr_array) -> Affinities:
    """The mean of a matrix of affinities and its transpose, made to sum to 1."""
    both = sparse.csr_array(one_way + one_way.T)
    both.sort_indices()
    both.data /= both.data.sum()
    return Affinities.of(both)


def checked_perplexity(perplexity: float | Sequence[float], n: int) -> list[float]:
    """The perplexities as a list; an error from n on, and a warning above n / 3, where neighbourhoods overlap."""
    scales = [float(scale) for scale in np.atleast_1d(np.asarray(perplexity, dtype=float))]
    if max(scales) >= n:
        raise ValueError(f"perplexity ({max(scales):g}) must be less than n_samples ({n})")
    if 3 * max(scales) > n:
        warnings.warn(
            f"perplexity {max(scales):g} is above a third of the {n} rows: every row counts nearly every other as its "
            f"neighbour, and the map shows little structure; use at most {n // 3}",
            UserWarning,
            stacklevel=4,
        )
    return scales
