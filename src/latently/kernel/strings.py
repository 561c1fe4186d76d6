"""Kernels of strings, and of sequences of any symbols: n-grams and gappy subsequences."""

from dataclasses import KW_ONLY
from typing import Any, Literal

import numpy as np

from latently import compiled
from latently.kernel.base import Array, Kernel
from latently.kernel.blocks import filled
from latently.kernel.ngrams import Codes, check_decay, check_lengths, counted, encoded, joined, listed, ngrams
from latently.learn.engine.blocks import for_blocks
from latently.learn.estimator.parameters import stores_parameters

_FREQUENT = 0.15  # an n-gram that so many strings have goes into a matrix product: scattered additions take longer
_EXACT = 2.0**24  # whole numbers below this are exact in single precision


class StringKernel(Kernel):
    """A kernel of strings; anything iterable of hashable symbols is as good as a string."""

    compares = "strings"

    def _read(self, X: Any, Y: Any) -> tuple[Any, Any]:
        texts = [*listed(X, "X"), *(() if Y is None else listed(Y, "Y"))]
        codes = encoded(texts)
        if Y is None:
            return codes, None
        n = len(X)
        return codes.part(0, n), codes.part(n, len(texts))


@stores_parameters
class NGramKernel(StringKernel):
    """Common n-grams of two strings: the spectrum kernel.

    k(x, y) is the number of pairs of a place in x and a place in y at which the same n symbols stand, wherever they
    are; with `position="same"`, the number of places at which the same n symbols stand in both.

    Parameters
    ----------
    n
        Length of the n-grams.
    shortest
        If given, n-grams of all lengths from this to n count.
    position
        "any" or "same".
    normalize
        Whether to divide by sqrt(k(x, x) k(y, y)). A string with no n-gram is similar to nothing, itself included.

    Examples
    --------
    >>> NGramKernel(2)(["abab", "ab", "ba"])
    array([[5., 2., 1.],
           [2., 1., 0.],
           [1., 0., 1.]])
    """

    n: int = 3
    _: KW_ONLY
    shortest: int | None = None
    position: Literal["any", "same"] = "any"
    normalize: bool = False

    def adapted(self, X: Any) -> Kernel:
        """The kernel itself, if its parameters are right."""
        check_lengths(self.n, self.shortest)
        if self.position not in ("any", "same"):
            raise ValueError(f"position must be 'any' or 'same', got {self.position!r}")
        return self

    def _matrix(self, X: Codes, Y: Codes | None) -> Array:
        lengths = range(self.shortest or self.n, self.n + 1)
        return np.asarray(sum(self._of_length(X, Y, length) for length in lengths))

    def _of_length(self, X: Codes, Y: Codes | None, n: int) -> Array:
        grams = ngrams(X if Y is None else joined(X, Y), n)
        left = grams if Y is None else grams.part(0, len(X.starts) - 1)
        right = grams if Y is None else grams.part(len(X.starts) - 1, len(grams.starts) - 1)
        fill = _aligned if self.position == "same" else _shared
        return fill(left, right, Y is None)

    def _diagonal(self, X: Codes) -> Array:
        total = np.zeros(len(X.starts) - 1)
        for n in range(self.shortest or self.n, self.n + 1):
            grams = ngrams(X, n)
            if self.position == "same":
                total += np.diff(grams.starts)
            else:
                found = counted(grams, int(grams.values.max(initial=-1)) + 1)
                rows = np.repeat(np.arange(len(total)), np.diff(found.indptr))
                total += np.bincount(rows, found.counts**2, minlength=len(total))
        return total


@stores_parameters
class SubsequenceKernel(StringKernel):
    """Common subsequences of two strings, with gaps: the string kernel of Lodhi et al. (2002).

    Every subsequence of n symbols that both strings have adds decay to the power of the lengths of the two stretches
    that it spans.

    Parameters
    ----------
    n
        Length of the subsequences.
    decay
        Price of each symbol that a subsequence spans, above 0 and at most 1.
    shortest
        If given, subsequences of all lengths from this to n count.
    normalize
        Whether to divide by sqrt(k(x, x) k(y, y)). A string shorter than the subsequences is similar to nothing.

    Notes
    -----
    The time is n times the product of the lengths of two strings.

    Examples
    --------
    >>> k = SubsequenceKernel(2, decay=0.5)
    >>> float(k(["cat", "car"])[0, 1])  # "ca" spans two symbols in both: decay^4
    0.0625
    """

    n: int = 3
    _: KW_ONLY
    decay: float = 0.5
    shortest: int | None = None
    normalize: bool = False

    def adapted(self, X: Any) -> Kernel:
        """The kernel itself, if its parameters are right."""
        check_lengths(self.n, self.shortest)
        check_decay(self.decay)
        return self

    def _matrix(self, X: Codes, Y: Codes | None) -> Array:
        other, same = (X, True) if Y is None else (Y, False)
        out = np.zeros((len(X.starts) - 1, len(other.starts) - 1))
        shortest = self.shortest or self.n

        def fill(first: int, last: int) -> None:
            compiled.kernel.strings.subsequence_block(
                X.values,
                X.starts,
                other.values,
                other.starts,
                float(self.decay),
                self.n,
                shortest,
                first,
                last,
                same,
                out,
            )

        return filled(out, fill, same)

    def _diagonal(self, X: Codes) -> Array:
        out = np.zeros(len(X.starts) - 1)
        shortest = self.shortest or self.n

        def fill(first: int, last: int) -> None:
            compiled.kernel.strings.own_subsequences(
                X.values, X.starts, float(self.decay), self.n, shortest, first, last, out
            )

        for_blocks(len(out), fill)
        return out


def _shared(left: Codes, right: Codes, same: bool) -> Array:
    """Frequent n-grams by a matrix product, rare ones through the lists of the strings that have them."""
    width = int(max(left.values.max(initial=-1), right.values.max(initial=-1))) + 1
    rows = counted(left, width)
    others = rows if same else counted(right, width)
    n = len(right.starts) - 1
    frequent = np.flatnonzero(np.bincount(others.grams, minlength=width) > _FREQUENT * n)
    out = _product(rows.dense(frequent), None if same else others.dense(frequent))
    rows, listed = rows.without(frequent), others.without(frequent).owners()

    def fill(first: int, last: int) -> None:
        compiled.kernel.strings.shared_counts(rows.indptr, rows.grams, rows.counts, *listed, first, last, same, out)

    return filled(out, fill, same)


def _product(X: Array, Y: Array | None) -> Array:
    """X Y' of counts, in single precision where that is exact: no value is above the larger of the squared norms."""
    most = max(float((each * each).sum(axis=1).max(initial=0.0)) for each in (X, X if Y is None else Y))
    kind: Any = np.float32 if most < _EXACT else np.float64
    left = X.astype(kind, copy=False)
    right = left if Y is None else Y.astype(kind, copy=False)
    return np.asarray(left @ right.T, dtype=np.float64)


def _aligned(left: Codes, right: Codes, same: bool) -> Array:
    out = np.zeros((len(left.starts) - 1, len(right.starts) - 1))

    def fill(first: int, last: int) -> None:
        compiled.kernel.strings.aligned(left.values, left.starts, right.values, right.starts, first, last, same, out)

    return filled(out, fill, same)
