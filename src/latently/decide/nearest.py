"""The coherent beliefs nearest to given ones: the least sum of squared changes.

For plain beliefs this is the projection on the convex hull of the possible worlds, found exactly: of all
coherent beliefs the nearest, and they do better than the given ones, in squared error, whichever world is the
true one. Conditional beliefs are ratios of probabilities; they are linearised and the projection repeated,
which gives coherent beliefs that no small change brings nearer.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from latently.decide.coherence import examine
from latently.decide.rewards import Floats
from latently.decide.worlds import Columns, Worlds

_ROUNDS = 200
_RARE = 1e-5  # conditions are kept at least this probable: below, their ratios would be left to rounding
_CLOSE = 1e-4


def nearest(worlds: Worlds, low: Floats, high: Floats) -> Floats:
    """Give coherent values for all beliefs, with the least squared distance to the intervals.

    Parameters
    ----------
    worlds
        The possible worlds and the beliefs about them.
    low, high
        The interval of each belief; equal for a plain number.
    """
    columns = worlds.start
    weights = np.full(len(columns), 1 / len(columns))
    for _ in range(_ROUNDS):
        before = _distance(_values(columns, weights), low, high)
        target, aimed = _project(worlds, columns, weights, low, high)
        both = columns.join(target)
        start, end = _spread(columns, weights, both), _spread(target, aimed, both)
        columns, weights = _line_search(both, start, end, low, high)
        if before - _distance(_values(columns, weights), low, high) <= 1e-15:
            break
        used = weights > 0
        columns, weights = columns.take(used), weights[used]
    return _snap(worlds, _values(columns, weights), low, high)


def _snap(worlds: Worlds, values: Floats, low: Floats, high: Floats) -> Floats:
    """Move values that are all but 0, 1 or as given to there, if that is coherent.

    A condition whose probability tends to zero on the way is allowed to reach it: bets on it are then off.
    """
    kept = np.clip(values, low, high)
    clean = np.where(np.abs(kept - values) < _CLOSE, kept, values)
    ends = np.round(values)
    clean = np.where(np.abs(ends - values) < _CLOSE, ends, clean)
    return clean if examine(worlds, clean, clean).layers else values


def _values(columns: Columns, weights: Floats) -> Floats:
    """Give p(event | condition) for each belief."""
    return (columns.occurs @ weights) / (columns.on @ weights)


def _distance(values: Floats, low: Floats, high: Floats) -> float:
    return float(np.sum((values - np.clip(values, low, high)) ** 2))


def _spread(some: Columns, weights: Floats, every: Columns) -> Floats:
    """Write weights on some worlds as weights on a longer list with the same patterns."""
    keys = {_key(every, j): j for j in range(len(every))}
    out = np.zeros(len(every))
    for j, weight in enumerate(weights):
        out[keys[_key(some, j)]] += weight
    return out


def _key(columns: Columns, j: int) -> bytes:
    return columns.occurs[:, j].tobytes() + columns.on[:, j].tobytes()


def _line_search(columns: Columns, start: Floats, end: Floats, low: Floats, high: Floats) -> tuple[Columns, Floats]:
    """Go from start towards end as far as the distance falls; the full step wherever that is best."""
    best, least = start, _distance(_values(columns, start), low, high)
    for step in (1.0, 0.99, *(0.5**k for k in range(1, 30))):
        trial = (1 - step) * start + step * end
        if np.any(columns.on @ trial < _RARE):
            continue
        distance = _distance(_values(columns, trial), low, high)
        if distance < least:
            best, least = trial, distance
        elif best is not start:
            break
    return columns, best


@dataclass(frozen=True)
class _Points:
    """Worlds paired with corners of the box of intervals: the points whose hull is projected on."""

    columns: Columns
    corners: Floats  # (beliefs, points)


def _project(worlds: Worlds, known: Columns, weights: Floats, low: Floats, high: Floats) -> tuple[Columns, Floats]:
    """Minimise the distance, beliefs taken as linear around the current weights."""
    here, scale = _values(known, weights), known.on @ weights
    corners = np.clip(here, low, high)
    points = _Points(known, np.tile(corners[:, None], len(known)))
    while True:
        offsets = (points.columns.occurs - here[:, None] * points.columns.on) / scale[:, None]
        offsets += here[:, None] - points.corners
        shares = _min_norm(offsets)
        gap = offsets @ shares
        reached = float(gap @ gap)
        corner = np.where(gap > 0, high, low)
        base = float(gap @ (here - corner))
        tolerance = 1e-13 + 1e-10 * reached
        more = worlds.best(gap / scale, -gap * here / scale, points.columns, reached - base - tolerance)
        if reached < 1e-24 or more is None or not _adds(points, more, corner):
            return points.columns.take(shares > 0), shares[shares > 0]
        used = shares > 0
        points = _Points(
            _append(points.columns.take(used), more),
            np.hstack([points.corners[:, used], np.tile(corner[:, None], len(more))]),
        )


def _adds(points: _Points, more: Columns, corner: Floats) -> bool:
    """Whether any of the new points is not there yet."""
    old = {_key(points.columns, j) + points.corners[:, j].tobytes() for j in range(len(points.columns))}
    return any(_key(more, j) + corner.tobytes() not in old for j in range(len(more)))


def _append(left: Columns, right: Columns) -> Columns:
    return Columns(
        np.vstack([left.worlds, right.worlds]),
        np.hstack([left.occurs, right.occurs]),
        np.hstack([left.on, right.on]),
    )


def _min_norm(points: Floats) -> Floats:
    """Give the convex weights of the point of least norm in the hull of the columns.

    Minimising |P x|^2 + (1'x - 1)^2 over x >= 0 gives those weights up to a factor, since for a fixed
    direction the best length leaves |P x|^2 / (1 + |P x|^2), which grows with |P x|.
    """
    goal = np.zeros(len(points) + 1)
    goal[-1] = 1.0
    weights, _ = nnls(np.vstack([points, np.ones(points.shape[1])]), goal, maxiter=30 * points.shape[1] + 100)
    return np.asarray(weights / weights.sum())
