"""Why a row is unusual: what each of its values is beside what the others predict."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2

from latently.data.tables import frames
from latently.detect.read import read_table
from latently.kernel.base import Array

_RIDGE = 1e-9  # of the correlations, so that collinear columns have a prediction
_MANY = 500  # columns, beyond which predictions from all others take too long
_SURPRISE = 3.0  # nats, from which a category is told of: a chance of one in twenty
_USUAL = 0.99  # share of rows, the nearest ones, that the second estimate is made of


@dataclass(frozen=True, eq=False)
class Reasons:
    """Linear predictions of every column from all others.

    Parameters
    ----------
    names
        Names of the columns.
    mean
        (d,) means.
    weights
        (d, d) x - prediction = weights @ (x - mean); ones in the diagonal. Empty for tables of more than 500 columns,
        of which each is compared with its own mean.
    sd
        (d,) standard deviations of the values about the predictions.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 1))
    >>> table = np.hstack([x, 2 * x + 0.1 * rng.normal(size=(200, 1)), rng.normal(size=(200, 1))])
    >>> reasons = Reasons.of(table, ("a", "b", "c"))
    >>> reasons.expected(np.array([[1.0, 2.0, 9.0]])).round(1)
    array([[1. , 2. , 0.1]])
    """

    names: tuple[str, ...]
    mean: Array
    weights: Array
    sd: Array

    @classmethod
    def of(cls, rows: Array, names: Any) -> "Reasons":
        """Predictions learnt from rows, those far from all others left out in a second look."""
        if rows.shape[1] > _MANY:
            mean, scale = _columns_alone(rows)
            return cls(tuple(map(str, names)), mean, np.zeros((0, 0)), scale)
        usual = rows
        mean, scale, precision = _moments(rows)
        if len(rows) > 4 * rows.shape[1]:
            z = (rows - mean) / scale
            far = np.einsum("ij,jk,ik->i", z, precision, z)
            usual = rows[far <= max(chi2.ppf(_USUAL, rows.shape[1]), np.quantile(far, 0.75))]
            mean, scale, precision = _moments(usual)
        own = np.diagonal(precision)
        weights = precision / own[:, None] * scale[:, None] / scale
        return cls(tuple(map(str, names)), mean, weights, scale / np.sqrt(own))

    def expected(self, rows: Array) -> Array:
        """(n, d) what the others predict for each value."""
        if not len(self.weights):
            return np.broadcast_to(self.mean, rows.shape).copy()
        return np.asarray(rows - (rows - self.mean) @ self.weights.T)


def _columns_alone(rows: Array) -> tuple[Array, Array]:
    """Mean and scale of each column; a constant one has the scale of its rounding."""
    mean, scale = rows.mean(axis=0), rows.std(axis=0)
    floor = np.maximum(1e-9 * np.abs(mean), np.finfo(float).tiny ** 0.25)
    return mean, np.asarray(np.where(scale > floor, scale, floor))


def _moments(rows: Array) -> tuple[Array, Array, Array]:
    """Mean, scale and the inverse of the correlations."""
    n, d = rows.shape
    mean, scale = _columns_alone(rows)
    z = (rows - mean) / scale
    share = _RIDGE if n >= 5 * d else min(0.5, d / (10.0 * n))
    correlations = (z.T @ z) / max(n, 1)
    correlations = (1.0 - share) * correlations + share * np.eye(d)
    correlations[np.diag_indices(d)] = np.maximum(np.diagonal(correlations), 1.0)  # constant columns have no own spread
    return mean, scale, np.asarray(np.linalg.inv(correlations))


@dataclass(frozen=True, eq=False)
class Findings:
    """Of every value of some rows: what was expected, how far it is from that, and the score with it; (n, d) each.

    `order` has the columns of each row, the most telling first.
    """

    rows: Array
    expected: Array
    deviations: Array
    mended: Array
    order: Any


def explained(detector: Any, X: Any, reasons: Reasons, n_columns: int) -> list[dict[str, Any]]:
    """What `Detector.explain` gives."""
    rows = np.asarray(read_table(detector, X, reset=False), dtype=float)
    scores = detector.score_samples(frames.from_array(rows, X))
    order, expected = _greedy(reasons, rows, n_columns)
    deviations = (rows - expected) / reasons.sd
    found = Findings(rows, expected, deviations, _mended_scores(detector, X, rows, expected), order)
    told = [_columns(reasons, found, i) for i in range(len(rows))]
    return told_rows(scores, detector, told, n_columns)


def _greedy(reasons: Reasons, rows: Array, steps: int) -> tuple[Any, Array]:
    """Columns by how far they are from what the others predict; what was found wrong is put right before going on.

    A wrong value spoils the predictions of the others, so these are made again without it.
    """
    n, d = rows.shape
    mended, expected = rows.copy(), reasons.expected(rows)
    taken = np.zeros((n, d), dtype=bool)
    order = np.zeros((n, d), dtype=np.int64)
    every = np.arange(n)
    for step in range(min(steps, d)):
        now = reasons.expected(mended)
        expected = np.where(taken, expected, now)
        far = np.where(taken, -1.0, np.abs(rows - expected) / reasons.sd)
        worst = far.argmax(axis=1)
        order[:, step] = worst
        taken[every, worst] = True
        mended[every, worst] = expected[every, worst]
    rest = np.where(taken, np.inf, -np.abs(rows - expected) / reasons.sd)
    order[:, min(steps, d) :] = np.argsort(rest, axis=1, kind="stable")[:, : d - min(steps, d)]
    return order, expected


def _columns(reasons: Reasons, found: Findings, i: int) -> list[dict[str, Any]]:
    return [
        {
            "column": reasons.names[j],
            "value": float(found.rows[i, j]),
            "expected": float(found.expected[i, j]),
            "sd": float(reasons.sd[j]),
            "deviation": float(found.deviations[i, j]),
            "score_if_expected": float(found.mended[i, j]),
        }
        for j in found.order[i]
    ]


def told_rows(
    scores: Array, detector: Any, columns: list[list[dict[str, Any]]], n_columns: int
) -> list[dict[str, Any]]:
    """One dict for each row, with a sentence."""
    tails = detector._tails.probability(scores)
    rows = []
    for i, (score, tail) in enumerate(zip(scores.tolist(), tails.tolist(), strict=True)):
        decision = score - detector.offset_
        text = _text(decision, tail, columns[i][:n_columns])
        row = {"row": i, "score": score, "decision": decision, "tail_probability": tail}
        rows.append(row | {"text": text, "columns": columns[i]})
    return rows


def _mended_scores(detector: Any, X: Any, rows: Array, expected: Array) -> Array:
    """(n, d) score of each row with one value replaced by what the others predict."""
    out = np.empty(rows.shape)
    for j in range(rows.shape[1]):
        changed = rows.copy()
        changed[:, j] = expected[:, j]
        out[:, j] = detector.score_samples(frames.from_array(changed, X))
    return out


def _text(decision: float, tail: float, columns: list[dict[str, Any]]) -> str:
    verdict = "an outlier" if decision < 0 else "no outlier"
    telling = [entry for entry in columns if _is_telling(entry)]
    start = f"{verdict}: {100 * tail:.2g} % of usual rows score as low"
    if not telling:
        return f"{start}; no single value is far from what the others predict"
    return f"{start}; " + "; ".join(map(_said, telling))


def _is_telling(entry: dict[str, Any]) -> bool:
    odd = entry["sd"] is None and entry["value"] not in (None, entry["expected"]) and entry["surprise"] > _SURPRISE
    return bool(odd or abs(entry["deviation"]) >= 2.0)


def _said(entry: dict[str, Any]) -> str:
    if entry["sd"] is None:  # a category
        chance = f"1 in {np.exp(min(entry['surprise'], 30.0)):.2g}"
        return f"{entry['column']} is {entry['value']}, where the others predict {entry['expected']} (chance {chance})"
    far = f"{abs(entry['deviation']):.1f} sd too {'high' if entry['deviation'] > 0 else 'low'}"
    return (
        f"{entry['column']} is {entry['value']:.4g}, where the others predict {entry['expected']:.4g} ± "
        f"{entry['sd']:.2g} ({far})"
    )
