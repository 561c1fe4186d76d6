"""What each column is to a report: its kind, its suspected codes, and what a model is given of it."""

import re
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from latently.report.reading.codes import suspected_codes, suspected_dates, suspected_words
from latently.report.reading.raw import RawColumn, Written
from latently.report.study.curves import Curve, fit_curve
from latently.report.study.words import number, percent

Kind = Literal["numeric", "ordinal", "categorical", "date", "text", "identifier", "constant", "empty"]

Codes = Literal["apply", "suggest", "none"]

FEW: Final = 10  # a column of so few different numbers is ordinal
MANY_LEVELS: Final = 50  # from which on a plain word may be a name, such as the title of a film
MOST_LEVELS: Final = 12  # levels of a category that a model sees; the others are taken together
OTHERS: Final = "other levels"
SPIKE: Final = 0.1  # a number that so many rows share makes a column one of classes to the model
_CODES: Final = re.compile(
    r"(^|[_\W])(zip|zip_?code|postal|postal_?code|post_?code|plz|fips|phone|ssn)([_\W]|$)", re.IGNORECASE
)
_UNITS: Final = re.compile(  # what numbers count off, and do not measure
    r"(^|[_\W])(subject|participant|patient|respondent|school|classroom|stratum|strata|firm|company|household|family|"
    r"store|shop|district|precinct|batch|herd|litter|plot|tree)([_\W]|$)|[a-z]ID$",
    re.IGNORECASE,
)
_ID: Final = re.compile(r"(^|[_\W])(id|key|uuid|guid|index|nr|row)([_\W]|$)|[a-z]Id$", re.IGNORECASE)
_ROW_NAMES: Final = re.compile(r"(rownames?|row[_. ]names?|unnamed: ?\d+|)", re.IGNORECASE)  # as files are written


@dataclass(frozen=True, eq=False)
class Column:
    """A column, judged.

    Attributes
    ----------
    name, kind, notes
        Its name, what it is, and what was done to it.
    raw
        (n,) numbers, seconds or places of levels; NaN where missing, codes for missing included.
    levels
        Names of the levels that `raw` counts, for text; of the numbers, for ordinal and categorical numbers.
    codes
        Suspected codes for missing.
    role
        What the model sees: "numeric" scores, "codes" of classes, or None if it does not see the column.
    model
        (n,) scores or codes.
    curve
        From numbers to scores.
    classes
        Names of the classes, if the role is "codes".
    cuts
        For numbers that the model sees in classes: the number that many rows share, and where the others are cut.
    written
        How numbers and dates were written that came as text.
    moments
        Whether `raw` holds seconds since 1970, whatever the kind.
    """

    name: str
    kind: Kind
    raw: NDArray[np.float64]
    levels: tuple[str, ...] = ()
    codes: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    role: Literal["numeric", "codes"] | None = None
    model: NDArray[np.float64] | None = None
    curve: Curve | None = None
    classes: tuple[str, ...] = ()
    cuts: tuple[float, ...] = ()
    written: Written | None = None
    moments: bool = False

    @property
    def missing(self) -> NDArray[np.bool_]:
        """(n,) where there is no value."""
        return np.isnan(self.raw)

    @property
    def seen(self) -> NDArray[np.float64]:
        """(n,) what the model sees of it; an error if that is nothing."""
        if self.model is None:
            raise ValueError(f"the model does not see column {self.name!r}")
        return self.model

    def step(self) -> float:
        """Least distance of two different values."""
        different = np.unique(self.raw[~self.missing])
        return float(np.diff(different).min()) if len(different) > 1 else 0.0


def judge(raw: RawColumn, codes: Codes = "apply") -> Column:
    """Say what a column is, and prepare it for a model.

    Parameters
    ----------
    raw
        The column as it came.
    codes
        Whether conventional codes for missing are taken as missing ("apply"), named ("suggest"), or not looked for
        ("none").
    """
    if raw.kind == "number" and (_CODES.search(raw.name) or _names_units(raw)):
        raw = _as_labels(raw)
    column = _judge_text(raw, codes) if raw.kind == "text" else _judge_numbers(raw, codes)
    return replace(column, notes=(*raw.notes, *column.notes), written=raw.written)


def _names_units(raw: RawColumn) -> bool:
    """Whether numbers stand for subjects, schools or the like, each of which has several rows."""
    different, counts = np.unique(raw.values[~np.isnan(raw.values)], return_counts=True)
    if _ID.search(raw.name):
        return len(different) > 2 and counts.max() > 1
    return bool(_UNITS.search(raw.name)) and 2 < len(different) <= counts.sum() / 2


def _as_labels(raw: RawColumn) -> RawColumn:
    """Whole numbers that are no amounts, such as postal codes, as text."""
    seen = ~np.isnan(raw.values)
    different, places = np.unique(raw.values[seen], return_inverse=True)
    if (different != np.floor(different)).any():
        return raw
    values = np.full(len(raw.values), np.nan)
    values[seen] = places
    levels = tuple(str(int(value)) for value in different)
    return replace(raw, kind="text", values=values, levels=levels, notes=(*raw.notes, "numbers that are labels"))


def _judge_text(raw: RawColumn, codes: Codes) -> Column:
    found = _words(raw) if codes != "none" else []
    values, found = _without_codes(raw.values, found, codes)
    counts = np.bincount(values[~np.isnan(values)].astype(np.intp), minlength=len(raw.levels))
    shown = tuple({key: value for key, value in code.items() if key != "at"} for code in found)
    column = Column(raw.name, _text_kind(counts, raw), values, raw.levels, shown)
    if column.kind in ("categorical", "ordinal"):
        return _with_classes(column, counts, raw.levels)
    return column


def _words(raw: RawColumn) -> list[dict[str, Any]]:
    """Words for missing among the levels; none in free text, where they are words like others.

    Among many levels, such as titles or names, a plain word may be one of them: it is suggested and changes nothing.
    """
    everything = np.bincount(raw.values[~np.isnan(raw.values)].astype(np.intp), minlength=len(raw.levels))
    if _text_kind(everything, raw) in ("text", "identifier"):
        return []
    words = suspected_words([level if len(level) < 10 else "long" for level in raw.levels])
    places = {word: raw.levels.index(word) for word in words}
    many = len(raw.levels) > MANY_LEVELS
    return [
        {
            "value": word,
            "at": float(place),
            "count": int(everything[place]),
            "probability": 0.5 if many and word.strip().isalpha() else 0.95,
            "applied": not (many and word.strip().isalpha()),
        }
        for word, place in places.items()
        if everything[place]
    ]


def _without_codes(
    x: NDArray[np.float64], found: list[dict[str, Any]], codes: Codes
) -> tuple[NDArray[np.float64], list[dict[str, Any]]]:
    """Values without the codes that are applied, and the codes with whether they were."""
    told = [code | {"applied": code["applied"] and codes == "apply"} for code in found]
    gone = np.array([code.get("at", code["value"]) for code in told if code["applied"]], dtype=np.float64)
    return np.where(np.isin(x, gone), np.nan, x), told


def _text_kind(counts: NDArray[np.int64], raw: RawColumn) -> Kind:
    seen, different = int(counts.sum()), int((counts > 0).sum())
    if seen == 0:
        return "empty"
    if different == 1:
        return "constant"
    if different == seen and seen >= 10:
        return "text" if np.mean([len(t) > 40 or " " in t.strip() for t in raw.levels[:1000]]) > 0.5 else "identifier"
    if different > 20 and (different > seen / 2 or counts[counts < 5].sum() > seen / 2):
        return "text"
    return "ordinal" if raw.ordered else "categorical"


def _with_classes(column: Column, counts: NDArray[np.int64], levels: tuple[str, ...]) -> Column:
    """Classes for the model: the common levels, and the others as one."""
    common = np.flatnonzero(counts > 0)
    if len(common) > MOST_LEVELS:
        common = np.sort(np.argsort(-counts, kind="stable")[: MOST_LEVELS - 1])
    place = np.full(len(levels) + 1, float(len(common)))
    place[common], place[-1] = np.arange(len(common)), np.nan
    at = np.where(column.missing, len(levels), np.nan_to_num(column.raw)).astype(np.intp)
    names = tuple(levels[i] for i in common)
    if len(common) < (counts > 0).sum():
        note = f"the model takes {int((counts > 0).sum()) - len(common)} rarer levels together"
        column, names = replace(column, notes=(*column.notes, note)), (*names, OTHERS)
    return replace(column, role="codes", model=place[at], classes=names)


def _judge_numbers(raw: RawColumn, codes: Codes) -> Column:
    look = {"date": suspected_dates, "number": suspected_codes}[raw.kind] if codes != "none" else lambda _: []
    x, found = _without_codes(raw.values, look(raw.values), codes)
    shown = tuple({key: value for key, value in code.items() if key != "at"} for code in found)
    if raw.kind == "date":
        seen = ~np.isnan(x)
        kind: Kind = "date" if seen.any() else "empty"
        kind = "constant" if len(np.unique(x[seen])) == 1 else kind
        return Column(raw.name, kind, x, codes=shown, moments=True)
    column = Column(raw.name, "numeric", x, codes=shown)
    different, counts = np.unique(x[~np.isnan(x)], return_counts=True)
    if len(different) < 2:
        return replace(column, kind="empty" if len(different) == 0 else "constant")
    if _is_identifier(raw.name, different, counts):
        return replace(column, kind="identifier")
    if len(different) == 2 or (len(different) <= FEW and counts.sum() >= 5 * len(different)):
        return _few(column, different, counts)
    if _has_spike(counts):
        return _spiked(column, float(different[counts.argmax()]), float(counts.max() / counts.sum()))
    curve = fit_curve(x, column.step())
    return replace(column, role="numeric", model=curve.apply(x), curve=curve)


def _has_spike(counts: NDArray[np.int64]) -> bool:
    """One number that many rows share, and several times as many as any other."""
    second, first = np.sort(counts)[-2:]
    return bool(first > SPIKE * counts.sum() and first > 3 * second)


def _is_identifier(name: str, different: NDArray[np.float64], counts: NDArray[np.int64]) -> bool:
    """All different whole numbers that count the rows, or bear a name that says so."""
    if counts.max() > 1 or (different != np.floor(different)).any():
        return False
    if _ROW_NAMES.fullmatch(name.strip()):
        return True
    if len(different) < 20:
        return False
    return bool((np.diff(different) == 1).all() or _ID.search(name))


def _few(column: Column, different: NDArray[np.float64], counts: NDArray[np.int64]) -> Column:
    levels = tuple(number(v) if float(number(v)) == v else repr(float(v)) for v in different)
    place = np.where(column.missing, np.nan, np.searchsorted(different, np.nan_to_num(column.raw)))
    kind: Kind = "categorical" if len(different) == 2 else "ordinal"
    return _with_classes(replace(column, kind=kind, raw=place, levels=levels), counts, levels)


def _spiked(column: Column, value: float, share: float) -> Column:
    """A number that many rows share, beside others: the model sees it as a class, and the others in classes."""
    x = column.raw
    others = x[(x != value) & ~np.isnan(x)]
    cuts = np.unique(np.quantile(others, [1 / 3, 2 / 3]))
    codes = in_classes(x, (value, *cuts.tolist()))
    ends = [number(c) for c in cuts]
    names = (number(value), f"up to {ends[0]}", *([f"{ends[0]} to {ends[1]}"] if len(ends) > 1 else []))
    note = f"{percent(share)} of the values are {number(value)}: the model sees this column in classes"
    seen = replace(column, role="codes", model=codes, classes=(*names, f"over {ends[-1]}"))
    return replace(seen, notes=(*column.notes, note), cuts=(value, *cuts.tolist()))


def in_classes(x: NDArray[np.float64], cuts: tuple[float, ...]) -> NDArray[np.float64]:
    """(n,) 0 for the number that many rows share, which comes first, and then the stretch between the cuts."""
    codes: NDArray[np.float64] = np.searchsorted(cuts[1:], np.nan_to_num(x), side="left") + np.float64(1.0)
    return np.where(np.isnan(x), np.nan, np.where(x == cuts[0], 0.0, codes))
