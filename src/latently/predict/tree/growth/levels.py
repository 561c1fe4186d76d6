"""Trees from tables that are not in memory: bins of nodes are sums over chunks, one level after the other.

Nodes of many rows are split by sums that the engine adds up wherever the rows are. As soon as a node has few rows
they are fetched, and its sub-tree grows here. For the same bins the splits are those of a table in memory, since what
is drawn at a node depends on its place in the tree only.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently import compiled
from latently.data.sources.chunks import Chunk
from latently.distributions.statistics import Additive
from latently.learn.engine.reduce import Reduction
from latently.predict.tree.growth.binary import as_nodes, real_setting, subtree
from latently.predict.tree.growth.chunk_job import Job
from latently.predict.tree.growth.setting import Setting
from latently.predict.tree.growth.sides import is_larger
from latently.predict.tree.growth.sketch import Sketch
from latently.predict.tree.growth.targets import Targets
from latently.predict.tree.growth.workspace import bin_space, general_space
from latently.predict.tree.model.nodes import Nodes

Array = NDArray[np.float64]
FETCHED_ROWS = 1 << 18
"""A node of at most so many rows is grown in memory."""
_BATCH_ROWS: Final = 1 << 23  # rows that are fetched in one pass
_SUMS_BYTES: Final = 1 << 28  # bins that are summed in one pass


@dataclass(frozen=True, eq=False)
class Counted(Additive):
    """Rows and weight of nodes, (slots, 2)."""

    sums: Array


@dataclass(frozen=True, eq=False)
class Binned(Additive):
    """Bins of nodes, (slots, d, bins, s), and what their impurity is made of, (slots, e)."""

    bins: Array
    extra: Array


def grow_levels(job: Job, reduce: Reduction, seeds: list[int], fetched: int | None = None) -> list[Nodes]:
    """Grow trees, one for each seed.

    Parameters
    ----------
    job
        Bins, targets, settings.
    reduce
        Sums over the chunks.
    seeds
        Of the trees.
    fetched
        Rows of a node that is grown in memory; `FETCHED_ROWS` if None.
    """
    _refuse(job.setting)
    fetched = FETCHED_ROWS if fetched is None else fetched
    sketches = [Sketch(seed) for seed in seeds]
    open_ = [(t, 0) for t in range(len(seeds))]
    small: list[tuple[int, int]] = []
    sizes: list[float] = []
    while open_:
        counted = reduce(partial(_count_chunk, job, sketches, open_)).sums
        if not len(job.totals):
            job = replace(job, totals=counted[:, 1])  # those of the roots
        small += [place for place, (rows, _) in zip(open_, counted, strict=True) if rows <= fetched]
        sizes += [rows for rows in counted[:, 0] if rows <= fetched]
        large = [place for place, (rows, _) in zip(open_, counted, strict=True) if rows > fetched]
        open_ = _split_all(job, reduce, sketches, large)
    _grow_small(job, reduce, sketches, small, np.array(sizes))
    return [as_nodes(sketch.joined(job.n_sums), job.goal, job.bins) for sketch in sketches]


def _refuse(setting: Setting) -> None:
    for name, used in (
        ("criterion='absolute_error'", setting.criterion == "absolute_error"),
        ("max_leaf_nodes", setting.max_leaf_nodes > 0),
        ("significance", setting.significance is not None),
        ("monotonic_cst", setting.signs.any()),
    ):
        if used:
            raise ValueError(f"{name} is for tables in memory: histograms of a table elsewhere do not tell")


def _slots(job: Job, sketch: Sketch, codes: NDArray[Any], wanted: dict[int, int]) -> NDArray[np.int64]:
    """Slot of each row: the place among the wanted nodes of the one that it is in, -1 if it is in none."""
    nodes = np.empty(len(codes), dtype=np.int64)
    compiled.tree.levels.route(codes, job.bins.n_bins, *sketch.arrays(), nodes)
    table = np.full(len(sketch.first), -1, dtype=np.int64)
    table[list(wanted)] = list(wanted.values())
    return table[nodes]


def _by_tree(places: list[tuple[int, int]]) -> dict[int, dict[int, int]]:
    """Slots of nodes, tree by tree."""
    out: dict[int, dict[int, int]] = {}
    for slot, (tree, node) in enumerate(places):
        out.setdefault(tree, {})[node] = slot
    return out


def _each_tree(
    job: Job, sketches: list[Sketch], places: list[tuple[int, int]], chunk: Chunk
) -> Iterator[tuple[NDArray[Any], NDArray[np.int64], Targets, Array]]:
    """Codes, slots, targets and weights of a chunk's rows, for each tree that has a node among the places."""
    codes, (targets, own) = job.codes(chunk), job.read(chunk)
    for tree, wanted in _by_tree(places).items():
        weights = job.weights(chunk, own, tree)
        slots = np.where(weights > 0, _slots(job, sketches[tree], codes, wanted), -1)
        yield codes, slots, targets, weights


def _count_chunk(job: Job, sketches: list[Sketch], places: list[tuple[int, int]], chunk: Chunk) -> Counted:
    out = np.zeros((len(places), 2))
    for _, slots, _, weights in _each_tree(job, sketches, places, chunk):
        inside = slots >= 0
        out[:, 0] += np.bincount(slots[inside], minlength=len(places))
        out[:, 1] += np.bincount(slots[inside], weights[inside], minlength=len(places))
    return Counted(out)


# nodes of many rows


def _split_all(
    job: Job, reduce: Reduction, sketches: list[Sketch], places: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Split nodes by sums over chunks, as many at a time as there is room for; give their children."""
    made: list[tuple[int, int]] = []
    size, width = int(job.bins.n_bins.max()) + 2, job.setting_width
    at_once = max(1, _SUMS_BYTES // (8 * size * width * len(job.bins.n_bins)))
    for start in range(0, len(places), at_once):
        part = places[start : start + at_once]
        found = reduce(partial(_bin_chunk, job, sketches, part))
        for slot, (tree, node) in enumerate(part):
            if _split(job, sketches[tree], tree, node, found.bins[slot], found.extra[slot]):
                first = sketches[tree].first[node]
                made += [(tree, first), (tree, first + 1)]
    return made


def _bin_chunk(job: Job, sketches: list[Sketch], places: list[tuple[int, int]], chunk: Chunk) -> Binned:
    d, size = len(job.bins.n_bins), int(job.bins.n_bins.max()) + 2
    bins, extra = np.zeros((len(places), d, size, job.setting_width)), np.zeros((len(places), 2))
    counts = bool(job.whole[7])
    for codes, slots, targets, weights in _each_tree(job, sketches, places, chunk):
        compiled.tree.levels.add_bins(
            codes, slots, targets.codes, targets.dense, weights, targets.by_class, counts, bins
        )
        inside = slots >= 0
        extra[:, 0] += np.bincount(slots[inside], minlength=len(places))
        if not targets.is_class:
            power = _power(job.setting.criterion, targets.dense[:, 1:])
            extra[:, 1] += np.bincount(slots[inside], (weights * power)[inside], minlength=len(places))
    return Binned(bins, extra)


def _power(criterion: str, y: Array) -> Array:
    """What the impurity of a node needs besides sums: squares, or y log y."""
    if criterion != "poisson":
        return np.asarray((y**2).sum(axis=1))
    return np.asarray((y * np.log(np.where(y > 0, y, 1.0))).sum(axis=1))


def _split(job: Job, sketch: Sketch, tree: int, node: int, bins: Array, extra: Array) -> bool:
    """Split a node by its bins, or leave it a leaf."""
    setting, starts = job.setting_of(tree), job.starts
    stats = bins[0].sum(axis=0)
    weight = float(stats[starts[0] : starts[1]].sum() if len(starts) > 1 else stats[0])
    impurity = _impurity(job, stats, weight, float(extra[1]))
    sketch.sums[node] = np.concatenate([[extra[0], weight, impurity], stats])
    few = extra[0] < max(setting.min_samples_split, 2 * setting.min_samples_leaf)
    if few or sketch.depth[node] >= setting.max_depth or weight < 2 * setting.min_weight_leaf or impurity <= 1e-15:
        return False
    best_i, best_f, best_list = np.zeros(5, dtype=np.int64), np.zeros(2), np.empty(bins.shape[1], dtype=np.int64)
    real = real_setting(setting, float(job.totals[tree]))
    space, general = bin_space(*bins.shape[1:]), general_space(setting, int(starts[-1]), *bins.shape[1:])
    features = np.empty(len(bins), dtype=np.int64)
    compiled.tree.grow.split_sums(
        bins, job.table, starts, stats, job.whole, real, np.uint64(sketch.seeds[node]), features, setting.bounds, space,
        general, best_i, best_f, best_list,
    )  # fmt: skip
    base = compiled.tree.grow.worth(int(job.whole[0]), stats, starts)
    if best_i[0] < 0 or (best_f[0] - base) / job.totals[tree] + 2.3e-16 < setting.min_impurity_decrease:
        return False
    sketch.split(node, len(job.bins.n_bins), **_how(job, bins[best_i[0]], best_i, best_f, best_list))
    return True


def _impurity(job: Job, stats: Array, weight: float, power: float) -> float:
    grow, criterion = compiled.tree.grow, int(job.whole[0])
    worth = grow.worth(criterion, stats, job.starts)
    if criterion == 0:
        return float(1 - worth / weight)
    if criterion == 1:
        return float(-worth / weight)
    return float(max(power / job.starts[0] - worth, 0.0) / weight)


def _how(job: Job, bins: Array, best_i: Any, best_f: Array, best_list: NDArray[np.int64]) -> dict[str, Any]:
    """A split as the sketch keeps it."""
    f = int(best_i[0])
    size = int(job.bins.n_bins[f])
    by_bin = bins[:, : job.starts[1]].sum(axis=1) if len(job.starts) > 1 else bins[:, 0]
    told = {"feature": f, "cut": int(best_i[1]), "threshold": float(best_f[1])}
    if best_i[4] >= 0:
        left = np.zeros(len(by_bin), dtype=bool)
        left[best_list[: best_i[4]]] = True
        there = by_bin > 0
        more_left = is_larger(by_bin[left].sum(), by_bin.sum())
        other = np.flatnonzero(there & (~left if more_left else left))
        return told | {"missing": 0 if more_left else 1, "lists": other}
    if by_bin[size] > 0:
        return told | {"missing": 1 - int(best_i[3])}
    return told | {"missing": 0 if is_larger(by_bin[: best_i[1] + 1].sum(), by_bin.sum()) else 1}


# nodes of few rows


def _grow_small(
    job: Job, reduce: Reduction, sketches: list[Sketch], places: list[tuple[int, int]], sizes: Array
) -> None:
    """Fetch the rows of nodes, as many at a time as there is room for, and grow their sub-trees."""
    batch = np.floor_divide(np.cumsum(sizes), _BATCH_ROWS).astype(np.int64)
    for number in range(int(batch.max(initial=-1)) + 1):
        part = [place for place, mine in zip(places, batch, strict=True) if mine == number]
        if not part:
            continue
        parts = list(reduce.each(partial(_fetch_chunk, job, sketches, part)))
        slots, codes, weights = (np.concatenate([found[i] for found in parts]) for i in range(3))
        targets = concatenated([found[3] for found in parts])
        order = np.argsort(slots, kind="stable")
        ends = np.searchsorted(slots[order], np.arange(len(part) + 1))
        for slot, (tree, node) in enumerate(part):
            mine = order[ends[slot] : ends[slot + 1]]
            sketch = sketches[tree]
            own = replace(job.setting_of(tree), max_depth=job.setting.max_depth - sketch.depth[node])
            sketch.grown[node] = subtree(
                job.bins, codes[mine], targets.take(mine), weights[mine], own, sketch.seeds[node], job.totals[tree],
                bool(job.whole[7]),
            )  # fmt: skip


def _fetch_chunk(job: Job, sketches: list[Sketch], places: list[tuple[int, int]], chunk: Chunk) -> tuple[Any, ...]:
    made = []
    for codes, slots, targets, weights in _each_tree(job, sketches, places, chunk):
        inside = np.flatnonzero(slots >= 0)
        made.append((slots[inside], codes[inside], weights[inside], targets.take(inside)))
    parts = [np.concatenate([part[i] for part in made]) for i in range(3)]
    return (*parts, concatenated([part[3] for part in made]))


def concatenated(parts: list[Targets]) -> Targets:
    """Targets of chunks, one after the other."""
    first = parts[0]
    return replace(
        first, dense=np.concatenate([p.dense for p in parts]), codes=np.concatenate([p.codes for p in parts])
    )
