"""Naive Bayes for columns that are there or not."""

from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from latently.learn.estimator.classes import Classes, Codes
from latently.learn.estimator.parameters import stores_parameters
from latently.predict.bayes.classifier import Array, Counter
from latently.predict.bayes.discrete import DiscreteNB, one_hot, safe_log
from latently.predict.bayes.multinomial_nb import Coefficients, class_totals
from latently.predict.rows import SparseRows
from latently.predict.statistics import ClassStatistics, Counts


@stores_parameters
class BernoulliNB(DiscreteNB):
    """Bernoulli naive Bayes: within a class, every column is a coin of its own.

    Missing values (NaN) of a dense table are left out, at fit and at predict.

    Parameters
    ----------
    alpha
        Pseudo-count of each side of each coin, one number or one per column; 1 is Laplace's rule.
    force_alpha
        Whether to keep an alpha below 1e-10 as it is.
    binarize
        Entries above it count as ones; None if the table holds zeros and ones already.
    fit_prior
        Whether to learn the class priors; all classes are alike otherwise.
    class_prior
        Prior probabilities of the classes.

    Attributes
    ----------
    classes_ : (K,) the classes
    class_count_ : (K,) weight of the rows of each class
    class_log_prior_ : (K,) log prior probability of each class
    feature_count_ : (K, d) weight of the ones of each column in each class
    feature_log_prob_ : (K, d) log probability of a one

    Examples
    --------
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], [0, 0, 1])
    >>> model.predict_proba([[1, 0], [0, float("nan")]])
    array([[0.871, 0.129],
           [0.429, 0.571]])
    """

    _tags: ClassVar[dict[str, Any]] = {"sparse": True, "allow_nan": True, "classifier_tags.poor_score": True}

    _: KW_ONLY
    binarize: float | None = 0.0

    def _read(self, X: Any, *, reset: bool) -> Any:
        rows = self._table(X, reset=reset, allow_nan=True)
        return self._ones(rows) if isinstance(rows, SparseRows) else rows

    def _ones(self, X: SparseRows) -> SparseRows:
        """Compressed rows with a one for each entry above the threshold."""
        if self.binarize is None:
            return X
        if self.binarize < 0:
            raise ValueError("binarize must not be negative for sparse data: entries that are not stored are zeros")
        return replace(X, data=(X.data > self.binarize).astype(np.float64))

    def _parts(self, X: NDArray[Any]) -> tuple[Array, NDArray[np.bool_] | None]:
        """Ones of a dense chunk as numbers, and what is missing (None if nothing is)."""
        missing = np.isnan(X)
        ones = np.where(missing, 0.0, X) if self.binarize is None else np.greater(X, self.binarize).astype(np.float64)
        return ones, missing if missing.any() else None

    def _counter(self, rows: Any) -> Counter:
        return self._count

    def _count(self, X: Any, codes: Codes, weights: Array, n_classes: int) -> Counts:
        count = np.bincount(codes, weights if len(weights) else None, minlength=n_classes).astype(np.float64)
        seen = np.repeat(count[:, None], X.shape[1], axis=1)
        if isinstance(X, SparseRows):
            return Counts(class_totals(X, codes, weights, n_classes), seen)
        ones, missing = self._parts(X)
        hot = one_hot(codes, weights, n_classes)
        return Counts(hot @ ones, seen if missing is None else hot @ (~missing).astype(np.float64))

    def _parameters(self, stats: ClassStatistics, classes: Classes) -> dict[str, Any]:
        alpha, ones, seen = self._check_alpha(), stats.features.total, stats.features.seen
        whole = seen + 2 * np.asarray(alpha)
        # Nothing seen and alpha = 0: a fair coin.
        safe = np.where(whole > 0, whole, 1.0)
        yes = safe_log(np.where(whole > 0, (ones + alpha) / safe, 0.5))
        no = safe_log(np.where(whole > 0, np.maximum(seen - ones + alpha, 0.0) / safe, 0.5))
        prior = self._learnt_prior(stats)
        return {
            "class_log_prior_": prior,
            "feature_count_": ones,
            "feature_log_prob_": yes,
            "_coefficients": self._odds(yes, no, prior),
            "_sides": (Coefficients.of(yes, prior), Coefficients.of(no, np.zeros(len(prior)))),
        }

    @staticmethod
    def _odds(yes: Array, no: Array, prior: Array) -> Coefficients | None:
        """Factors of the ones when all entries are there; None if some side of a coin never falls."""
        if np.isinf(yes).any() or np.isinf(no).any():
            return None
        return Coefficients.of(yes - no, prior + no.sum(axis=1))

    def _chunk_joint(self, X: Any) -> Array:
        if isinstance(X, SparseRows):
            if self._coefficients is not None:
                return np.asarray(self._coefficients.joint(X))
            X = X.toarray()
        ones, missing = self._parts(X)
        if missing is None and self._coefficients is not None:
            return np.asarray(self._coefficients.joint(ones))
        zeros = 1.0 - ones if missing is None else np.where(missing, 0.0, 1.0 - ones)
        heads, tails = self._sides
        return np.asarray(heads.joint(ones) + tails.joint(zeros))

    def _draw(self, codes: Codes, rng: np.random.Generator) -> Array:
        yes = np.exp(self.feature_log_prob_[codes])
        return np.asarray(rng.random(yes.shape) < yes, dtype=np.float64)
