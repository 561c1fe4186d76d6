"""Coordinates in which the data are centred and of unit scale."""

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from latently.data.tables.matrix import FloatArray
from latently.distributions.inputs import Array

Kind = Literal["full", "tied", "diag", "spherical"]


def covariance_shape(kind: Kind, k: int, d: int) -> tuple[int, ...]:
    """The shape of the covariances of k components over d columns."""
    return {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}[kind]


@dataclass(frozen=True, eq=False)
class Frame:
    """Coordinates z = (x - origin) / scale; one scale for all columns where the covariance is spherical.

    `within` (d,) is the variance inside clusters, in these coordinates; that of all rows where it was not measured.
    """

    origin: Array
    scale: Array
    within: Array | None = None

    def is_same(self, other: "Frame") -> bool:
        """Whether another frame has the same coordinates; one that came from files or Dask is another object."""
        same = np.array_equal(self.origin, other.origin) and np.array_equal(self.scale, other.scale)
        return self is other or bool(same)

    def unit(self, kind: Kind) -> Array:
        """The covariance that a default prior is about, shaped as that of one component."""
        within = np.ones_like(self.scale) if self.within is None else self.within
        if kind in ("full", "tied"):
            return np.diag(within)
        return within if kind == "diag" else np.asarray(within.mean())

    @property
    def log_volume(self) -> float:
        """log |dx/dz|: what a log density loses on its way from z to x."""
        return float(np.log(self.scale).sum())

    def inward(self, points: FloatArray) -> Array:
        """Points of the data's own coordinates, in this frame."""
        return np.asarray((points - self.origin) / self.scale)

    def outward(self, points: Array) -> Array:
        """Points of this frame, in the data's own coordinates."""
        return np.asarray(points * self.scale + self.origin)

    def covariance_factor(self, kind: Kind) -> Array:
        """What covariances of this frame are multiplied by to reach the data's own units."""
        if kind in ("full", "tied"):
            return np.outer(self.scale, self.scale)
        return self.scale**2 if kind == "diag" else np.asarray(self.scale[0] ** 2)


@cache
def unit_frame(d: int) -> Frame:
    """The frame of the data's own units."""
    return Frame(np.zeros(d), np.ones(d))


def is_varying(mean: Array, variance: Array) -> Array:
    """(d,) whether columns with these moments vary by more than rounding."""
    rounding = (8 * np.finfo(float).eps * np.abs(mean)) ** 2
    return np.asarray(variance > np.maximum(rounding, np.finfo(float).tiny))


def frame_of(mean: Array, variance: Array, kind: Kind) -> Frame:
    """The frame of data with these moments; a column that does not vary keeps its own unit."""
    varies = is_varying(mean, variance)
    if kind == "spherical":
        common = np.sqrt(variance[varies].mean()) if varies.any() else 1.0
        return Frame(mean, np.full_like(mean, common))
    return Frame(mean, np.where(varies, np.sqrt(np.where(varies, variance, 1.0)), 1.0))
