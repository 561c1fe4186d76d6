"""Ensemble slice sampling: walkers that take their directions from each other.

A walker moves along the difference of two walkers of the other half, to a point drawn uniformly from the slice
of the density at a random height (Neal 2003; Karamanis and Beutler 2021). It needs no gradients, does not care
about linear changes of the parameters, and has one number to tune, the length of a step, which tunes itself.
Some steps are many times as long, so that no walker is left behind in a heavy tail, where the slice is much longer
than the differences of the others; and every other round the walkers try to jump by a whole difference, which
carries them from one mode to another (ter Braak 2006).
Several ensembles run side by side and never meet, so that their agreement says something.
"""

from collections.abc import Callable

import numpy as np

from latently.infer.factors import Floats
from latently.infer.posterior.budget import Metered
from latently.infer.posterior.chains import Bools, Chains, judged
from latently.infer.posterior.slices import slice_move

Look = Callable[[str], None]  # what has been reached, said between steps

_GROUPS = 4  # ensembles that never meet
_FIRST = 300  # steps before the first look at the diagnostics
_LEAST = 16  # steps that are made whatever the budget: fewer have no diagnostics
_TUNING = 150  # steps in which the length of a step is tuned; they are never kept
_LONG = 0.3  # share of steps that are lengthened
_STRETCH = 2.0  # mean of the logarithm by which they are


def run(
    log_density: Metered,
    start: Floats,
    rng: np.random.Generator,
    *,
    target: float = 1000,
    max_steps: int = 9_600,
    share: float = 1.0,
    look: Look | None = None,
) -> Chains:
    """Sample until the chains agree and are worth `target` draws, or steps or evaluations are used up.

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
    share
        The share of the budget of evaluations that may be spent here.
    look
        Called with the progress each time the diagnostics were computed.
    """
    ensemble = _Ensemble(log_density, start, rng, share)
    steps = min(_FIRST, max_steps)
    while True:
        ensemble.advance(steps)
        found = ensemble.chains()
        if look is not None:
            look(f"R-hat {found.r_hat_walkers.max():.2f}, {found.worth:.0f} effective draws")
        if steps >= max_steps or log_density.left(share) <= 0 or (found.converged and found.worth >= target):
            return found
        steps = min(2 * steps, max_steps)
        ensemble.reseed(found.strays, steps)


def walkers_for(d: int) -> int:
    """Give the number of walkers: each half of each ensemble must span all directions."""
    return _GROUPS * 2 * max(d + 2, 16)


class _Ensemble:
    """Walkers, (groups, 2 halves, walkers, d), with their history."""

    def __init__(self, log_density: Metered, start: Floats, rng: np.random.Generator, share: float) -> None:
        self._density, self._share = log_density, share
        self._rng = rng
        self._at = start.reshape(_GROUPS, 2, -1, start.shape[1]).copy()
        self._before = log_density.used
        self._height = log_density(start).reshape(self._at.shape[:3])
        self._length = 1.0
        self._warm_up = 0  # steps that must not be kept
        self._places: list[Floats] = []
        self._heights: list[Floats] = []

    def advance(self, steps: int) -> None:
        """Go on until there are this many steps, or the budget is spent."""
        while len(self._places) < steps and (len(self._places) < _LEAST or self._density.left(self._share) > 0):
            moves = np.sum([self._move(half) for half in (0, 1)], axis=0)
            if len(self._places) % 2:
                self._jump(0)
                self._jump(1)
            if len(self._places) < _TUNING:
                # as many widenings as narrowings: the step is then about as long as the slice
                self._length *= 2 * max(moves[0], 1) / (max(moves[0], 1) + moves[1])
            self._places.append(self._at.copy())
            self._heights.append(self._height.copy())

    def _differences(self, half: int) -> Floats:
        """Give the difference of two walkers of the other half, for each walker of this one."""
        groups, _, n, _ = self._at.shape
        first = self._rng.integers(n, size=(groups, n))
        second = (first + self._rng.integers(1, n, size=(groups, n))) % n  # another one
        others, row = self._at[:, 1 - half], np.arange(groups)[:, None]
        return np.asarray(others[row, first] - others[row, second])

    def _move(self, half: int) -> tuple[float, float]:
        """Move one half along differences of the other; give how often slices were widened and narrowed."""
        groups, _, n, d = self._at.shape
        direction = self._length * self._differences(half)
        # every other move along a single coordinate: in a funnel, all coordinates at once hardly move
        single = np.eye(d)[self._rng.integers(d, size=(groups, n))]
        direction = np.where(self._rng.random((groups, n, 1)) < 0.5, direction, direction * single)
        # the length is drawn without regard to where the walker is, so the balance is kept
        plain = self._rng.random((groups, n)) > _LONG
        factor = np.where(plain, 1.0, np.exp(self._rng.exponential(_STRETCH, size=(groups, n))))
        moved = slice_move(
            self._density,
            self._at[:, half].reshape(-1, d),
            self._height[:, half].ravel(),
            (factor[:, :, None] * direction).reshape(-1, d),
            self._rng,
        )
        self._at[:, half] = moved.at.reshape(groups, n, d)
        self._height[:, half] = moved.height.reshape(groups, n)
        return float(moved.widened[plain.ravel()].sum()), float(moved.narrowed[plain.ravel()].sum())

    def _jump(self, half: int) -> None:
        """Try to move one half by whole differences of the other, by the rule of Metropolis."""
        there = self._at[:, half] + self._differences(half)
        height = self._density(there.reshape(-1, there.shape[-1])).reshape(there.shape[:2])
        good = height - self._height[:, half] > -self._rng.exponential(size=height.shape)
        self._at[:, half] = np.where(good[:, :, None], there, self._at[:, half])
        self._height[:, half] = np.where(good, height, self._height[:, half])

    def reseed(self, strays: Bools, steps: int) -> None:
        """Put walkers that strayed where others of their ensemble are, if the steps so far will not be kept."""
        done = len(self._places)
        price = (self._density.used - self._before) / done
        if not strays.any() or self._density.left(self._share) < (steps - done) * price:
            return
        walkers = strays.reshape(_GROUPS, -1)
        for group, lost in enumerate(walkers):
            flat, height = self._at[group].reshape(lost.size, -1), self._height[group].reshape(-1)
            good = np.flatnonzero(~lost)
            if len(good) > lost.size / 2:
                chosen = self._rng.choice(good, size=int(lost.sum()))
                flat[lost], height[lost] = flat[chosen], height[chosen]
                self._warm_up = done

    def chains(self) -> Chains:
        """Give the steps of the second half, with diagnostics."""
        skip, d = max(len(self._places) // 2, self._warm_up), self._at.shape[-1]
        draws = np.stack(self._places[skip:], axis=-2).reshape(-1, len(self._places) - skip, d)
        heights = np.stack(self._heights[skip:], axis=-1).reshape(-1, len(self._heights) - skip)
        return judged(draws, heights, _GROUPS)
