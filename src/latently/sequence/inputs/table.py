"""Inputs as a table: known everywhere, in units of their own, and apart from the columns that are emitted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from latently.data.sources.chunks import Chunk
from latently.data.tables import frames
from latently.sequence.inference.chain import Array
from latently.sequence.model.hmm import as_doubles

SAME = 1e-10
"""Share of the largest eigenvalue below which a direction of the inputs is none."""


def as_names(inputs: Any) -> tuple[str, ...] | None:
    """Names of columns, if that is what inputs are.

    Examples
    --------
    >>> as_names("speed"), as_names(["speed", "load"]), as_names([1.0, 2.0])
    (('speed',), ('speed', 'load'), None)
    """
    if isinstance(inputs, str):
        return (inputs,)
    if not isinstance(inputs, list | tuple) or not inputs or not all(isinstance(name, str) for name in inputs):
        return None
    if len(set(inputs)) < len(inputs):
        raise ValueError(f"inputs name a column twice: {list(inputs)}")
    return tuple(inputs)


def with_intercept(inputs: Any, n: int | None = None, names: Sequence[str] | None = None) -> Array:
    """Inputs (n, 1 + p) behind a column of ones; of a data frame those that are named, all if none are.

    Examples
    --------
    >>> with_intercept([2.0, 3.0], 2)
    array([[1., 2.],
           [1., 3.]])
    """
    if frames.is_frame(inputs):
        names = frames.column_names(inputs) if names is None else names
        U = frames.to_array(frames.select(inputs, names), "inputs").astype(np.float64)
    else:
        U = np.asarray(inputs, dtype=np.float64)
    U = U[:, None] if U.ndim == 1 else U
    if U.ndim != 2 or (n is not None and len(U) != n):
        wanted = "a table" if n is None else f"{n} rows, one for each row of X"
        raise ValueError(f"inputs must have {wanted}, got shape {U.shape}")
    check_known(U, range(U.shape[1]) if names is None else names)
    return np.hstack([np.ones((len(U), 1)), U])


def check_known(U: Array, names: Sequence[Any], first_row: int = 0) -> None:
    """Refuse inputs that are missing or infinite, by row and column."""
    bad = ~np.isfinite(U)
    if bad.any():
        row, column = np.argwhere(bad)[0].tolist()
        raise ValueError(
            f"inputs must be known and finite: row {first_row + row} of column {names[column]!r} is {U[row, column]}; "
            "fill it in before the fit, with the value of the row before for instance"
        )


@dataclass(frozen=True, eq=False)
class Spread:
    """Number, mean (p,), scatter about the mean (p, p), and least and largest (p,) inputs of some rows."""

    n: float
    mean: Array
    scatter: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, U: Array) -> Self:
        """Those of inputs (n, p)."""
        apart = U - U.mean(axis=0)
        return cls(len(U), U.mean(axis=0), apart.T @ apart, U.min(axis=0), U.max(axis=0))

    def __add__(self, other: Self) -> Self:
        n, step = self.n + other.n, other.mean - self.mean
        return type(self)(
            n,
            self.mean + step * (other.n / n),
            self.scatter + other.scatter + np.outer(step, step) * (self.n * other.n / n),
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )


@dataclass(frozen=True, eq=False)
class Units:
    """Centre and scale of inputs, so that a fit does not depend on their units.

    Parameters
    ----------
    centre, scale
        Mean and spread (p,) of each column; 0 and 1 for the column of ones, and an infinite scale for other columns
        that are constant, whose coefficients are zero.
    reach
        (p,) largest absolute input in these units.
    rank
        How many columns are no combinations of others, the column of ones among them.
    """

    centre: Array
    scale: Array
    reach: Array
    rank: int

    @classmethod
    def of(cls, U: Array) -> Self:
        """Those of inputs (n, p), a column of ones first."""
        return cls.from_spread(Spread.of(U))

    @classmethod
    def from_spread(cls, spread: Spread) -> Self:
        """Those of inputs of which only this is known."""
        sd = np.sqrt(np.diag(spread.scatter) / spread.n)
        flat = sd <= 1e-12 * np.maximum(np.abs(spread.low), np.abs(spread.high))
        scale, centre = np.where(flat, np.inf, sd), spread.mean.copy()
        scale[0], centre[0] = 1.0, 0.0
        reach = np.maximum(np.abs(spread.low - centre), np.abs(spread.high - centre)) / scale
        correlation = spread.scatter / np.outer(scale, scale) / spread.n
        return cls(centre, scale, reach, 1 + int((np.linalg.eigvalsh(correlation) > SAME * len(sd)).sum()))

    def of_inputs(self, U: Array) -> Array:
        """Inputs in these units."""
        return np.asarray((U - self.centre) / self.scale)

    def of_coef(self, coef: Array) -> Array:
        """Coefficients for inputs in these units, from those for inputs as they came."""
        own = coef * np.where(np.isinf(self.scale), 0.0, self.scale)
        own[:, :, 0] += coef[:, :, 1:] @ self.centre[1:]
        return np.asarray(own)

    def back(self, coef: Array) -> Array:
        """Coefficients for inputs as they came."""
        raw = coef / self.scale
        raw[:, :, 0] -= raw[:, :, 1:] @ self.centre[1:]
        return np.asarray(raw)


@dataclass(frozen=True, eq=False)
class Columns:
    """Which columns of a table are emitted, and which are inputs.

    Parameters
    ----------
    emitted, inputs : numbers of the columns
    names : of the inputs, for errors
    """

    emitted: tuple[int, ...]
    inputs: tuple[int, ...]
    names: tuple[Any, ...]

    @classmethod
    def named(cls, inputs: Sequence[str], columns: Sequence[str]) -> Self:
        """Those of a table that has both."""
        absent = [name for name in inputs if name not in columns]
        if absent:
            raise ValueError(f"inputs {absent} are not among the columns that are read, {list(columns)}")
        rest = tuple(j for j, name in enumerate(columns) if name not in inputs)
        if not rest:
            raise ValueError(f"all columns, {list(columns)}, are inputs: nothing is left to be emitted")
        return cls(rest, tuple(list(columns).index(name) for name in inputs), tuple(inputs))

    @classmethod
    def behind(cls, n_emitted: int, n_inputs: int) -> Self:
        """Those of a table that has the inputs behind what is emitted."""
        places = tuple(range(n_emitted, n_emitted + n_inputs))
        return cls(tuple(range(n_emitted)), places, tuple(range(n_inputs)))

    def emitted_of(self, rows: Array) -> Array:
        """The columns that are emitted."""
        return np.ascontiguousarray(rows[:, list(self.emitted)])

    def inputs_of(self, rows: Array) -> Array:
        """The inputs, behind a column of ones."""
        return np.hstack([np.ones((len(rows), 1)), rows[:, list(self.inputs)]])

    def spread_of(self, chunk: Chunk) -> Spread:
        """What units need to know of the inputs of a chunk; an error if one of them is not known."""
        U = self.inputs_of(as_doubles(chunk))
        check_known(U[:, 1:], self.names, chunk.start)
        return Spread.of(U)
