"""Classification trees."""

from dataclasses import KW_ONLY, replace
from numbers import Real
from typing import Annotated, Any, Literal, Self

import numpy as np
import sklearn.tree
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.class_weight import compute_sample_weight

from latently.decide import DecideMixin
from latently.learn.estimator.parameters import CHOICES, NON_NEGATIVE, stores_parameters
from latently.predict.scores import ClassifierScore
from latently.predict.tree.base import BaseTree
from latently.predict.tree.growth.binary import Grown
from latently.predict.tree.growth.targets import Targets, class_targets, read_classes
from latently.predict.tree.model import answers
from latently.predict.tree.pruning.reduced_error import Errors

Array = NDArray[np.float64]
Criterion = Literal["gini", "entropy", "log_loss", "gain", "gain_ratio"]


class ClassAnswers(DecideMixin, ClassifierScore):
    """What classifiers with `_values` say: classes, probabilities, decisions; for one output or several."""

    classes_: Any
    n_classes_: Any
    n_outputs_: int
    class_weight: Any
    _values: Any

    def predict(self, X: Any, check_input: bool = True) -> NDArray[Any]:
        """Class of the highest probability; (n,), or (n, outputs)."""
        best = self._best(X)
        if self.n_outputs_ == 1:
            return np.asarray(self.classes_.take(best[:, 0]))
        return np.column_stack([classes.take(best[:, o]) for o, classes in enumerate(self.classes_)])

    def _best(self, X: Any) -> NDArray[np.int64]:
        """(n, outputs) codes of the classes of the highest probability."""
        return np.asarray(self._values(X).argmax(axis=2))

    def predict_proba(self, X: Any, check_input: bool = True) -> Any:
        """(n, K) probabilities of the classes; a list of them for several outputs."""
        values = self._values(X)
        if self.n_outputs_ == 1:
            return values[:, 0, : self.n_classes_]
        return [values[:, o, :k] for o, k in enumerate(self.n_classes_)]

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of the probabilities."""
        proba = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(proba) if self.n_outputs_ == 1 else [np.log(p) for p in proba]

    def _adopt_classes(self, classes: list[NDArray[Any]], many: bool) -> None:
        self.n_outputs_ = len(classes)
        self.classes_ = classes if many else classes[0]
        self.n_classes_ = np.array([len(c) for c in classes]) if many else len(classes[0])

    @property
    def _class_list(self) -> list[NDArray[Any]]:
        return list(self.classes_) if self.n_outputs_ > 1 else [self.classes_]

    @property
    def _class_counts(self) -> list[int]:
        return [len(classes) for classes in self._class_list]

    def _adopt_told(self, told: Any) -> Any:
        """Take in the classes that a pass over chunks has found; give their weights."""
        self._adopt_classes([told.classes], False)
        weight = self.class_weight
        if weight is None:
            return None
        if isinstance(weight, dict):
            return np.array([float(weight.get(label, 1.0)) for label in told.classes])
        if weight == "balanced":
            return told.n_rows / (len(told.classes) * np.maximum(told.shares, 1.0))
        raise ValueError(f"class_weight={weight!r} is for tables in memory: give a dict or 'balanced'")


def class_weights(class_weight: Any, y: Any, weights: Array | None) -> Array | None:
    """Weights of the rows times those of their classes."""
    if class_weight is None:
        return weights
    own = compute_sample_weight(class_weight, np.asarray(y))
    return np.asarray(own if weights is None else own * weights, dtype=np.float64)


@stores_parameters
class DecisionTreeClassifier(ClassAnswers, BaseTree):
    """A decision tree for classes: CART, ID3 or C4.5, for tables as they come.

    Takes numbers, categories and missing values. `id3()`, `c45()` and `cart()` give the settings of these names.

    Parameters
    ----------
    criterion
        How mixed a node is: "gini", "entropy" (or "log_loss"), "gain" (entropy, with splits as in ID3), "gain_ratio"
        (C4.5: gain over the entropy of the split, among the columns of at least average gain).
    splitter
        "best", or "random": one random threshold for each column.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_leaf_nodes, min_impurity_decrease
        When a node is not split.
    max_features
        Columns tried at each split, a number, a share, "sqrt" or "log2"; all if None.
    random_state
        Seed of what is random.
    class_weight
        Weights of classes, or "balanced".
    ccp_alpha
        Price of a leaf in cost-complexity pruning.
    monotonic_cst
        For each column 1 if the probability of the second class may not fall with it, -1 if it may not rise, 0.
    nominal
        Columns of categories split into two "groups", or into all their "values".
    missing
        A missing value goes to the "side" where it did best, or it is "fractional": to all branches, with shares.
    significance
        Level of the chi-square test that a split has to pass; None for no test.
    confidence
        Confidence of C4.5's pessimistic pruning, such as 0.25; None for none.
    m
        Weight of the root's class shares in the m-estimate of a leaf's probabilities, in rows.
    max_bins
        Most bins of a numeric column. If None, every value of up to 10 000 rows is tried, and 4095 quantiles of more.
    schema
        What the columns are; found out from the table if None.

    Attributes
    ----------
    classes_ : (K,) the classes; a list for several outputs
    nodes_ : the tree
    n_nodes_ : number of nodes
    tree_ : the tree as scikit-learn's `export_text` and `plot_tree` read it
    feature_importances_ : (d,) what splits by each column take from the impurity

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"sky": ["sun", "rain", "sun", "rain"], "wind": [1.0, 2.0, 9.0, None]})
    >>> tree = DecisionTreeClassifier.c45(confidence=None, min_samples_leaf=1)
    >>> tree = tree.fit(table, ["play", "stay", "stay", "stay"])
    >>> print(*tree.rules(), sep="; ")
    wind <= 1: play; wind > 1: stay
    """

    _: KW_ONLY
    criterion: Annotated[Criterion, CHOICES] = "gini"
    class_weight: Annotated[Any, dict, list, StrOptions({"balanced"}), None] = None
    confidence: Annotated[float | None, Interval(Real, 0.0, 0.5, closed="right"), None] = None
    m: Annotated[float, NON_NEGATIVE] = 0.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags

    # settings by name

    @classmethod
    def id3(cls, **params: Any) -> Self:
        """Quinlan's ID3: splits into all values of a column by the gain, no pruning."""
        return cls(**({"criterion": "gain", "nominal": "values", "missing": "fractional"} | params))

    @classmethod
    def c45(cls, confidence: float | None = 0.25, min_samples_leaf: int = 2, **params: Any) -> Self:
        """Quinlan's C4.5: gain ratio, splits into all values, fractional cases, pessimistic pruning.

        Parameters
        ----------
        confidence
            Of the pruning: the lower, the smaller the tree. None for a tree that is not pruned.
        min_samples_leaf
            Least weight of the rows in at least two branches.
        params
            Further parameters.
        """
        own = {"criterion": "gain_ratio", "nominal": "values", "missing": "fractional"}
        return cls(**(own | {"confidence": confidence, "min_samples_leaf": min_samples_leaf} | params))

    @classmethod
    def cart(cls, **params: Any) -> Self:
        """Breiman and others' CART: two-way splits by the Gini index, a side for missing values."""
        return cls(**({"criterion": "gini", "nominal": "groups", "missing": "side"} | params))

    # learning

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, check_input: bool = True) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X
            Table of (rows, columns): arrays, sparse matrices, frames with categories and missing values.
        y
            Class of each row; (n, outputs) for several outputs.
        sample_weight
            Weight of each row.
        check_input
            Ignored; for compatibility.
        """
        return self._fit(X, y, sample_weight)

    def _targets(self, y: Any, sample_weight: Array | None) -> tuple[Targets, Array | None]:
        codes, classes, many = read_classes(y, type(self).__name__)
        self._adopt_classes(classes, many)
        weights = class_weights(self.class_weight, y, sample_weight) if self.class_weight is not None else sample_weight
        return class_targets(codes, [len(c) for c in classes]), weights

    def _grown(self, rows: Array, targets: Targets, weights: Array | None, setting: Any, seed: int) -> Grown:
        if not self._is_multiway and self.confidence is not None:
            raise ValueError("confidence is for trees that grow by C4.5's rules: use DecisionTreeClassifier.c45()")
        return super()._grown(rows, targets, weights, setting, seed)

    def _multiway_rules(self) -> Any:
        return replace(super()._multiway_rules(), confidence=self.confidence)

    def _errors(self, y: Any) -> Errors:
        values = np.asarray(y).reshape(len(y), -1)
        pairs = zip(values.T, self._class_list, strict=True)
        return Errors(np.column_stack([_known_codes(v, classes) for v, classes in pairs]), True)

    # answers

    def _best(self, X: Any) -> NDArray[np.int64]:
        if getattr(self, "n_outputs_", 1) > 1 or self.m > 0:
            return super()._best(X)
        rows = self._rows(X)
        return answers.classes_of(self.nodes_, rows)[:, None]

    def _smoothed(self) -> Array | None:
        """Shares by m-estimates: (n_k + m p_k) / (n + m), with p the shares at the root."""
        if self.m == 0:
            return None
        weight, shares = self.nodes_.weight[:, None, None], self.nodes_.value
        return np.asarray((shares * weight + self.m * shares[0]) / (weight + self.m))


def _known_codes(values: NDArray[Any], classes: NDArray[Any]) -> Array:
    at = np.searchsorted(classes, values).clip(max=len(classes) - 1)
    return np.where(classes[at] == values, at, -1).astype(np.float64)


sklearn.tree.DecisionTreeClassifier.register(DecisionTreeClassifier)  # its tools ask for an instance of their own
