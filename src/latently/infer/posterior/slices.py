"""Slice moves of many walkers at once, each along its own direction (Neal 2003)."""

from dataclasses import dataclass

import numpy as np

from latently.infer.factors import Floats
from latently.infer.posterior.budget import LogDensity

_MOST_UNITS = 12  # steps out of a slice


@dataclass(frozen=True)
class Moved:
    """Where walkers are after a move, and how often each slice was widened and narrowed."""

    at: Floats  # (n, d)
    height: Floats  # (n,)
    widened: Floats  # (n,)
    narrowed: Floats  # (n,)


def slice_move(
    log_density: LogDensity, at: Floats, height: Floats, direction: Floats, rng: np.random.Generator
) -> Moved:
    """Draw each row anew from its slice along its direction: step out by units, then shrink."""
    n = len(at)
    level = height - rng.exponential(size=n)
    low = -rng.random(n)
    high = low + 1.0
    widened = _step_out(log_density, at, direction, level, low, high, rng)
    new, heights, narrowed = at.copy(), height.copy(), np.zeros(n)
    active = np.arange(n)
    while len(active):
        step = low[active] + (high - low)[active] * rng.random(len(active))
        tried = at[active] + step[:, None] * direction[active]
        found = log_density(tried)
        good = found > level[active]
        new[active[good]], heights[active[good]] = tried[good], found[good]
        bad, back = active[~good], step[~good]
        low[bad], high[bad] = np.where(back < 0, back, low[bad]), np.where(back < 0, high[bad], back)
        narrowed[bad] += 1
        # an interval that has shrunk to the point it started from: the walker stays
        active = bad[(high - low)[bad] > 1e-300]
    return Moved(new, heights, widened, narrowed)


def _step_out(
    log_density: LogDensity,
    at: Floats,
    direction: Floats,
    level: Floats,
    low: Floats,
    high: Floats,
    rng: np.random.Generator,
) -> Floats:
    """Push the ends of each slice out, in place, until they are below the level; give how many pushes it took."""
    n = len(at)
    pushes = np.zeros(n)
    room = rng.integers(0, _MOST_UNITS, size=n)  # units to the left; the rest to the right keeps the balance
    left, right = np.flatnonzero(room > 0), np.flatnonzero(room < _MOST_UNITS - 1)
    rooms = [room, _MOST_UNITS - 1 - room]
    while len(left) + len(right):
        rows = np.concatenate([left, right])
        end = np.concatenate([low[left], high[right]])
        inside = log_density(at[rows] + end[:, None] * direction[rows]) > level[rows]
        left, right = left[inside[: len(left)]], right[inside[len(left) :]]
        low[left], high[right] = low[left] - 1.0, high[right] + 1.0
        for side, left_over in ((left, rooms[0]), (right, rooms[1])):
            left_over[side] -= 1
            pushes[side] += 1
        left, right = left[rooms[0][left] > 0], right[rooms[1][right] > 0]
    return pushes
