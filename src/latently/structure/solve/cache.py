"""Planes that have been found so far, and their dual weights."""

import numpy as np
from scipy import sparse

from latently import compiled
from latently.structure.protocol import Array, Ints, Planes
from latently.structure.solve.master import solve_master

_OLD = 10  # rounds without weight after which a plane is dropped
_STEPS = 3  # steps in a block before the next one
_WORK = 1_000_000  # entries of planes that are looked at in the passes of a round
_FEWEST, _MOST = 12, 300  # passes
_SOLVABLE = 2e8  # planes times squared weights of a programme that is solved exactly
_NOTHING = 1e-12  # share of a bound that is rounding


class PlaneCache:
    """Planes of all blocks, with a dual variable for each; what is left of a block's bound is with the true output.

    Parameters
    ----------
    bounds
        (n,) what the dual variables of each block sum to.
    size
        Number of weights.
    """

    def __init__(self, bounds: Array, size: int) -> None:
        self.size = size
        self.rest = bounds.copy()
        self.block = np.empty(0, dtype=np.int64)
        self.offset, self.alpha, self.age = np.empty(0), np.empty(0), np.empty(0, dtype=np.int64)
        self.directions = sparse.csr_matrix((0, size))
        self._scratch = np.zeros(size)

    def add(self, planes: Planes, items: Ints, w: Array) -> None:
        """Keep planes of some blocks that are above all that their blocks have."""
        values = planes.values(w)
        highest = np.zeros(len(self.rest))
        if len(self.block):
            mine = np.flatnonzero(np.isin(self.block, items))
            np.maximum.at(highest, self.block[mine], self.offset[mine] - self.directions[mine] @ w)
        new = np.flatnonzero(values > highest[items] + 1e-12 * (1.0 + np.abs(values)))
        if not len(new):
            return
        self.directions = sparse.vstack([self.directions, planes.directions[new]], format="csr")
        self.block = np.concatenate([self.block, items[new]])
        self.offset = np.concatenate([self.offset, planes.offsets[new]])
        self.alpha = np.concatenate([self.alpha, np.zeros(len(new))])
        self.age = np.concatenate([self.age, np.zeros(len(new), dtype=np.int64)])

    def improve(self, items: Ints, w: Array, rng: np.random.RandomState, passes: int = 1, enough: float = 0.0) -> float:
        """Steps in some blocks, which change w, until the gap they have on their own planes is small enough.

        Gives the gap that they had in the last pass.
        """
        members = np.argsort(self.block, kind="stable")
        first = np.searchsorted(self.block[members], np.arange(len(self.rest) + 1))
        D = self.directions
        planes = members, D.indptr.astype(np.int64), D.indices.astype(np.int64), D.data, self.offset
        state = self.alpha, self.rest, w, self._scratch
        gap = 0.0
        for _ in range(passes):
            gap = float(compiled.structure.planes.improve(rng.permutation(items), first, *planes, _STEPS, *state))
            if gap <= enough:
                break
        return gap

    def affordable_passes(self) -> int:
        """How many passes over all planes take about as long as a round may."""
        return int(np.clip(_WORK // max(self.directions.nnz, 1), _FEWEST, _MOST))

    def solve(self, start: Array, tol: float) -> bool:
        """Set the dual variables to the best ones for the planes at hand; gives whether that could be done."""
        if not 0 < len(self.block) * self.size**2 <= _SOLVABLE:
            return False
        n = len(self.rest)
        bounds = self.rest + np.bincount(self.block, self.alpha, n)
        used, own = np.unique(self.block, return_inverse=True)
        A = self.directions.toarray()
        offset = self.offset - A @ start
        found = solve_master(A, offset, own, bounds[used], tol)
        found[found < _NOTHING * bounds[self.block]] = 0.0
        sums = np.bincount(self.block, found, n)
        if not np.isfinite(found).all() or (sums > bounds * (1 + 1e-6)).any():
            return False
        found *= np.minimum(1.0, bounds / np.maximum(sums, 1e-300))[self.block]
        before, after = (alpha @ offset - 0.5 * np.sum((A.T @ alpha) ** 2) for alpha in (self.alpha, found))
        if after < before:  # it was solved to within the tolerance already
            return True
        self.alpha = found
        self.rest = np.maximum(bounds - np.bincount(self.block, self.alpha, n), 0.0)
        return True

    def forget(self) -> None:
        """Drop planes that have had no weight for long."""
        self.age = np.where(self.alpha > 0, 0, self.age + 1)
        kept = self.age <= _OLD
        if not kept.all():
            self.directions = self.directions[np.flatnonzero(kept)]
            self.block, self.offset = self.block[kept], self.offset[kept]
            self.alpha, self.age = self.alpha[kept], self.age[kept]

    def weights(self, start: Array) -> Array:
        """(d,) the start and the sum of all directions times their dual variables."""
        return np.asarray(start + self.directions.T @ self.alpha)

    def dual_offset(self, start: Array) -> float:
        """The linear part of the dual objective."""
        return float(self.alpha @ (self.offset - self.directions @ start)) if len(self.alpha) else 0.0
