"""Trees of two-way splits: one compiled call for each."""

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently import compiled
from latently.predict.tree.growth.absolute import grow_absolute
from latently.predict.tree.growth.bins import Bins
from latently.predict.tree.growth.setting import CRITERIA, Setting
from latently.predict.tree.growth.sides import send_unseen
from latently.predict.tree.growth.targets import Targets
from latently.predict.tree.growth.workspace import general_space, workspace
from latently.predict.tree.model.nodes import GROUPS, LEAF, THRESHOLD, Nodes

Array = NDArray[np.float64]
_PLAIN: Final = 9  # place in the kernel's setting


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree and where its rows went: node i has `rows[starts[i]:starts[i] + samples[i]]`, if that is known."""

    nodes: Nodes
    rows: NDArray[np.uint32] | None
    starts: NDArray[np.int64] | None
    leaf_targets: Any = None


def grow_binary(
    bins: Bins, codes: NDArray[Any], targets: Targets, weights: Array | None, setting: Setting, seed: int
) -> Grown:
    """Grow a tree on the rows that have a weight.

    Parameters
    ----------
    bins, codes
        The columns, (n, d).
    targets
        Of all rows.
    weights
        (n,) of the rows; None for ones.
    setting
        When to split.
    seed
        Of the draws of columns and thresholds. They depend on the seed and the place of a node in the tree only.
    """
    n = len(codes)
    even = weights is None
    w = np.ones(n) if weights is None else weights
    rows = np.arange(n, dtype=np.uint32) if even else np.flatnonzero(w > 0).astype(np.uint32)
    if setting.criterion == "absolute_error":
        made, medians = grow_absolute(bins, codes, targets, w, rows, setting, seed)
        nodes = replace(as_nodes(made, targets, bins), value=medians[:, :, None])
        return Grown(nodes, rows, made[0][:, 7])
    made = _grown(bins, codes, rows, targets, w, setting, seed, float(w[rows].sum()), even)
    return Grown(as_nodes(made, targets, bins), rows, made[0][:, 7].copy())


def subtree(
    bins: Bins, codes: NDArray[Any], targets: Targets, weights: Array, setting: Setting, seed: int, total: float,
    counts: bool,
) -> Any:  # fmt: skip
    """Grow the tree below a node of a larger one, whose rows weigh `total`; as the kernel gives it."""
    rows = np.arange(len(codes), dtype=np.uint32)
    made = _grown(bins, codes, rows, targets, weights, setting, seed, total, not counts)
    return tuple(part.copy() for part in made)  # of arrays that have room for more nodes


def _grown(
    bins: Bins, codes: NDArray[Any], rows: NDArray[np.uint32], targets: Targets, w: Array, setting: Setting, seed: int,
    total: float, even: bool,
) -> Any:  # fmt: skip
    table = (codes, bins.n_bins, bins.offsets, bins.lows, bins.highs, bins.is_cat)
    goals = (targets.dense, targets.codes, w, targets.starts)
    whole = whole_setting(setting, targets, even)
    size = int(bins.n_bins.max()) + 2
    made, waiting, space, *rest = workspace(rows, codes.shape[1], size, targets, whole)
    general = None
    if _is_general(bins, codes, setting, whole):
        general = general_space(setting, int(targets.starts[-1]), size, len(space[3]))
    for part, root in zip(waiting, ((0, 0, len(rows), 0), seed, np.inf, setting.bounds), strict=True):
        part[0] = root
    n = compiled.tree.grow.grow_tree(
        table, rows, goals, whole, real_setting(setting, total), made, waiting, space, general, *rest
    )
    nodes, real = (np.ascontiguousarray(part[:n].T).T for part in made[:2])  # column by column, as they are read
    return nodes, real, made[2][:n], send_unseen(nodes, real[:, 2], codes, rows, bins)


def _is_general(bins: Bins, codes: NDArray[Any], setting: Setting, whole: NDArray[np.int64]) -> bool:
    """Whether there is more than complete columns of numbers, cut without conditions."""
    plain = whole[_PLAIN] and setting.significance is None and not bins.is_cat.any() and not setting.signs.any()
    return not plain or bool((codes.max(axis=0, initial=0) == bins.n_bins).any())


def whole_setting(setting: Setting, targets: Targets, even: bool) -> NDArray[np.int64]:
    """Whole numbers of a setting, in the kernel's order; `even` if all weights are one."""
    criterion = CRITERIA[setting.criterion]
    counts = setting.min_samples_leaf > 1 and not even
    plain = (targets.by_class and criterion == 0) or (
        not targets.is_class and criterion == 2 and targets.starts[0] == 1
    )
    plain &= setting.min_weight_fraction <= 0 and not setting.is_random
    # sorted columns are kept in order at every split: that is for trees that look at many of them
    sorts = plain and 3 * setting.max_features >= len(setting.signs)
    plain &= setting.min_samples_leaf == 1
    limits = (setting.max_depth, setting.min_samples_split, setting.min_samples_leaf, setting.max_leaf_nodes)
    flags = (setting.is_random, counts, targets.by_class, plain, sorts)
    return np.array([criterion, *limits, setting.max_features, *flags], dtype=np.int64)


def real_setting(setting: Setting, total: float) -> Array:
    """Other numbers of a setting, in the kernel's order."""
    return np.array([setting.min_weight_leaf, setting.min_impurity_decrease, total])


def as_nodes(made: Any, targets: Targets, bins: Bins) -> Nodes:
    """The tree that a kernel made."""
    whole, real, sums, lists = made
    inner, grouped = whole[:, 0] >= 0, whole[:, 5] > 0
    kind = np.where(grouped, GROUPS, np.where(inner, THRESHOLD, LEAF)).astype(np.int8)
    return Nodes(
        kind=kind,
        feature=whole[:, 0].copy(),
        threshold=real[:, 0].copy(),
        first=whole[:, 1].copy(),
        n_children=np.where(inner, 2, 0).astype(np.int64),
        missing=np.where(inner, 1 - whole[:, 2], 0).astype(np.int64),
        list_start=whole[:, 4].copy(),
        list_len=whole[:, 5].copy(),
        lists=lists.copy(),
        samples=whole[:, 3].copy(),
        weight=real[:, 2].copy(),
        impurity=real[:, 1].copy(),
        value=targets.values(sums, real[:, 2]),
        n_categories=np.where(bins.is_cat > 0, bins.n_bins, 0),
    )
