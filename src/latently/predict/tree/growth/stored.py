"""Trees of an estimator from chunks: what columns and targets are, how rows are drawn, codes held or sums passed."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.data import infer_schema
from latently.data.sources.chunks import Chunk, ChunkSource
from latently.data.sources.table_source import TableSource
from latently.learn.engine.reduce import Reduction, mapping, reducing
from latently.learn.estimator.classes import read_labels
from latently.predict.labels import encode_among
from latently.predict.rows import CHUNK_ROWS, part
from latently.predict.tables import read_source
from latently.predict.tree import columns
from latently.predict.tree.growth import levels
from latently.predict.tree.growth.binary import grow_binary
from latently.predict.tree.growth.bins import make_bins
from latently.predict.tree.growth.chunk_job import Job
from latently.predict.tree.growth.setting import make_setting
from latently.predict.tree.growth.targets import Targets, class_targets, number_targets, read_numbers, round_centre
from latently.predict.tree.model.nodes import Nodes

Array = NDArray[np.float64]
Draw = Callable[[int, int], NDArray[np.int64]]
CODES_BYTES = 1 << 29
"""Codes of a table that take no more are held in memory."""


@dataclass(frozen=True, eq=False)
class Told:
    """What a first pass tells about the targets."""

    n_rows: int
    weight: float
    classes: NDArray[Any] | None
    shares: NDArray[np.int64] | None  # rows of each class
    mean: float


@dataclass(frozen=True, eq=False)
class Reading:
    """Reads targets and weights of a chunk.

    Attributes
    ----------
    who
        The estimator's name, for errors.
    y
        All targets, if they are not in the chunks.
    told
        What is known about them; None in the first pass.
    by_class
        (K,) weights of classes; None for ones.
    is_centred
        Whether numbers are taken about their mean.
    """

    who: str
    y: Any
    told: Told | None
    by_class: Array | None
    is_centred: bool

    def labels(self, chunk: Chunk) -> Any:
        """Targets of a chunk as they come."""
        found = chunk.y if self.y is None else part(self.y, chunk)
        if found is None or len(found) != chunk.n_rows:
            raise ValueError(f"{self.who} requires y: name its column, or give a target for each row")
        return found

    def __call__(self, chunk: Chunk) -> tuple[Targets, Array | None]:
        """Targets and weights of a chunk."""
        assert self.told is not None
        if self.told.classes is None:
            numbers, _ = read_numbers(self.labels(chunk), self.who)
            centre = np.array([self.told.mean if self.is_centred else 0.0])
            return replace(number_targets(numbers - centre, centred=False), centre=centre), chunk.weights
        codes = encode_among(read_labels(self.labels(chunk), self.who), self.told.classes)
        own = None if self.by_class is None else self.by_class[codes]
        weights = own if chunk.weights is None else chunk.weights if own is None else own * chunk.weights
        return class_targets(codes[:, None], [len(self.told.classes)]), weights


def open_rows(estimator: Any, X: ChunkSource) -> ChunkSource:
    """Give a source of floats; sets what is known about the columns."""
    if not isinstance(X, TableSource):
        return read_source(estimator, X, reset=True)
    schema = infer_schema(X.digest()) if estimator.schema is None else estimator.schema
    estimator.__dict__.pop("schema_", None)
    if set(schema.kinds) <= {"numeric"}:
        return read_source(estimator, X, reset=True)
    columns.adopt_schema(estimator, X, schema)
    return X.chunked_by(CHUNK_ROWS).encoded(partial(columns.encode_rows, estimator), schema.names)


def grow_stored(
    estimator: Any, X: ChunkSource, y: Any, seeds: list[int], draw: Draw | None, adopt: Callable[[Told], Any]
) -> list[Nodes]:
    """Grow the trees of an estimator from chunks.

    Codes of bins take a fraction of the table: if there is room for them they are made in one pass, and the trees grow
    from them side by side. Otherwise sums over chunks tell the splits, level by level.

    Parameters
    ----------
    estimator
        Whose settings they are; it gets to know columns and targets.
    X, y
        Chunks; the targets if they are not in the chunks.
    seeds
        Of the trees.
    draw
        Gives the rows of a tree from seed and number of rows; None if every tree has all rows.
    adopt
        Lets the estimator know about the targets; gives the weights of classes, or None.
    """
    source = open_rows(estimator, X)
    some = X.some_rows()[0] if isinstance(X, TableSource) else next(iter(source)).X
    if hasattr(source, "keeping"):
        source = source.keeping(source.n_columns)
    is_class = hasattr(estimator, "class_weight")
    centred = estimator.criterion != "poisson"
    y = None if y is None else np.asarray(y)
    reading = Reading(type(estimator).__name__, y, None, None, centred)
    with reducing(source.only_roles() if isinstance(source, TableSource) else source) as reduce:
        told = _first_pass(reading, reduce, is_class)
    reading = Reading(reading.who, y, told, adopt(told), centred)
    job = _job(estimator, reading, told, columns.encode_rows(estimator, some), draw is None)
    with reducing(source) as reduce:
        if told.n_rows * len(job.bins.n_bins) * np.dtype(job.bins.dtype).itemsize > CODES_BYTES:
            return levels.grow_levels(_drawn(job, seeds, told.n_rows, draw), reduce, seeds)
        table = _coded(job, reduce, told.n_rows)
    with mapping(seeds) as over:
        return list(over(partial(_grown, job, table, draw)))


@dataclass(frozen=True, eq=False)
class Coded:
    """All rows of a table as codes, with their targets and weights."""

    codes: NDArray[Any]
    targets: Targets
    weights: Array | None


def _coded(job: Job, reduce: Reduction, n: int) -> Coded:
    codes, kept, at = np.empty((n, len(job.bins.n_bins)), dtype=job.bins.dtype), [], 0
    for part_codes, targets, weights in reduce.each(partial(_code_chunk, job)):
        codes[at : at + len(part_codes)] = part_codes
        at += len(part_codes)
        kept.append((targets, weights))
    targets = levels.concatenated([targets for targets, _ in kept])
    given = [weights for _, weights in kept if weights is not None]
    return Coded(codes, targets, np.concatenate(given) if given else None)


def _code_chunk(job: Job, chunk: Chunk) -> tuple[NDArray[Any], Targets, Array | None]:
    return job.bins.encoded(chunk.X), *job.read(chunk)


def _grown(job: Job, table: Coded, draw: Draw | None, seed: int) -> Nodes:
    """Grow one tree, in whatever thread."""
    n, weights = len(table.codes), table.weights
    if draw is not None:
        counts = np.bincount(draw(seed, n), minlength=n).astype(np.float64)
        both = counts if weights is None else counts * weights
        weights = both if both.any() else weights
    setting = job.setting.weighing(float(n) if weights is None else float(weights.sum()))
    nodes = grow_binary(job.bins, table.codes, table.targets, weights, setting, seed).nodes
    _ = nodes.walk
    return nodes


def _drawn(job: Job, seeds: list[int], n: int, draw: Draw | None) -> Job:
    """The job with the rows of each tree drawn."""
    if draw is None:
        return job
    drawn = (np.bincount(draw(seed, n), minlength=n) for seed in seeds)
    return replace(job, counts=np.array([np.minimum(c, 255).astype(np.uint8) for c in drawn]))


def _first_pass(reading: Reading, reduce: Reduction, is_class: bool) -> Told:
    parts = list(reduce.each(partial(_look, reading, is_class)))
    n, weight, total = (sum(found[i] for found in parts) for i in (0, 1, 2))
    if n == 0:
        raise ValueError("the table has 0 rows: nothing to learn from")
    if not weight > 0:
        raise ValueError("sample_weight is zero for every row: at least one weight must be positive")
    if not is_class:
        low, high = min(found[3] for found in parts), max(found[4] for found in parts)
        centre = round_centre(np.array([total / n]), np.array([high - low]))
        return Told(int(n), float(weight), None, None, float(centre[0]))
    classes, at = np.unique(np.concatenate([found[3] for found in parts]), return_inverse=True)
    counts = np.bincount(at, np.concatenate([found[4] for found in parts]))
    return Told(int(n), float(weight), classes, counts.astype(np.int64), 0.0)


def _look(reading: Reading, is_class: bool, chunk: Chunk) -> tuple[Any, ...]:
    labels, weight = reading.labels(chunk), chunk.total_weight
    if not is_class:
        y = read_numbers(labels, reading.who)[0]
        return chunk.n_rows, weight, float(y.sum()), float(y.min()), float(y.max())
    classes, counts = np.unique(read_labels(labels, reading.who), return_counts=True)
    return chunk.n_rows, weight, 0.0, classes, counts


def _job(estimator: Any, reading: Reading, told: Told, some: Array, has_all: bool) -> Job:
    params = estimator._growth_params()
    categories, most_bins = columns.n_categories(estimator), estimator._most_bins
    bins = make_bins(some, categories, estimator.max_bins, n_rows=told.n_rows, most_bins=most_bins)
    setting = make_setting(params, told.n_rows, estimator.n_features_in_)
    mean = np.array([told.mean if reading.is_centred else 0.0])
    if told.classes is None:
        goal = Targets(np.empty((0, 2)), np.empty(0, dtype=np.uint32), np.array([1], dtype=np.int64), mean)
    else:
        goal = class_targets(np.empty((0, 1), dtype=np.int64), [len(told.classes)])
    even = has_all and reading.by_class is None
    return Job(bins, reading, None, setting, np.empty(0), even, goal)
