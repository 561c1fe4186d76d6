"""Strings as numbers: symbols, n-grams, and how often each occurs."""

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from latently.kernel.base import Array

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Codes:
    """Strings as numbers: string i is values[starts[i]:starts[i + 1]]; equal symbols have equal numbers."""

    values: Ints
    starts: Ints

    def part(self, first: int, last: int) -> "Codes":
        """The strings first to last - 1."""
        begin, end = self.starts[first], self.starts[last]
        return Codes(self.values[begin:end], self.starts[first : last + 1] - begin)


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each n-gram occurs in each string, as compressed rows."""

    indptr: Ints
    grams: Ints
    counts: Array
    width: int

    @property
    def rows(self) -> Ints:
        """The string of each entry."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    def owners(self) -> tuple[Ints, npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """Who has each n-gram and how often: starts (width + 1,), strings and counts, in order."""
        shape = (len(self.indptr) - 1, self.width)
        columns = sparse.csr_array((self.counts, self.grams, self.indptr), shape=shape).tocsc()
        return columns.indptr.astype(np.int64), columns.indices.astype(np.int32), columns.data.astype(np.float32)

    def dense(self, grams: Ints) -> Array:
        """(n, m) counts of some n-grams."""
        place = np.full(self.width, -1)
        place[grams] = np.arange(len(grams))
        columns = place[self.grams]
        out = np.zeros((len(self.indptr) - 1, len(grams)))
        out[self.rows[columns >= 0], columns[columns >= 0]] = self.counts[columns >= 0]
        return out

    def without(self, grams: Ints) -> "Counts":
        """All n-grams but some."""
        if not len(grams):
            return self
        dropped = np.zeros(self.width, dtype=bool)
        dropped[grams] = True
        kept = ~dropped[self.grams]
        indptr = np.concatenate([[0], np.cumsum(np.bincount(self.rows[kept], minlength=len(self.indptr) - 1))])
        return Counts(indptr, self.grams[kept], self.counts[kept], self.width)


def listed(X: Any, name: str) -> list[Any]:
    """The strings as a list; a single string is an error, since it would be read symbol by symbol."""
    if isinstance(X, str | bytes) or not isinstance(X, Iterable):
        raise TypeError(f"{name} is a list of strings, got {type(X).__name__} {X!r:.40}")
    found = list(X)
    for i, text in enumerate(found):
        if not isinstance(text, str | bytes) and not isinstance(text, Iterable):
            raise TypeError(f"{name}[{i}] is no string and no sequence of symbols: {text!r:.40}")
    return found


def encoded(texts: list[Any]) -> Codes:
    """Symbols of all strings as numbers from 0 on."""
    if all(isinstance(text, str) for text in texts):
        joint = "".join(texts)
        values = np.frombuffer(joint.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.int64)
        lengths = [len(text) for text in texts]
    else:
        symbols: dict[Any, int] = {}
        rows = [[symbols.setdefault(symbol, len(symbols)) for symbol in text] for text in texts]
        values = np.array([code for row in rows for code in row], dtype=np.int64)
        lengths = [len(row) for row in rows]
    return Codes(ranked(values), np.concatenate([[0], np.cumsum(np.array(lengths, dtype=np.int64))]))


def ranked(values: Ints) -> Ints:
    """Numbers from 0 on that are equal where the values are, without gaps."""
    if not len(values):
        return values
    top = int(values.max())
    if top > 1 << 24:
        return np.unique(values, return_inverse=True)[1].astype(np.int64)
    seen = np.zeros(top + 1, dtype=np.int64)
    seen[values] = 1
    return np.asarray((np.cumsum(seen) - 1)[values])


def joined(X: Codes, Y: Codes) -> Codes:
    """Two collections, one after the other."""
    return Codes(np.concatenate([X.values, Y.values]), np.concatenate([X.starts, X.starts[-1] + Y.starts[1:]]))


def ngrams(codes: Codes, n: int) -> Codes:
    """The n-grams of each string, in order, as numbers from 0 on: exact, not hashed."""
    lengths = np.diff(codes.starts)
    kept = np.maximum(lengths - n + 1, 0)
    found = codes.values
    width = int(found.max(initial=0)) + 1
    for step in range(1, n):  # the number of an n-gram from that of its first n - 1 symbols and its last symbol
        found = ranked(found[:-1] * width + codes.values[step : step + max(len(found) - 1, 0)]) if len(found) else found
    place = np.arange(kept.sum()) + np.repeat(codes.starts[:-1] - np.concatenate([[0], np.cumsum(kept)[:-1]]), kept)
    return Codes(found[place], np.concatenate([[0], np.cumsum(kept)]))


def counted(grams: Codes, width: int) -> Counts:
    """Sort the n-grams of each string, and count them; `width` is above all their numbers."""
    n = len(grams.starts) - 1
    ones = np.ones(len(grams.values))
    table = sparse.csr_array((ones, grams.values, grams.starts), shape=(n, max(width, 1)))
    table.sum_duplicates()
    return Counts(table.indptr.astype(np.int64), table.indices.astype(np.int64), table.data, width)


def check_lengths(n: Any, shortest: Any) -> None:
    """See that lengths are whole numbers in order."""
    if not isinstance(n, Integral) or n < 1:
        raise ValueError(f"n must be a whole number of at least 1, got {n!r}")
    if shortest is not None and (not isinstance(shortest, Integral) or not 1 <= int(shortest) <= int(n)):
        raise ValueError(f"shortest must be a whole number from 1 to n={n}, got {shortest!r}")


def check_decay(decay: Any) -> None:
    """See that a decay is a number above 0 and at most 1."""
    if not isinstance(decay, Real) or not 0 < float(decay) <= 1:
        raise ValueError(f"decay must be above 0 and at most 1, got {decay!r}")
