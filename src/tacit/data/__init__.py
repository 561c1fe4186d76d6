"""Data as it comes: what the columns are, tables as floats and back, chunks of rows, ragged sequences."""

from typing import TYPE_CHECKING, Any

from tacit.data.bounds import CHUNK_ROWS
from tacit.data.chunks import ArraySource, Chunk, ChunkSource, FrameSource, as_source
from tacit.data.column import Column
from tacit.data.gate import open_source
from tacit.data.infer import infer_schema
from tacit.data.matrix import as_matrix, check_weights
from tacit.data.schema import Schema
from tacit.data.sequences import Sequences, SequenceSource, as_sequences
from tacit.data.stored import StoredSource

if TYPE_CHECKING:
    from tacit.data.prepare import TablePrep

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
        from tacit.data.prepare import TablePrep

        return TablePrep
    raise AttributeError(f"module 'tacit.data' has no attribute {name!r}")
