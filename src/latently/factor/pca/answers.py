"""What a fitted PCA says about rows: scores, densities, missing entries, new rows."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from latently.factor.answers import GaussianAnswers
from latently.factor.linear_gaussian import LOG_2PI, LinearGaussian
from latently.factor.rows import each_row, read_table, verified

Array = NDArray[Any]
FEW_NUMBERS = 1 << 16


@dataclass(frozen=True, eq=False)
class Scores:
    """The map from complete rows to scores: turn (d, k), and what is taken off rows, off scores, and divides them."""

    turn: Array
    mean: Array | None
    shift: Array | None
    scale: Array | None

    @classmethod
    def of(cls, model: "Projections") -> Self:
        """The map of a fitted model."""
        mean, turn = model.mean_, model.components_.T
        if turn.size <= FEW_NUMBERS:  # BLAS is faster so, and a copy costs nothing
            turn = np.ascontiguousarray(turn)
        scale = model._scale() if model.whiten else None
        # a mean near zero can be taken off the scores and costs no digits
        if mean @ mean <= 100 * model.explained_variance_.sum():
            return cls(turn, None, mean @ turn, scale)
        return cls(turn, mean, None, scale)

    def __call__(self, rows: Array, out: Array) -> None:
        """Write the scores of the rows; not finite where a row is not complete."""
        with np.errstate(over="ignore", invalid="ignore"):
            np.matmul(rows if self.mean is None else rows - self.mean, self.turn, out=out, casting="same_kind")
            if self.shift is not None:
                out -= self.shift
            if self.scale is not None:
                out /= self.scale


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
        if sparse.issparse(rows):
            return np.asarray(rows @ self.components_.T - self.mean_ @ self.components_.T) / self._scale()
        scores = Scores.of(self)

        def fill(part: Array, out: Array) -> None:
            scores(part, out)
            if not np.isfinite(out[:, :1].sum()):  # a row that is not complete has no score at all
                scores(self._complete(verified(part)), out)

        return each_row(rows, fill, len(self.components_))

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
        return self._densities(rows)

    def _log_density(self, rows: Array, out: Array) -> None:
        """Log density of complete rows, by their scores and by what the scores leave over."""
        variances, noise = self._variances()
        step = rows - self.mean_
        along = step @ self.components_.T
        rest = np.maximum(np.einsum("ij,ij->i", step, step) - np.einsum("ij,ij->i", along, along), 0.0)
        beyond = len(self.mean_) - len(variances)
        size = np.log(variances).sum() + beyond * np.log(noise) + len(self.mean_) * LOG_2PI
        squares = (along**2) @ (1 / variances) + (rest / noise if beyond else 0.0)
        out[:] = -0.5 * (squares + size)

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
