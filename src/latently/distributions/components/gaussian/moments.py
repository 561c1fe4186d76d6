"""Expected moments of a Gaussian mixture's components: what its E-step returns and its M-step needs."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from latently.distributions.components.gaussian.frame import Frame, Kind
from latently.distributions.statistics import Moments, Statistics


@dataclass(frozen=True, eq=False)
class GaussianMoments(Moments, Statistics):
    """Moments of each component about a centre of its own, in a frame.

    Of `second`, the full kind has a matrix for each component (k, d, d), tied their sum (d, d), diag the diagonals
    (k, d), spherical the traces (k,).
    """

    kind: Kind
    frame: Frame

    def shape_of_second(self) -> str:
        """The kind of covariance."""
        return self.kind

    def _combine(self, other: Self, sign: int) -> Self:
        theirs = other.in_frame(self.frame)
        if theirs.centre is not self.centre and not np.array_equal(theirs.centre, self.centre):
            theirs = theirs.about(self.centre)
        rows, bound = self.rows + sign * other.rows, self.bound + sign * other.bound
        return replace(self._added(self, theirs, sign), rows=rows, bound=bound)

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
