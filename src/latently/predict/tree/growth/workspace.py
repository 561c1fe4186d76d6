"""Arrays that a kernel works in; it allocates none."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently.predict.tree.growth.setting import Setting
from latently.predict.tree.growth.targets import Targets

_FEW: Final = 32  # the kernel's numbers of rows that are sorted
_SORTED_ROWS: Final = 1 << 14
_MOST_CODES: Final = 1 << 16
# places of numbers in the kernel's setting
_MAX_DEPTH, _MAX_LEAVES, _CHECKS_COUNTS, _SORTS = 1, 4, 7, 10


def workspace(
    rows: NDArray[np.uint32], d: int, size: int, targets: Targets, whole: NDArray[np.int64]
) -> tuple[tuple[NDArray[Any], ...], ...]:
    """Space for a tree of some rows and d columns of fewer than `size` bins: nodes, and what `grow_tree` asks for."""
    m, most = len(rows), _most_nodes(len(rows), whole)
    n_sums = int(targets.starts[-1]) if targets.by_class else targets.dense.shape[1]
    width = n_sums + int(whole[_CHECKS_COUNTS])
    made = np.empty((most, 8), dtype=np.int64), np.empty((most, 3)), np.empty((most, n_sums))
    weights = np.empty((m, 1))
    node_T = np.empty((0 if targets.by_class else m, targets.dense.shape[1]))
    node_y = np.empty(m if targets.by_class else 0, dtype=targets.codes.dtype)
    current = (
        np.empty(m, dtype=np.bool_), np.empty_like(rows), np.zeros(5, dtype=np.int64), np.zeros(2), np.empty(2),
        np.empty(size, dtype=np.int64), np.empty(width + 1), np.empty(d, dtype=np.int64),
    )  # fmt: skip
    # with the best node first the sorted columns of the root alone would do
    sorts = whole[_SORTS] and (whole[_MAX_LEAVES] < 0 or m <= _SORTED_ROWS)
    room, its_T = min(m, _SORTED_ROWS) if sorts else 0, weights if targets.by_class else node_T
    return (
        made, _waiting(min(m, most) + 2), bin_space(size, width), (node_T, node_y, weights[:, 0], targets.starts),
        current, _columns(room, m, d, size, its_T, node_y),
    )  # fmt: skip


def _most_nodes(m: int, whole: NDArray[np.int64]) -> int:
    most = 2 * m - 1 if whole[_MAX_LEAVES] < 0 else min(2 * m - 1, 2 * int(whole[_MAX_LEAVES]) - 1)
    depth = int(whole[_MAX_DEPTH])
    return min(most, (1 << (depth + 1)) - 1) if depth < 40 else most


def _waiting(n: int) -> tuple[NDArray[Any], ...]:
    """Open nodes: node, start, stop, depth; seed; gain; bounds."""
    return np.empty((n, 4), dtype=np.int64), np.empty(n, dtype=np.uint64), np.empty(n), np.empty((n, 2))


def _columns(room: int, m: int, d: int, size: int, T: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Sorted columns of a node and the targets of its rows."""
    return (
        np.empty((d + 1, room), dtype=np.uint32), np.zeros(d + 1, dtype=np.bool_), np.empty((room, 2)),
        np.empty(room if len(y) else 0, dtype=y.dtype),
        np.empty(min(m, max(2 * size, _FEW), _MOST_CODES), dtype=np.uint32), np.empty(size, dtype=np.int32), T,
        np.empty(room, dtype=np.bool_), np.empty(room, dtype=np.uint32),
    )  # fmt: skip


def bin_space(size: int, width: int) -> tuple[NDArray[Any], ...]:
    """Space for the bins of a column: sums, bits and a list of those that are not empty, two branches, their order."""
    return (
        np.zeros((size, width)), np.zeros((size >> 6) + 2, dtype=np.uint64), np.empty(size, dtype=np.int64),
        np.empty(width), np.empty(width), np.zeros(size, dtype=np.int64), np.empty(3), np.empty(size),
        np.empty(size, dtype=np.int64),
    )  # fmt: skip


def general_space(setting: Setting, n_classes: int, size: int, width: int) -> tuple[NDArray[Any], ...]:
    """Monotone constraints, space for categories (a list) and missing values (sums), and least chi-squares."""
    return setting.signs, np.empty(size, dtype=np.int64), np.empty(width), setting.critical(n_classes)
