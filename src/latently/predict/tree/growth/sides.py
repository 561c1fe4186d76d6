"""Where values go that a node has not seen: to its larger branch."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently import compiled
from latently.predict.tree.growth.bins import Bins

_ROUNDING: Final = 1e-12


def is_larger(branch: Any, node: Any) -> Any:
    """Whether more than half of the weight of a node is in a branch, beyond rounding: sums come in any order.

    Examples
    --------
    >>> is_larger(np.array([2.0, 1.0, 1.0 + 1e-15]), np.array([3.0, 2.0, 2.0])).tolist()
    [True, False, False]
    """
    return 2 * branch > (1 + _ROUNDING) * node


def send_unseen(whole: NDArray[np.int64], weight: NDArray[np.float64], codes: Any, rows: Any, bins: Bins) -> Any:
    """Complete the nodes of a kernel: missing values where none was seen, and categories; give the lists of those.

    The categories of the smaller branch are listed, so that whatever else comes goes to the larger one.
    """
    is_left = is_larger(weight[whole[:, 1]], weight)  # of no meaning in leaves, where it is not asked for
    whole[:, 2] = np.where(whole[:, 2] < 0, is_left, whole[:, 2])
    grouped = np.flatnonzero(whole[:, 5])
    if len(grouped) == 0:
        return np.empty(0, dtype=np.int64)
    smaller, features = whole[grouped, 1] + is_left[grouped], whole[grouped, 0]
    starts, lengths, sizes = whole[smaller, 7], np.empty(len(grouped), dtype=np.int64), bins.n_bins[features] + 1
    lists = np.empty(np.minimum(whole[smaller, 3], sizes).sum(), dtype=np.int64)
    seen = np.zeros(sizes.max(), dtype=np.int8)
    compiled.tree.groups.list_codes(codes, rows, starts, starts + whole[smaller, 3], features, seen, lengths, lists)
    whole[grouped, 4], whole[grouped, 5] = np.cumsum(lengths) - lengths, lengths
    return lists[: lengths.sum()].copy()
