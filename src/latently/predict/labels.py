"""Labels as codes 0 to K - 1, and the prior probabilities of the classes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latently.data.tables.values import quote
from latently.learn.estimator.classes import Classes, Codes, encode
from latently.predict.statistics import ClassStatistics


@dataclass(frozen=True, eq=False)
class Labelled:
    """Statistics by class, and the sorted labels of the classes; two of them add up to the classes of both.

    Examples
    --------
    >>> from latently.predict.statistics import Side
    >>> few = Labelled(np.array(["a"]), ClassStatistics(np.array([3.0]), Side(())))
    >>> more = Labelled(np.array(["a", "b"]), ClassStatistics(np.array([1.0, 2.0]), Side(())))
    >>> (few + more).stats.class_count
    array([4., 2.])
    """

    labels: NDArray[Any]
    stats: ClassStatistics

    def __add__(self, other: "Labelled") -> "Labelled":
        if np.array_equal(self.labels, other.labels):
            return Labelled(self.labels, self.stats + other.stats)
        union = np.unique(np.concatenate([self.labels, other.labels]))
        return Labelled(union, self.among(union) + other.among(union))

    def among(self, classes: NDArray[Any]) -> ClassStatistics:
        """Give the statistics for sorted classes that hold all of the labels."""
        return self.stats.spread(np.searchsorted(classes, self.labels), len(classes))


def encode_among(labels: NDArray[Any], classes: Classes) -> Codes:
    """Give codes of labels among known classes; an unknown label is an error."""
    codes, seen = encode(labels)
    at = np.searchsorted(classes, seen).clip(max=len(classes) - 1)
    unknown = [label for label, same in zip(seen.tolist(), classes[at] == seen, strict=True) if not same]
    if unknown:
        raise ValueError(
            f"The target label(s) {quote(unknown)} in y do not exist in the initial classes "
            f"{quote(classes.tolist(), 10)}"
        )
    return at.astype(np.int64)[codes]


def first_classes(classes: ArrayLike | None, known: Classes | None) -> Classes:
    """Give the classes that a `partial_fit` is about: given on the first call, the same ever after."""
    if known is not None:
        if classes is not None and not np.array_equal(known, np.sort(np.asarray(classes))):
            raise ValueError(f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {known!r}")
        return known
    if classes is None:
        raise ValueError("classes must be passed on the first call to partial_fit.")
    return np.unique(np.asarray(classes))


def class_priors(priors: ArrayLike | None, class_count: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the prior probabilities of the classes, (K,): as a user has set them, or their shares of all rows."""
    if priors is None:
        return shares(class_count)
    given, n_classes = np.asarray(priors, dtype=np.float64), len(class_count)
    if given.shape != (n_classes,):
        raise ValueError(f"Number of priors must match number of classes: {given.shape} for {n_classes} classes")
    if not (given >= 0).all():
        raise ValueError("Priors must be non-negative and not missing.")
    if not np.isclose(given.sum(), 1.0):
        raise ValueError(f"The sum of the priors should be 1, not {given.sum()}.")
    return given


def shares(class_count: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the share of each class in the weight of all rows, (K,).

    Examples
    --------
    >>> shares(np.array([1.0, 3.0]))
    array([0.25, 0.75])
    """
    total = class_count.sum()
    if not total > 0:
        raise ValueError("no rows are left: nothing is known about any class")
    return np.asarray(class_count / total)


def log_shares(shares_: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log of probabilities, -inf for zero, without a warning."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(shares_))
