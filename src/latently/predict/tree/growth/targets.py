"""Targets as the statistics of a node are made of: class codes, indicators, or numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.learn.estimator.classes import encode, read_labels
from latently.predict.labels import encode_among
from latently.predict.rows import is_sparse

Array = NDArray[np.float64]


class SparseTargetError(TypeError, ValueError):
    """Targets in a sparse matrix: of scikit-learn's, trees raise the first kind of error and forests the second."""


@dataclass(frozen=True, eq=False)
class Targets:
    """Targets of the rows of a table.

    Attributes
    ----------
    dense : (n, s) what adds up: a one and the targets about their centre, or indicators of classes
    codes : (n,) codes of the classes of one output, else empty
    starts : where the classes of each output begin (outputs + 1), or the number of outputs of a regression (1)
    centre : (outputs,) what was taken from the numbers
    """

    dense: Array
    codes: NDArray[np.uint32]
    starts: NDArray[np.int64]
    centre: Array

    @property
    def by_class(self) -> bool:
        """Whether there is one output of classes."""
        return len(self.starts) == 2

    @property
    def is_class(self) -> bool:
        """Whether the targets are classes."""
        return len(self.starts) > 1

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes) if self.by_class else len(self.dense)

    def take(self, rows: NDArray[Any]) -> "Targets":
        """Targets of some of the rows."""
        dense = self.dense if self.by_class else self.dense[rows]
        codes = self.codes[rows] if self.by_class else self.codes
        return Targets(dense, codes, self.starts, self.centre)

    def values(self, sums: Array, weight: Array) -> Array:
        """(nodes, outputs, classes or 1) class shares or means, from sums over nodes."""
        if not self.is_class:
            return np.asarray((sums[:, 1:] / sums[:, :1] + self.centre)[:, :, None])
        sizes = np.diff(self.starts)
        out = np.zeros((len(sums), len(sizes), sizes.max()))
        for o, (a, b) in enumerate(zip(self.starts[:-1], self.starts[1:], strict=True)):
            out[:, o, : b - a] = sums[:, a:b] / weight[:, None]
        return out


def class_targets(codes: NDArray[np.int64], n_classes: list[int]) -> Targets:
    """Targets of (n, outputs) codes of classes."""
    starts = np.concatenate([[0], np.cumsum(n_classes)]).astype(np.int64)
    if codes.shape[1] == 1:
        return Targets(np.empty((0, 0)), codes[:, 0].astype(np.uint32), starts, np.empty(0))
    dense = np.zeros((len(codes), starts[-1]))
    for o, start in enumerate(starts[:-1]):
        dense[np.arange(len(codes)), start + codes[:, o]] = 1.0
    return Targets(dense, np.empty(0, dtype=np.uint32), starts, np.empty(0))


def number_targets(y: Array, centred: bool) -> Targets:
    """Targets of (n, outputs) numbers; taken about their mean if that does not matter for the criterion."""
    centre = round_centre(y.mean(axis=0), np.ptp(y, axis=0)) if centred else np.zeros(y.shape[1])
    dense = np.column_stack([np.ones(len(y)), y - centre])
    return Targets(dense, np.empty(0, dtype=np.uint32), np.array([y.shape[1]], dtype=np.int64), centre)


def round_centre(mean: Array, width: Array) -> Array:
    """Round means to powers of two as wide as the data, so that small whole numbers stay whole when it is taken off.

    Examples
    --------
    >>> round_centre(np.array([1.1, 1e8 + 0.3]), np.array([2.0, 3.0]))
    array([2.e+00, 1.e+08])
    """
    step = np.exp2(np.floor(np.log2(np.where(width > 0, width, 1.0))))
    return np.asarray(np.round(mean / step) * step)


def read_classes(y: Any, who: str) -> tuple[NDArray[np.int64], list[NDArray[Any]], bool]:
    """Give (n, outputs) codes, the classes of each output, and whether y was two-dimensional."""
    values = _array(y, who)
    if values.ndim == 1 or values.shape[1] == 1:
        codes, classes = encode(read_labels(y, who))
        return codes[:, None], [classes], False
    pairs = [encode(read_labels(column, who)) for column in values.T]
    return np.column_stack([codes for codes, _ in pairs]), [classes for _, classes in pairs], True


def codes_among(y: Any, classes: list[NDArray[Any]], who: str) -> NDArray[np.int64]:
    """(n, outputs) codes of labels among known classes."""
    values = _array(y, who).reshape(len(y), -1)
    return np.column_stack([encode_among(read_labels(c, who), k) for c, k in zip(values.T, classes, strict=True)])


def _array(y: Any, who: str) -> NDArray[Any]:
    if y is None:
        raise ValueError(f"{who} requires y to be passed, but the target y is None.")
    if is_sparse(y):
        raise SparseTargetError("sparse multilabel-indicator for y is not supported. Make it dense: y.toarray()")
    values = np.asarray(y)
    if values.ndim not in (1, 2):
        raise ValueError(f"y must have one dimension, or two for several outputs; got shape {values.shape}")
    return values


def read_numbers(y: Any, who: str) -> tuple[Array, bool]:
    """Give (n, outputs) numbers, and whether y was two-dimensional; a missing or infinite one is an error."""
    values = _array(y, who)
    if values.dtype.kind not in "biuf":
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError) as problem:
            raise ValueError(f"y must be numbers: {problem}") from None
    numbers = values.astype(np.float64)
    bad = ~np.isfinite(numbers)
    if bad.any():
        row = int(np.argwhere(bad)[0][0])
        kind = "NaN" if np.isnan(numbers[bad].flat[0]) else "infinity"
        raise ValueError(f"Input y contains {kind}: the target of row {row} ({int(bad.sum())} in all); drop those rows")
    many = values.ndim == 2 and values.shape[1] > 1
    return numbers.reshape(len(numbers), -1), many
