"""Which columns matter: the rise of the loss on rows held back when a column, or a block of them, is shuffled."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import norm

from latently.report.prediction.alone import alone
from latently.report.prediction.features import Feature
from latently.report.prediction.models import Judged, losses
from latently.report.prediction.task import Task
from latently.report.study.rows.order import inflation_of_mean
from latently.report.study.words import cut, listed

Values = NDArray[np.float64]
_ALIKE: Final = 0.8  # mean strength of the pairs, from which columns share their importance
SURE: Final = 2.807  # standard errors: two-sided 0.5 %


def gain(differences: Values, sure: float = SURE) -> tuple[bool, float, float]:
    """Whether a mean gain is above zero by so many standard errors, the gain, and its standard error.

    Gains that resemble those before them count for less.
    """
    rows = len(differences) / inflation_of_mean(differences)
    mean, error = float(differences.mean()), float(differences.std() / np.sqrt(rows))
    return bool(mean > sure * error and mean > 0), mean, error


def importances(task: Task, best: Judged, rng: np.random.Generator, unit: float = 1.0) -> list[dict[str, Any]]:
    """What each column adds, largest first, with intervals that hold together in 95 %; like columns share it.

    Parameters
    ----------
    task
        What is predicted.
    best
        The model that is asked.
    rng
        Of the shuffles.
    unit
        What losses are measured in.
    """
    X = task.X[task.held_out]
    blocks = [_best_first(task, names) for names in alike(task)]
    reach = float(norm.isf(0.025 / len(blocks)))
    made = [_importance(task, best, names, X, rng, unit, reach) for names in blocks]
    return sorted(made, key=lambda entry: -entry["gain"])


def _best_first(task: Task, names: list[str]) -> list[str]:
    """The columns of a block, the one that tells most alone first: it stands for the others in a sentence."""
    loss = {
        name: alone(task, task.features[task.places([name])[0]], task.learn, task.held_out).mean() for name in names
    }
    return sorted(names, key=lambda name: float(loss[name])) if len(names) > 1 else names


def _importance(
    task: Task, best: Judged, names: list[str], X: Values, rng: np.random.Generator, unit: float, reach: float
) -> dict[str, Any]:
    at, changed = task.places(names), X.copy()
    changed[:, at] = X[rng.permutation(len(X))][:, at]
    _, mean, error = gain((losses(task, best.answer(changed)) - best.loss) / unit)
    return {
        "column": cut(listed(names)),
        "columns": [cut(name) for name in names],
        "gain": mean,
        "interval": [mean - reach * error, mean + reach * error],
    }


def alike(task: Task) -> list[list[str]]:
    """Columns in blocks of which one stands for the others: strong in pairs, by average linkage."""
    names = list(task.owners)
    if len(names) == 1:
        return [names]
    owned = [task.features[task.places([name])[0]] for name in names]
    distance = 1 - _strengths([_standard(feature, task.learn) for feature in owned])
    np.fill_diagonal(distance, 0.0)
    labels = fcluster(linkage(squareform(distance, checks=False), "average"), 1 - _ALIKE, "distance")
    return [[names[j] for j in np.flatnonzero(labels == label)] for label in dict.fromkeys(labels.tolist())]


def _standard(feature: Feature, rows: NDArray[np.int64]) -> Values:
    """(n, p) orthonormal features of a column: scores, or indicators of classes; missing values at the mean."""
    x = feature.values[rows]
    spots = (x[:, None] == np.arange(feature.classes)).astype(np.float64) if feature.classes else x[:, None]
    gone = np.isnan(x)
    if gone.all():
        return np.zeros((len(x), 1))
    spots = np.where(gone[:, None], 0.0, spots - spots[~gone].mean(axis=0))
    left, size, _ = np.linalg.svd(spots, full_matrices=False)
    return np.asarray(left[:, size > 1e-8 * max(size[0], 1e-300)])


def _strengths(blocks: list[Values]) -> Values:
    """(columns, columns) correlation of numbers, its ratio for number and class, Cramer's V of classes."""
    ends = np.cumsum([0, *(block.shape[1] for block in blocks)])
    squares = np.square(np.hstack(blocks).T @ np.hstack(blocks))
    sums = np.add.reduceat(np.add.reduceat(squares, ends[:-1], axis=0), ends[:-1], axis=1)
    widths = np.diff(ends)
    return np.asarray(np.sqrt(np.clip(sums / np.minimum(widths[:, None], widths), 0.0, 1.0)))
