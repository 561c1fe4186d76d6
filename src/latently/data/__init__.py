"""Data as it comes: what the columns are, tables as floats and back, chunks of rows, ragged sequences."""

from typing import TYPE_CHECKING, Any

from latently.data.open import as_source, open_source
from latently.data.schema.column import Column
from latently.data.schema.infer import infer_schema
from latently.data.schema.schema import Schema
from latently.data.sources.bounds import CHUNK_ROWS
from latently.data.sources.chunks import ArraySource, Chunk, ChunkSource, FrameSource
from latently.data.sources.sequences import Sequences, SequenceSource, as_sequences
from latently.data.stored.source import StoredSource
from latently.data.tables.matrix import as_matrix, check_weights

if TYPE_CHECKING:
    from latently.prepare.table_prep import TablePrep

__all__ = [
    "CHUNK_ROWS",
    "ArraySource",
    "Chunk",
    "ChunkSource",
    "Column",
    "FrameSource",
    "Schema",
    "SequenceSource",
    "Sequences",
    "StoredSource",
    "TablePrep",
    "as_matrix",
    "as_sequences",
    "as_source",
    "check_weights",
    "infer_schema",
    "open_source",
]


def __getattr__(name: str) -> Any:
    # An estimator needs scikit-learn, whose import the rest of this package does not pay for.
    if name == "TablePrep":
        from latently.prepare.table_prep import TablePrep

        return TablePrep
    raise AttributeError(f"module 'latently.data' has no attribute {name!r}")
