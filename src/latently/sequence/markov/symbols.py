"""Symbols of any kind: reading sequences of them, and renaming their codes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from latently.data.stored.arrow import values_of
from latently.data.stored.source import StoredSource
from latently.data.tables.values import is_missing
from latently.sequence.inference.chain import Ints
from latently.sequence.markov.counts import ContextCounts


def as_symbols(X: Any, lengths: Any) -> tuple[Any, Ints]:
    """Symbols of all sequences, (n,), and the length of each.

    Examples
    --------
    >>> as_symbols(["ab", "bba"], None)[1]
    array([2, 3])
    """
    if isinstance(X, str):
        raise TypeError("X is a string, which could be text or a path: give a text as a list of one, [text]")
    if lengths is None and isinstance(X, list | tuple) and len(X) > 0 and _is_sequence(X[0]):
        parts = [list(part) if isinstance(part, str) else np.ravel(part).tolist() for part in X]
        sizes = np.array([len(part) for part in parts], dtype=np.int64)
        values = np.array([v for part in parts for v in part], dtype=object)
    else:
        values = _one_column(X)
        sizes = np.array([len(values)] if lengths is None else lengths)
    if len(values) == 0 or (sizes < 1).any():
        raise ValueError("every sequence needs at least one symbol: found an empty one")
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise ValueError("column 0 of X holds inf, which is no symbol: make it NaN if the symbol is missing")
    if sizes.sum() != len(values):
        raise ValueError(f"lengths sum to {int(sizes.sum())} but there are {len(values)} symbols: they must be equal")
    return values, sizes


def _one_column(X: Any) -> Any:
    """Symbols (n,) of an array, a series, or a table of a single column."""
    if sparse.issparse(X):
        raise TypeError("X is sparse: a MarkovChain reads a dense column of symbols")
    values = np.asarray(X)
    if values.dtype.kind == "c":
        raise ValueError("Complex data not supported: symbols are numbers or strings")
    if values.ndim > 1 and values.size == 0:
        raise ValueError(
            f"X is empty: 0 feature(s) (shape={values.shape}) while a minimum of 1 is required, and of 1 row"
        )
    if values.ndim > 2 or (values.ndim == 2 and values.shape[1] != 1):
        raise ValueError(f"X has shape {values.shape}, but a MarkovChain reads a single column of symbols")
    return values.ravel()


def unique_symbols(values: Any) -> Any:
    """The symbols among some values, in order, without missing ones."""
    seen = [v for v in values.tolist() if not is_missing(v)]
    unknown = next((v for v in seen if not isinstance(v, str | int | float)), None)
    if unknown is not None:
        raise TypeError(f"symbols: argument must be a string or a number, not {type(unknown).__name__!r}")
    return np.unique(seen)


def stored_symbols(source: StoredSource) -> Iterator[tuple[Any, Ints | None]]:
    """Symbols of whole sequences that are read from a file, and their lengths, chunk by chunk."""
    check_one_column(list(source.features), source.sequences_by is not None)
    for cut in source.cuts():
        yield values_of(cut, source.features[0]), cut.lengths


def check_one_column(names: list[str], has_sequences: bool) -> None:
    """See that there is one column of symbols, and one that tells sequences apart."""
    if len(names) != 1 or not has_sequences:
        raise ValueError(
            "a MarkovChain reads one column of symbols and one that identifies the sequence, as in "
            f"fit(path, columns=['symbol'], sequences_by='id'); columns are {names}"
        )


def _is_sequence(first: Any) -> bool:
    """Whether the first of a list is a sequence itself: a longer string, or a list that is no single row."""
    if isinstance(first, str):
        return len(first) > 1
    return isinstance(first, list | tuple | np.ndarray) and np.size(first) != 1


def renamed(counts: ContextCounts, old: Any, new: Any) -> ContextCounts:
    """Counts with the codes of another list of symbols, which holds all of the old ones."""
    if len(old) == len(new) and (old == new).all():
        return counts
    place = np.searchsorted(new, old)

    def code(c: int) -> int:
        return int(place[c]) if c >= 0 else c

    table = {}
    for context, row in counts.table.items():
        wide = np.zeros(len(new))
        wide[place] = row
        table[tuple(code(c) for c in context)] = wide
    return ContextCounts(len(new), table)
