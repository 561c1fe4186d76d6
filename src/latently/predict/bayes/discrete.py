"""What the classifiers of discrete columns share: smoothing, class priors, dense and sparse tables."""

import warnings
from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array, validate_data

from latently.data.sources.chunks import ChunkSource
from latently.learn.estimator.parameters import stores_parameters
from latently.learn.estimator.table import read_rows
from latently.predict.bayes.classifier import Array, BayesClassifier
from latently.predict.labels import class_priors, log_shares
from latently.predict.rows import SparseRows, is_sparse
from latently.predict.statistics import ClassStatistics
from latently.predict.tables import read_source

ALPHA_MIN = 1e-10


@stores_parameters
class DiscreteNB(BayesClassifier):
    """Base of the classifiers whose parameters are smoothed counts."""

    _: KW_ONLY
    alpha: float | ArrayLike = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: ArrayLike | None = None

    def _check_alpha(self) -> Any:
        """Give the pseudo-count, one number or one per column, not below what arithmetic can bear."""
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if alpha.ndim > 0 and alpha.shape[0] != self.n_features_in_:
            raise ValueError(
                f"When alpha is an array, it should contains `n_features`: {alpha.shape[0]} for {self.n_features_in_}"
            )
        if not (alpha >= 0).all():
            raise ValueError("All values in alpha must be greater than 0.")
        if not self.force_alpha and (alpha < ALPHA_MIN).any():
            warnings.warn(
                f"alpha too small will result in numeric errors, setting alpha = {ALPHA_MIN:.1e}. Use "
                "`force_alpha=True` to keep alpha unchanged.",
                stacklevel=2,
            )
            alpha = np.maximum(alpha, ALPHA_MIN)
        return alpha if alpha.ndim else float(alpha)

    def _learnt_prior(self, stats: ClassStatistics) -> Array:
        """(K,) log prior of the classes: given, learnt, or all alike."""
        prior = class_priors(self.class_prior, stats.class_count)
        learnt_or_given = self.fit_prior or self.class_prior is not None
        return log_shares(prior if learnt_or_given else np.full(len(prior), 1 / len(prior)))

    def _table(self, X: Any, *, reset: bool, allow_nan: bool) -> Any:
        """Read a dense table, or compressed sparse rows if X is sparse."""
        if isinstance(X, ChunkSource):
            return read_source(self, X, reset=reset, allow_nan=allow_nan)
        if not is_sparse(X):
            return read_rows(self, X, reset=reset, allow_nan=allow_nan)
        rows = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], estimator=self, input_name="X")
        validate_data(self, rows, reset=reset, skip_check_array=True)
        rows.sum_duplicates()
        return SparseRows.of(rows)

    def _no_negatives(self, X: Any) -> Any:
        if isinstance(X, ChunkSource):
            return X.mapped(self._no_negatives)
        values = X.data if isinstance(X, SparseRows) else X
        if values.size and values.min() < 0:
            where = "" if values is not X else f", column x{int(np.argmax((X < 0).any(axis=0)))}"
            raise ValueError(f"Negative values in data passed to {type(self).__name__} (input X){where}")
        return X


def one_hot(codes: NDArray[Any], weights: Array, n_classes: int) -> Array:
    """(K, n) the weight of each row in the row of its class, zero elsewhere."""
    hot = np.zeros((n_classes, len(codes)))
    hot[codes, np.arange(len(codes))] = weights if len(weights) else 1.0
    return hot


def safe_log(values: ArrayLike) -> Array:
    """Log that is -inf at zero, without a warning."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))
