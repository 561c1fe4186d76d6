"""Classical multidimensional scaling."""

import warnings
from dataclasses import KW_ONLY
from typing import Annotated, Any, Self

import numpy as np

from latently.embed.mds.base import DissimilarityMap
from latently.geometry.distances import Array
from latently.kernel.gram.centring import Centring
from latently.kernel.gram.eigen import decomposed
from latently.learn.estimator.parameters import Count, checked, stores_parameters

_ZERO = 1e-12  # eigenvalues up to this share of the largest are zero


@stores_parameters
class ClassicalMDS(DissimilarityMap):
    """Classical multidimensional scaling (Torgerson, Gower): the principal coordinates of dissimilarities.

    A drop-in replacement for scikit-learn's class of the same name. Dissimilarities that are no Euclidean distances
    have negative eigenvalues: no square root is taken of those. Their dimensions have coordinates of zero, and a
    warning says how many there are; `PseudoEuclidean` makes a map of them.

    Parameters
    ----------
    n_components
        Dimensions of the map.
    metric
        "euclidean", "precomputed", or another metric of `sklearn.metrics.pairwise_distances`.
    metric_params
        Further arguments of the metric.

    Attributes
    ----------
    embedding_
        (n, k) the map.
    eigenvalues_
        (k,) largest eigenvalues of the doubly centred matrix -D^2/2, negative ones included.
    all_eigenvalues_
        (n,) all of them, the largest first.
    goodness_of_fit_
        Sum of the eigenvalues of the map over that of all sizes, and over that of all positive ones.
    dissimilarity_matrix_
        (n, n) dissimilarities.

    Examples
    --------
    >>> D = np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])
    >>> model = ClassicalMDS(metric="precomputed").fit(D)
    >>> gaps = model.embedding_[:, None] - model.embedding_
    >>> bool(np.allclose(np.sqrt((gaps**2).sum(axis=2)), D))
    True
    """

    n_components: Count = 2
    _: KW_ONLY
    metric: Annotated[Any, str, callable] = "euclidean"
    metric_params: Annotated[dict[str, Any] | None, dict, None] = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the map; see `fit_transform`."""
        self.fit_transform(X)
        return self

    @checked
    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Array:
        """Find the map, and give the places (n, k) of the rows.

        Parameters
        ----------
        X
            (n, d) rows, or for the metric "precomputed" their (n, n) dissimilarities.
        y
            Not used.
        """
        K = -0.5 * self._dissimilarities(X) ** 2
        self._centring = Centring.of(K)
        values, vectors = decomposed(self._centring.training(K))
        self.all_eigenvalues_ = np.where(np.abs(values) > _ZERO * np.abs(values).max(initial=0.0), values, 0.0)
        self._keep(vectors)
        return self.embedding_

    def _keep(self, vectors: Array) -> None:
        """The dimensions of the map; those beyond the number of points are zero."""
        n, k = len(vectors), min(self.n_components, len(vectors))
        self.eigenvalues_ = self.all_eigenvalues_[:k]
        roots = np.sqrt(np.maximum(self.eigenvalues_, 0.0))
        self.embedding_ = np.zeros((n, self.n_components))
        self.embedding_[:, :k] = vectors[:, :k] * roots
        self._axes = np.zeros((n, self.n_components))
        self._axes[:, :k] = vectors[:, :k] * np.where(roots > 0, 1.0, 0.0) / np.where(roots > 0, roots, 1.0)
        positive = np.maximum(self.all_eigenvalues_, 0.0).sum()
        sizes = np.abs(self.all_eigenvalues_).sum()
        kept = float((roots**2).sum())
        self.goodness_of_fit_ = (kept / sizes, kept / positive) if positive > 0 else (1.0, 1.0)
        if (below := int((self.eigenvalues_ < 0).sum())) > 0:
            warnings.warn(
                f"{below} of the {k} dimensions have a negative eigenvalue, since the dissimilarities are no Euclidean "
                "distances: their coordinates are zero; ask for fewer, or use latently.embed.PseudoEuclidean",
                UserWarning, stacklevel=4,
            )  # fmt: skip

    def _place(self, D: Array) -> Array:
        return np.asarray(self._centring.rows(-0.5 * D**2) @ self._axes)
