"""What a stored table is read by, and what is known of it after a pass."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from latently.data.sources.chunks import Chunk
from latently.data.stored.cache import Spill
from latently.data.tables.values import quote


class Reader(Protocol):
    """Gives the rows of a table as Arrow batches, again and again."""

    @property
    def schema(self) -> Any:
        """Columns and types."""

    @property
    def files(self) -> tuple[str, ...]:
        """Where the rows come from, for errors."""

    def count(self) -> int:
        """Number of rows."""

    def check(self, names: Sequence[str]) -> None:
        """See that these columns are there, everywhere of one kind."""

    def batches(self, names: Sequence[str], numbers: Sequence[str] = ()) -> Iterator[tuple[str, Any]]:
        """Give the columns batch by batch, each with where it comes from."""


def check_names(reader: Reader, features: Sequence[str], roles: Sequence[str], where: str) -> None:
    """See that the columns are there, and no feature twice."""
    known = reader.schema.names
    absent = [name for name in (*features, *roles) if name not in known]
    if absent:
        raise ValueError(f"column {quote(absent)} is not in {where}, which has {quote(known, 10)}")
    if len(set(features)) < len(features):
        raise ValueError(f"columns names a column twice: {quote(features, 10)}")
    reader.check((*features, *roles))


class Store:
    """What is known after a pass: the chunks of a small table, the weight of the rows. Copies share it."""

    def __init__(self) -> None:
        self.chunks: tuple[Chunk, ...] | None = None
        self.checked = False
        self.absent = False
        self.totals: tuple[float, int] | None = None
        self.spill: Spill | None = None
