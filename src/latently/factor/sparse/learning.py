"""Two ways to learn a dictionary: all rows again and again, or batch after batch."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from latently.data.sources.chunks import Chunk
from latently.factor.sparse.atoms import CodeSums, Problem
from latently.factor.sparse.codes import Coder
from latently.factor.sparse.start import Draw
from latently.learn.engine.protocol import Array
from latently.learn.engine.reduce import Reduction

_PATIENCE = 3  # walks whose objectives, which vary with the batches, are looked at together
OnIteration = Callable[[int, Array, float], Any]


@dataclass(frozen=True)
class Plan:
    """What is minimised, how codes are found, and when to stop.

    Parameters
    ----------
    problem, coder
        The objective, and what finds codes.
    draw
        Gives a row in place of an atom that no code uses.
    tol
        Share of the objective that it must fall by to go on.
    max_iter
        Iterations at most.
    tell
        Called after each iteration with its number, the atoms and the objective.
    """

    problem: Problem
    coder: Coder
    draw: Draw
    tol: float
    max_iter: int
    on_iteration: OnIteration

    def is_done(self, costs: list[float]) -> bool:
        """Whether the last iteration has hardly changed anything."""
        return len(costs) > 1 and costs[-2] - costs[-1] < self.tol * costs[-1]


@dataclass(eq=False)
class Learnt:
    """Atoms (k, d), the sums they were made from, and the objective after each iteration."""

    D: Array
    sums: CodeSums
    costs: list[float] = field(default_factory=list)
    converged: bool = False


def alternate(reduce: Reduction, plan: Plan, start: Array) -> Learnt:
    """Codes of all rows for given atoms, atoms for given codes, in turn, until the objective hardly falls."""
    found = Learnt(start, CodeSums.none(start))
    for iteration in range(plan.max_iter):
        sums: CodeSums = reduce(coding(plan.coder, found.D))
        D, sums, unused = plan.problem.updated(sums, found.D)
        costs = [*found.costs, plan.problem.cost(sums, D)]
        found = Learnt(refreshed(plan.problem, D, unused, plan.draw), sums, costs, plan.is_done(costs))
        plan.on_iteration(iteration, found.D, costs[-1])
        if found.converged:
            break
    return found


def coding(coder: Coder, D: Array) -> Callable[[Chunk], CodeSums]:
    """What a chunk adds to the sums."""

    def sums_of(chunk: Chunk) -> CodeSums:
        X = np.asarray(chunk.X, dtype=np.float64)
        return CodeSums.of(X, *coder(X, D))

    return sums_of


def refreshed(problem: Problem, D: Array, unused: list[int], draw: Draw) -> Array:
    """Atoms with a row of the data in place of each that no code uses."""
    D = D.copy()
    for j in unused:
        D[j] = problem.allowed(draw())
    return D


def walks(reduce: Reduction, plan: Plan, start: Array, size: int, rng: np.random.RandomState) -> Learnt:
    """Walk through the table, batch by batch, until some walks have not made the mean objective of a row fall."""
    found, costs, steps = Learnt(start, CodeSums.none(start)), [], 0
    for walk in range(plan.max_iter):
        found, cost, steps = _walk(_batches(reduce.source, size, rng), plan, found, size, steps)
        costs.append(cost)
        plan.on_iteration(walk, found.D, cost)
        earlier, late = costs[:-_PATIENCE], costs[-_PATIENCE:]
        if earlier and min(earlier) - min(late) < plan.tol * min(late):
            return Learnt(found.D, found.sums, costs, True)
    return Learnt(found.D, found.sums, costs, False)


def _walk(batches: Iterable[Array], plan: Plan, found: Learnt, size: int, steps: int) -> tuple[Learnt, float, int]:
    """Codes of one batch after the other, with the atoms improved after each; the mean objective of a row, and steps.

    Sums of earlier batches, whose codes belong to worse atoms, fade as in Mairal et al. (2009).
    """
    D, sums, total, rows = found.D, found.sums, 0.0, 0.0
    for X in batches:
        new = CodeSums.of(X, *plan.coder(X, D))
        total += plan.problem.cost(new, D) * (1.0 if plan.problem.eta is None else new.rows)
        rows += new.rows
        sums = new if sums.rows == 0 else sums.scaled(fading(steps, size)) + new
        D, sums, unused = plan.problem.updated(sums, D)
        D, steps = refreshed(plan.problem, D, unused, plan.draw), steps + 1
    return Learnt(D, sums), total / rows, steps


def _batches(source: Iterable[Chunk], size: int, rng: np.random.RandomState) -> Iterator[Array]:
    """Batches of rows, drawn without replacement within each chunk."""
    for chunk in source:
        X = np.asarray(chunk.X, dtype=np.float64)[rng.permutation(chunk.n_rows)]
        for a in range(0, len(X), size):
            yield X[a : a + size]


def fading(step: int, size: int) -> float:
    """Share of the earlier sums that is left when a batch of a size is added at a step.

    Examples
    --------
    >>> fading(0, 4), fading(1, 4), round(fading(1000, 4), 3)
    (0.2, 0.5555555555555556, 0.996)
    """
    seen = (step + 1) * size if step < size - 1 else size**2 + step + 1 - size
    return (seen + 1 - size) / (seen + 1)
