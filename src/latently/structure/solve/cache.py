"""Planes that have been found so far, and their dual weights."""

import numpy as np
from scipy import sparse

from latently import compiled
from latently.structure.protocol import Array, Ints, Planes

_OLD = 10  # rounds without weight after which a plane is dropped


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

    def improve(self, order: Ints, w: Array, n_steps: int) -> float:
        """Steps in the blocks of `order`, which change w; gives the gap that these blocks had on their own planes."""
        members = np.argsort(self.block, kind="stable")
        first = np.searchsorted(self.block[members], np.arange(len(self.rest) + 1))
        D = self.directions
        return float(
            compiled.structure.planes.improve(
                order, first, members, D.indptr.astype(np.int64), D.indices.astype(np.int64), D.data, self.offset, n_steps,
                self.alpha, self.rest, w, self._scratch,
            )
        )  # fmt: skip

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
