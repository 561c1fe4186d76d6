"""What a fitted CCA says: scores, predictions, and how sure its correlations are."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from latently.data.tables.matrix import as_matrix
from latently.distributions.inputs import generator
from latently.distributions.statistics import Moments
from latently.factor.cca.inputs import any_missing, as_view, completed, is_list_of_views
from latently.factor.cca.limits import view_name
from latently.factor.cca.significance import PermutationTest, WilksTest, orthonormal, permutation_test, wilks_test
from latently.factor.rows import read_table, verified

Array = NDArray[Any]


class CanonicalAnswers(ABC):
    """Answers of a model that has directions for each of several views."""

    n_components: int
    statistics_: Moments
    rotations_: list[Array]
    loadings_: list[Array]
    means_: list[Array]
    scales_: list[Array]
    coef_: Array
    intercept_: Array
    _edges: list[int]
    _every: list[Array]
    _all_correlations: Array
    _flat: bool

    @abstractmethod
    def _read(self, X: Any, Y: Any, *, reset: bool) -> list[Array]:
        """Tables of all views."""

    @abstractmethod
    def _reg(self, m: int) -> list[float]:
        """Regularisation of each of m views."""

    @abstractmethod
    def _scaled(self, moments: Moments) -> Array:
        """(d, d) covariance of the scaled columns of all views."""

    def transform(self, X: Any, y: Any = None, copy: bool = True) -> Any:
        """(n, k) scores of the first view; with y, those of both; of a list of views, a list of scores."""
        check_is_fitted(self)
        if is_list_of_views(X, y):
            return [self.transform_view(view, i) for i, view in enumerate(X)]
        scores = self.transform_view(X, 0)
        return scores if y is None else (scores, self.transform_view(y, 1))

    def transform_view(self, X: Any, view: int) -> Array:
        """(n, k) scores of rows of one view, counted from 0; missing entries stand at what the others let expect."""
        check_is_fitted(self)
        name = view_name(view, len(self.means_))
        rows = read_table(self, X, reset=False) if view == 0 else as_view(X, name)
        rows = as_matrix(rows, allow_nan=True, name=name)
        mean, scale = self.means_[view], self.scales_[view]
        if rows.shape[1] != len(mean):
            raise ValueError(f"view {view} has {rows.shape[1]} columns, but had {len(mean)} at the fit")
        part = slice(*self._edges[view : view + 2])
        covariance = self.statistics_.scatter()[part, part] if np.isnan(rows).any() else np.empty(0)
        return np.asarray((completed(rows, mean, covariance) - mean) / scale @ self.rotations_[view])

    def predict(self, X: Any) -> Array:
        """Y that the scores of X let expect: least squares through the pairs of directions."""
        check_is_fitted(self)
        rows = verified(read_table(self, X, reset=False))
        part = slice(*self._edges[:2])
        covariance = self.statistics_.scatter()[part, part] if np.isnan(rows).any() else np.empty(0)
        found = completed(rows, self.means_[0], covariance) @ self.coef_.T + self.intercept_
        return found[:, 0] if self._flat else found

    def inverse_transform(self, X: Any, y: Any = None) -> Any:
        """(n, d) rows that scores of the first view lead to expect; with y, those of both views."""
        check_is_fitted(self)
        found = [
            np.asarray(scores) @ self.loadings_[i].T * self.scales_[i] + self.means_[i]
            for i, scores in enumerate((X,) if y is None else (X, y))
        ]
        return found[0] if y is None else tuple(found)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the scores of the first view: cca0, cca1, ..."""
        check_is_fitted(self)
        return np.array([f"{type(self).__name__.lower()}{i}" for i in range(self.n_components)], dtype=object)

    # significance

    def wilks(self) -> WilksTest:
        """Test the correlations by Wilks' lambda, for Gaussian columns: one entry for each correlation there is."""
        check_is_fitted(self)
        if len(self.rotations_) != 2:
            raise ValueError("Wilks' lambda is for two views")
        if any(self._reg(2)):
            raise ValueError("Wilks' lambda is for reg=0: use permutation_test")
        ranks = [int(np.linalg.matrix_rank(r)) for r in self._ranks()]
        return wilks_test(self._all_correlations, float(self.statistics_.weight), *ranks)

    def _ranks(self) -> list[Array]:
        R = self._scaled(self.statistics_)
        a, b, c = self._edges
        return [R[a:b, a:b], R[b:c, b:c]]

    def permutation_test(self, X: Any, y: Any, n_permutations: int = 999, random_state: Any = None) -> PermutationTest:
        """Test the correlations by shuffling the rows of one view, whatever the distribution of the columns.

        Parameters
        ----------
        X, y
            The rows that the model was fitted to.
        n_permutations
            How many shuffles.
        random_state
            Seed or generator.
        """
        check_is_fitted(self)
        tables = self._read(X, y, reset=False)
        if any_missing(tables) or len(tables) != 2:
            raise ValueError("the permutation test is for two views of complete rows")
        parts = zip(tables, self.means_, self.scales_, self._every, strict=True)
        left, right = (orthonormal((table - mean) / scale, r) for table, mean, scale, r in parts)
        return permutation_test(left, right, n_permutations, generator(random_state))
