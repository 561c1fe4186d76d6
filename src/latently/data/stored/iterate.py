"""Frames that come one after the other, as often as needed: from a function that begins anew each time."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from latently.data.stored.parquet import check_alike, pyarrow
from latently.data.tables import frames

FrameFactory = Callable[[], Iterable[Any]]


@dataclass(frozen=True, eq=False)
class FrameReader:
    """Reads the frames of an iterator factory.

    Parameters
    ----------
    make
        Called for every pass; gives the same pandas, polars or Arrow tables (or two-dimensional arrays) each time.
    filters
        Rows to take, as an Arrow expression; None for all.

    Examples
    --------
    >>> import pandas as pd
    >>> reader = FrameReader(lambda: (pd.DataFrame({"a": [i, i + 1]}) for i in range(3)))
    >>> reader.schema.names, reader.count()
    (['a'], 6)
    """

    make: FrameFactory
    filters: Any = None
    _counted: list[int] = field(default_factory=list, repr=False)

    @cached_property
    def schema(self) -> Any:
        """Columns and types of the first frame."""
        return _as_arrow(next(iter(self._frames())), "frame 0").schema

    @property
    def files(self) -> tuple[str, ...]:
        """What to call the data in errors."""
        return ("the frames",)

    def count(self) -> int:
        """Number of rows, by a pass through all frames."""
        if not self._counted:
            self._counted.append(sum(table.num_rows for _, table in self._tables(())))
        return self._counted[0]

    def check(self, names: Sequence[str]) -> None:
        """See that the first frame has these columns; the others are looked at as they come."""
        check_alike("frame 0", self.schema, names, "frame 0", self.schema)

    def batches(self, names: Sequence[str], numbers: Sequence[str] = ()) -> Iterator[tuple[str, Any]]:
        """Give the columns batch by batch, each with the number of the frame that it comes from."""
        for origin, table in self._tables(names):
            for batch in table.select(list(names)).to_batches():
                if batch.num_rows:
                    yield origin, batch

    def _tables(self, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
        for i, frame in enumerate(self._frames()):
            table = _as_arrow(frame, f"frame {i}")
            check_alike(f"frame {i}", table.schema, names, "frame 0", self.schema)
            yield f"frame {i}", table if self.filters is None else table.filter(self.filters)

    def _frames(self) -> Iterator[Any]:
        made = self.make()
        if not isinstance(made, Iterable):
            raise TypeError(f"a function that gives frames must return an iterable, got {type(made).__name__}")
        frames = iter(made)
        first = next(frames, None)
        if first is None:
            raise ValueError("the iterator of frames gave nothing: was it used up? Give a function that makes it anew")
        yield first
        yield from frames


def _as_arrow(frame: Any, origin: str) -> Any:
    """A frame as an Arrow table; columns of an array are called x0, x1, ..."""
    if isinstance(frame, np.ndarray) and frame.ndim == 2:
        names = frames.default_names(frame.shape[1])
        return pyarrow().table({name: np.ascontiguousarray(frame[:, j]) for j, name in enumerate(names)})
    if not frames.is_frame(frame):
        raise TypeError(f"{origin} is a {type(frame).__name__}: give pandas, polars or Arrow tables, or 2-D arrays")
    return frames.to_arrow(frame)
