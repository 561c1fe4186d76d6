"""Regression trees."""

from dataclasses import KW_ONLY
from typing import Annotated, Any, ClassVar, Literal, Self
from warnings import warn

import numpy as np
import sklearn.tree
from numpy.typing import ArrayLike, NDArray

from latently.learn.estimator.parameters import CHOICES, NON_NEGATIVE, stores_parameters
from latently.predict.scores import RegressorScore
from latently.predict.tree import m5
from latently.predict.tree.base import BaseTree
from latently.predict.tree.growth.binary import Grown
from latently.predict.tree.growth.targets import Targets, number_targets, read_numbers
from latently.predict.tree.model import answers, leaf_targets
from latently.predict.tree.pruning.reduced_error import Errors

Array = NDArray[np.float64]
Criterion = Literal["squared_error", "absolute_error", "poisson"]


def number_goals(estimator: Any, y: Any) -> Targets:
    """Read numbers; sets the number of outputs."""
    numbers, _ = read_numbers(y, type(estimator).__name__)
    estimator.n_outputs_ = numbers.shape[1]
    if estimator.criterion == "poisson":
        if (numbers < 0).any():
            raise ValueError("Some value(s) of y are negative which is not allowed for Poisson regression.")
        if not numbers.sum() > 0:
            what = "strictly positive" if hasattr(estimator, "n_estimators") else "positive"  # scikit-learn's words
            raise ValueError(f"Sum of y is not {what} which is necessary for Poisson regression.")
    return number_targets(numbers, centred=estimator.criterion != "poisson")


class NumberAnswers(RegressorScore):
    """What regressors with `_values` say."""

    n_outputs_: int
    criterion: Any
    _values: Any
    _class_counts: list[int]
    leaf_targets_: leaf_targets.LeafTargets | None
    linear_: m5.LinearLeaves | None

    def __post_init__(self) -> None:
        if isinstance(self.criterion, str) and self.criterion == "friedman_mse":
            warn(
                'criterion="friedman_mse" is deprecated, as in scikit-learn: both were always equivalent, use '
                '"squared_error"',
                FutureWarning,
                stacklevel=3,
            )
            self.criterion = "squared_error"

    def _targets(self, y: Any, sample_weight: Array | None) -> tuple[Targets, Array | None]:
        targets = number_goals(self, y)
        self._class_counts = [1] * self.n_outputs_
        return targets, sample_weight

    def predict(self, X: Any, check_input: bool = True) -> Array:
        """Mean of the leaf; (n,), or (n, outputs)."""
        values = self._values(X)[:, :, 0]
        return np.asarray(values[:, 0] if self.n_outputs_ == 1 else values)

    def _adopt_told(self, told: Any) -> Any:
        """Take in what a pass over chunks has found about the targets."""
        self.n_outputs_, self._class_counts = 1, [1]
        self.leaf_targets_ = self.linear_ = None
        if getattr(self, "leaf", "mean") == "linear":
            raise ValueError("leaf='linear' is for tables in memory")
        return None


@stores_parameters
class DecisionTreeRegressor(NumberAnswers, BaseTree):
    """A decision tree for numbers, with means or linear models at the leaves, for tables as they come.

    Takes numbers, categories and missing values. `m5()` has linear models at the leaves.

    Parameters
    ----------
    criterion
        "squared_error", "absolute_error" (medians), "poisson". "friedman_mse" is deprecated: it was always the first.
    splitter
        "best", or "random": one random threshold for each column.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_leaf_nodes, min_impurity_decrease
        When a node is not split.
    max_features
        Columns tried at each split, a number, a share, "sqrt" or "log2"; all if None.
    random_state
        Seed of what is random.
    ccp_alpha
        Price of a leaf in cost-complexity pruning.
    monotonic_cst
        For each column 1 if the answer may not fall with it, -1 if it may not rise, 0.
    nominal
        Columns of categories split into two "groups", or into all their "values".
    missing
        A missing value goes to the "side" where it did best, or it is "fractional": to all branches, with shares.
    significance
        Level of the test (likelihood ratio, chi-square) that a split has to pass; None for no test.
    leaf
        "mean", or "linear": a Bayesian linear model of the numeric columns at each node, pruned and smoothed as in M5.
    smoothing
        Weight, in rows, of the model above when models are smoothed towards the root.
    max_bins
        Most bins of a numeric column. If None, every value of up to 10 000 rows is tried, and 4095 quantiles of more.
    schema
        What the columns are; found out from the table if None.

    Attributes
    ----------
    nodes_ : the tree
    n_nodes_ : number of nodes
    tree_ : the tree as scikit-learn's `export_text` and `plot_tree` read it
    feature_importances_ : (d,) what splits by each column take from the impurity

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 40)[:, None]
    >>> tree = DecisionTreeRegressor(max_depth=1).fit(x, (x[:, 0] > 0.5) * 2.0)
    >>> tree.predict([[0.2], [0.9]])
    array([0., 2.])
    """

    _tags: ClassVar[dict[str, Any]] = {"target_tags.multi_output": True}

    _: KW_ONLY
    criterion: Annotated[Criterion, CHOICES] = "squared_error"
    leaf: Annotated[Literal["mean", "linear"], CHOICES] = "mean"
    smoothing: Annotated[float, NON_NEGATIVE] = 15.0

    @classmethod
    def m5(cls, min_samples_leaf: int = 4, **params: Any) -> Self:
        """Quinlan's M5: linear models at the leaves, pruned by their adjusted errors and smoothed."""
        own: dict[str, Any] = {"leaf": "linear", "min_samples_leaf": min_samples_leaf}
        return cls(**(own | params))

    # learning

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, check_input: bool = True) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X
            Table of (rows, columns): arrays, sparse matrices, frames with categories and missing values.
        y
            Target of each row; (n, outputs) for several outputs.
        sample_weight
            Weight of each row.
        check_input
            Ignored; for compatibility.
        """
        return self._fit(X, y, sample_weight)

    def _errors(self, y: Any) -> Errors:
        return Errors(read_numbers(y, type(self).__name__)[0], False)

    def _grown(self, rows: Array, targets: Targets, weights: Array | None, setting: Any, seed: int) -> Grown:
        grown = super()._grown(rows, targets, weights, setting, seed)
        self.linear_ = None
        if self.leaf == "linear":
            return self._with_models(grown, rows, targets, weights)
        self.leaf_targets_ = leaf_targets.LeafTargets.of(grown, targets, weights)
        return grown

    def _cut(self, leaves: NDArray[np.bool_]) -> None:
        if self.leaf_targets_ is not None:
            self.leaf_targets_ = self.leaf_targets_.taken(self.nodes_.kept(leaves))
        super()._cut(leaves)

    def _with_models(self, grown: Grown, rows: Array, targets: Targets, weights: Array | None) -> Grown:
        """Grow linear models at the leaves."""
        if self.n_outputs_ > 1 or self.criterion in ("absolute_error", "poisson"):
            raise ValueError("leaf='linear' is for one output and squared errors")
        y = targets.dense[:, 1] + targets.centre[0]
        nodes, self.linear_ = m5.fit_models(grown.nodes, rows, y, weights, float(self.smoothing))
        self.leaf_targets_ = None
        return Grown(nodes, None, None)

    # answers

    def _values(self, X: Any) -> Array:
        linear = getattr(self, "linear_", None)
        if linear is None:
            return np.asarray(super()._values(X))
        return np.asarray(linear.predict(self.nodes_, self._rows(X))[:, None, None])

    def predict_quantiles(self, X: Any, quantiles: ArrayLike = (0.05, 0.5, 0.95)) -> Array:
        """(n, q) quantiles of the targets at the leaf of each row, for one output.

        Parameters
        ----------
        X
            Rows.
        quantiles
            Between 0 and 1.
        """
        rows = self._rows(X)
        if self.n_outputs_ > 1:
            raise ValueError("predict_quantiles is for one output")
        return leaf_targets.quantiles([self.leaf_targets_], [answers.leaves_of(self.nodes_, rows)], quantiles)

    def predict_variance(self, X: Any) -> Array:
        """(n,) variance of a new target at the leaf of each row: that of the leaf's targets, and of their mean."""
        return self._leaf_variance(self._rows(X))

    def _leaf_variance(self, rows: Array) -> Array:
        spread, count = self.nodes_.impurity, np.maximum(self.nodes_.weight, 1e-300)
        # a leaf of few rows knows little about its own spread: two rows of the root's are added
        pooled = (count * spread + 2.0 * spread[0]) / (count + 2.0) * (1 + 1 / count)
        return np.asarray(answers.values_of(self.nodes_, rows, pooled[:, None])[:, 0])


sklearn.tree.DecisionTreeRegressor.register(DecisionTreeRegressor)  # its tools ask for an instance of their own
