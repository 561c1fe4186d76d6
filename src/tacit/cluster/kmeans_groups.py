"""Groups of neighbouring centres, which share a lower bound of their distance to a row."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

LANES = 16
Packed = tuple[Any, ...]


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
        """Put centres about the origin into lanes, in single precision."""
        live = self.members >= 0
        lanes = self._spread(centres * unit)  # (G, L, d)
        middle = (lanes.sum(axis=1) / live.sum(axis=1)[:, None]).astype(np.float32)
        about = np.where(live[:, :, None], lanes - middle[:, None], 0.0)
        square = (about**2).sum(axis=2)
        radius = np.sqrt(square.max(axis=1))
        size = np.stack([radius, radius + np.linalg.norm(middle, axis=1)], axis=1) * 1.000001
        tilt = np.ascontiguousarray((-2 * about).transpose(0, 2, 1), dtype=np.float32)
        about_origin = (lanes**2).sum(axis=2)
        flat_tilt = np.ascontiguousarray(-2 * lanes.reshape(live.size, -1).T, dtype=np.float32)
        flat = (flat_tilt, _norm(about_origin, live), np.float32(np.sqrt(about_origin.max()) * 1.000001))
        norm, size = _norm(square, live), size.astype(np.float32)
        return middle, tilt, norm, size, self.members.ravel(), self.place, flat

    def _spread(self, values: Array) -> Array:
        lanes = np.zeros((self.members.size, *values.shape[1:]))
        lanes[self.place] = values
        return lanes.reshape(*self.members.shape, *values.shape[1:])


def _norm(square: Array, live: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
    # An empty lane is infinitely far away.
    return np.where(live, square, np.inf).astype(np.float32)


def _halve(centres: Array, who: IntArray, groups: int, lanes: int) -> list[IntArray]:
    if groups == 1:
        return [who]
    half = groups // 2
    widest = np.argmax(centres[who].var(axis=0))
    who = who[np.argsort(centres[who, widest], kind="stable")]
    left, right = who[: half * lanes], who[half * lanes :]
    return _halve(centres, left, half, lanes) + _halve(centres, right, groups - half, lanes)
