"""Labels of classes: read, and as codes 0 to K - 1."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from latently.data.tables.values import is_missing

Codes = NDArray[np.int64]
Classes = NDArray[Any]


def read_labels(y: Any, who: str) -> NDArray[Any]:
    """Give labels as a flat array; a missing label is an error that says where."""
    if y is None:
        raise ValueError(f"{who} requires y to be passed, but the target y is None.")
    plain = type(y) is np.ndarray and y.ndim == 1 and y.size > 0  # its check takes as long as a small fit
    labels: NDArray[Any] = y if plain and y.dtype.kind in "biu" else column_or_1d(y, warn=True)
    if labels.dtype.kind in "biuSUT":
        return labels
    lost = np.array([is_missing(v) for v in labels], dtype=bool) if labels.dtype.kind == "O" else labels != labels
    if lost.any():
        raise ValueError(
            f"the label of row {int(np.argmax(lost))} is missing (NaN, {int(lost.sum())} in all): "
            "drop the rows without a label"
        )
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        raise ValueError("Input y contains infinity: labels are classes, not measurements")
    check_classification_targets(labels)
    return labels


def encode(labels: NDArray[Any]) -> tuple[Codes, Classes]:
    """Give the code of each label and the sorted distinct labels.

    Examples
    --------
    >>> codes, classes = encode(np.array([30, 10, 30]))
    >>> codes.tolist(), classes.tolist()
    ([1, 0, 1], [10, 30])
    """
    if labels.dtype.kind in "iu" and labels.size:
        low, high = int(labels.min()), int(labels.max())
        if high - low < 2 * labels.size + 1024 and high < 2**62:
            return _encode_integers(labels, low, high - low + 1)
    classes, codes = np.unique(labels, return_inverse=True)
    return codes.astype(np.int64, copy=False).reshape(-1), classes


def _encode_integers(labels: NDArray[Any], low: int, span: int) -> tuple[Codes, Classes]:
    # A table of the range does instead of sorting.
    shifted = labels.astype(np.int64, copy=False)
    shifted = shifted - low if low else shifted
    present = np.bincount(shifted, minlength=span) > 0
    codes = shifted if present.all() else (np.cumsum(present) - 1)[shifted]
    return codes, (np.flatnonzero(present) + low).astype(labels.dtype)
