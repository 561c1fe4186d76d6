"""Trees by the rules of ID3 and C4.5: a branch for each category, cases split where a value is missing.

The numbers are those of Weka's J48, which is C4.5 release 8: a numeric split loses log2(candidates) / n of its gain,
needs a tenth of the rows per class (between the least number and 25) on both sides, and is moved to the greatest value
of the table that is not above it; the best ratio counts among columns of at least average gain.
"""

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats as distributions

from latently import compiled
from latently.predict.tree.growth.binary import Grown
from latently.predict.tree.growth.flat import flat
from latently.predict.tree.growth.setting import Setting
from latently.predict.tree.growth.targets import Targets

Array = NDArray[np.float64]
_SMALL: Final = 1e-6
_SLACK: Final = 1e-3  # below the average gain is not yet below it
_MANY: Final = 0.3  # a column with so many categories per row says too much to count for the average


@dataclass(frozen=True)
class Rules:
    """How a tree of many-way splits grows.

    Attributes
    ----------
    criterion
        "gain_ratio", or else the gain.
    by_values
        Whether a column of categories has a branch for each, rather than two.
    is_fractional
        Whether rows with a missing value go down all branches with shares of their weight.
    confidence
        Of pessimistic pruning; None for none.
    """

    criterion: str
    by_values: bool = True
    is_fractional: bool = True
    confidence: float | None = None


@dataclass(eq=False)
class Branch:
    """A node under construction, with its rows."""

    rows: NDArray[np.int64]
    weights: Array
    stats: Array
    feature: int = -1
    threshold: float = 0.0
    children: list["Branch"] = field(default_factory=list)

    @property
    def is_leaf(self) -> bool:
        """Whether it has no branches."""
        return not self.children


@dataclass(frozen=True, eq=False)
class Table:
    """What all nodes look at."""

    X: Array
    n_categories: NDArray[np.int64]
    T: Array  # (n, s) indicators of classes, or one, target, square
    is_class: bool
    setting: Setting
    rules: Rules
    values: dict[int, Array]  # sorted distinct values of numeric columns
    n_rows: int
    total: float  # weight of all rows

    def stats_of(self, rows: NDArray[np.int64], weights: Array) -> Array:
        """Sum up the statistics of rows."""
        return np.asarray(weights @ self.T[rows])

    def weight(self, stats: Array) -> float:
        """Weight behind statistics."""
        return float(stats.sum() if self.is_class else stats[0])

    def columns_at(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Columns to be tried at a node."""
        d = self.X.shape[1]
        k = self.setting.max_features
        return np.arange(d) if k >= d else np.sort(rng.permutation(d)[:k])


@dataclass(frozen=True)
class _Split:
    feature: int
    gain: float
    ratio: float
    threshold: float


def grow_multiway(
    X: Array,
    n_categories: NDArray[np.int64],
    targets: Targets,
    weights: Array | None,
    setting: Setting,
    rules: Rules,
    seed: int,
) -> Grown:
    """Grow (and, with a confidence, prune) a tree by C4.5's rules."""
    _refuse(setting, targets)
    w = np.ones(len(X)) if weights is None else weights
    rows = np.flatnonzero(w > 0)
    numeric = [j for j in range(X.shape[1]) if n_categories[j] == 0]
    values = {j: np.unique(X[rows, j][~np.isnan(X[rows, j])]) for j in numeric}
    table = Table(X, n_categories, _dense(targets), targets.is_class, setting, rules, values, len(rows), float(w.sum()))
    rng = np.random.default_rng(seed)
    root = Branch(rows, w[rows], table.stats_of(rows, w[rows]))
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        if depth < setting.max_depth and _split(table, node, rng):
            stack.extend((child, depth + 1) for child in reversed(node.children))
    if rules.confidence is not None:
        from latently.predict.tree.pruning.pessimistic import pruned

        root = pruned(table, root, rules.confidence)
    return Grown(flat(table, root, targets), None, None)


def _refuse(setting: Setting, targets: Targets) -> None:
    if len(targets.starts) > 2 or (not targets.is_class and targets.starts[0] > 1):
        raise ValueError(
            "many-way splits and fractional cases are for one output: use nominal='groups', missing='side'"
        )
    if setting.criterion in ("absolute_error", "poisson"):
        raise ValueError(f"criterion={setting.criterion!r} is for two-way splits: use nominal='groups', missing='side'")
    if setting.is_random or setting.max_leaf_nodes > 0:
        what = "splitter='random'" if setting.is_random else "max_leaf_nodes"
        raise ValueError(f"{what} is for two-way splits: use nominal='groups', missing='side' and another criterion")


def _dense(targets: Targets) -> Array:
    if targets.is_class:
        return np.asarray(np.eye(targets.starts[-1])[targets.codes])
    y = targets.dense[:, 1]
    return np.column_stack([np.ones(len(y)), y, y**2])


# one node


def _split(table: Table, node: Branch, rng: np.random.Generator) -> bool:
    """Find the best split of a node and make its branches; False if it is to be a leaf."""
    setting, weight = table.setting, table.weight(node.stats)
    least = max(setting.min_samples_leaf, setting.min_weight_leaf)
    if weight < 2 * least - _SMALL or len(node.rows) < setting.min_samples_split or _is_pure(table, node.stats):
        return False
    T = table.T[node.rows]
    found = [s for j in table.columns_at(rng) if (s := _try(table, node, T, int(j), least)) is not None]
    best = _best(table, found)
    if best is None:
        return False
    node.feature, node.threshold = best.feature, best.threshold
    children = _branches(table, node)
    if setting.significance is not None and not _is_significant(table, node, children):
        return False
    if best.gain * weight < setting.min_impurity_decrease * table.total - _SMALL:
        return False
    node.children = children
    return True


def _is_pure(table: Table, stats: Array) -> bool:
    if table.is_class:
        return bool(stats.sum() - stats.max() < _SMALL)
    return bool(stats[2] - stats[1] ** 2 / stats[0] <= 1e-12 * max(stats[2], 1e-300))


def _try(table: Table, node: Branch, T: Array, j: int, least: float) -> _Split | None:
    """The best split by a column, None if there is none; T has the statistics of the rows."""
    x, out = table.X[node.rows, j], np.zeros(3)
    kernels = compiled.tree.multiway
    if table.n_categories[j] and table.rules.by_values:
        good = kernels.nominal(x, T, node.weights, int(table.n_categories[j]), least, table.is_class, out)
    else:
        if table.n_categories[j]:
            raise ValueError("fractional cases and the gain go with nominal='values'")
        known = ~np.isnan(x)
        on_each = least
        if table.is_class and table.rules.criterion == "gain_ratio":
            on_each = min(max(0.1 * node.weights[known].sum() / T.shape[1], least), max(25.0, least))
        corrects = table.rules.criterion == "gain_ratio"
        order = np.argsort(x, kind="stable")
        good = kernels.numeric(x, order, T, node.weights, on_each, 2 * on_each, corrects, table.is_class, out)
    return _Split(j, float(out[0]), float(out[1]), float(out[2])) if good else None


def _best(table: Table, found: list[_Split]) -> _Split | None:
    if table.rules.criterion != "gain_ratio":
        best = max(found, key=lambda split: split.gain, default=None)
        return best if best is not None and best.gain > _SMALL else None
    many = _MANY * table.n_rows
    plain = [s for s in found if not (table.n_categories[s.feature] and table.n_categories[s.feature] >= many - _SMALL)]
    all_many = bool(((table.n_categories > 0) & (table.n_categories >= many - _SMALL)).all())
    counted = found if all_many else plain
    if not counted:
        return None
    average = sum(split.gain for split in counted) / len(counted)
    best, highest = None, 0.0
    for split in found:
        if split.gain >= average - _SLACK and split.ratio > highest + _SMALL:
            best, highest = split, split.ratio
    return best


def branches_of(table: Table, node: Branch, x: Array) -> tuple[NDArray[np.int64], int]:
    """Branch of each value, -1 if it is missing, and the number of branches."""
    known = ~np.isnan(x)
    place = np.full(len(x), -1, dtype=np.int64)
    k = int(table.n_categories[node.feature])
    if k and table.rules.by_values:
        place[known] = np.where(x[known] < k, x[known], -1).astype(np.int64)
        return place, k
    place[known] = (x[known] > node.threshold).astype(np.int64)
    return place, 2


def _branches(table: Table, node: Branch) -> list[Branch]:
    x = table.X[node.rows, node.feature]
    if not (table.n_categories[node.feature] and table.rules.by_values):
        # the greatest value of the table that is not above the middle
        values = table.values[node.feature]
        at = np.searchsorted(values, node.threshold, side="right") - 1
        if table.rules.criterion == "gain_ratio":
            node.threshold = float(values[max(int(at), 0)])
    return shared_out(table, node, node.rows, node.weights, x)


def shared_out(table: Table, node: Branch, rows: NDArray[np.int64], weights: Array, x: Array) -> list[Branch]:
    """The branches of a split with their rows; those that miss the value are in all, with shares of their weight."""
    place, n = branches_of(table, node, x)
    known = np.bincount(place[place >= 0], weights[place >= 0], minlength=n)
    order = np.argsort(place, kind="stable")
    ends = np.searchsorted(place[order], np.arange(n + 1))
    lost, shares = order[: ends[0]], known / max(known.sum(), 1e-300)
    if not table.rules.is_fractional:  # all of those that are lost go the largest way
        shares = (np.arange(n) == known.argmax()).astype(np.float64)
    out = []
    for share, start, stop in zip(shares, ends[:-1], ends[1:], strict=True):
        mine = order[start:stop]
        both = np.sort(np.concatenate([mine, lost])) if len(lost) and share > _SMALL else mine
        part = np.where(place[both] < 0, weights[both] * share, weights[both])
        out.append(Branch(rows[both], part, table.stats_of(rows[both], part)))
    return out


def _is_significant(table: Table, node: Branch, children: list[Branch]) -> bool:
    """Chi-square test of classes by branches, or of the ratio of variances."""
    level = table.setting.significance
    sums = np.array([child.stats for child in children if table.weight(child.stats) > 0])
    if table.is_class:
        counts = sums[:, sums.sum(axis=0) > 0]
        expected = counts.sum(axis=1)[:, None] * counts.sum(axis=0) / counts.sum()
        chi = float(((counts - expected) ** 2 / expected).sum())
        return bool(distributions.chi2.sf(chi, (counts.shape[0] - 1) * (counts.shape[1] - 1)) <= level)
    before = node.stats[2] - node.stats[1] ** 2 / node.stats[0]
    after = (sums[:, 2] - sums[:, 1] ** 2 / sums[:, 0]).sum()
    chi = node.stats[0] * np.log(before / max(after, 1e-300))
    return bool(distributions.chi2.sf(chi, len(sums) - 1) <= level)
