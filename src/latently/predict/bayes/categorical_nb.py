"""Naive Bayes for columns of category codes."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from latently import compiled
from latently.data.sources.chunks import Chunk, ChunkSource
from latently.learn.estimator.classes import Classes, Codes
from latently.learn.estimator.parameters import stores_parameters
from latently.learn.estimator.table import read_rows
from latently.predict.bayes.classifier import Array, Counter
from latently.predict.bayes.discrete import DiscreteNB, safe_log
from latently.predict.rows import four, row_by_row
from latently.predict.statistics import CategoryCounts, ClassStatistics
from latently.predict.tables import read_source

MOST_CATEGORIES = 1 << 24


@stores_parameters
class CategoricalNB(DiscreteNB):
    """Categorical naive Bayes: within a class, every column has a distribution over its categories.

    Categories are codes 0, 1, ...; numbers with a fraction are cut off. Missing values (NaN) are left out, at
    fit and at predict. A category that was not there at fit has the prior's probability, one in as many as
    there are categories, under every class, so it says nothing about the class.

    Parameters
    ----------
    alpha
        Pseudo-count of every category; 1 is Laplace's rule.
    force_alpha
        Whether to keep an alpha below 1e-10 as it is.
    fit_prior
        Whether to learn the class priors; all classes are alike otherwise.
    class_prior
        Prior probabilities of the classes.
    min_categories
        Fewest categories of each column, one number or one per column; as many as the data show if None.

    Attributes
    ----------
    classes_ : (K,) the classes
    class_count_ : (K,) weight of the rows of each class
    class_log_prior_ : (K,) log prior probability of each class
    category_count_ : for each column, (K, categories) weights
    feature_log_prob_ : for each column, (K, categories) log probabilities
    n_categories_ : (d,) number of categories of each column

    Examples
    --------
    >>> model = CategoricalNB().fit([[0, 2], [1, 0], [1, 1]], ["a", "b", "b"])
    >>> model.predict([[0, 2], [1, 7]])
    array(['a', 'b'], ...)
    """

    _tags: ClassVar[dict[str, Any]] = {"categorical": True, "positive_only": True, "allow_nan": True}

    _: KW_ONLY
    min_categories: int | ArrayLike | None = None

    def _read(self, X: Any, *, reset: bool) -> Any:
        if isinstance(X, ChunkSource):
            return read_source(self, X, reset=reset)
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "iu" and X.size:
            # Codes stay integers: no copy is made.
            validate_data(self, X, reset=reset, skip_check_array=True)
            return self._no_negatives(X)
        rows = read_rows(self, X, reset=reset, allow_nan=True)
        return self._no_negatives(rows)

    def _counter(self, rows: Any) -> Counter:
        widths = np.maximum(self._least(), highest(rows) + 1)

        def count(X: Any, codes: Codes, weights: Array, n_classes: int) -> CategoryCounts:
            return CategoryCounts.of(X, codes, weights, widths, n_classes)

        return count

    def _least(self) -> NDArray[np.int64]:
        if self.min_categories is None:
            return np.zeros(self.n_features_in_, dtype=np.int64)
        least = np.asarray(self.min_categories)
        if least.dtype.kind not in "iu":
            raise ValueError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.ndim and least.shape != (self.n_features_in_,):
            raise ValueError(
                f"'min_categories' should have shape ({self.n_features_in_},) when an array is given, "
                f"got {least.shape} instead."
            )
        return np.broadcast_to(least, (self.n_features_in_,)).astype(np.int64)

    def _parameters(self, stats: ClassStatistics, classes: Classes) -> dict[str, Any]:
        tables = stats.features.tables
        alphas = np.broadcast_to(self._check_alpha(), (len(tables),))
        logs = [safe_log(category_shares(t, a)) for t, a in zip(tables, alphas, strict=True)]
        widths = np.array([len(table) for table in tables], dtype=np.int64)
        return {
            "class_log_prior_": self._learnt_prior(stats),
            "category_count_": [table.T for table in tables],
            "feature_log_prob_": [log.T for log in logs],
            "n_categories_": widths,
            "_lookup": Lookup.of(logs, -np.log(np.maximum(widths, 1))),
        }

    def _chunk_joint(self, X: Any) -> Array:
        return np.asarray(self._lookup.joint(X) + self.class_log_prior_)

    def _draw(self, codes: Codes, rng: np.random.Generator) -> NDArray[np.int64]:
        return np.stack([draw_categories(np.exp(log), codes, rng) for log in self.feature_log_prob_], axis=1)


def highest(rows: Any) -> NDArray[np.int64]:
    """Highest code of each column (-1 if nothing is observed), in one pass."""

    def of_chunk(chunk: Chunk) -> NDArray[Any]:
        low, high = np.full(chunk.X.shape[1], np.inf), np.full(chunk.X.shape[1], -1.0)
        compiled.predict.naive_bayes.code_range(np.ascontiguousarray(chunk.X), low, high)
        return np.stack([low, high])[None]

    ranges = row_by_row(rows, of_chunk)
    low, high = ranges[:, 0].min(axis=0), ranges[:, 1].max(axis=0)
    wrong = (low < 0) | (high >= MOST_CATEGORIES)
    if wrong.any():
        j = int(np.argmax(wrong))
        raise ValueError(
            f"column x{j} has codes from {low[j]:g} to {high[j]:g}, but codes are 0, 1, ... up to "
            f"{MOST_CATEGORIES - 1}: encode the categories first"
        )
    return np.asarray(high, dtype=np.int64)


def category_shares(table: Array, alpha: float) -> Array:
    """(categories, K) smoothed shares of the categories in each class; even where nothing is known."""
    whole = table.sum(axis=0) + alpha * len(table)
    known = whole > 0
    return np.where(known, (table + alpha) / np.where(known, whole, 1.0), 1.0 / max(len(table), 1))


def draw_categories(shares: Array, codes: Codes, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw a category for each class code, from (K, categories) probabilities."""
    ends = np.cumsum(shares, axis=1)
    draws = rng.random(len(codes)) * ends[codes, -1]
    return np.asarray((draws[:, None] >= ends[codes]).sum(axis=1)).clip(max=shares.shape[1] - 1)


@dataclass(frozen=True, eq=False)
class Lookup:
    """Log probabilities of the categories of many columns in one table, as the kernel reads them.

    Parameters
    ----------
    widths : (d,) number of categories of each column
    table : (sum of widths, four(K)) log probabilities, padded with zeros
    unseen : (d,) log probability of a category beyond the width
    n_classes : K
    """

    widths: NDArray[np.int64]
    table: Array
    unseen: Array
    n_classes: int

    @classmethod
    def of(cls, logs: list[Array], unseen: Array) -> Self:
        """Lay out the (categories, K) log probabilities of each column."""
        widths = np.array([len(log) for log in logs], dtype=np.int64)
        n_classes = logs[0].shape[1]
        table = np.zeros((int(widths.sum()), four(n_classes)))
        table[:, :n_classes] = np.concatenate(logs)
        return cls(widths, table, np.asarray(unseen, dtype=np.float64), n_classes)

    def joint(self, X: NDArray[Any]) -> Array:
        """(n, K) log probability of each row's categories in each class."""
        out = np.zeros((X.shape[0], self.table.shape[1]))
        offsets = np.cumsum(self.widths) - self.widths
        compiled.predict.naive_bayes.category_joint(
            np.ascontiguousarray(X), offsets, self.widths, self.table, self.unseen, out
        )
        return out[:, : self.n_classes]
