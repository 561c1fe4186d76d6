"""What every Bayes classifier does: learn by adding statistics, answer by adding logarithms."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from latently import compiled
from latently.data.sources.chunks import Chunk, ChunkSource
from latently.data.tables.matrix import check_weights
from latently.decide import DecideMixin
from latently.distributions.inputs import ColumnError, generator
from latently.learn.estimator.classes import Classes, Codes, encode, read_labels
from latently.learn.estimator.table import OutOfCoreMixin
from latently.predict.labels import Labelled, encode_among, first_classes
from latently.predict.rows import Stats, part, row_by_row, total
from latently.predict.scores import ClassifierScore
from latently.predict.statistics import ClassStatistics
from latently.predict.tables import brings_targets

Array = NDArray[np.float64]
Counter = Callable[[Any, Codes, Array, int], Any]


class BayesClassifier(OutOfCoreMixin, DecideMixin, ClassifierScore, BaseEstimator, ABC):
    """Base of the naive Bayes classifiers.

    A classifier says how it reads a table, what it counts in a chunk, how counts become parameters, and
    what the log joint density of a row and each class is. All the verbs follow.
    """

    # what a classifier says about itself

    @abstractmethod
    def _read(self, X: Any, *, reset: bool) -> Any:
        """Check a table and give it in the form that the other hooks work on."""

    @abstractmethod
    def _counter(self, rows: Any) -> Counter:
        """Give the function that sums up the features of a chunk's rows by class: f(X, codes, weights, K)."""

    @abstractmethod
    def _parameters(self, stats: ClassStatistics, classes: Classes) -> dict[str, Any]:
        """Fitted attributes that follow from the statistics; nothing is set yet, so errors do no harm."""

    @abstractmethod
    def _chunk_joint(self, X: Any) -> Array:
        """(n, K) log p(x, class) of a chunk's rows."""

    @abstractmethod
    def _draw(self, codes: Codes, rng: np.random.Generator) -> Any:
        """Draw a row for each class code."""

    # learning

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from rows and their classes, forgetting what was learnt before.

        Parameters
        ----------
        X
            Table of (rows, columns).
        y
            Class of each row.
        sample_weight
            Weight of each row; every row counts once if None.
        """
        if brings_targets(X, y):
            found = self._labelled(self._read(X, reset=True))
            return self._settle(found.stats, found.labels)
        labels = read_labels(y, type(self).__name__)
        rows = self._read(X, reset=True)
        codes, classes = encode(labels)
        return self._settle(self._statistics(rows, codes, sample_weight, classes), classes)

    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from more rows.

        Parameters
        ----------
        X
            Table of (rows, columns).
        y
            Class of each row.
        classes
            All classes that may ever come; needed on the first call only.
        sample_weight
            Weight of each row.
        """
        known = first_classes(classes, getattr(self, "classes_", None))
        codes = None if brings_targets(X, y) else encode_among(read_labels(y, type(self).__name__), known)
        first = not hasattr(self, "statistics_")
        rows = self._read(X, reset=first)
        stats = self._statistics(rows, codes, sample_weight, known)
        return self._settle(stats if first else self.statistics_ + stats, known)

    def forget(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Undo the learning of rows: the model becomes what a fit without them would have given.

        Rows that were never learnt are an error as soon as that shows in the counts, and change nothing.

        Parameters
        ----------
        X
            Rows that were learnt.
        y
            Class of each row.
        sample_weight
            The weights they were learnt with.
        """
        check_is_fitted(self)
        rows = self._read(X, reset=False)
        codes = encode_among(read_labels(y, type(self).__name__), self.classes_)
        less = self.statistics_ - self._statistics(rows, codes, sample_weight, self.classes_)
        try:
            left = less.settled(self.statistics_)
        except ColumnError as problem:
            raise self._named(problem) from None
        return self._settle(left, self.classes_)

    def merge(self, other: Self) -> Self:
        """Take in what another model has learnt, as if its rows had been learnt here.

        Parameters
        ----------
        other
            A fitted model of the same class, columns and classes.
        """
        check_is_fitted(self)
        if type(other) is not type(self):
            raise TypeError(f"cannot merge a {type(other).__name__} into a {type(self).__name__}")
        check_is_fitted(other)
        self._check_mergeable(other)
        return self._settle(self.statistics_ + other.statistics_, self.classes_)

    def _check_mergeable(self, other: Self) -> None:
        if not np.array_equal(self.classes_, other.classes_):
            raise ValueError(
                f"the two models know different classes: {self.classes_} and {other.classes_}; "
                "start both with partial_fit and the same classes"
            )
        if self.n_features_in_ != other.n_features_in_:
            raise ValueError(f"the two models have {self.n_features_in_} and {other.n_features_in_} columns")
        names: list[Any] = [getattr(model, "feature_names_in_", None) for model in (self, other)]
        if all(n is not None for n in names) and list(names[0]) != list(names[1]):
            raise ValueError(f"the two models have different columns: {list(names[0])} and {list(names[1])}")

    def _statistics(
        self, rows: Any, codes: Codes | None, sample_weight: ArrayLike | None, classes: Classes
    ) -> ClassStatistics:
        """Sums over the rows; codes are None where the labels come with the chunks."""
        if not isinstance(rows, ChunkSource):
            check_consistent_length(rows, codes)
        weights = None if codes is None else check_weights(sample_weight, len(codes))
        counter = self._counter(rows)

        def of_chunk(chunk: Chunk) -> ClassStatistics:
            w = part(weights, chunk) if chunk.weights is None else chunk.weights
            return _counted(chunk, self._chunk_codes(chunk, codes, classes), w, len(classes), counter)

        return self._total(rows, of_chunk)

    def _labelled(self, rows: ChunkSource) -> Labelled:
        """Sums over the rows of a source that brings the labels, and what the labels are."""
        counter, who = self._counter(rows), type(self).__name__

        def of_chunk(chunk: Chunk) -> Labelled:
            codes, classes = encode(read_labels(chunk.y, who))
            w = np.empty(0) if chunk.weights is None else chunk.weights
            return Labelled(classes, _counted(chunk, codes, w, len(classes), counter))

        return self._total(rows, of_chunk)

    def _total(self, rows: Any, of_chunk: Callable[[Chunk], Stats]) -> Stats:
        try:
            return total(rows, of_chunk)
        except ColumnError as problem:
            raise self._named(problem) from None

    def _chunk_codes(self, chunk: Chunk, codes: Codes | None, classes: Classes) -> Codes:
        if codes is None:
            return encode_among(read_labels(chunk.y, type(self).__name__), classes)
        if len(found := part(codes, chunk)) != chunk.n_rows:
            raise ValueError(f"y has {len(codes)} labels, but X has at least {chunk.stop} rows")
        return found

    def _named(self, problem: ColumnError) -> ColumnError:
        """Give an error about a column with the name of the column in place of its position."""
        if isinstance(problem.column, str):
            return problem
        names = getattr(self, "feature_names_in_", None)
        return problem.named(f"x{problem.column}" if names is None else str(names[problem.column]))

    def _settle(self, stats: ClassStatistics, classes: Classes) -> Self:
        found = self._parameters(stats, classes)
        self.__dict__.update(found, statistics_=stats, classes_=classes, class_count_=stats.class_count)
        return self

    # answers

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Log p(x, class) of every row and class, (n, K)."""
        check_is_fitted(self)
        return row_by_row(self._read(X, reset=False), lambda chunk: self._chunk_joint(chunk.X))

    def predict_log_proba(self, X: Any) -> Array:
        """Log of the probability of each class, (n, K)."""
        joint = self.predict_joint_log_proba(X)
        evidence, _ = _normalised(joint)
        impossible = np.isneginf(evidence)[:, None]
        logs = joint - np.where(impossible, 0.0, evidence[:, None])
        return np.where(impossible, -np.log(joint.shape[1]), logs)

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, (n, K); a row impossible under every class is shared out evenly."""
        check_is_fitted(self)
        return row_by_row(self._read(X, reset=False), lambda chunk: _normalised(self._chunk_joint(chunk.X))[1])

    def score_samples(self, X: Any) -> Array:
        """Log p(x) of every row, (n,): low for a row unlike all classes, however sure its class may be."""
        check_is_fitted(self)
        return row_by_row(self._read(X, reset=False), lambda chunk: _normalised(self._chunk_joint(chunk.X))[0])

    def predict(self, X: Any) -> Classes:
        """Most probable class of each row, (n,)."""
        check_is_fitted(self)
        codes = row_by_row(self._read(X, reset=False), lambda chunk: self._chunk_joint(chunk.X).argmax(axis=1))
        return np.asarray(self.classes_[codes])

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Any, Classes]:
        """Draw rows from the model: first a class, then every column by itself.

        Parameters
        ----------
        n_samples
            How many rows.
        random_state
            A seed or a generator.

        Returns
        -------
        tuple
            The rows, and the class that each was drawn from.
        """
        codes, rng = self._draw_classes(n_samples, random_state)
        return self._draw(codes, rng), self.classes_[codes]

    def _draw_classes(self, n_samples: int, random_state: Any) -> tuple[Codes, np.random.Generator]:
        check_is_fitted(self)
        rng = generator(random_state)
        return rng.choice(len(self.classes_), size=n_samples, p=np.exp(self._log_prior())), rng

    def _log_prior(self) -> Array:
        logs: Array = self.class_log_prior_
        return logs


def _counted(chunk: Chunk, codes: Codes, weights: Array, n_classes: int, counter: Counter) -> ClassStatistics:
    count = np.bincount(codes, weights if len(weights) else None, minlength=n_classes).astype(np.float64)
    return ClassStatistics(count, counter(chunk.X, codes, weights, n_classes))


def _normalised(joint: Array) -> tuple[Array, Array]:
    evidence, probabilities = np.empty(len(joint)), np.empty(joint.shape)
    compiled.predict.naive_bayes.normalise(joint, evidence, probabilities)
    return evidence, probabilities
