"""Gradient descent with momentum and gains: early exaggeration, then the divergence itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from latently import compiled
from latently.geometry.distances import Array

LONGEST = 5.0  # no point moves farther than this in one iteration


class Field(Protocol):
    """What a descent needs to know of a cost: the two forces, and the cost itself."""

    attraction: Array
    repelled: Array

    @property
    def n_placed(self) -> int | None:
        """How many columns are coordinates, which are centred; all of them if None."""

    @property
    def factor(self) -> float:
        """By what the difference of the forces is multiplied to give the gradient."""

    def compute(self, Y: Array) -> float:
        """Fill both forces; the second is to be divided by what is returned."""

    def divergence(self, Y: Array, total: float) -> float:
        """The cost, if `compute` returned `total`."""


@dataclass(frozen=True)
class Phase:
    """Some iterations with the same settings."""

    n_iter: int
    exaggeration: float
    momentum: float
    rate: float
    patience: int
    """Iterations without progress after which the phase ends."""


@dataclass(frozen=True)
class MapStep:
    """One iteration, as hooks see it.

    Attributes
    ----------
    iteration
        How many iterations are done.
    embedding
        (n, d) the map, which the next iteration changes in place.
    exaggeration
        By what attraction is multiplied in this phase.
    gradient_norm
        Length of the gradient before the step.
    attraction, repulsion
        (n, d) the forces on each point before the step; the gradient is their difference times a constant.
    """

    iteration: int
    embedding: Array
    exaggeration: float
    gradient_norm: float
    attraction: Array
    repulsion: Array


@dataclass(frozen=True)
class Check:
    """The state of a descent where it is looked at: every so many iterations."""

    iteration: int
    cost: float
    gradient_norm: float


@dataclass(frozen=True)
class Descended:
    """Where a descent ended."""

    embedding: Array
    cost: float
    n_iter: int
    reason: str


@dataclass
class Descent:
    """A descent through its phases.

    Parameters
    ----------
    field
        The forces.
    every
        Iterations from one check to the next.
    least
        Length of the gradient at which the descent ends.
    on_iteration
        Called with each `MapStep`; the descent ends when it returns True.
    on_check
        Called with each `Check`.
    """

    field: Field
    every: int = 50
    least: float = 1e-7
    on_iteration: Callable[[MapStep], Any] | None = None
    on_check: Callable[[Check], Any] | None = None

    def run(self, Y: Array, phases: Sequence[Phase]) -> Descended:
        """Move the map `Y` in place."""
        done, cost, reason = 0, np.inf, "max_iter"
        for phase in (each for each in phases if each.n_iter > 0):
            done, cost, reason = self._phase(Y, phase, done)
            if reason == "stopped":
                break
        return Descended(Y, cost, done, reason)

    def _phase(self, Y: Array, phase: Phase, done: int) -> tuple[int, float, str]:
        velocity, gains = np.zeros_like(Y), np.ones_like(Y)
        best, best_at, cost = np.inf, done, np.inf
        last = done + phase.n_iter
        while done < last:
            total = self.field.compute(Y)
            checking = (done + 1) % self.every == 0 or done + 1 == last
            if checking:
                cost = self.field.divergence(Y, total)
            norm = self._step(Y, phase, total, velocity, gains)
            done += 1
            if self._is_stopped(Y, phase, done, norm, total):
                return done, self.field.divergence(Y, self.field.compute(Y)), "stopped"
            if not checking:
                continue
            if self.on_check is not None:
                self.on_check(Check(done, cost, norm))
            if cost < best:
                best, best_at = cost, done
            elif done - best_at > phase.patience:
                return done, cost, "no progress"
            if norm <= self.least:
                return done, cost, "gradient"
        return done, cost, "max_iter"

    def _step(self, Y: Array, phase: Phase, total: float, velocity: Array, gains: Array) -> float:
        factor, field = self.field.factor, self.field
        square = compiled.embed.descent.step(
            Y,
            field.attraction,
            field.repelled,
            factor * phase.exaggeration,
            factor / total,
            phase.rate,
            phase.momentum,
            LONGEST,
            velocity,
            gains,
        )
        moved = Y[:, : self.field.n_placed]
        moved -= moved.mean(axis=0)
        return float(np.sqrt(square))

    def _is_stopped(self, Y: Array, phase: Phase, done: int, norm: float, total: float) -> bool:
        if self.on_iteration is None:
            return False
        pull, push = phase.exaggeration * self.field.attraction, self.field.repelled / total
        return bool(self.on_iteration(MapStep(done, Y, phase.exaggeration, norm, pull, push)))
