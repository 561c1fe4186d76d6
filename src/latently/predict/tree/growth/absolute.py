"""Regression trees by absolute errors: medians take the rows themselves, so nodes are split one by one."""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently import compiled
from latently.predict.tree.growth.bins import Bins
from latently.predict.tree.growth.setting import Setting
from latently.predict.tree.growth.sides import send_unseen
from latently.predict.tree.growth.targets import Targets

Array = NDArray[np.float64]
_EPS: Final = 2.220446049250313e-16
_MASK: Final = (1 << 64) - 1


@dataclass(eq=False)
class Open:
    """A node that may be split: its rows are rows[start:stop]."""

    node: int
    start: int
    stop: int
    depth: int
    seed: int
    bounds: tuple[float, float]
    gain: float = np.inf  # as long as it is not known


@dataclass(eq=False)
class Growth:
    """A tree under construction, in the arrays that `as_nodes` reads."""

    bins: Bins
    codes: NDArray[Any]
    y: Array  # (outputs, n)
    w: Array
    setting: Setting
    rows: NDArray[np.uint32]
    whole: list[list[int]] = field(default_factory=list)
    real: list[list[float]] = field(default_factory=list)
    medians: list[Array] = field(default_factory=list)

    def enter(self) -> int:
        """Make room for a node."""
        self.whole.append([-1, -1, 0, 0, 0, 0, -1, 0])
        self.real.append([0.0, 0.0, 0.0])
        self.medians.append(np.zeros(len(self.y)))
        return len(self.whole) - 1


def grow_absolute(
    bins: Bins, codes: NDArray[Any], targets: Targets, w: Array, rows: NDArray[np.uint32], setting: Setting, seed: int
) -> tuple[tuple[Any, ...], Array]:
    """Grow a tree on `rows`, which end up in the order of the leaves; give it as a kernel would, and the medians."""
    y = np.ascontiguousarray((targets.dense[:, 1:] + targets.centre).T)
    tree = Growth(bins, codes, y, w, setting, rows)
    total, by_gain, n_leaves = float(w[rows].sum()), setting.max_leaf_nodes > 0, 0
    frontier = [Open(tree.enter(), 0, len(rows), 0, seed, (-np.inf, np.inf))]
    while frontier:
        at = int(np.argmax([entry.gain for entry in frontier])) if by_gain else -1
        one = frontier[at]
        frontier[at] = frontier[-1]
        frontier.pop()
        is_full = by_gain and n_leaves + len(frontier) + 2 > setting.max_leaf_nodes
        found = _found(tree, one, total, is_full)
        if found is None:
            n_leaves += 1
        elif by_gain and one.gain == np.inf:
            one.gain = found.gain
            frontier.append(one)
        else:
            frontier += _split(tree, one, found)
    whole, real = np.array(tree.whole), np.array(tree.real)
    lists = send_unseen(whole, real[:, 2], codes, rows, bins)
    sums = np.ones((len(tree.whole), 1 + len(y)))  # of no use: the values are medians
    return (whole, real, sums, lists), np.array(tree.medians)


@dataclass(frozen=True, eq=False)
class Found:
    """The best split of a node."""

    feature: int
    goes_left: NDArray[np.bool_]
    cut: int
    threshold: float
    missing_left: bool
    has_missing: bool
    gain: float


def _found(tree: Growth, one: Open, total: float, is_full: bool) -> Found | None:
    """Enter what a node is; give its best split, None if it is a leaf."""
    own, setting = tree.rows[one.start : one.stop], tree.setting
    y, w, k = tree.y[:, own], tree.w[own], len(own)
    ranks = np.empty(y.shape, dtype=np.int64)
    medians, error, weight = np.empty(len(y)), 0.0, float(w.sum())
    for o, values in enumerate(y):
        order = np.argsort(values, kind="stable")
        ranks[o, order] = np.arange(k)
        medians[o] = median_in_order(values[order], w[order])
        error += float(w @ np.abs(values - medians[o]))
    impurity = error / weight / len(y)
    tree.medians[one.node] = np.clip(medians, *one.bounds)
    tree.whole[one.node][3], tree.whole[one.node][7] = k, one.start
    tree.real[one.node][1:] = [impurity, weight]
    if (is_full or one.depth >= setting.max_depth or k < max(setting.min_samples_split, 2 * setting.min_samples_leaf)
            or weight < 2 * setting.min_weight_leaf or impurity <= _EPS):  # fmt: skip
        return None
    codes, groups = _ranked(tree, tree.codes[own].astype(np.int64), y[0], w)
    best = np.array([np.inf, -1.0, -1.0, 0.0])
    columns, only, thresholds = _tried(tree, codes, one.seed)
    lost = np.where(tree.bins.is_cat > 0, -2, tree.bins.n_bins)
    limits = np.array([setting.min_samples_leaf, setting.min_weight_leaf], dtype=np.float64)
    compiled.tree.absolute.best_split(
        codes, columns, lost, only, y, w, ranks, limits, setting.signs, np.array(one.bounds), best
    )
    gain = (error - best[0]) / len(y) / total
    if best[2] < 0 or gain + _EPS < setting.min_impurity_decrease:
        return None
    f, cut, missing_left = int(best[2]), int(best[1]) - 1, best[3] == 1
    missing = codes[:, f] == lost[f]
    left = np.where(missing, missing_left, codes[:, f] <= cut)
    if setting.significance is not None and not _is_significant(y, w, left, setting):
        return None
    threshold = thresholds.get(f, _between(tree.bins, f, codes[:, f], cut)) if f not in groups else 0.0
    return Found(f, left, cut if f not in groups else -1, threshold, missing_left, bool(missing.any()), gain)


def _split(tree: Growth, one: Open, found: Found) -> list[Open]:
    """Give a node two children."""
    f, left = found.feature, found.goes_left
    own = tree.rows[one.start : one.stop].copy()
    cut = one.start + int(left.sum())
    tree.rows[one.start : one.stop] = np.concatenate([own[left], own[~left]])
    whole, is_cat = tree.whole[one.node], int(tree.bins.is_cat[f])
    whole[0], whole[5], whole[6] = f, is_cat, found.cut
    whole[2] = int(found.missing_left) if found.has_missing and not is_cat else -1
    tree.real[one.node][0] = found.threshold
    whole[1] = tree.enter()
    tree.enter()
    (low, high), sign, d = one.bounds, int(tree.setting.signs[f]), len(tree.bins.n_bins)
    middle = _middle(tree, own, left) if sign else 0.0
    first = (middle if sign < 0 else low, middle if sign > 0 else high)
    second = (middle if sign > 0 else low, middle if sign < 0 else high)
    return [
        Open(whole[1], one.start, cut, one.depth + 1, mixed(one.seed, 4 * d + 7), first),
        Open(whole[1] + 1, cut, one.stop, one.depth + 1, mixed(one.seed, 4 * d + 8), second),
    ]


def _ranked(tree: Growth, codes: NDArray[np.int64], y: Array, w: Array) -> tuple[NDArray[np.int64], set[int]]:
    """Put categories in the order of the mean of y; give the codes, and which columns are of categories."""
    groups = set(np.flatnonzero(tree.bins.is_cat).tolist())
    for f in groups:
        found, at = np.unique(codes[:, f], return_inverse=True)
        means = np.bincount(at, w * y) / np.bincount(at, w)
        rank = np.empty(len(found), dtype=np.int64)
        rank[np.argsort(means, kind="stable")] = np.arange(len(found))
        codes[:, f] = rank[at]
    return codes, groups


def _tried(tree: Growth, codes: NDArray[np.int64], seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Any]:
    """Columns to be tried that vary among the rows, the only cut of each (-1: all), and its threshold."""
    d, setting = codes.shape[1], tree.setting
    varies = codes.min(axis=0) < codes.max(axis=0)
    only, thresholds = np.full(d, -1, dtype=np.int64), dict[int, float]()
    if setting.max_features >= d and not setting.is_random:
        return np.flatnonzero(varies), only, thresholds
    features, tried, visited = list(range(d)), list[int](), 0
    while visited < d and (visited < setting.max_features or not tried):
        other = visited + mixed(seed, visited + 1) % (d - visited)
        features[visited], features[other] = features[other], features[visited]
        f = features[visited]
        visited += 1
        if varies[f]:
            tried.append(f)
            if setting.is_random and not tree.bins.is_cat[f]:
                only[f], thresholds[f] = _drawn_cut(tree.bins, f, codes[:, f], mixed(seed, d + visited))
    return np.array(tried, dtype=np.int64), only, thresholds


def _drawn_cut(bins: Bins, f: int, codes: NDArray[np.int64], bits: int) -> tuple[int, float]:
    """Draw a threshold between the least and the greatest value; give the last code below, and it."""
    known = np.unique(codes[codes < bins.n_bins[f]])
    if len(known) < 2:
        return int(known[-1]), np.inf
    lows, highs = bins.lows[bins.offsets[f] + known], bins.highs[bins.offsets[f] + known]
    low, high = float(highs[0]), float(lows[-1])
    threshold = low + (bits >> 11) / 9007199254740992.0 * (high - low)
    threshold = low if threshold >= high else threshold
    at = min(int(np.searchsorted(lows[1:], threshold, side="right")), len(known) - 2)
    return int(known[at]), threshold


def _between(bins: Bins, f: int, codes: NDArray[np.int64], cut: int) -> float:
    """Middle between the values on both sides of a cut; infinity if only missing ones are beyond it."""
    above = codes[(codes > cut) & (codes < bins.n_bins[f])]
    if cut < 0:
        return -np.inf
    if len(above) == 0:
        return np.inf
    low, high = float(bins.highs[bins.offsets[f] + cut]), float(bins.lows[bins.offsets[f] + above.min()])
    middle = low / 2 + high / 2
    return middle if middle < high else low


def _is_significant(y: Array, w: Array, left: NDArray[np.bool_], setting: Setting) -> bool:
    """Likelihood-ratio test of two means against one."""
    total, between = 0.0, 0.0
    wl, weight = float(w[left].sum()), float(w.sum())
    for values in y:
        total += float(w @ (values - np.average(values, weights=w)) ** 2)
        gap = np.average(values[left], weights=w[left]) - np.average(values[~left], weights=w[~left])
        between += wl * (weight - wl) / weight * float(gap) ** 2
    rest = max(1.0 - between / total, 1e-300) if total > 0 else 1.0
    return bool(-weight * np.log(rest) >= setting.critical(2)[1])


def _middle(tree: Growth, own: NDArray[Any], left: NDArray[np.bool_]) -> float:
    """Mean of the medians of two branches, the bound between them."""
    y, w = tree.y[0, own], tree.w[own]
    return 0.5 * (weighted_median(y[left], w[left]) + weighted_median(y[~left], w[~left]))


def weighted_median(values: Array, weights: Array) -> float:
    """Least value with half of the weight below or at it, or the middle to the next one if that is half to the bit.

    Examples
    --------
    >>> weighted_median(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 4.0]))
    2.0
    """
    order = np.argsort(values, kind="stable")
    return median_in_order(values[order], weights[order])


def median_in_order(values: Array, weights: Array) -> float:
    """Weighted median of sorted values."""
    upto = np.cumsum(weights)
    at = int(np.searchsorted(upto, upto[-1] / 2))
    if upto[at] == upto[-1] / 2 and at + 1 < len(values):
        return float((values[at] + values[at + 1]) / 2)
    return float(values[at])


def mixed(seed: int, step: int) -> int:
    """Give the step-th random 64 bits of a seed, as the kernel of other criteria does.

    Examples
    --------
    >>> hex(mixed(1, 2))
    '0xbeeb8da1658eec67'
    """
    z = (seed + 0x9E3779B97F4A7C15 * step) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)
