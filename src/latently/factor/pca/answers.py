"""What a fitted PCA says about rows: scores, densities, missing entries, new rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from latently.factor.answers import GaussianAnswers
from latently.factor.linear_gaussian import LOG_2PI, LinearGaussian
from latently.factor.rows import each_row, read_table, verified

Array = NDArray[Any]


class Projections(GaussianAnswers):
    """Answers of a linear Gaussian model of the rows, with orthogonal directions."""

    mean_: Array
    components_: Array
    explained_variance_: Array
    noise_variance_: float
    whiten: bool
    n_features_in_: int

    def transform(self, X: Any) -> Array:
        """(n, k) scores of the rows; missing entries stand at what the others let expect."""
        check_is_fitted(self)
        rows = read_table(self, X, reset=False, accept_sparse=True)
        scale = self._scale()
        if sparse.issparse(rows):
            return np.asarray(rows @ self.components_.T - self.mean_ @ self.components_.T) / scale
        found = each_row(rows, lambda part: self._scores(part, scale))
        if np.isfinite(found.sum()):
            return found
        return each_row(self._complete(verified(rows)), lambda part: self._scores(part, scale))

    def _scores(self, rows: Array, scale: Array) -> Array:
        """Scores of complete rows, in the type of the rows."""
        with np.errstate(over="ignore", invalid="ignore"):
            turn = np.ascontiguousarray(self.components_.T)  # BLAS is faster so where there are few columns
            if self._is_near_zero:
                found = rows @ turn
                found -= self.mean_ @ turn
            else:
                found = (rows - self.mean_) @ turn
            if self.whiten:
                found /= scale
        return np.asarray(found.astype(rows.dtype, copy=False))

    @property
    def _is_near_zero(self) -> bool:
        """Whether the mean is so near to zero that it can be taken off the scores and costs no digits."""
        return bool(self.mean_ @ self.mean_ <= 100 * self.explained_variance_.sum())

    def _scale(self) -> Array:
        """(k,) what scores are divided by; directions without variance are left as they are."""
        if not self.whiten:
            return np.ones((), dtype=self.components_.dtype)
        root = np.sqrt(self.explained_variance_)
        least = np.finfo(root.dtype).eps
        return np.asarray(np.where(root > least, root, least))

    def _complete(self, rows: Array) -> Array:
        if not np.isnan(rows).any():
            return rows
        return self.density().imputed(rows).astype(rows.dtype, copy=False)

    def inverse_transform(self, X: Any) -> Array:
        """(n, d) rows with these scores."""
        check_is_fitted(self)
        scores = np.asarray(X)
        return np.asarray((scores * self._scale()) @ self.components_ + self.mean_)

    # the density

    def density(self) -> LinearGaussian:
        """The Gaussian of the rows: what the components explain, and noise of one variance in all directions.

        Directions without variance have that of rounding.
        """
        check_is_fitted(self)
        variances, noise = self._variances()
        loadings = self.components_.T.astype(np.float64) * np.sqrt(np.maximum(variances - noise, 0.0))
        return LinearGaussian(self.mean_.astype(np.float64), loadings, np.full(len(self.mean_), noise))

    def _variances(self) -> tuple[Array, float]:
        """(k,) variances along the components and that of the noise, none below rounding."""
        variances = self.explained_variance_.astype(np.float64)
        eps = float(np.finfo(self.components_.dtype).eps)
        largest = float(variances.max(initial=float(self.noise_variance_)))
        size = eps * float(np.abs(self.mean_).max(initial=0.0))
        floor = max(eps * largest, size**2, 1e-280)
        noise = float(self.noise_variance_)
        if len(variances) == len(self.mean_):
            noise = float(variances.min(initial=np.inf))  # the last direction, as noise: the same covariance
        return np.maximum(variances, floor), max(noise, floor)

    def score_samples(self, X: Any) -> Array:
        """(n,) log density of what is observed of each row."""
        check_is_fitted(self)
        rows = verified(read_table(self, X, reset=False))
        if not np.isnan(rows).any():
            return each_row(rows, self._log_density)
        return each_row(rows, self.density().log_density)

    def _log_density(self, rows: Array) -> Array:
        """Log density of complete rows, by their scores and by what the scores leave over."""
        variances, noise = self._variances()
        step = rows - self.mean_
        along = step @ self.components_.T
        rest = np.maximum(np.einsum("ij,ij->i", step, step) - np.einsum("ij,ij->i", along, along), 0.0)
        beyond = len(self.mean_) - len(variances)
        size = np.log(variances).sum() + beyond * np.log(noise) + len(self.mean_) * LOG_2PI
        squares = (along**2) @ (1 / variances) + (rest / noise if beyond else 0.0)
        return np.asarray(-0.5 * (squares + size)).astype(rows.dtype, copy=False)

    def get_covariance(self) -> Array:
        """(d, d) covariance of the model."""
        check_is_fitted(self)
        noise = self.noise_variance_
        scaled = self.components_.T * np.maximum(self.explained_variance_ - noise, 0.0)
        found = scaled @ self.components_
        found.flat[:: len(found) + 1] += noise
        return np.asarray(found)

    def get_precision(self) -> Array:
        """(d, d) inverse of the covariance."""
        check_is_fitted(self)
        variances, noise = self._variances()
        V = self.components_
        scaled = V.T * (1 / variances - 1 / noise)
        found = scaled @ V
        found.flat[:: len(found) + 1] += 1 / noise
        return np.asarray(found, dtype=V.dtype)
