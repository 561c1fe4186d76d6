"""A tree under construction from sums over chunks, and the sub-trees that grew below its nodes."""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently import compiled

Array = NDArray[np.float64]


@dataclass(eq=False)
class Sketch:
    """A tree under construction: rows stop at nodes whose first child is -1."""

    seed: int
    first: list[int] = field(default_factory=lambda: [-1])
    feature: list[int] = field(default_factory=lambda: [-1])
    cut: list[int] = field(default_factory=lambda: [-1])
    missing: list[int] = field(default_factory=lambda: [0])
    threshold: list[float] = field(default_factory=lambda: [0.0])
    lists: list[NDArray[np.int64]] = field(default_factory=lambda: [np.empty(0, dtype=np.int64)])
    seeds: list[int] = field(default_factory=list)
    depth: list[int] = field(default_factory=lambda: [0])
    sums: dict[int, Array] = field(default_factory=dict)
    grown: dict[int, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.seeds = [self.seed]

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """What routes rows."""
        lengths = np.array([len(part) for part in self.lists], dtype=np.int64)
        whole = [np.array(part, dtype=np.int64) for part in (self.first, self.feature, self.cut, self.missing)]
        return (*whole, np.cumsum(lengths) - lengths, lengths, np.concatenate(self.lists))

    def split(self, node: int, d: int, **how: Any) -> None:
        """Give a node two children."""
        self.first[node] = len(self.first)
        for name, value in how.items():
            getattr(self, name)[node] = value
        for side in range(2):
            step = np.uint64(4 * d + 7 + side)
            self.seeds.append(int(compiled.tree.grow.mixed(np.uint64(self.seeds[node]), step)))
            self.depth.append(self.depth[node] + 1)
            blank = (("first", -1), ("feature", -1), ("cut", -1), ("missing", 0), ("threshold", 0.0))
            for name, value in blank:
                getattr(self, name).append(value)
            self.lists.append(np.empty(0, dtype=np.int64))

    def joined(self, n_sums: int) -> tuple[NDArray[Any], ...]:
        """Put the sub-trees below the nodes that they grew from, children side by side; as a kernel gives a tree."""
        rows: list[Entry] = []
        queue: deque[tuple[int, Any, int]] = deque([(0, None, 0)])  # node of the sketch, or of a sub-tree
        made, n_lists = 1, 0
        while queue:
            node, part, at = queue.popleft()
            if part is None and node in self.grown:
                part, at = self.grown[node], 0
            entry, first = self._entry(node, n_sums) if part is None else _entry_of(part, at)
            below = [] if first < 0 else [(first, None, 0), (first + 1, None, 0)]
            if part is not None:
                below = [(node, part, child) for child, _, _ in below]
            entry.whole[1], entry.whole[4], entry.whole[5] = made if below else -1, n_lists, len(entry.listed)
            rows.append(entry)
            n_lists += len(entry.listed)
            made += len(below)
            queue += below
        whole, real, sums = (np.array([getattr(row, name) for row in rows]) for name in ("whole", "real", "sums"))
        return whole, real, sums, np.concatenate([row.listed for row in rows]).astype(np.int64)

    def _entry(self, node: int, n_sums: int) -> tuple["Entry", int]:
        """A node of the sketch, and its first child."""
        first, own = self.first[node], self.sums[node]
        side = 1 - self.missing[node] if first >= 0 else 0
        whole = [self.feature[node], -1, side, int(own[0]), 0, 0, self.cut[node]]
        real = [self.threshold[node], own[2], own[1]]
        return Entry(whole, real, own[3 : 3 + n_sums], self.lists[node]), first


@dataclass(eq=False)
class Entry:
    """A node of the whole tree, in the order of the kernel's columns."""

    whole: list[int]
    real: Any
    sums: Array
    listed: NDArray[np.int64]


def _entry_of(part: Any, at: int) -> tuple[Entry, int]:
    """A node of a sub-tree, and its first child."""
    whole, real, sums, lists = part
    start, length = int(whole[at, 4]), int(whole[at, 5])
    entry = Entry([int(v) for v in whole[at, :7]], real[at], sums[at], lists[start : start + length])
    return entry, int(whole[at, 1])
