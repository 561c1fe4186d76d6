"""Whether probabilities can be believed: reliability curves, calibration error, proper scores."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from latently.data.tables.matrix import check_weights
from latently.decide.beliefs import as_belief
from latently.decide.rewards import Floats


class Score(NamedTuple):
    """The mean of a score over rows, with the ends of its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class ReliabilityCurve:
    """How often events of a predicted probability happened, by bins of that probability; empty bins left out.

    Attributes
    ----------
    predicted : ndarray (bins,)
        Mean predicted probability.
    observed : ndarray (bins,)
        Fraction that happened.
    low, high : ndarray (bins,)
        Wilson interval of that fraction.
    weight : ndarray (bins,)
        Rows, or their weight, in the bin.
    """

    predicted: Floats
    observed: Floats
    low: Floats
    high: Floats
    weight: Floats

    @property
    def error(self) -> float:
        """Expected calibration error: the mean distance of the curve from the diagonal."""
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.weight))


def reliability_curve(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    classes: Sequence[Hashable] | None = None,
    which: Any = None,
    n_bins: int = 10,
    strategy: str = "uniform",
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
) -> ReliabilityCurve:
    """Compare predicted probabilities with how often the events happened.

    Parameters
    ----------
    y_true
        True labels.
    proba
        Probability of the second class (rows,), or of each class (rows, classes).
    classes
        The labels in the order of the columns. The sorted labels of `y_true` if not given, which must then be as
        many as there are columns.
    which
        The class whose probability is looked at. None: the second of two classes; for more classes, that the
        most probable class is the true one.
    n_bins
        Number of bins.
    strategy
        "uniform" for bins of equal width, "quantile" for bins of equally many rows.
    level
        Probability of the interval of each bin.
    sample_weight
        Weights of the rows.

    Examples
    --------
    >>> curve = reliability_curve([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9], n_bins=2)
    >>> curve.predicted, curve.observed
    (array([0.3, 0.9]), array([0.333, 1. ]))
    """
    table, code, named = _aligned(y_true, proba, classes)
    chance, happened = _event(table, code, named, which)
    weight = _row_weights(sample_weight, len(code))
    bins = np.searchsorted(_edges(chance, n_bins, strategy), chance, side="left")
    total: Floats = np.bincount(bins, weights=weight, minlength=n_bins).astype(np.float64)
    used = total > 0
    predicted = np.bincount(bins, weights=weight * chance, minlength=n_bins)[used] / total[used]
    observed = np.bincount(bins, weights=weight * happened, minlength=n_bins)[used] / total[used]
    squares = np.bincount(bins, weights=weight**2, minlength=n_bins)[used]
    low, high = _wilson(observed, total[used] ** 2 / squares, level)
    return ReliabilityCurve(predicted, observed, low, high, total[used])


def expected_calibration_error(y_true: ArrayLike, proba: ArrayLike, **options: Any) -> float:
    """Give the mean distance between predicted probabilities and observed fractions, over bins.

    Parameters
    ----------
    y_true, proba, options
        As for `reliability_curve`.

    Examples
    --------
    >>> expected_calibration_error([0, 1, 1, 1], [0.5, 0.5, 0.5, 0.5])
    0.25
    """
    return reliability_curve(y_true, proba, **options).error


def log_score(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    classes: Sequence[Hashable] | None = None,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
) -> Score:
    """Give the mean of -log p(true class), with an interval; lower is better.

    Infinite if a true class was given probability zero.

    Parameters
    ----------
    y_true, proba, classes, sample_weight
        As for `reliability_curve`.
    level
        Probability of the interval, from the normal approximation to the mean over rows.

    Examples
    --------
    >>> log_score([0, 1], [[0.8, 0.2], [0.4, 0.6]]).value
    0.367
    """
    table, code, _ = _aligned(y_true, proba, classes)
    with np.errstate(divide="ignore"):
        rows = -np.log(table[np.arange(len(code)), code])
    return _mean_score(rows, sample_weight, level)


def brier_score(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    classes: Sequence[Hashable] | None = None,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
) -> Score:
    """Give the mean squared error of the probabilities, with an interval; lower is better.

    For two classes (p - y)^2, for more the sum over classes.

    Parameters
    ----------
    y_true, proba, classes, level, sample_weight
        As for `log_score`.

    Examples
    --------
    >>> brier_score([0, 1], [0.2, 0.6]).value
    0.1
    """
    table, code, _ = _aligned(y_true, proba, classes)
    rows = ((table - np.eye(table.shape[1])[code]) ** 2).sum(axis=1)
    return _mean_score(rows / 2 if table.shape[1] == 2 else rows, sample_weight, level)


def _aligned(
    y_true: ArrayLike, proba: ArrayLike, classes: Sequence[Hashable] | None
) -> tuple[Floats, NDArray[np.intp], list[Any]]:
    """Give probabilities of each class, the position of each true class, and the classes."""
    table, labels = np.asarray(proba, dtype=np.float64), np.asarray(y_true)
    if table.ndim == 1:
        table = np.column_stack([1 - table, table])
    if labels.ndim != 1 or len(labels) != len(table) or len(labels) == 0:
        raise ValueError(f"y_true has shape {labels.shape}, proba {table.shape}: one label per row is needed")
    table = as_belief(table).probabilities
    named = _named(labels, table.shape[1]) if classes is None else list(classes)
    if len(named) != table.shape[1]:
        raise ValueError(f"there are {table.shape[1]} columns of probabilities, but the classes are {named}")
    position = {label: i for i, label in enumerate(named)}
    unknown = [label for label in labels.tolist() if label not in position]
    if unknown:
        raise ValueError(f"the label {unknown[0]!r} is not among the classes {named}")
    return table, np.array([position[label] for label in labels.tolist()]), named


def _named(labels: NDArray[Any], columns: int) -> list[Any]:
    """Give the sorted labels, one per column; which column a class that does not occur has cannot be known."""
    if labels.dtype == bool and columns == 2:
        return [False, True]
    named = list(np.unique(labels))
    if len(named) != columns:
        raise ValueError(
            f"y_true holds {len(named)} labels, {np.unique(labels).tolist()}, but there are {columns} columns of "
            "probabilities: give classes=, all labels in the order of the columns"
        )
    return named


def _event(table: Floats, code: NDArray[np.intp], named: list[Any], which: Any) -> tuple[Floats, Floats]:
    """Give the probability of the event looked at, and whether it happened."""
    if which is None and table.shape[1] > 2:
        return table.max(axis=1), (table.argmax(axis=1) == code).astype(float)
    if which is not None and which not in named:
        raise ValueError(f"which={which!r} is not among the classes {named}")
    column = 1 if which is None else named.index(which)
    column = min(column, table.shape[1] - 1)
    return table[:, column], (code == column).astype(float)


def _edges(chance: Floats, n_bins: int, strategy: str) -> Floats:
    """Give the inner edges of the bins."""
    if n_bins < 1:
        raise ValueError(f"n_bins must be at least 1, got {n_bins}")
    inner = np.linspace(0, 1, n_bins + 1)[1:-1]
    if strategy == "quantile":
        return np.quantile(chance, inner)
    if strategy != "uniform":
        raise ValueError(f"strategy must be 'uniform' or 'quantile', got {strategy!r}")
    return inner


def _row_weights(sample_weight: ArrayLike | None, n: int) -> Floats:
    weight = check_weights(sample_weight, n)
    return np.ones(n) if weight is None else weight


def _wilson(fraction: Floats, n: Floats, level: float) -> tuple[Floats, Floats]:
    z = _quantile(level)
    centre = (fraction + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(fraction * (1 - fraction) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def _mean_score(rows: Floats, sample_weight: ArrayLike | None, level: float) -> Score:
    weight = _row_weights(sample_weight, len(rows))
    rows, weight = rows[weight > 0], weight[weight > 0]
    mean = float(np.average(rows, weights=weight))
    if not np.isfinite(mean):
        return Score(mean, mean, mean)
    spread = np.sqrt(np.sum(weight**2 * (rows - mean) ** 2)) / weight.sum()
    half = float(_quantile(level) * spread * np.sqrt(len(rows) / max(len(rows) - 1, 1)))
    return Score(mean, mean - half, mean + half)


def _quantile(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level}")
    return float(ndtri(0.5 + level / 2))
