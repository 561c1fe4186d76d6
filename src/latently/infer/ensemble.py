"""Ensemble slice sampling: walkers that take their directions from each other.

A walker moves along the difference of two walkers of the other half, to a point drawn uniformly from the slice
of the density at a random height (Neal 2003; Karamanis and Beutler 2021). It needs no gradients, does not care
about linear changes of the parameters, and has one number to tune, the length of a step, which tunes itself.
Several ensembles run side by side and never meet, so that their agreement says something.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from latently.infer.diagnostics import effective_sample_size, r_hat
from latently.infer.factors import Floats

LogDensity = Callable[[Floats], Floats]  # (n, d) -> (n,)

_GROUPS = 4  # ensembles that never meet
_TUNING = 150  # steps in which the length of a step is tuned; they are never kept
_MOST_UNITS = 12  # steps out of a slice
_AGREE = 1.01  # r_hat up to which ensembles are said to agree
_LOOSE = 1.1  # the same for single walkers, whose chains are short


@dataclass(frozen=True, eq=False)
class Chains:
    """What a run of the sampler gave.

    Attributes
    ----------
    draws : ndarray (chains, draws, d)
        Every walker is a chain.
    log_density : ndarray (chains, draws)
        Of each draw.
    r_hat : ndarray (d,)
        Agreement of the ensembles, for each parameter; up to 1.01 is good.
    r_hat_walkers : ndarray (d,)
        Agreement of the single walkers; well above 1.1 some are stuck, as between modes far apart.
    ess_bulk, ess_tail : ndarray (d,)
        Effective sample sizes.
    """

    draws: Floats
    log_density: Floats
    r_hat: Floats
    r_hat_walkers: Floats
    ess_bulk: Floats
    ess_tail: Floats

    @property
    def converged(self) -> bool:
        """Whether the chains agree and are worth at least 400 draws, in the middle and in the tails."""
        worth = min(self.ess_bulk.min(), self.ess_tail.min())
        return bool(self.r_hat.max() <= _AGREE and self.r_hat_walkers.max() <= _LOOSE and worth >= 400)

    def flat(self) -> Floats:
        """Give all draws together, (n, d)."""
        return self.draws.reshape(-1, self.draws.shape[-1])


def run(
    log_density: LogDensity,
    start: Floats,
    rng: np.random.Generator,
    *,
    target: float = 1000,
    max_steps: int = 9_600,
) -> Chains:
    """Sample until the chains agree and are worth `target` draws, or for `max_steps` steps.

    The first half of all steps is thrown away each time the number of steps is doubled.

    Parameters
    ----------
    log_density
        Log density of rows (n, d), up to a constant; -inf outside the support.
    start
        Walkers to start with, (walkers, d); a multiple of 8, all of positive density.
    rng
        Source of randomness.
    target
        Effective sample size to reach.
    max_steps
        The most steps of each walker.
    """
    ensemble = _Ensemble(log_density, start, rng)
    steps, found = 300, None
    while found is None or (steps < max_steps and not _enough(found, target)):
        steps = steps if found is None else 2 * steps
        ensemble.advance(steps)
        found = ensemble.chains(steps // 2)
    return found


def _enough(found: Chains, target: float) -> bool:
    return found.converged and min(found.ess_bulk.min(), found.ess_tail.min()) >= target


def walkers_for(d: int) -> int:
    """Give the number of walkers: each half of each ensemble must span all directions."""
    return _GROUPS * 2 * max(d + 2, 16)


class _Ensemble:
    """Walkers, (groups, 2 halves, walkers, d), with their history."""

    def __init__(self, log_density: LogDensity, start: Floats, rng: np.random.Generator) -> None:
        self._density = log_density
        self._rng = rng
        self._at = start.reshape(_GROUPS, 2, -1, start.shape[1]).copy()
        self._height = log_density(start).reshape(self._at.shape[:3])
        self._length = 1.0
        self._places: list[Floats] = []
        self._heights: list[Floats] = []

    def advance(self, steps: int) -> None:
        """Go on until there are this many steps."""
        while len(self._places) < steps:
            moves = np.sum([self._move(half) for half in (0, 1)], axis=0)
            if len(self._places) < _TUNING:
                # as many widenings as narrowings: the step is then about as long as the slice
                self._length *= 2 * max(moves[0], 1) / (max(moves[0], 1) + moves[1])
            self._places.append(self._at.copy())
            self._heights.append(self._height.copy())

    def _move(self, half: int) -> tuple[int, int]:
        """Move one half along differences of the other; give how often slices were widened and narrowed."""
        groups, _, n, d = self._at.shape
        first = self._rng.integers(n, size=(groups, n))
        second = (first + self._rng.integers(1, n, size=(groups, n))) % n  # another one
        others, row = self._at[:, 1 - half], np.arange(groups)[:, None]
        direction = self._length * (others[row, first] - others[row, second])
        # every other move along a single coordinate: in a funnel, all coordinates at once hardly move
        single = np.eye(d)[self._rng.integers(d, size=(groups, n))]
        direction = np.where(self._rng.random((groups, n, 1)) < 0.5, direction, direction * single)
        moved = slice_move(
            self._density,
            self._at[:, half].reshape(-1, d),
            self._height[:, half].ravel(),
            direction.reshape(-1, d),
            self._rng,
        )
        self._at[:, half] = moved.at.reshape(groups, n, d)
        self._height[:, half] = moved.height.reshape(groups, n)
        return moved.widened, moved.narrowed

    def chains(self, skip: int) -> Chains:
        """Give the steps after the first `skip`, with diagnostics."""
        d = self._at.shape[-1]
        draws = np.stack(self._places[skip:], axis=-2).reshape(-1, len(self._places) - skip, d)
        heights = np.stack(self._heights[skip:], axis=-1).reshape(-1, len(self._heights) - skip)
        columns = [draws[:, :, j] for j in range(d)]
        return Chains(
            draws,
            heights,
            np.array([r_hat(_pooled(c)) for c in columns]),
            np.array([r_hat(c) for c in columns]),
            np.array([effective_sample_size(c, "bulk") for c in columns]),
            np.array([effective_sample_size(c, "tail") for c in columns]),
        )


def _pooled(chains: Floats) -> Floats:
    """Put the walkers of each ensemble into one chain, step by step."""
    return chains.reshape(_GROUPS, -1, chains.shape[1]).transpose(0, 2, 1).reshape(_GROUPS, -1)


@dataclass(frozen=True)
class _Moved:
    at: Floats
    height: Floats
    widened: int
    narrowed: int


def slice_move(
    log_density: LogDensity, at: Floats, height: Floats, direction: Floats, rng: np.random.Generator
) -> _Moved:
    """Draw each row anew from its slice along its direction: step out by units, then shrink."""
    n = len(at)
    level = height - rng.exponential(size=n)
    low = -rng.random(n)
    high = low + 1.0
    widened = _step_out(log_density, at, direction, level, low, high, rng)
    new, heights = at.copy(), height.copy()
    waiting, narrowed = np.arange(n), 0
    while len(waiting):
        step = low[waiting] + (high - low)[waiting] * rng.random(len(waiting))
        tried = at[waiting] + step[:, None] * direction[waiting]
        found = log_density(tried)
        good = found > level[waiting]
        new[waiting[good]], heights[waiting[good]] = tried[good], found[good]
        bad, back = waiting[~good], step[~good]
        low[bad], high[bad] = np.where(back < 0, back, low[bad]), np.where(back < 0, high[bad], back)
        narrowed += len(bad)
        waiting = bad
    return _Moved(new, heights, widened, narrowed)


def _step_out(
    log_density: LogDensity,
    at: Floats,
    direction: Floats,
    level: Floats,
    low: Floats,
    high: Floats,
    rng: np.random.Generator,
) -> int:
    """Push the ends of each slice out, in place, until they are below the level; give how many pushes it took."""
    n, pushes = len(at), 0
    room = rng.integers(0, _MOST_UNITS, size=n)  # units to the left; the rest to the right keeps the balance
    left, right = np.flatnonzero(room > 0), np.flatnonzero(room < _MOST_UNITS - 1)
    rooms = [room, _MOST_UNITS - 1 - room]
    while len(left) + len(right):
        rows = np.concatenate([left, right])
        end = np.concatenate([low[left], high[right]])
        inside = log_density(at[rows] + end[:, None] * direction[rows]) > level[rows]
        left, right = left[inside[: len(left)]], right[inside[len(left) :]]
        low[left], high[right] = low[left] - 1.0, high[right] + 1.0
        pushes += len(left) + len(right)
        for side, left_over in ((left, rooms[0]), (right, rooms[1])):
            left_over[side] -= 1
        left, right = left[rooms[0][left] > 0], right[rooms[1][right] > 0]
    return pushes
