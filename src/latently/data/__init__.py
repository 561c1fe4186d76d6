"""Data as it comes: what the columns are, tables as floats and back, chunks of rows, ragged sequences."""

from typing import TYPE_CHECKING, Any

from latently.data.bounds import CHUNK_ROWS
from latently.data.chunks import ArraySource, Chunk, ChunkSource, FrameSource, as_source
from latently.data.column import Column
from latently.data.gate import open_source
from latently.data.infer import infer_schema
from latently.data.matrix import as_matrix, check_weights
from latently.data.schema import Schema
from latently.data.sequences import Sequences, SequenceSource, as_sequences
from latently.data.stored import StoredSource

if TYPE_CHECKING:
    from latently.data.prepare import TablePrep

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
    # An estimator needs scikit-learn, whose import the rest of this room does not pay for.
    if name == "TablePrep":
        from latently.data.prepare import TablePrep

        return TablePrep
    raise AttributeError(f"module 'latently.data' has no attribute {name!r}")
