"""Columns of a row in the order in which they make it unusual."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from latently.data.tables import frames
from latently.detect.read import read_table
from latently.detect.reasons.predictions import Reasons
from latently.detect.reasons.words import explained_rows
from latently.kernel.base import Array


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
    columns = [_columns(reasons, found, i) for i in range(len(rows))]
    return explained_rows(scores, detector, columns, n_columns)


def _greedy(reasons: Reasons, rows: Array, steps: int) -> tuple[Any, Array]:
    """Columns by the gain in log density if they were as expected; what was found wrong is put right before going on.

    A wrong value spoils the predictions of the others, so these are made again without it.
    """
    n, d = rows.shape
    mended, expected = rows.copy(), reasons.expected(rows)
    taken = np.zeros((n, d), dtype=bool)
    order = np.zeros((n, d), dtype=np.int64)
    every = np.arange(n)
    for step in range(min(steps, d)):
        expected = np.where(taken, expected, reasons.expected(mended))
        worst = np.where(taken, -1.0, reasons.gains(mended)).argmax(axis=1)
        order[:, step] = worst
        taken[every, worst] = True
        mended[every, worst] = expected[every, worst]
    rest = np.where(taken, np.inf, -reasons.gains(mended))
    order[:, min(steps, d) :] = np.argsort(rest, axis=1, kind="stable")[:, : d - min(steps, d)]
    return order, np.where(taken, expected, reasons.expected(mended))


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


def _mended_scores(detector: Any, X: Any, rows: Array, expected: Array) -> Array:
    """(n, d) score of each row with one value replaced by what the others predict."""
    out = np.empty(rows.shape)
    for j in range(rows.shape[1]):
        changed = rows.copy()
        changed[:, j] = expected[:, j]
        out[:, j] = detector.score_samples(frames.from_array(changed, X))
    return out
