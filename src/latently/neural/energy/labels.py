"""Labels as units of an energy model: one of K, several binary ones, or sequences."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from latently.data.tables.values import quote
from latently.learn.estimator.classes import encode, read_labels
from latently.neural.inputs import plain

MOST_BINARY = 12
"""More binary labels have too many patterns to enumerate."""
Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Labelling:
    """What labels there are: classes, of which a row has one, or (`binary`) so many labels that are 0 or 1.

    Examples
    --------
    >>> labelling, units = Labelling.of(["b", "a"], 2, "Model", chained=False)
    >>> labelling.classes.tolist(), units.tolist()
    (['a', 'b'], [[0, 1], [1, 0]])
    """

    classes: NDArray[Any]
    width: int
    binary: bool
    chained: bool

    @classmethod
    def of(cls, y: Any, n_rows: int, who: str, *, chained: bool) -> tuple[Self, Codes]:
        """What labels say, and their units (n, width), or codes (n,) of chains."""
        y = plain(y)
        shape = np.asarray(y).shape
        if len(shape) == 2 and shape[1] > 1:
            found = cls(np.array([0, 1]), int(shape[1]), True, False)
            found._check_binary(chained)
        else:
            _, classes = encode(read_labels(y, who))
            found = cls(classes, len(classes), False, chained)
        codes = found.codes(y)
        if len(codes) != n_rows:
            raise ValueError(f"y has {len(codes)} labels for {n_rows} rows: give one for each row")
        return found, codes

    def _check_binary(self, chained: bool) -> None:
        if chained:
            raise ValueError("binary labels and lengths do not go together: give labels (n,) for sequences")
        if self.width > MOST_BINARY:
            raise ValueError(
                f"{self.width} binary labels have 2^{self.width} patterns, too many to list: give at most {MOST_BINARY}"
            )

    def codes(self, y: Any) -> Codes:
        """Units (n, width) of labels, or codes (n,) of chains; an unknown label is an error."""
        y = plain(y)
        if self.binary:
            units = np.asarray(y)
            if units.shape[1:] != (self.width,) or not np.isin(units, (0, 1)).all():
                raise ValueError(f"binary labels must be zeros and ones of shape (n, {self.width}), got {units.shape}")
            return units.astype(np.int64)
        labels = read_labels(y, "the model")
        at = np.searchsorted(self.classes, labels).clip(max=len(self.classes) - 1)
        strange = labels[self.classes[at] != labels]
        if len(strange):
            raise ValueError(f"y holds labels that were not in the fit: {quote(dict.fromkeys(strange.tolist()))}")
        return at.astype(np.int64) if self.chained else np.eye(self.width, dtype=np.int64)[at]


def read_lengths(lengths: Any, n_rows: int) -> Codes:
    """Checked lengths of sequences."""
    sizes = np.atleast_1d(np.asarray(lengths))
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or (sizes < 1).any() or sizes.sum() != n_rows:
        raise ValueError(f"lengths must be whole numbers of at least 1 that sum to the {n_rows} rows; got {lengths!r}")
    return sizes.astype(np.int64)


def padded(rows: NDArray[Any], codes: Codes, lengths: Codes) -> tuple[NDArray[Any], Codes, Codes]:
    """Sequences side by side: rows (s, T, d), codes (s, T), lengths (s,), with zeros behind the shorter ones.

    Examples
    --------
    >>> _, codes, _ = padded(np.ones((3, 1)), np.array([1, 2, 3]), np.array([1, 2]))
    >>> codes.tolist()
    [[1, 0], [2, 3]]
    """
    inside = np.arange(lengths.max()) < lengths[:, None]
    wide, labels = np.zeros((*inside.shape, rows.shape[1])), np.zeros(inside.shape, dtype=np.int64)
    wide[inside], labels[inside] = rows, codes
    return wide, labels, lengths
