"""What every chunk of a table has to know when trees grow from chunks."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.data.sources.chunks import Chunk
from latently.predict.tree.growth.binary import whole_setting
from latently.predict.tree.growth.bins import Bins
from latently.predict.tree.growth.setting import Setting
from latently.predict.tree.growth.targets import Targets

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Job:
    """What every chunk has to know.

    Attributes
    ----------
    bins
        Of the columns.
    read
        Gives targets and weights of a chunk.
    counts
        (trees, n) how often a row was drawn for a tree; None if every tree has all rows.
    setting, totals
        When to split; (trees,) weights of their rows, known after the first pass.
    is_even
        Whether all weights are one.
    """

    bins: Bins
    read: Any
    counts: NDArray[np.uint8] | None
    setting: Setting
    totals: Array
    is_even: bool
    goal: Targets  # without rows: what the targets are

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where the classes of each output begin."""
        return self.goal.starts

    @property
    def n_sums(self) -> int:
        """Statistics of a bin."""
        return int(self.starts[-1]) if self.goal.is_class else int(self.starts[0]) + 1

    @property
    def setting_width(self) -> int:
        """Statistics of a bin, and the number of rows if that has to be known."""
        return self.n_sums + int(self.whole[7])

    @property
    def whole(self) -> NDArray[np.int64]:
        """The setting as the kernels read it."""
        return whole_setting(self.setting, self.goal, self.is_even)

    def setting_of(self, tree: int) -> Setting:
        """When the nodes of a tree are split."""
        return self.setting.weighing(float(self.totals[tree]))

    @property
    def table(self) -> tuple[Any, ...]:
        """The columns as the kernels read them, without rows."""
        b = self.bins
        codes = np.empty((0, len(b.n_bins)), dtype=b.dtype)
        return codes, b.n_bins, b.offsets, b.lows, b.highs, b.is_cat

    def codes(self, chunk: Chunk) -> NDArray[Any]:
        """Codes of a chunk, kept from pass to pass where there is room."""
        if "codes" not in chunk.memo:
            chunk.memo["codes"] = self.bins.encoded(chunk.X)
        found: NDArray[Any] = chunk.memo["codes"]
        return found

    def weights(self, chunk: Chunk, own: Array | None, tree: int) -> Array:
        """Weights of a chunk's rows for a tree."""
        drawn = np.ones(chunk.n_rows) if self.counts is None else self.counts[tree, chunk.start : chunk.stop]
        return np.asarray(drawn if own is None else drawn * own, dtype=np.float64)
