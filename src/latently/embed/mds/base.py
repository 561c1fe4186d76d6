"""What maps of dissimilarities share: reading them, and placing new points."""

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from latently.embed.base import Embedding
from latently.embed.inputs import read_dissimilarities, read_new_dissimilarities, read_table
from latently.embed.mds.placement import placed
from latently.geometry.distances import Array


class DissimilarityMap(Embedding):
    """Base of maps of dissimilarities: a subclass has `fit_transform`, `metric` and `metric_params`."""

    _tags: ClassVar[dict[str, Any]] = {"sparse": lambda model: not model._is_precomputed}
    metric: Any
    metric_params: dict[str, Any] | None
    embedding_: Array
    dissimilarity_matrix_: Array
    _weighted: bool = False

    def transform(self, X: Any) -> Array:
        """Places (m, k) of new rows in the map that stands.

        Parameters
        ----------
        X
            (m, d) rows; for the metric "precomputed", their (m, n) dissimilarities to the things of the fit.
        """
        check_is_fitted(self)
        D = read_new_dissimilarities(self, X, self._rows, self._metric, self.metric_params)
        return self._place(D)

    def _place(self, D: Array) -> Array:
        return placed(D, self.embedding_, weighted=self._weighted)

    def _dissimilarities(self, X: Any) -> Array:
        """Dissimilarities (n, n) of the fit; remembers the rows, if there are any."""
        if self._metric == "precomputed":
            D = read_dissimilarities(self, X, "precomputed")
            self._rows: Array | None = None
        else:
            rows = read_table(self, X, reset=True)
            _warn_square(rows)
            D = read_dissimilarities(self, X, self._metric, self.metric_params)
            self._rows = rows
        self.dissimilarity_matrix_ = D
        return D


def _warn_square(rows: Array) -> None:
    if rows.shape[0] == rows.shape[1] > 1 and not np.diagonal(rows).any() and np.array_equal(rows, rows.T):
        warnings.warn(
            "X looks like a matrix of distances, but is taken for rows: set metric='precomputed' if it is one",
            UserWarning,
            stacklevel=5,
        )
