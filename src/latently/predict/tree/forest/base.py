"""What random forests share: draws of rows, trees side by side, rows out of the bag."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, ClassVar, Self
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import hstack
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, check_is_fitted, check_random_state

from latently.data.sources.chunks import ChunkSource
from latently.data.tables.matrix import check_weights
from latently.learn.engine.cores import n_threads, threads
from latently.learn.engine.reduce import mapping
from latently.learn.estimator.parameters import checked
from latently.learn.estimator.table import OutOfCoreMixin
from latently.predict.rows import row_by_row
from latently.predict.tree import columns
from latently.predict.tree.forest.job import Job, draw, outside_of
from latently.predict.tree.growth.binary import Grown
from latently.predict.tree.growth.bins import EXACT_ROWS, MOST_BINS, make_bins
from latently.predict.tree.growth.setting import make_setting
from latently.predict.tree.growth.targets import Targets
from latently.predict.tree.model import answers
from latently.predict.tree.parameters import ForestParameters

Array = NDArray[np.float64]


class BaseForest(ForestParameters, OutOfCoreMixin, BaseEstimator, ABC):
    """Base of random forests."""

    _tags: ClassVar[dict[str, Any]] = {"allow_nan": True, "sparse": True, "target_tags.multi_output": True}
    _row_verbs: ClassVar[tuple[str, ...]] = ("predict", "predict_proba", "predict_log_proba")
    _tree_class: ClassVar[Any]
    criterion: Any
    _most_bins: ClassVar[int] = MOST_BINS

    def _expected_failed_checks(self) -> dict[str, str]:
        reason = "rows are drawn at random: one of weight two is not drawn like two rows"
        names = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
        return dict.fromkeys(names, reason)

    # what a kind of forest says about itself

    @abstractmethod
    def _targets(self, y: Any, sample_weight: Array | None) -> tuple[Targets, Array | None]:
        """Read the targets; give them and the weights of the rows. Sets what is known about the targets."""

    @abstractmethod
    def _set_oob(self, rows: Array, y: Any, outside: Sequence[NDArray[np.int64]]) -> None:
        """Set score and answers out of the bag."""

    def _tree_weights(self, targets: Targets, weights: Array | None, counts: Array | None) -> Array | None:
        """Weights of the rows of a tree, from those of the rows and how often each was drawn."""
        if counts is None:
            return weights
        both = counts if weights is None else counts * weights
        return both if both.any() else weights  # all rows with a weight, if none of them was drawn

    # learning

    @checked
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees, each on its own draw of the rows.

        Parameters
        ----------
        X
            Table of (rows, columns): arrays, sparse matrices, frames with categories and missing values.
        y
            Target of each row; (n, outputs) for several outputs.
        sample_weight
            Weight of each row.
        """
        if isinstance(X, ChunkSource):
            return self._fit_source(X, y)
        if self.max_samples is not None and not self.bootstrap:
            raise ValueError(
                "`max_sample` cannot be set if `bootstrap=False`. Either switch to `bootstrap=True` or set "
                "`max_sample=None`."
            )
        if self.oob_score and not self.bootstrap:
            raise ValueError("Out of bag estimation only available if bootstrap=True")
        rows = columns.read_columns(self, X, reset=True)
        weights = check_weights(sample_weight, len(rows))
        targets, weights = self._targets(y, weights)
        check_consistent_length(rows, y)
        seeds = self._new_seeds()
        if seeds is not None:
            self._extend(rows, targets, weights, seeds)
        if self.oob_score and (seeds is not None or not hasattr(self, "oob_score_")):
            n = len(rows)
            self._set_oob(rows, y, [outside_of(tree.random_state, n, self._n_drawn(n)) for tree in self.estimators_])
        return self

    def _fit_source(self, X: ChunkSource, y: Any) -> Self:
        """Grow the trees from chunks of a table that is not in memory."""
        from latently.predict.tree.growth.stored import grow_stored

        if self._is_multiway or self.oob_score:
            what = "oob_score" if self.oob_score else "trees of many-way splits or fractional cases"
            raise ValueError(f"{what}: for tables in memory")
        seeds = self._new_seeds()
        if seeds is not None:
            self.n_outputs_ = 1
            made = grow_stored(self, X, y, seeds, self._draw if self.bootstrap else None, self._adopt_stored)
            self._adopt([self._tree(Grown(nodes, None, None), seed) for nodes, seed in zip(made, seeds, strict=True)])
        return self

    def _draw(self, seed: int, n: int) -> NDArray[np.int64]:
        return draw(seed, n, self._n_drawn(n))

    def _adopt_stored(self, told: Any) -> Any:
        self.n_rows_ = told.n_rows
        return self._adopt_told(told)

    @abstractmethod
    def _adopt_told(self, told: Any) -> Any:
        """Let the estimator know what a first pass told about the targets; give the weights of classes, or None."""

    def _growth_params(self) -> dict[str, Any]:
        return self._tree_params()

    def _new_seeds(self) -> list[int] | None:
        """Seeds of the trees to be grown; None if there are none to grow."""
        if not (self.warm_start and hasattr(self, "estimators_")):
            self.estimators_: list[Any] = []
        more = self.n_estimators - len(self.estimators_)
        if more < 0:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to len(estimators_)="
                f"{len(self.estimators_)} when warm_start==True"
            )
        if more == 0:
            warn("Warm-start fitting without increasing n_estimators does not fit new trees.", stacklevel=4)
            return None
        drawn = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=self.n_estimators)
        return [int(seed) for seed in drawn[len(self.estimators_) :]]

    def _extend(self, rows: Array, targets: Targets, weights: Array | None, seeds: list[int]) -> None:
        n = len(rows)
        categories = columns.n_categories(self)
        setting = make_setting(self._tree_params(), n, self.n_features_in_)
        bins = make_bins(rows, categories, self.max_bins, most_bins=self._most_bins)
        job = Job(self, rows, bins, targets, weights, setting)
        with self._threads(), mapping(seeds) as over:
            made = list(over(job))
        self.n_rows_ = n
        self._adopt([self._tree(*pair) for pair in zip(made, seeds, strict=True)])

    def _adopt(self, trees: list[Any]) -> None:
        self.estimators_ = [*self.estimators_, *trees]

    def _tree_params(self) -> dict[str, Any]:
        params = self.get_params(deep=False)
        names = self._tree_class().get_params(deep=False)
        return {name: params[name] for name in names if name in params}

    def _tree(self, grown: Any, seed: int) -> Any:
        """A fitted tree of the forest."""
        params = {name: value for name, value in self._tree_params().items() if name not in ("class_weight", "schema")}
        if self.n_rows_ > EXACT_ROWS and self.max_bins is None:
            params["max_bins"] = self._most_bins  # a tree alone would have more
        tree = self._tree_class(**params | {"random_state": seed})
        tree.n_features_in_, tree.n_outputs_ = self.n_features_in_, self.n_outputs_
        tree.max_features_ = make_setting(self._tree_params(), 2, self.n_features_in_).max_features
        self._tell_tree(tree, grown)
        tree._adopt(grown.nodes)
        tree._prune_by_cost()
        return tree

    @abstractmethod
    def _tell_tree(self, tree: Any, grown: Any) -> None:
        """Give a tree what it has to know about the targets."""

    def _kept(self, grown: Grown, targets: Targets, weights: Array | None) -> Any:
        """What a tree keeps of the rows it grew from."""
        return None

    @property
    def _is_multiway(self) -> bool:
        return self.criterion in ("gain", "gain_ratio") or self.nominal == "values" or self.missing == "fractional"

    def _n_drawn(self, n: int) -> int:
        """How many rows are drawn for a tree."""
        if self.max_samples is None:
            return n
        if isinstance(self.max_samples, int | np.integer):
            return int(self.max_samples)
        return int(max(round(n * self.max_samples), 1))

    def _threads(self) -> AbstractContextManager[None]:
        if self.n_jobs is None or self.n_jobs == 0:
            return nullcontext()
        return threads(max(1, int(self.n_jobs)) if self.n_jobs > 0 else n_threads())

    # what the forest is

    @property
    def estimator(self) -> Any:
        """A tree like those of the forest, not fitted."""
        return self._tree_class(**self._tree_params())

    def __bool__(self) -> bool:
        return True  # a forest without trees is a forest

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, index: int) -> Any:
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    @property
    def feature_importances_(self) -> Array:
        """(d,) what splits by each column take from the impurity: the mean of the trees that split at all."""
        check_is_fitted(self)
        each = [tree.feature_importances_ for tree in self.estimators_ if tree.n_nodes_ > 1]
        if not each:
            return np.zeros(self.n_features_in_)
        mean = np.mean(each, axis=0)
        return np.asarray(mean / mean.sum()) if mean.sum() > 0 else mean

    @property
    def estimators_samples_(self) -> list[NDArray[np.int32]]:
        """Rows drawn for each tree."""
        check_is_fitted(self)
        n = self.n_rows_
        if not self.bootstrap:
            return [np.arange(n, dtype=np.int32) for _ in self.estimators_]
        return [draw(tree.random_state, n, self._n_drawn(n)).astype(np.int32) for tree in self.estimators_]

    def apply(self, X: Any) -> NDArray[np.int64]:
        """(n, trees) leaf of each row in each tree."""
        rows = self._rows(X)
        with self._threads():
            found = row_by_row(rows, partial(_all_leaves, [tree.nodes_ for tree in self.estimators_]))
        return np.asarray(found)

    def decision_path(self, X: Any) -> tuple[Any, NDArray[np.int64]]:
        """(n, nodes of all trees) sparse ones where a row passes, and where the nodes of each tree begin."""
        rows = self._rows(X)
        paths = [answers.paths_of(tree.nodes_, rows) for tree in self.estimators_]
        starts = np.concatenate([[0], np.cumsum([path.shape[1] for path in paths])])
        return hstack(paths).tocsr(), starts

    def proximity(self, X: Any, Y: Any = None) -> Array:
        """(n, m) share of the trees in which rows of X and of Y (X if None) share a leaf.

        Parameters
        ----------
        X, Y
            Rows.
        """
        left = self.apply(X)
        right = left if Y is None else self.apply(Y)
        total = np.zeros((len(left), len(right)))
        for a, b in zip(left.T, right.T, strict=True):
            total += a[:, None] == b[None, :]
        return np.asarray(total / left.shape[1])

    def _rows(self, X: Any) -> Array:
        check_is_fitted(self)
        return columns.read_columns(self, X, reset=False)

    def _values(self, X: Any) -> Array:
        """(n, outputs, classes or 1) mean of the trees."""
        return self._of_rows(self._rows(X))

    def _of_rows(self, rows: Array) -> Array:
        smoothed = [tree._smoothed() for tree in self.estimators_]
        with self._threads():
            nodes = [tree.nodes_ for tree in self.estimators_]
            return answers.mean_of(nodes, rows, None if smoothed[0] is None else smoothed)


def _all_leaves(trees: Sequence[Any], chunk: Any) -> NDArray[np.int64]:
    return np.column_stack([answers.leaves_of(nodes, chunk.X) for nodes in trees])
