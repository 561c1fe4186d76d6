"""Expected moments of a Gaussian mixture's components: what its E-step returns and its M-step needs."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from tacit.cluster.gaussian_params import Frame, Kind
from tacit.learn.protocol import Array, Statistics


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
        return replace(
            self, centre=centre, first=first, second=self.second + self._cross(self.first, step, first)
        )

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

    def scatter(self) -> Array:
        """Sums of squares about the means, shaped as `second`."""
        offsets = self.offsets()
        if self.kind == "full":
            return self.second - np.einsum("ki,kj->kij", offsets, self.first)
        if self.kind == "tied":
            return self.second - offsets.T @ self.first
        spread = self.second - (offsets * self.first if self.kind == "diag" else (offsets * self.first).sum(axis=1))
        return np.maximum(spread, 0.0)

    def _cross(self, first: Array, step: Array, moved: Array) -> Array:
        # sum r (z - c + s)(z - c + s)' = second + first s' + s moved'
        if self.kind == "full":
            return np.einsum("ki,kj->kij", first, step) + np.einsum("ki,kj->kij", step, moved)
        if self.kind == "tied":
            return first.T @ step + step.T @ moved
        elementwise = step * (first + moved)
        return elementwise if self.kind == "diag" else elementwise.sum(axis=1)
