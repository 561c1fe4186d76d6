"""Random forests for classes."""

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Annotated, Any, ClassVar
from warnings import warn

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.class_weight import compute_sample_weight

from latently.learn.estimator.parameters import CHOICES, NON_NEGATIVE, stores_parameters
from latently.predict.tree.classifier import ClassAnswers, Criterion, DecisionTreeClassifier, class_weights
from latently.predict.tree.forest.base import BaseForest
from latently.predict.tree.forest.importance import ImportanceMixin
from latently.predict.tree.growth.targets import Targets, class_targets, read_classes
from latently.predict.tree.model import answers

Array = NDArray[np.float64]


@stores_parameters
class RandomForestClassifier(ClassAnswers, ImportanceMixin, BaseForest):
    """A random forest for classes: full trees on draws of the rows, a few columns at each split.

    Trees grow in threads side by side, and are the same for any number of threads.

    Parameters
    ----------
    n_estimators
        Number of trees.
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_leaf_nodes
        As for `DecisionTreeClassifier`.
    max_features
        Columns tried at each split, a number, a share, "sqrt" or "log2"; all if None.
    min_impurity_decrease, ccp_alpha, monotonic_cst, nominal, missing, significance, max_bins, schema
        As for `DecisionTreeClassifier`.
    bootstrap
        Whether each tree has rows drawn with replacement, or all of them.
    oob_score
        Whether rows are scored by the trees that did not see them; or a function of true and predicted classes.
    n_jobs
        Number of threads, -1 for all cores; as for every fit here (`latently.learn.threads`) if None.
    random_state
        Seed of what is random.
    verbose
        Ignored; for compatibility.
    warm_start
        Whether a fit adds trees to those there are.
    class_weight
        Weights of classes, "balanced", or "balanced_subsample" for those of each draw.
    max_samples
        How many rows are drawn for a tree, a number or a share; as many as there are if None.

    Attributes
    ----------
    estimators_ : the trees
    classes_ : (K,) the classes; a list for several outputs
    feature_importances_ : (d,) what splits by each column take from the impurity
    oob_score_ : accuracy out of the bag, with `oob_score`
    oob_decision_function_ : (n, K) probabilities out of the bag, with `oob_score`; zeros for a row drawn for all trees

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(60, oob_score=True, random_state=0).fit(X, y)
    >>> bool(forest.oob_score_ > 0.9)
    True
    >>> forest.predict_proba(X[:1]).round(1)
    array([[1., 0., 0.]])
    """

    _tree_class: ClassVar[Any] = DecisionTreeClassifier

    _: KW_ONLY
    criterion: Annotated[Criterion, CHOICES] = "gini"
    max_features: Any = "sqrt"
    class_weight: Annotated[Any, StrOptions({"balanced_subsample", "balanced"}), dict, list, None] = None
    m: Annotated[float, NON_NEGATIVE] = 0.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    # learning

    def _targets(self, y: Any, sample_weight: Array | None) -> tuple[Targets, Array | None]:
        codes, classes, many = read_classes(y, type(self).__name__)
        if self.class_weight is not None:
            self._check_class_weight(len(classes))
        self._adopt_classes(classes, many)
        weights = sample_weight
        if self.class_weight is not None and self.class_weight != "balanced_subsample":
            weights = class_weights(self.class_weight, y, sample_weight)
        self._labels = np.asarray(y).reshape(len(codes), -1) if self.class_weight == "balanced_subsample" else None
        return class_targets(codes, [len(c) for c in classes]), weights

    def _check_class_weight(self, n_outputs: int) -> None:
        if self.warm_start and isinstance(self.class_weight, str):
            warn(
                f'class_weight presets "balanced" or "balanced_subsample" are not recommended for warm_start if the '
                f"data differs from the full dataset: got {self.class_weight!r}; give the weights as a dict",
                stacklevel=6,
            )

    def _tree_weights(self, targets: Targets, weights: Array | None, counts: Array | None) -> Array | None:
        both = super()._tree_weights(targets, weights, counts)
        if self._labels is None:
            return both
        drawn = (
            np.arange(len(self._labels)) if counts is None else np.repeat(np.arange(len(counts)), counts.astype(int))
        )
        own = compute_sample_weight("balanced", self._labels, indices=drawn)
        return np.asarray(own if both is None else own * both, dtype=np.float64)

    def _adopt(self, trees: list[Any]) -> None:
        self.__dict__.pop("_labels", None)
        super()._adopt(trees)

    def _tell_tree(self, tree: Any, grown: Any) -> None:
        tree.classes_, tree.n_classes_ = self.classes_, self.n_classes_

    # out of the bag

    def _set_oob(self, rows: Array, y: Any, outside: Sequence[NDArray[np.int64]]) -> None:
        total, seen = oob_values(self.estimators_, rows, outside)
        values = np.asarray(y).reshape(len(rows), -1)
        best = total.argmax(axis=2)
        named = np.column_stack([classes.take(best[:, o]) for o, classes in enumerate(self._class_list)])
        if self.n_outputs_ == 1:
            self.oob_decision_function_ = total[:, 0, :]
        else:  # classes behind outputs, as in scikit-learn
            self.oob_decision_function_ = np.moveaxis(total, 1, 2)
        told = [values[seen], named[seen]]
        if callable(self.oob_score):
            self.oob_score_ = self.oob_score(*(v[:, 0] if self.n_outputs_ == 1 else v for v in told))
        else:
            self.oob_score_ = float((told[0] == told[1]).all(axis=1).mean())


def oob_values(trees: Sequence[Any], rows: Array, outside: Sequence[NDArray[np.int64]]) -> tuple[Array, NDArray[Any]]:
    """(n, outputs, classes or 1) mean of the trees that did not see a row, and whether there is any."""
    shape = trees[0].nodes_.value.shape[1:]
    total, count = np.zeros((len(rows), *shape)), np.zeros(len(rows))
    for tree, out in zip(trees, outside, strict=True):
        total[out] += answers.values_of(tree.nodes_, rows[out]).reshape(-1, *shape)
        count[out] += 1
    if (count == 0).any():
        warn(
            "Some inputs do not have OOB scores. This probably means too few trees were used to compute any reliable "
            "OOB estimates.",
            stacklevel=6,
        )
    return total / np.maximum(count, 1)[:, None, None], count > 0
