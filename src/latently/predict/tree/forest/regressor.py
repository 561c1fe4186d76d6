"""Random forests for numbers."""

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import r2_score

from latently.learn.estimator.parameters import CHOICES, Flag, stores_parameters
from latently.predict.tree.forest.base import BaseForest
from latently.predict.tree.forest.classifier import oob_values
from latently.predict.tree.forest.importance import ImportanceMixin
from latently.predict.tree.growth.targets import Targets
from latently.predict.tree.model import answers, leaf_targets
from latently.predict.tree.regressor import Criterion, DecisionTreeRegressor, NumberAnswers

Array = NDArray[np.float64]


@stores_parameters
class RandomForestRegressor(NumberAnswers, ImportanceMixin, BaseForest):
    """A random forest for numbers: full trees on draws of the rows; means, variances and quantiles.

    Trees grow in threads side by side, and are the same for any number of threads.

    Parameters
    ----------
    n_estimators
        Number of trees.
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_leaf_nodes
        As for `DecisionTreeRegressor`.
    max_features
        Columns tried at each split, a number, a share, "sqrt" or "log2"; all if 1.0 or None.
    min_impurity_decrease, ccp_alpha, monotonic_cst, nominal, missing, significance, max_bins, schema
        As for `DecisionTreeRegressor`.
    bootstrap
        Whether each tree has rows drawn with replacement, or all of them.
    oob_score
        Whether rows are scored by the trees that did not see them; or a function of true and predicted targets.
    n_jobs
        Number of threads, -1 for all cores; as for every fit here (`latently.learn.threads`) if None.
    random_state
        Seed of what is random.
    verbose
        Ignored; for compatibility.
    warm_start
        Whether a fit adds trees to those there are.
    max_samples
        How many rows are drawn for a tree, a number or a share; as many as there are if None.
    keep_targets
        Whether leaves keep the targets of their rows, for `predict_quantiles`.

    Attributes
    ----------
    estimators_ : the trees
    feature_importances_ : (d,) what splits by each column take from the impurity
    oob_score_ : share of the variance explained out of the bag, with `oob_score`
    oob_prediction_ : (n,) or (n, outputs) answers out of the bag, with `oob_score`; zero for a row drawn for all trees

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(300, 2))
    >>> forest = RandomForestRegressor(20, min_samples_leaf=5, keep_targets=True, random_state=0)
    >>> forest = forest.fit(X, X[:, 0] + rng.normal(0, 0.1, 300))
    >>> low, high = forest.predict([[0.1, 0.5], [0.9, 0.5]])
    >>> bool(low < 0.3 < 0.7 < high)
    True
    >>> low, high = forest.predict_quantiles([[0.5, 0.5]], [0.05, 0.95])[0]
    >>> bool(low < 0.5 < high)
    True
    """

    _tree_class: ClassVar[Any] = DecisionTreeRegressor

    _: KW_ONLY
    criterion: Annotated[Criterion, CHOICES] = "squared_error"
    max_features: Any = 1.0
    keep_targets: Flag = False

    # learning

    def _tell_tree(self, tree: Any, grown: Any) -> None:
        tree._class_counts = [1] * self.n_outputs_
        tree.leaf_targets_ = grown.leaf_targets

    def _kept(self, grown: Any, targets: Targets, weights: Array | None) -> Any:
        return leaf_targets.LeafTargets.of(grown, targets, weights) if self.keep_targets else None

    def _set_oob(self, rows: Array, y: Any, outside: Sequence[NDArray[np.int64]]) -> None:
        total, seen = oob_values(self.estimators_, rows, outside)
        found = total[:, :, 0]
        self.oob_prediction_ = found[:, 0] if self.n_outputs_ == 1 else found
        told = [np.asarray(y)[seen], self.oob_prediction_[seen]]
        self.oob_score_ = self.oob_score(*told) if callable(self.oob_score) else float(r2_score(*told))

    # answers

    def predict_quantiles(self, X: Any, quantiles: ArrayLike = (0.05, 0.5, 0.95)) -> Array:
        """(n, q) quantiles of a new target: of the targets at the leaves of all trees, for one output.

        Parameters
        ----------
        X
            Rows.
        quantiles
            Between 0 and 1.
        """
        rows = self._rows(X)
        kept = [tree.leaf_targets_ for tree in self.estimators_]
        if any(part is None for part in kept):
            raise ValueError("predict_quantiles needs the targets of the leaves: fit with keep_targets=True")
        return leaf_targets.quantiles(kept, [answers.leaves_of(t.nodes_, rows) for t in self.estimators_], quantiles)

    def predict_variance(self, X: Any) -> Array:
        """(n,) variance of a new target: the mean of the variances at the leaves, and the variance of their means."""
        rows = self._rows(X)
        means = np.array([answers.values_of(t.nodes_, rows)[:, 0] for t in self.estimators_])
        inside = np.mean([t._leaf_variance(rows) for t in self.estimators_], axis=0)
        return np.asarray(inside + means.var(axis=0))
