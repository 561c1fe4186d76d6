"""What classification and regression trees share."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Bunch
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from latently.data.sources.chunks import ChunkSource
from latently.data.tables.matrix import check_weights
from latently.learn.estimator.parameters import checked
from latently.learn.estimator.table import OutOfCoreMixin
from latently.predict.tree import columns
from latently.predict.tree.growth.binary import Grown, grow_binary
from latently.predict.tree.growth.bins import TREE_BINS, make_bins
from latently.predict.tree.growth.setting import Setting, make_setting, seed_of
from latently.predict.tree.growth.targets import Targets
from latently.predict.tree.model import answers
from latently.predict.tree.model import rules as reading
from latently.predict.tree.model.nodes import Nodes
from latently.predict.tree.model.view import TreeView
from latently.predict.tree.parameters import TreeParameters
from latently.predict.tree.pruning import cost_complexity, reduced_error

Array = NDArray[np.float64]


_VIEWS: WeakKeyDictionary[Any, tuple[Nodes, TreeView]] = WeakKeyDictionary()  # beside the trees, not a part of them


class BaseTree(TreeParameters, OutOfCoreMixin, BaseEstimator, ABC):
    """Base of decision trees: reading, growing, pruning, explaining."""

    _tags: ClassVar[dict[str, Any]] = {"allow_nan": True, "sparse": True}
    _row_verbs: ClassVar[tuple[str, ...]] = ("predict", "predict_proba", "predict_log_proba", "apply")
    _most_bins: ClassVar[int] = TREE_BINS
    criterion: Any
    _class_counts: Any  # number of classes of each output, ones for a regression

    def __sklearn_is_fitted__(self) -> bool:
        return "nodes_" in self.__dict__

    # what a kind of tree says about itself

    @abstractmethod
    def _targets(self, y: Any, sample_weight: Array | None) -> tuple[Targets, Array | None]:
        """Read the targets; give them and the weights of the rows. Sets what is known about the targets."""

    @abstractmethod
    def _errors(self, y: Any) -> reduced_error.Errors:
        """What pruning on other rows counts."""

    # learning

    @checked
    def _fit(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Self:
        if isinstance(X, ChunkSource):
            return self._fit_source(X, y)
        rows = columns.read_columns(self, X, reset=True)
        weights = check_weights(sample_weight, len(rows))
        targets, weights = self._targets(y, weights)
        check_consistent_length(rows, y)
        setting = self._setting(len(rows), weights)
        self._settle(self._grown(rows, targets, weights, setting, seed_of(self.random_state)), targets)
        return self

    def _fit_source(self, X: ChunkSource, y: Any) -> Self:
        """Grow the tree from chunks of a table that is not in memory."""
        from latently.predict.tree.growth.stored import grow_stored

        if self._is_multiway:
            raise ValueError(
                "a tree of many-way splits or fractional cases grows in memory: use nominal='groups', missing='side'"
            )
        self.n_outputs_ = 1
        nodes = grow_stored(self, X, y, [seed_of(self.random_state)], None, self._adopt_told)[0]
        self.max_features_ = make_setting(self._growth_params(), 2, self.n_features_in_).max_features
        self._adopt(nodes)
        self._prune_by_cost()
        return self

    @abstractmethod
    def _adopt_told(self, told: Any) -> Any:
        """Let the estimator know what a first pass told about the targets; give the weights of classes, or None."""

    def _growth_params(self) -> dict[str, Any]:
        return dict(self.get_params(deep=False))

    def _setting(self, n: int, weights: Array | None) -> Setting:
        setting = make_setting(self.get_params(deep=False), n, self.n_features_in_)
        self.max_features_ = setting.max_features
        total = float(n) if weights is None else float(weights.sum())
        self._check_constraints(setting)
        return setting.weighing(total)

    def _check_constraints(self, setting: Setting) -> None:
        if not setting.signs.any():
            return
        if self.n_outputs_ > 1:
            raise ValueError("Monotonicity constraints are not supported with multiple outputs.")
        if max(self._class_counts) > 2:
            raise ValueError("Monotonicity constraints are not supported with multiclass classification")
        if self._is_multiway:
            raise ValueError("monotonic_cst is for two-way splits: use nominal='groups' and missing='side'")

    @property
    def _is_multiway(self) -> bool:
        """Whether the tree grows by C4.5's rules rather than CART's."""
        return self.criterion in ("gain", "gain_ratio") or self.nominal == "values" or self.missing == "fractional"

    def _grown(self, rows: Array, targets: Targets, weights: Array | None, setting: Setting, seed: int) -> Grown:
        categories = columns.n_categories(self)
        if self._is_multiway:
            from latently.predict.tree.growth.multiway import grow_multiway

            return grow_multiway(rows, categories, targets, weights, setting, self._multiway_rules(), seed)
        bins = make_bins(rows, categories, self.max_bins, most_bins=self._most_bins)
        return grow_binary(bins, bins.encode(rows), targets, weights, setting, seed)

    def _multiway_rules(self) -> Any:
        from latently.predict.tree.growth.multiway import Rules

        return Rules(self.criterion, self.nominal == "values", self.missing == "fractional")

    def _settle(self, grown: Grown, targets: Targets) -> None:
        self._adopt(grown.nodes)
        self._prune_by_cost()

    def _prune_by_cost(self) -> None:
        if self.ccp_alpha > 0:
            self._cut(cost_complexity.leaves_at(self.nodes_, float(self.ccp_alpha)))

    def _cut(self, leaves: NDArray[np.bool_]) -> None:
        """Make some nodes leaves."""
        self._adopt(self.nodes_.cut(leaves))

    def _adopt(self, nodes: Nodes) -> None:
        self.nodes_, self.n_nodes_ = nodes, len(nodes)
        _ = nodes.walk

    # pruning

    def prune(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Prune by reduced error: as long as other rows are predicted no worse, replace the sub-tree that helps most.

        Parameters
        ----------
        X
            Rows that the tree was not grown from.
        y
            Their targets.
        sample_weight
            Their weights.
        """
        check_is_fitted(self)
        if getattr(self, "linear_", None) is not None:
            raise ValueError("a tree with linear models is pruned while it grows: prune is for leaf='mean'")
        rows = columns.read_columns(self, X, reset=False)
        check_consistent_length(rows, y)
        weights = check_weights(sample_weight, len(rows))
        self._cut(reduced_error.leaves_for(self.nodes_, rows, self._errors(y), weights))
        return self

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Bunch:
        """Give the alphas at which sub-trees go, and the total impurity of the leaves that are left."""
        from sklearn.base import clone

        grown = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight=sample_weight)
        alphas, impurities = cost_complexity.path(grown.nodes_)
        return Bunch(ccp_alphas=alphas, impurities=impurities)

    # what the tree is

    @property
    def tree_(self) -> TreeView:
        """The tree as scikit-learn's tools read it."""
        if "nodes_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no tree_ before it is fitted")
        known = _VIEWS.get(self)
        if known is None or known[0] is not self.nodes_:
            known = self.nodes_, TreeView(self.nodes_, self._class_counts)
            _VIEWS[self] = known
        return known[1]

    @property
    def feature_importances_(self) -> Array:
        """(d,) what the splits by each column take from the impurity, as shares of the whole."""
        check_is_fitted(self)
        return self.nodes_.importances()

    def get_depth(self) -> int:
        """Depth of the deepest leaf; a root alone has 0."""
        check_is_fitted(self)
        return int(self.nodes_.depths().max())

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self)
        return int(self.nodes_.is_leaf.sum())

    def apply(self, X: Any, check_input: bool = True) -> NDArray[np.int64]:
        """(n,) the leaf of each row."""
        rows = self._rows(X)
        return answers.leaves_of(self.nodes_, rows)

    def decision_path(self, X: Any, check_input: bool = True) -> Any:
        """(n, nodes) sparse matrix, one where a row passes through a node."""
        rows = self._rows(X)
        return answers.paths_of(self.nodes_, rows)

    def explain(self, x: Any) -> reading.Explanation:
        """Give the path of one row as a rule that can be read, with the evidence at each step.

        Parameters
        ----------
        x
            One row: values in the order of the columns, a dict or a frame with one row.
        """
        check_is_fitted(self)
        row = columns.encode_rows(self, reading.one_row(x, columns.column_names(self)))
        return reading.explained(self.nodes_, row, self._words())

    def rules(self, *, frame: bool = False) -> Any:
        """Give one rule for each leaf that any row of the fit reached: a list, or a pandas frame.

        Parameters
        ----------
        frame
            Whether the rules come as a frame with their evidence.
        """
        check_is_fitted(self)
        found = reading.all_rules(self.nodes_, self._words())
        return reading.as_frame(found) if frame else found

    def _words(self) -> reading.Words:
        schema = getattr(self, "schema_", None)
        categories = None if schema is None else [column.categories for column in schema]
        labels = getattr(self, "classes_", None) if self.n_outputs_ == 1 else None
        return reading.Words(columns.column_names(self), categories, labels)

    # answers

    def _rows(self, X: Any) -> Array:
        check_is_fitted(self)
        return columns.read_columns(self, X, reset=False)

    def _values(self, X: Any) -> Array:
        """(n, outputs, classes or 1) values of the leaves."""
        rows = self._rows(X)
        smoothed = self._smoothed()
        return answers.mean_of([self.nodes_], rows, None if smoothed is None else [smoothed])

    def _smoothed(self) -> Array | None:
        """Values of the nodes, if they are not those of the rows alone."""
        return None
