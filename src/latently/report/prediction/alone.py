"""How well one column alone predicts the target: by its classes, or by stretches of its values."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from latently.report.prediction.features import Feature
from latently.report.prediction.task import Task

Values = NDArray[np.float64]
_BINS: Final = 32
_ROWS_EACH: Final = 15
_WEIGHT: Final = 1.0  # of the prior, in rows


def alone(task: Task, feature: Feature, learn: NDArray[np.int64], judge: NDArray[np.int64]) -> Values:
    """Losses of the rows that judge: minus log probabilities of classes, or squared errors of numbers.

    Parameters
    ----------
    task
        What is predicted.
    feature
        From what alone.
    learn, judge
        Places of rows.
    """
    if task.classes:
        codes = _cells(task, feature, learn)
        proba = _class_shares(task, codes, learn)[codes[judge]]
        return np.asarray(-np.log(proba[np.arange(len(judge)), task.y[judge].astype(np.intp)]))
    guess = _class_means if feature.classes else _curve
    return np.asarray((task.y[judge] - guess(feature.values, task.y, learn)[judge]) ** 2)


def right(task: Task, feature: Feature) -> float:
    """Share of the rows held back of which a feature alone tells the class."""
    codes = _cells(task, feature, task.learn)
    best = _class_shares(task, codes, task.learn).argmax(axis=1)[codes[task.held_out]]
    return float((best == task.y[task.held_out]).mean())


def _cells(task: Task, feature: Feature, learn: NDArray[np.int64]) -> NDArray[np.intp]:
    """Classes, or stretches with about equally many rows and one cut more; missing values are a class of their own."""
    x, gone = feature.values, np.isnan(feature.values)
    if feature.classes:
        return np.where(gone, feature.classes, np.nan_to_num(x)).astype(np.intp)
    seen = x[learn][~gone[learn]]
    edges = np.empty(0)
    if len(seen):
        cut = _best_cut(seen, task.y[learn][~gone[learn]].astype(np.intp), len(task.classes))
        edges = np.unique([*np.quantile(seen, np.linspace(0, 1, _parts(len(seen)) + 1)[1:-1]), cut])
    return np.where(gone, len(edges) + 1, np.searchsorted(edges, x)).astype(np.intp)


def _best_cut(x: Values, y: NDArray[np.intp], classes: int) -> float:
    """The value above which the shares of the classes differ most, by their entropies: a class may be a limit."""
    order = np.argsort(x, kind="stable")
    below = np.cumsum(np.eye(classes)[y[order]], axis=0)
    above = below[-1] - below
    loss = sum(
        -(part * np.log(np.maximum(part, 1e-300) / np.maximum(part.sum(axis=1, keepdims=True), 1.0))).sum(axis=1)
        for part in (below, above)
    )
    ends = np.r_[x[order][1:] > x[order][:-1], True]
    at = int(np.where(ends, loss, np.inf).argmin())
    return float((x[order][at] + x[order][min(at + 1, len(x) - 1)]) / 2)


def _parts(rows: int) -> int:
    return int(np.clip(rows // _ROWS_EACH, 1, _BINS))


def _class_shares(task: Task, codes: NDArray[np.intp], learn: NDArray[np.int64]) -> Values:
    """(cells, classes) probabilities of the classes in each cell, drawn to their shares in all rows."""
    n = len(task.classes)
    counts = np.zeros((int(codes.max()) + 1, n))
    np.add.at(counts, (codes[learn], task.y[learn].astype(np.intp)), 1.0)
    overall = (counts.sum(axis=0) + 1) / (counts.sum() + n)
    return np.asarray((counts + _WEIGHT * overall) / (counts.sum(axis=1, keepdims=True) + _WEIGHT))


def _class_means(x: Values, y: Values, learn: NDArray[np.int64]) -> Values:
    """Mean of the target in each class, drawn to that of all rows; missing values are a class."""
    codes = np.where(np.isnan(x), -1, np.nan_to_num(x)).astype(np.intp) + 1
    counts, sums = (np.bincount(codes[learn], weight, minlength=codes.max() + 1) for weight in (None, y[learn]))
    return np.asarray(((sums + _WEIGHT * y[learn].mean()) / (counts + _WEIGHT))[codes])


def _curve(x: Values, y: Values, learn: NDArray[np.int64]) -> Values:
    """The line that joins the means of stretches of a number, and its ends; missing values have their own mean."""
    gone = np.isnan(x)
    seen = learn[~gone[learn]]
    order = seen[np.argsort(x[seen], kind="stable")]
    parts = [order[:1], *np.array_split(order, _parts(len(order))), order[-1:]]
    knots, heights = ([float(v[part].mean()) for part in parts] for v in (x, y))
    rest = learn[gone[learn]]
    missing = (y[rest].sum() + _WEIGHT * y[learn].mean()) / (len(rest) + _WEIGHT)
    return np.where(gone, missing, np.interp(np.nan_to_num(x), knots, heights))
