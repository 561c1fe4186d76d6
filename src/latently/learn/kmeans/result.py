"""Where a run of K-means ended."""

from dataclasses import dataclass

import numpy as np

from latently.distributions.inputs import Array
from latently.learn.kmeans.model import Labels, LloydStatistics


@dataclass(frozen=True, eq=False)
class Run:
    """Where a run ended: centres about the origin, labels and statistics at these centres, and the way there."""

    centres: Array
    labels: Labels
    stats: LloydStatistics
    trace: tuple[float, ...] = ()
    n_iter: int = 0
    converged: bool = False
    reason: str = "partial_fit"

    def about_centres(self) -> Array:
        """(K, d) weighted sums of the rows of each cluster about its centre."""
        return np.asarray(self.stats.first - self.stats.share * self.centres)
