"""The possible worlds of a set of propositions, and the search for the one of least weight among them.

Linear programs over worlds need only those worlds that improve them (column generation). Which do is a
question to `Worlds.best`: all worlds at once if they are few; else a local search, and where that finds
nothing an exact integer program, in which each operator is a few inequalities.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from latently.decide.logic import TRUE, Bools, Expression, both
from latently.decide.rewards import Floats

FEW = 12  # propositions whose worlds are all listed


@dataclass(frozen=True)
class Columns:
    """Worlds, and what is true in them: which beliefs' conditions, and which events together with them."""

    worlds: Bools  # (worlds, propositions)
    occurs: Bools  # (beliefs, worlds): condition and event
    on: Bools  # (beliefs, worlds): condition

    def __len__(self) -> int:
        return len(self.worlds)

    def take(self, which: Any) -> "Columns":
        """Give some of the worlds."""
        return Columns(self.worlds[which], self.occurs[:, which], self.on[:, which])

    def join(self, other: "Columns") -> "Columns":
        """Put two lists together, without worlds that look the same to every belief."""
        return Columns(
            np.vstack([self.worlds, other.worlds]),
            np.hstack([self.occurs, other.occurs]),
            np.hstack([self.on, other.on]),
        ).distinct()

    def distinct(self) -> "Columns":
        """Keep one of the worlds that look the same to every belief."""
        pattern = np.packbits(np.vstack([self.occurs, self.on]), axis=0)
        _, first = np.unique(pattern, axis=1, return_index=True)
        return self.take(np.sort(first))


@dataclass(frozen=True)
class Worlds:
    """All worlds in which `must` is true, seen through beliefs (event, condition)."""

    names: tuple[str, ...]
    beliefs: tuple[tuple[Expression, Expression], ...]
    must: Expression = TRUE

    def look(self, worlds: Bools) -> Columns:
        """Evaluate every belief in the given worlds."""
        at = {name: worlds[:, i] for i, name in enumerate(self.names)}
        on = np.array([np.broadcast_to(c.holds(at), len(worlds)) for _, c in self.beliefs])
        occurs = np.array([np.broadcast_to(e.holds(at), len(worlds)) for e, _ in self.beliefs])
        return Columns(worlds, on & occurs, on)

    def possible(self, worlds: Bools) -> Bools:
        """Which worlds make `must` true."""
        at = {name: worlds[:, i] for i, name in enumerate(self.names)}
        return np.asarray(np.broadcast_to(self.must.holds(at), len(worlds)))

    @cached_property
    def listed(self) -> Columns | None:
        """All worlds, one for each pattern of beliefs; None if there are too many."""
        if len(self.names) > FEW:
            return None
        every = np.array(list(product([True, False], repeat=len(self.names))), dtype=bool)
        every = every.reshape(2 ** len(self.names), len(self.names))
        return self.look(every[self.possible(every)]).distinct()

    @cached_property
    def start(self) -> Columns:
        """Some worlds to begin with: all if few, else some that show each belief both held and not."""
        if self.listed is not None:
            return self.listed
        guesses = np.random.default_rng(0).random((64, len(self.names))) < 0.5
        seen = self.look(guesses[self.possible(guesses)])
        unit = np.eye(len(self.beliefs))
        wanted = [(-unit[i], 0 * unit[i]) for i in np.flatnonzero(~seen.occurs.any(axis=1))]
        wanted += [(unit[i], -unit[i]) for i in np.flatnonzero(~(seen.on & ~seen.occurs).any(axis=1))]
        exact = [self._exact(occurs, on) for occurs, on in wanted or [(0 * unit[0], 0 * unit[0])]]
        if exact[0] is None:
            raise ValueError("no world is possible: the conditions contradict themselves")
        return seen.join(self.look(np.array(exact)))

    def best(self, occurs: Floats, on: Floats, known: Columns, below: float) -> Columns | None:
        """Give worlds whose weight, held * (condition and event) + on * condition, is less than `below`.

        Parameters
        ----------
        occurs, on
            Weights, one per belief.
        known
            Worlds found before, from which a local search starts.
        below
            Only lighter worlds are of interest; None is returned if there are none.
        """
        if self.listed is not None:
            return self._lightest(self.listed, occurs, on, below)
        near = self._lightest(self._descend(known, occurs, on), occurs, on, below)
        if near is not None:
            return near
        world = self._exact(occurs, on)
        return None if world is None else self._lightest(self.look(world[None, :]), occurs, on, below)

    def _lightest(self, columns: Columns, occurs: Floats, on: Floats, below: float) -> Columns | None:
        weight = occurs @ columns.occurs + on @ columns.on
        order = np.argsort(weight, kind="stable")[:50]
        chosen = order[weight[order] < below]
        return columns.take(chosen) if len(chosen) else None

    def _descend(self, known: Columns, occurs: Floats, on: Floats) -> Columns:
        """Flip single propositions of good worlds as long as that makes them lighter."""
        d = len(self.names)
        seen = known.take(np.argsort(occurs @ known.occurs + on @ known.on, kind="stable")[:20])
        weight = occurs @ seen.occurs + on @ seen.on
        while True:
            flipped = (seen.worlds[:, None, :] ^ np.eye(d, dtype=bool)).reshape(-1, d)
            tried = self.look(flipped)
            heavy = np.where(self.possible(flipped), occurs @ tried.occurs + on @ tried.on, np.inf)
            heavy = heavy.reshape(-1, d)
            better = heavy.min(axis=1) < weight - 1e-12
            if not better.any():
                return seen
            rows = np.flatnonzero(better)
            moved = tried.take(rows * d + heavy.argmin(axis=1)[rows])
            weight = np.where(better, heavy.min(axis=1), weight)
            seen = _replaced(seen, rows, moved)

    def _exact(self, occurs: Floats, on: Floats) -> Bools | None:
        """Give the lightest world by an integer program; None if no world is possible."""
        program = self._program
        cost = np.zeros(program.size)
        np.add.at(cost, program.occurs, occurs)
        np.add.at(cost, program.on, on)
        integral = np.zeros(program.size)
        integral[: len(self.names)] = 1
        solved = milp(
            cost,
            integrality=integral,
            bounds=Bounds(0, 1),
            constraints=program.constraint(),
            options={"mip_rel_gap": 0.0},
        )
        if solved.status == 2:
            return None
        if solved.x is None:
            raise RuntimeError(f"the search for a world failed: {solved.message}")
        return np.asarray(solved.x[: len(self.names)] > 0.5)

    @cached_property
    def _program(self) -> "Program":
        program = Program(self.names)
        program.occurs = [program.variable(both(e, c)) for e, c in self.beliefs]
        program.on = [program.variable(c) for _, c in self.beliefs]
        if self.must != TRUE:
            program.at_least({program.variable(self.must): 1.0}, 1.0)
        return program


def _replaced(columns: Columns, rows: Any, new: Columns) -> Columns:
    parts = [columns.worlds.copy(), columns.occurs.copy(), columns.on.copy()]
    parts[0][rows], parts[1][:, rows], parts[2][:, rows] = new.worlds, new.occurs, new.on
    return Columns(*parts)


class Program:
    """Expressions as linear inequalities between 0/1 variables, one variable per expression."""

    def __init__(self, names: Sequence[str]) -> None:
        self._known = {Expression("name", name): i for i, name in enumerate(names)}
        self._rows: list[dict[int, float]] = []
        self._low: list[float] = []
        self.size = len(names)
        self.occurs: list[int] = []
        self.on: list[int] = []

    def at_least(self, row: dict[int, float], bound: float) -> None:
        """Add sum of coefficient * variable >= bound."""
        self._rows.append(row)
        self._low.append(bound)

    def variable(self, expression: Expression) -> int:
        """Give the variable that is one where the expression holds, with the inequalities that make it so."""
        if expression in self._known:
            return self._known[expression]
        parts = [self.variable(part) for part in expression.parts]
        z = self._known[expression] = self.size
        self.size += 1
        for coefficients, constant, bound in _INEQUALITIES[expression.kind]:
            row = {z: float(constant)}
            for part, c in zip(parts, coefficients, strict=True):
                row[part] = row.get(part, 0.0) + c
            self.at_least(row, bound)
        return z

    def constraint(self) -> LinearConstraint | tuple[()]:
        """Give all inequalities at once."""
        if not self._rows:
            return ()
        where = [(i, j, v) for i, row in enumerate(self._rows) for j, v in row.items()]
        i, j, v = zip(*where, strict=True)
        return LinearConstraint(csr_array((v, (i, j)), shape=(len(self._rows), self.size)), lb=self._low)


# coefficients of the parts, coefficient of the whole z, and the bound: c . parts + k z >= bound
_INEQUALITIES: dict[str, list[tuple[tuple[float, ...], float, float]]] = {
    "true": [((), 1, 1)],
    "~": [((1,), 1, 1), ((-1,), -1, -1)],
    "&": [((1, 0), -1, 0), ((0, 1), -1, 0), ((-1, -1), 1, -1)],
    "|": [((-1, 0), 1, 0), ((0, -1), 1, 0), ((1, 1), -1, 0)],
    "<->": [((-1, -1), 1, -1), ((1, 1), 1, 1), ((-1, 1), -1, -1), ((1, -1), -1, -1)],
    "^": [((1, 1), -1, 0), ((-1, -1), -1, -2), ((-1, 1), 1, 0), ((1, -1), 1, 0)],
}
