"""Expected moments of a Gaussian mixture's components: what its E-step returns and its M-step needs."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from latently.distributions.components.gaussian.params import Frame, Kind
from latently.distributions.inputs import Array
from latently.distributions.statistics import Statistics


@dataclass(frozen=True, eq=False)
class GaussianMoments(Statistics):
    """Moments of each component about a centre of its own, in a frame.

    Attributes
    ----------
    weight
        (k,) sum_i r_ik
    centre
        (k, d) the points that the moments are about
    first
        (k, d) sum_i r_ik (z_i - c_k)
    second
        sum_i r_ik (z_i - c_k)(z_i - c_k)': (k, d, d) full, summed over k for tied, diagonal (k, d), trace (k,)
    """

    kind: Kind
    frame: Frame
    weight: Array
    centre: Array
    first: Array
    second: Array

    def _combine(self, other: Self, sign: int) -> Self:
        theirs = other.in_frame(self.frame)
        if theirs.centre is not self.centre and not np.array_equal(theirs.centre, self.centre):
            theirs = theirs.about(self.centre)
        return replace(
            self,
            rows=self.rows + sign * other.rows,
            bound=self.bound + sign * other.bound,
            weight=self.weight + sign * theirs.weight,
            first=self.first + sign * theirs.first,
            second=self.second + sign * theirs.second,
        )

    def about(self, centre: Array) -> Self:
        """The same moments about other points."""
        step = self.centre - centre
        first = self.first + self.weight[:, None] * step
        # sum r (z - c + s)(z - c + s)' = second + first s' + s moved'
        second = self.second + products(self.kind, self.first, step) + products(self.kind, step, first)
        return replace(self, centre=centre, first=first, second=second)

    def in_frame(self, frame: Frame) -> Self:
        """The same moments in another frame."""
        if frame is self.frame:
            return self
        ratio = self.frame.scale / frame.scale
        factor = {"full": np.outer(ratio, ratio), "tied": np.outer(ratio, ratio), "diag": ratio**2}.get(
            self.kind, ratio[0] ** 2
        )
        return replace(
            self,
            frame=frame,
            centre=frame.inward(self.frame.outward(self.centre)),
            first=self.first * ratio,
            second=self.second * factor,
        )

    def permuted(self, order: Array) -> Self:
        """The same moments with the components in another order."""
        return replace(
            self,
            weight=self.weight[order],
            centre=self.centre[order],
            first=self.first[order],
            second=self.second if self.kind == "tied" else self.second[order],
        )

    def offsets(self) -> Array:
        """(k, d) from each centre to the mean; zero where a component has no weight."""
        weight = self.weight[:, None]
        return np.divide(self.first, weight, out=np.zeros_like(self.first), where=weight > 0)

    def mass(self) -> Array:
        """Weight behind each covariance, shaped to divide `second`; every column of a spherical one counts."""
        if self.kind == "tied":
            return np.asarray(self.weight.sum())
        if self.kind == "spherical":
            return self.weight * self.first.shape[1]
        return self.weight[:, None] if self.kind == "diag" else self.weight[:, None, None]

    def scatter(self) -> Array:
        """Sums of squares about the means, shaped as `second`."""
        spread = self.second - products(self.kind, self.offsets(), self.first)
        return spread if self.kind in ("full", "tied") else np.maximum(spread, 0.0)

    def embedded(self, component: int, k: int) -> Self:
        """The moments of a mixture of one component as those of one component among k, the others without rows."""

        def placed(values: Array) -> Array:
            out = np.zeros((k, *values.shape[1:]))
            out[component] = values[0]
            return out

        return replace(
            self,
            weight=placed(self.weight),
            centre=placed(self.centre),
            first=placed(self.first),
            second=self.second if self.kind == "tied" else placed(self.second),
        )


def products(kind: Kind, left: Array, right: Array) -> Array:
    """Outer products of (k, d) rows: (k, d, d) full, their sum for tied, (k, d) diagonals, (k,) traces."""
    if kind == "full":
        return np.einsum("ki,kj->kij", left, right)
    if kind == "tied":
        return np.asarray(left.T @ right)
    return left * right if kind == "diag" else np.asarray((left * right).sum(axis=1))
