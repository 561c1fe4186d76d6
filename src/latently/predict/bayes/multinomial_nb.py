"""Naive Bayes for counts, such as the words of a document."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from latently import compiled
from latently.learn.estimator.classes import Classes, Codes
from latently.learn.estimator.parameters import stores_parameters
from latently.predict.bayes.classifier import Array, Counter
from latently.predict.bayes.discrete import DiscreteNB, one_hot, safe_log
from latently.predict.rows import SparseRows, lanes
from latently.predict.statistics import ClassStatistics, Counts


@stores_parameters
class MultinomialNB(DiscreteNB):
    """Multinomial naive Bayes: within a class, a row's counts are draws from one distribution over columns.

    Parameters
    ----------
    alpha
        Pseudo-count of every column, one number or one per column; 1 is Laplace's rule.
    force_alpha
        Whether to keep an alpha below 1e-10 as it is.
    fit_prior
        Whether to learn the class priors; all classes are alike otherwise.
    class_prior
        Prior probabilities of the classes.

    Attributes
    ----------
    classes_ : (K,) the classes
    class_count_ : (K,) weight of the rows of each class
    class_log_prior_ : (K,) log prior probability of each class
    feature_count_ : (K, d) sum of the counts of each column in each class
    feature_log_prob_ : (K, d) log probability of each column in each class

    Examples
    --------
    >>> model = MultinomialNB().fit([[2, 0, 1], [0, 3, 1]], ["a", "b"])
    >>> model.predict([[1, 0, 0], [0, 1, 4]])
    array(['a', 'b'], ...)
    """

    _tags: ClassVar[dict[str, Any]] = {"sparse": True, "positive_only": True, "classifier_tags.poor_score": True}

    def _read(self, X: Any, *, reset: bool) -> Any:
        return self._no_negatives(self._table(X, reset=reset, allow_nan=False))

    def _counter(self, rows: Any) -> Counter:
        return self._count

    def _count(self, X: Any, codes: Codes, weights: Array, n_classes: int) -> Counts:
        return Counts(class_totals(X, codes, weights, n_classes), np.zeros((n_classes, 1)))

    def _parameters(self, stats: ClassStatistics, classes: Classes) -> dict[str, Any]:
        total = stats.features.total
        smoothed = total + self._check_alpha()
        whole = smoothed.sum(axis=1, keepdims=True)
        # A class without any count (and alpha = 0) knows nothing: every column is as likely.
        probabilities = np.where(whole > 0, smoothed / np.where(whole > 0, whole, 1.0), 1 / total.shape[1])
        logs, prior = safe_log(probabilities), self._learnt_prior(stats)
        return {
            "class_log_prior_": prior,
            "feature_count_": total,
            "feature_log_prob_": logs,
            "_coefficients": Coefficients.of(logs, prior),
        }

    def _chunk_joint(self, X: Any) -> Array:
        return np.asarray(self._coefficients.joint(X))

    def sample(self, n_samples: int = 1, random_state: Any = None, *, length: int = 100) -> tuple[Any, Classes]:
        """Draw rows from the model: a class, then `length` counts from its distribution over columns.

        Parameters
        ----------
        n_samples
            How many rows.
        random_state
            A seed or a generator.
        length
            Sum of the counts of each row, about which the model has nothing to say.
        """
        codes, rng = self._draw_classes(n_samples, random_state)
        return self._draw(codes, rng, length), self.classes_[codes]

    def _draw(self, codes: Codes, rng: np.random.Generator, length: int = 100) -> Array:
        shares = np.exp(self.feature_log_prob_)
        shares /= shares.sum(axis=1, keepdims=True)
        return rng.multinomial(length, shares[codes]).astype(np.float64)


def class_totals(X: Any, codes: Codes, weights: Array, n_classes: int) -> Array:
    """(K, d) weighted sums of the rows of each class, dense or sparse."""
    if not isinstance(X, SparseRows):
        return np.asarray(one_hot(codes, weights, n_classes) @ X)
    totals = np.zeros((n_classes, X.shape[1]))
    compiled.predict.naive_bayes.sparse_counts(X.indptr, X.indices, X.data, codes, weights, totals)
    return totals


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Log probabilities as factors of the counts, with 0 times log 0 being 0.

    Parameters
    ----------
    constant : (K,) what is added for each class
    finite : (d, lanes(K)) the finite factors, padded with zeros
    impossible : (d, K) one where the probability is zero; None if it never is
    """

    constant: Array
    finite: Array
    impossible: Array | None

    @classmethod
    def of(cls, log_prob: Array, constant: Array) -> Self:
        """Lay out (K, d) log probabilities."""
        n_classes, d = log_prob.shape
        impossible = np.isneginf(log_prob)
        finite = np.zeros((d, lanes(n_classes)))
        finite[:, :n_classes] = np.where(impossible, 0.0, log_prob).T
        return cls(constant, finite, impossible.T.astype(np.float64) if impossible.any() else None)

    def log_prob(self) -> Array:
        """(d, K) the log probabilities that were laid out."""
        finite = self.finite[:, : len(self.constant)]
        return finite if self.impossible is None else np.where(self.impossible > 0, -np.inf, finite)

    def joint(self, X: Any) -> Array:
        """(n, K) a constant per class plus the sum over columns of x_ij times log_prob[k, j]."""
        out = np.zeros((X.shape[0], self.finite.shape[1]))
        if isinstance(X, SparseRows):
            compiled.predict.naive_bayes.sparse_joint(X.indptr, X.indices, X.data, self.finite, out)
        else:
            np.matmul(X, self.finite, out=out)
        sums = out[:, : len(self.constant)] + self.constant
        if self.impossible is not None:
            counts = X.toarray() if isinstance(X, SparseRows) else X
            sums[counts @ self.impossible > 0] = -np.inf
        return sums
