"""Groups of neighbouring centres, which share a lower bound of their distance to a row."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

LANES = 16
Packed = tuple[Any, ...]
_NOWHERE = 1e30  # squared norm of an empty lane: farther than anything


@dataclass(frozen=True, eq=False)
class Groups:
    """Which centres belong together.

    Attributes
    ----------
    members
        (G, L) indices of the centres of each group; -1 for a lane without one.
    place
        (K,) lane of each centre, counted through all groups.

    Examples
    --------
    >>> Groups(np.array([[0, 2], [1, -1]]), np.array([0, 2, 1])).largest(np.array([1.0, 5.0, 3.0]))
    array([3., 5.])
    """

    members: IntArray
    place: IntArray

    @classmethod
    def of(cls, centres: Array) -> "Groups":
        """Halve the centres again and again across their widest coordinate, into groups of equal size.

        There are at most twice as many groups as columns, so that bounds in single precision take no more
        memory than the rows do.
        """
        K, d = centres.shape
        lanes = LANES * -(-K // (LANES * max(4, 2 * d)))
        parts = _halve(centres, np.arange(K), -(-K // lanes), lanes)
        members = np.full((len(parts), lanes), -1)
        for row, part in zip(members, parts, strict=True):
            row[: len(part)] = part
        place = np.empty(K, dtype=np.int64)
        place[members[members >= 0]] = np.flatnonzero(members >= 0)
        return cls(members, place)

    def largest(self, values: Array) -> Array:
        """(G,) largest value of each group's centres; values are not negative."""
        return np.asarray(self._spread(values).max(axis=1))

    def pack(self, centres: Array, unit: float) -> Packed:
        """Put centres about the origin into lanes, in single precision: as `kmeans_bounds.bounded` wants them."""
        lanes = self._spread(centres * unit)  # (G, L, d)
        square = (lanes**2).sum(axis=2)
        size = np.sqrt(square.max(axis=1)) * 1.000001
        tilt = np.empty((len(lanes), centres.shape[1] + 1, lanes.shape[1]), np.float32)
        tilt[:, :-1], tilt[:, -1] = -2 * lanes.transpose(0, 2, 1), np.where(self.members >= 0, square, _NOWHERE)
        return tilt, size.astype(np.float32), self.members.ravel(), self.place

    def _spread(self, values: Array) -> Array:
        lanes = np.zeros((self.members.size, *values.shape[1:]))
        lanes[self.place] = values
        return lanes.reshape(*self.members.shape, *values.shape[1:])


def _halve(centres: Array, who: IntArray, groups: int, lanes: int) -> list[IntArray]:
    if groups == 1:
        return [who]
    half = groups // 2
    widest = np.argmax(centres[who].var(axis=0))
    who = who[np.argsort(centres[who, widest], kind="stable")]
    left, right = who[: half * lanes], who[half * lanes :]
    return _halve(centres, left, half, lanes) + _halve(centres, right, groups - half, lanes)
