"""Missing entries under distributions of any family, one row after the other where columns hang together."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from latently.distributions import Distribution
from latently.distributions.components.base import Block
from latently.distributions.components.slab import Ints, PerComponent, Slab
from latently.distributions.inputs import Array


@dataclass(frozen=True, eq=False)
class Members(PerComponent):
    """A distribution per component."""

    members: tuple[Distribution, ...]


@dataclass(frozen=True, eq=False)
class FamilyAnswers(Block):
    """What members of a family say of missing entries; `widths` is the number of categories of each column, or zero."""

    widths: tuple[int, ...] = ()

    def _conditionals(self, theta: Members, slab: Slab) -> Iterator[tuple[Ints, Ints, list[Distribution]]]:
        """Rows, which of their columns are missing, and the distribution of those in every component."""
        X = slab.take(self.places)
        for seen, rows in slab.patterns(self.places):
            o, h = np.flatnonzero(seen), np.flatnonzero(~seen)
            if len(h) == 0:
                continue
            if len(o) == 0:
                yield rows, h, list(theta.members)
                continue
            for row in rows:
                yield np.array([row]), h, [m.conditional(o, X[row, o]) for m in theta.members]

    def fill(self, theta: Members, slab: Slab, R: Array) -> Array:
        """Conditional means, or most probable codes."""
        out = np.zeros((len(slab.X), len(self.columns)))
        for rows, missing, members in self._conditionals(theta, slab):
            for a, j in enumerate(missing):
                if width := _n_codes(members, a, self.widths[j]):
                    codes = np.arange(width, dtype=np.float64)
                    chances = np.array([m.marginal(a).prob(codes) for m in members])
                    out[rows, j] = (R[:, rows].T @ chances).argmax(axis=1)
                else:
                    single = [m.marginal(a) for m in members]
                    out[rows, j] = _family(single).mixed_mean(single, R[:, rows].T)[:, 0]
        return out

    def interval(self, theta: Members, slab: Slab, R: Array, level: float) -> tuple[Array, Array]:
        """Quantiles of the mixtures; codes have no interval but their most probable one."""
        low = self.fill(theta, slab, R)
        high = low.copy()
        for rows, missing, members in self._conditionals(theta, slab):
            for a, j in enumerate(missing):
                if not _n_codes(members, a, self.widths[j]):
                    single = [m.marginal(a) for m in members]
                    low[rows, j], high[rows, j] = _family(single).mixed_interval(single, R[:, rows].T, level)
        return low, high

    def draw(self, theta: Members, slab: Slab, labels: Ints, rng: Any) -> Array:
        """Draw missing entries given the observed ones."""
        out = np.zeros((len(slab.X), len(self.columns)))
        for rows, missing, members in self._conditionals(theta, slab):
            for k, member in enumerate(members):
                here = rows[labels[rows] == k]
                out[np.ix_(here, missing)] = member.sample(len(here), rng)
        return out


def _n_codes(members: list[Distribution], column: int, width: int) -> int:
    """Categories of a column; zero if it holds numbers."""
    own = [m.marginal(column) for m in members]
    if not width and all(getattr(m, "IS_CODED", False) for m in own):
        return max(getattr(m, "n_categories", 2) for m in own)
    return width


def _family(members: list[Distribution]) -> type[Distribution]:
    """The family that all members belong to, which knows how they are mixed."""
    kinds = {type(m) for m in members}
    return kinds.pop() if len(kinds) == 1 else Distribution
