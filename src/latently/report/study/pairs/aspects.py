"""Columns as tests see them: classes, and scores of the ranks where there is an order."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

from latently.report.study.columns import OTHERS
from latently.report.study.words import number

Values = NDArray[np.float64]
RARER = "one of the rarer ones"
_CLASSES = 5


@dataclass(frozen=True, eq=False)
class Aspect:
    """A column as tests see it.

    Attributes
    ----------
    name
        Its name.
    codes
        (n,) classes 0, 1, ...; -1 where missing.
    labels
        Names of the classes.
    scores
        (n,) normal scores of the ranks, 0 where missing; None if it has no order.
    memory
        Its correlations with itself 1, 2, ... rows on; None if its rows look independent.
    fresh
        (n,) normal scores of what is new in each row, given the rows before, 0 where missing; None as for `memory`.
    """

    name: str
    codes: NDArray[np.intp]
    labels: tuple[str, ...]
    scores: Values | None
    memory: Values | None = None
    fresh: Values | None = None

    @property
    def width(self) -> int:
        """Number of classes."""
        return len(self.labels)

    @cached_property
    def is_graded(self) -> bool:
        """Whether it has an order finer than low and high."""
        return self.scores is not None and (self.width > 2 or len(np.unique(self.scores[self.codes >= 0])) > 2)

    @cached_property
    def ranks(self) -> Values:
        """(n,) ranks among the rows that have a value, 0 where missing or without an order."""
        seen, ranks = self.codes >= 0, np.zeros(len(self.codes))
        if self.scores is not None:
            ranks[seen] = rankdata(self.scores[seen])
        return ranks

    @cached_property
    def values(self) -> NDArray[np.intp]:
        """(n,) places among its different values, or classes without an order; -1 where missing."""
        seen, places = self.codes >= 0, np.full(len(self.codes), -1, dtype=np.intp)
        places[seen] = np.unique((self.codes if self.scores is None else self.scores)[seen], return_inverse=True)[1]
        return places

    @cached_property
    def spots(self) -> NDArray[np.float32]:
        """(n, classes) one where a row is of the class."""
        return np.asarray((self.codes[:, None] == np.arange(self.width)).astype(np.float32))


def ranked(name: str, x: Values, show: Callable[[float], str] = number) -> Aspect | None:
    """A column with an order, cut at quantiles into up to five classes; None if it does not vary.

    The classes are named by their values: "at most 3", "4 to 7", "at least 8".

    Parameters
    ----------
    name
        Its name.
    x
        (n,) values, NaN where missing.
    show
        A value as a reader knows it.
    """
    seen = ~np.isnan(x)
    different = np.unique(x[seen])
    if len(different) < 2:
        return None
    classes = int(np.clip(np.sqrt(seen.sum() / 5), 2, _CLASSES))
    cuts = different[:-1] if len(different) <= classes else np.quantile(x[seen], np.arange(1, classes) / classes)
    codes = np.where(seen, np.searchsorted(np.unique(cuts), np.nan_to_num(x), side="left"), -1)
    scores = normal_scores(x)
    kept, codes = _dense(codes)
    return Aspect(name, codes, _stretches(x, codes, len(kept), show), scores) if len(kept) > 1 else None


def _stretches(x: Values, codes: NDArray[np.intp], classes: int, show: Callable[[float], str]) -> tuple[str, ...]:
    """The values of each class in words."""
    ends = [(show(float(part.min())), show(float(part.max()))) for k in range(classes) for part in (x[codes == k],)]
    names = [low if low == high else f"{low} to {high}" for low, high in ends]
    (low, high), (start, end) = ends[0], ends[-1]
    names[0], names[-1] = (low if low == high else f"at most {high}"), (start if start == end else f"at least {start}")
    return tuple(names)


def classed(name: str, codes: Values, labels: tuple[str, ...], *, ordered: bool) -> Aspect | None:
    """A column of classes, the rare ones taken together; None if it does not vary.

    Parameters
    ----------
    name
        Its name.
    codes
        (n,) classes, NaN where missing.
    labels
        Their names.
    ordered
        Whether they have an order.
    """
    seen = ~np.isnan(codes)
    places = np.where(seen, np.nan_to_num(codes), -1).astype(np.intp)
    counts = np.bincount(places[seen], minlength=len(labels))
    least = max(5.0, min(0.02, 0.5 / len(labels)) * seen.sum())
    common = np.array([k for k in np.flatnonzero(counts >= least) if labels[k] != OTHERS], dtype=np.intp)
    place = np.full(len(labels) + 1, len(common), dtype=np.intp)
    place[common], place[-1] = np.arange(len(common)), -1
    if counts.sum() - counts[common].sum() < 5:  # too few to be a class of their own
        place[place == len(common)] = -1
    kept, merged = _dense(place[places])
    rare = [int(k) for k in np.flatnonzero(counts) if k not in common]
    end = labels[rare[0]] if len(rare) == 1 and labels[rare[0]] != OTHERS else RARER
    names = (*(labels[i] for i in common), _end(labels, common, rare) if ordered else end)
    if len(kept) < 2:
        return None
    has_order = ordered or len(kept) == 2
    line = codes if ordered else np.where(merged < 0, np.nan, merged)
    return Aspect(name, merged, tuple(names[k] for k in kept), normal_scores(line) if has_order else None)


def _end(labels: tuple[str, ...], common: NDArray[np.intp], rare: list[int]) -> str:
    """Rare numbers in words: those above all common ones, or below, by where they begin."""
    if not rare or not len(common) or not all(_is_number(labels[k]) for k in (*common, *rare)):
        return RARER
    if min(rare) > common.max():
        return f"at least {labels[min(rare)]}"
    return f"at most {labels[max(rare)]}" if max(rare) < common.min() else RARER


def _is_number(label: str) -> bool:
    return label.lstrip("-").replace(".", "", 1).isdigit()


def normal_scores(x: Values) -> Values:
    """Quantiles of the normal distribution at the ranks of values; 0 where missing."""
    seen = ~np.isnan(x)
    scores = np.zeros(len(x))
    scores[seen] = ndtri((rankdata(x[seen]) - 0.5) / seen.sum())
    return scores


def _dense(codes: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    kept = np.unique(codes[codes >= 0])
    place = np.full(int(codes.max(initial=0)) + 2, -1, dtype=np.intp)
    place[kept] = np.arange(len(kept))
    return kept, np.where(codes < 0, -1, place[codes])
