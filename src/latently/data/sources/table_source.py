"""Sources that have columns by name and raw values behind their floats: files, and Dask collections."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Final, Self

from latently.data.sources.chunks import ChunkSource
from latently.data.tables.matrix import FloatArray

SOME_BYTES: Final = 1 << 26
"""As much of a longer table is looked at by what has to see rows side by side, medians for example."""


class TableSource(ChunkSource):
    """A source of chunks that also knows its columns as they are, before they are floats.

    Attributes
    ----------
    features
        Names of the columns that floats are made of.
    """

    features: tuple[str, ...]

    @property
    @abstractmethod
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of rows; counted when first asked for."""

    @property
    def is_named(self) -> bool:
        """Whether the columns have names of their own."""
        return True

    @property
    @abstractmethod
    def where(self) -> str:
        """Where the rows come from, for errors."""

    @abstractmethod
    def checked(self, *, allow_nan: bool) -> Self:
        """Give the source with an error if a value is NaN (inf always is one)."""

    @abstractmethod
    def chunked_by(self, chunk_rows: int) -> Self:
        """Give the source in chunks of another size, unless its maker has chosen one."""

    @abstractmethod
    def encoded(self, encode: Callable[[Any], FloatArray], names: Sequence[str] | None = None) -> Self:
        """Give the source with a function of its own that turns a table of the features into floats."""

    @abstractmethod
    def digest(self) -> Any:
        """A small table with every distinct value of columns that may be categories."""

    @abstractmethod
    def some_rows(self, most_bytes: int = SOME_BYTES, seed: int = 0) -> tuple[Any, bool]:
        """A table of the features, of all rows if they are few, or of a draw; and whether they are all."""

    def only_roles(self) -> Self:
        """Give a source of the same targets and weights, without features where leaving them out saves time."""
        return self

    def for_many_passes(self) -> Self:
        """Give the same source, made ready to be walked through again and again where that takes preparation."""
        return self
