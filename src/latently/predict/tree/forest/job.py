"""One tree of a forest: its rows are drawn from its seed."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.predict.tree.growth.binary import Grown, grow_binary
from latently.predict.tree.growth.bins import Bins
from latently.predict.tree.growth.setting import Setting
from latently.predict.tree.growth.targets import Targets

Array = NDArray[np.float64]


class Job:
    """Grows one tree from its seed, in whatever thread."""

    def __init__(
        self, forest: Any, rows: Array, bins: Bins, targets: Targets, weights: Array | None, setting: Setting
    ) -> None:
        self.forest, self.rows, self.bins, self.codes = forest, rows, bins, bins.encode(rows)
        self.targets, self.weights, self.setting = targets, weights, setting

    def __call__(self, seed: int) -> Grown:
        """Grow the tree of a seed."""
        n = len(self.codes)
        counts = None
        if self.forest.bootstrap:
            counts = np.bincount(draw(seed, n, self.forest._n_drawn(n)), minlength=n).astype(np.float64)
        weights = self.forest._tree_weights(self.targets, self.weights, counts)
        setting = self.setting.weighing(float(n) if weights is None else float(weights.sum()))
        if self.forest._is_multiway:
            from latently.predict.tree.growth.multiway import Rules, grow_multiway

            forest = self.forest
            rules = Rules(forest.criterion, forest.nominal == "values", forest.missing == "fractional")
            categories = np.where(self.bins.is_cat > 0, self.bins.n_bins, 0)
            return grow_multiway(self.rows, categories, self.targets, weights, setting, rules, seed)
        grown = grow_binary(self.bins, self.codes, self.targets, weights, setting, seed)
        _ = grown.nodes.walk
        return replace(grown, leaf_targets=self.forest._kept(grown, self.targets, weights), rows=None, starts=None)


def draw(seed: int, n: int, size: int) -> NDArray[np.int64]:
    """Rows drawn with replacement for a tree."""
    return np.random.RandomState(seed).randint(0, n, size, dtype=np.int32).astype(np.int64)


def outside_of(seed: int, n: int, size: int) -> NDArray[np.int64]:
    """Rows that were not drawn for a tree."""
    return np.flatnonzero(np.bincount(draw(seed, n, size), minlength=n) == 0)
