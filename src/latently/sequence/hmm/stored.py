"""Sequences that are read a chunk at a time: some of them in memory for the start, all of them for the fit."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from latently.data.sources.chunks import ChunkSource
from latently.learn.estimator.table import read_source, seeds
from latently.sequence.inference.chain import Array, Ints, parts_of
from latently.sequence.model.hmm import lengths_of

# Of sequences that are not in memory, so much is looked at for a start.
START_BYTES = 1 << 26


@dataclass(frozen=True, eq=False)
class StoredSequences:
    """What a fit asks of sequences: `values` and `lengths` are those of a part that is in memory, maybe of all."""

    values: Array
    lengths: Ints
    source: ChunkSource

    def chunked(self, weights: Any = None) -> ChunkSource:
        """Give the chunks of all sequences; their weights are in the chunks."""
        return self.source.fresh()


def read_stored(estimator: Any, X: ChunkSource, labels: Any = None, *, reset: bool = True) -> StoredSequences:
    """Check the columns of a source of whole sequences, and take out the part that a start is made from."""
    if labels is not None:
        raise ValueError("labels need rows in memory: they cannot go with files or Dask collections")
    if getattr(X, "sequences_by", "") is None:
        raise ValueError(
            f"{type(estimator).__name__} learns from sequences: name the column with the identifier of the sequence, "
            "as in fit(path, sequences_by='id')"
        )
    source = read_source(estimator, X, reset=reset, allow_nan=True).mapped(
        lambda rows: estimator._check_values(np.ascontiguousarray(rows, dtype=np.float64), reset)
    )
    n_rows = source.totals()[1] if source.n_rows is None else source.n_rows
    most = START_BYTES // (8 * source.n_columns)
    share = 1.0 if n_rows <= most else most / n_rows
    values, lengths = _part(source, share, seeds(estimator.random_state, 1)[0] if share < 1 else None)
    return StoredSequences(values, lengths, source)


def _part(source: ChunkSource, share: float, rng: np.random.RandomState | None) -> tuple[Array, Ints]:
    """A share of the sequences, drawn one by one, so that it does not matter how they are cut into chunks.

    To those that are drawn come single rows that have the largest value of a column, or a missing one: how many
    symbols there are, and whether anything is missing, must not depend on the draw.
    """
    kept: list[Array] = []
    extremes: dict[tuple[int, bool], Array] = {}
    for chunk in source:
        sizes = lengths_of(chunk)
        drawn = np.ones(len(sizes), bool) if rng is None else rng.uniform(size=len(sizes)) < share
        X = np.asarray(chunk.X, dtype=np.float64)
        kept += [part for part, keep in zip(parts_of(X, sizes), drawn, strict=True) if keep]
        if rng is not None:
            _note_extremes(X, extremes)
    kept += [row[None] for row in extremes.values()]
    return np.concatenate(kept), np.array([len(part) for part in kept], dtype=np.int64)


def _note_extremes(X: Array, known: dict[tuple[int, bool], Array]) -> None:
    for j, column in enumerate(X.T):
        missing = np.isnan(column)
        if missing.any():
            known.setdefault((j, True), X[int(np.argmax(missing))])
        if not missing.all():
            row = X[int(np.nanargmax(column))]
            if (j, False) not in known or row[j] > known[j, False][j]:
                known[j, False] = row.copy()
