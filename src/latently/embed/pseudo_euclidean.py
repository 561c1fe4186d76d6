"""Pseudo-Euclidean embedding of data that violate the axioms of a metric."""

import warnings
from dataclasses import KW_ONLY
from typing import Annotated, Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from latently.embed.base import Embedding
from latently.embed.inputs import read_table
from latently.embed.kernel_pca.components import Solving, from_all_rows
from latently.geometry.distances import Array, pairwise
from latently.learn.estimator.parameters import CHOICES, COUNT, checked, stores_parameters


@stores_parameters
class PseudoEuclidean(Embedding):
    """Two maps of dissimilarities that are no distances: of the positive and of the negative part of their spectrum.

    With coordinates x in the positive and z in the negative part, the squared dissimilarity of two things is
    `|x_i - x_j|^2 - |z_i - z_j|^2`, exactly if all dimensions are kept. The negative part is often taken for noise, and
    may have structure of its own (Laub and Mueller, 2004).

    Parameters
    ----------
    n_components
        Dimensions of each of the two maps at most; None for all.
    input
        "dissimilarity", "squared_dissimilarity", or "similarity" (inner products).
    metric
        "precomputed", or a metric of `sklearn.metrics.pairwise_distances` for rows of numbers.
    metric_params
        Further arguments of the metric.

    Attributes
    ----------
    eigenvalues_
        (n,) eigenvalues of the centred matrix of inner products, the largest first.
    positive_map_, negative_map_
        (n, p) and (n, q) coordinates, those of the largest eigenvalues in size first.
    embedding_
        (n, p + q) both, side by side.
    signs_
        (p + q,) 1 for coordinates whose squares are added, -1 for those whose squares are subtracted.
    negative_share_
        Sum of the sizes of the negative eigenvalues over that of all: how much the negative part carries.
    asymmetry_
        Size of the antisymmetric part of the input over that of the symmetric part; it is left out of the maps.

    Examples
    --------
    >>> D = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [5.0, 1.0, 0.0]])  # 5 > 1 + 1
    >>> model = PseudoEuclidean().fit(D)
    >>> round(model.negative_share_, 2), model.signs_
    (0.22, array([ 1., -1.]))
    >>> gaps = model.embedding_[0] - model.embedding_[2]
    >>> round(float(model.signs_ @ gaps**2), 6)
    25.0
    """

    n_components: Annotated[int | None, COUNT, None] = 2
    _: KW_ONLY
    input: Annotated[Literal["dissimilarity", "squared_dissimilarity", "similarity"], CHOICES] = "dissimilarity"
    metric: Annotated[Any, str, callable] = "precomputed"
    metric_params: Annotated[dict[str, Any] | None, dict, None] = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the maps; see `fit_transform`."""
        self.fit_transform(X)
        return self

    @checked
    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Array:
        """Find the maps, and give the coordinates (n, p + q) of the things.

        Parameters
        ----------
        X
            (n, n) dissimilarities or similarities, which need not be symmetric: the mean of both directions is used,
            and a warning says so. (n, d) rows for a named metric.
        y
            Not used.
        """
        table = read_table(self, X, reset=True)
        self._rows = None if self._is_precomputed else table
        given = table if self._is_precomputed else pairwise(table, None, self.metric, self.metric_params)
        if given.shape[0] != given.shape[1]:
            raise ValueError(f"dissimilarities of all pairs are a square matrix, got shape {given.shape}")
        found = from_all_rows(self._products(self._symmetric(given)), None, Solving("dense"), indefinite=True)
        order = np.argsort(-np.abs(found.values), kind="stable")
        above, below = order[found.values[order] > 0], order[found.values[order] < 0]
        kept = np.concatenate([above[: self.n_components], below[: self.n_components]])
        self.eigenvalues_, sizes = found.values, np.abs(found.values)
        self.negative_share_ = float(sizes[below].sum() / sizes.sum()) if sizes.sum() > 0 else 0.0
        self.signs_ = np.sign(found.values[kept])
        self.embedding_ = found.scores[:, kept]
        self.positive_map_, self.negative_map_ = (
            self.embedding_[:, self.signs_ > 0],
            self.embedding_[:, self.signs_ < 0],
        )
        self._weights, self._shift = found.weights[:, kept], found.shift[kept]
        return self.embedding_

    def transform(self, X: Any) -> Array:
        """Coordinates (m, p + q) of new things, by their (m, n) dissimilarities or similarities to those of the fit."""
        check_is_fitted(self)
        table = read_table(self, X, reset=False)
        given = table if self._rows is None else pairwise(table, self._rows, self.metric, self.metric_params)
        return np.asarray(self._products(given) @ self._weights - self._shift)

    def _products(self, given: Array) -> Array:
        """Inner products, up to what centring takes away; a negative dissimilarity has a negative square."""
        if self.input == "similarity":
            return given
        return np.asarray(-0.5 * (given if self.input == "squared_dissimilarity" else given * np.abs(given)))

    def _symmetric(self, given: Array) -> Array:
        mean, rest = (given + given.T) / 2, (given - given.T) / 2
        size = float(np.linalg.norm(mean))
        self.asymmetry_ = float(np.linalg.norm(rest)) / size if size > 0 else 0.0
        if self.asymmetry_ > 1e-8:
            _warn(
                f"the matrix is not symmetric: the mean of both directions is used, and what differs, "
                f"{self.asymmetry_:.2g} of it in size, is left out"
            )
        if self.input != "similarity" and (below := int((mean < 0).sum())) > 0:
            _warn(f"{below} dissimilarities are negative: their squares are taken with a negative sign")
        return np.asarray(mean)


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=6)
