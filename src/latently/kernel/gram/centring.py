"""Centring in feature space: the mean of the training rows becomes the origin."""

from dataclasses import dataclass

import numpy as np

from latently.kernel.base import Array


@dataclass(frozen=True, eq=False)
class Centring:
    """Where the mean of the training rows lies, as far as inner products tell.

    Parameters
    ----------
    columns
        (n,) mean over the training rows of k(x_i, x_j).
    mean
        Mean of all entries.

    Examples
    --------
    >>> from latently.kernel import Linear
    >>> X, new = np.array([[0.0], [1.0], [5.0]]), np.array([[3.0]])
    >>> centring = Centring.of(Linear()(X))
    >>> centring.rows(Linear()(new, X))  # (3 - 2) (x - 2)
    array([[-2., -1.,  3.]])
    >>> centring.diagonal(Linear().diag(new), Linear()(new, X))
    array([1.])
    """

    columns: Array
    mean: float

    @classmethod
    def of(cls, K: Array) -> "Centring":
        """The centring of a Gram matrix (n, n) of training rows."""
        columns = K.mean(axis=0)
        return cls(columns, float(columns.mean()))

    def training(self, K: Array) -> Array:
        """Centred Gram matrix (n, n) of the training rows."""
        found = K - self.columns
        found -= (self.columns - self.mean)[:, None]
        return np.asarray(found)

    def rows(self, K: Array) -> Array:
        """Centred kernel values (m, n) of new rows with the training rows."""
        return np.asarray(K - self.columns - K.mean(axis=1)[:, None] + self.mean)

    def diagonal(self, own: Array, K: Array) -> Array:
        """Centred values (m,) of new rows with themselves, from k(x, x) and k(x, training rows) (m, n)."""
        return np.asarray(own - 2.0 * K.mean(axis=1) + self.mean)


def centred(K: Array) -> Array:
    """Gram matrix (n, n) about the mean of its own rows.

    Examples
    --------
    >>> centred(np.array([[0.0, 0.0], [0.0, 4.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    return Centring.of(K).training(K)
