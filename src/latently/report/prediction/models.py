"""The models that predict a target, side by side, judged by the rows held back."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently.decide import Recalibrated
from latently.predict import (
    BayesianLinearRegression,
    DecisionTreeClassifier,
    NaiveBayes,
    RandomForestClassifier,
    RandomForestRegressor,
)
from latently.report.prediction.task import Task

Values = NDArray[np.float64]
_TREES: Final = 100
_LEAF_SHARE: Final = 0.01  # of the rows, in a leaf of a single tree
_LEVEL: Final = 0.01  # at which a split of a single tree must be beyond chance


@dataclass(frozen=True, eq=False)
class Judged:
    """A fitted model and what it says of the rows held back.

    Attributes
    ----------
    name
        What it is called.
    answer
        From inputs to probabilities of the classes, or to numbers.
    said
        (held-out rows, classes) or (held-out rows,) its answers.
    loss
        (held-out rows,) minus log probabilities of what was the case, or squared errors.
    model
        The model itself.
    """

    name: str
    answer: Callable[[Values], Values]
    said: Values
    loss: Values
    model: Any

    @property
    def mean_loss(self) -> float:
        """Mean loss of the rows held back."""
        return float(self.loss.mean())


def judged(task: Task) -> list[Judged]:
    """Fit all models to the rows to learn from; the one of least loss on the rows held back comes first."""
    made = _classifiers(task) if task.classes else _regressors(task)
    return sorted(made, key=lambda each: each.mean_loss)


def losses(task: Task, said: Values) -> Values:
    """(held-out rows,) losses of answers."""
    y = task.y[task.held_out]
    if not task.classes:
        return np.asarray((y - said) ** 2)
    return np.asarray(-np.log(np.maximum(said[np.arange(len(y)), places(task)], 1e-12)))


def places(task: Task) -> NDArray[np.intp]:
    """(held-out rows,) places of their classes among those that can be learnt."""
    return np.searchsorted(np.unique(task.y[task.learn]), task.y[task.held_out])


def _judged(task: Task, name: str, model: Any, answer: Callable[[Values], Values]) -> Judged:
    said = answer(task.X[task.held_out])
    return Judged(name, answer, said, losses(task, said), model)


def _classifiers(task: Task) -> list[Judged]:
    X, y = task.X[task.learn], task.y[task.learn].astype(np.int64)
    families = {j: "categorical" for j, feature in enumerate(task.features) if feature.classes}
    leaf = max(5, round(_LEAF_SHARE * len(y)))
    models: dict[str, Any] = {
        "naive Bayes": Recalibrated(NaiveBayes(families=families or None)),
        "a decision tree": DecisionTreeClassifier(
            min_samples_leaf=leaf, significance=_LEVEL, criterion="entropy", m=1.0, schema=task.schema, random_state=0
        ),
        "a random forest": RandomForestClassifier(
            _TREES, min_samples_leaf=3, criterion="entropy", m=1.0, schema=task.schema, random_state=0
        ),
    }
    return [_judged(task, name, model.fit(X, y), model.predict_proba) for name, model in models.items()]


def _regressors(task: Task) -> list[Judged]:
    X, y, design = task.X[task.learn], task.y[task.learn], Design(task)
    line = BayesianLinearRegression().fit(design(X), y)
    forest = RandomForestRegressor(
        _TREES, min_samples_leaf=3, max_features=0.5, oob_score=True, schema=task.schema, random_state=0
    ).fit(X, y)
    return [
        _judged(task, "Bayesian linear regression with squares", line, lambda rows: line.predict(design(rows))),
        _judged(task, "a random forest", forest, forest.predict),
    ]


class Design:
    """Inputs of a linear model: scores, their squares, and indicators of classes."""

    def __init__(self, task: Task) -> None:
        X = task.X[task.learn]
        self.classes = [feature.classes for feature in task.features]
        self.middle = np.array([0.0 if np.isnan(x).all() else float(np.nanmean(x)) for x in X.T])

    def __call__(self, X: Values) -> Values:
        """(n, inputs) of rows of the task."""
        return np.hstack([self._inputs(j, x) for j, x in enumerate(X.T)])

    def _inputs(self, j: int, x: Values) -> Values:
        if self.classes[j]:
            return np.asarray((x[:, None] == np.arange(self.classes[j])).astype(np.float64))
        z = np.clip(np.where(np.isnan(x), self.middle[j], x), -5.0, 5.0)
        return np.column_stack([z, z**2 - 1])
