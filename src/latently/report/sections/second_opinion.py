"""What other detectors say of the rows that are listed."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from latently.detect import (
    SVDD,
    CombinedDetector,
    KernelDensity,
    KernelPCADetector,
    ModelDetector,
    OneClassSVM,
)
from latently.detect.base import Detector

_MOST = 2000  # rows that detectors learn from
_ODD = 0.05  # share of rows that a detector may find odd
_TOLD = 3
_KNOWN = {
    "kernel density": KernelDensity(bandwidth="rule", rtol=1e-3),
    "one-class SVM": OneClassSVM(),
    "SVDD": SVDD(),
    "kernel PCA": KernelPCADetector(),
    "model": ModelDetector(),
    "combined": CombinedDetector(),
}
DEFAULT = ("kernel density", "one-class SVM")


def chosen(detectors: Sequence[Any] | None) -> dict[str, Detector]:
    """The detectors that are meant, by name.

    Parameters
    ----------
    detectors
        Names ("kernel density", or that of the class) and detectors; the default ones if None.
    """
    if isinstance(detectors, str):
        raise ValueError(f"detectors is a list, such as [{detectors!r}]")
    found = dict(map(_named, DEFAULT if detectors is None else detectors))
    if not found:
        raise ValueError(f"detectors is empty: choose some of {', '.join(_KNOWN)}")
    return found


def _named(given: Any) -> tuple[str, Detector]:
    if isinstance(given, Detector):
        return type(given).__name__, given
    wanted = str(given).lower().replace(" ", "").replace("-", "")
    for name, detector in _KNOWN.items():
        if wanted in (name.lower().replace(" ", "").replace("-", ""), type(detector).__name__.lower()):
            return name, detector
    known = ", ".join(_KNOWN)
    raise ValueError(f"there is no detector {given!r}: choose some of {known}, or give one of latently.detect")


def second_opinion(
    values: np.ndarray, listed: np.ndarray, detectors: Sequence[Any] | None = None
) -> dict[str, Any] | None:
    """Ask other detectors about the listed rows; tell when they disagree with the list, or with each other.

    Parameters
    ----------
    values
        (n, d) numbers; missing ones are replaced by the median of their column.
    listed
        Rows that the report's own model finds out of line.
    detectors
        Which ones; see `chosen`. If they are given, the rows that they find the oddest are told too.

    Returns
    -------
    dict or None
        "text", "detectors", "disputed" (listed rows that every other detector finds usual), "split" (those that they
        disagree on, each with the detectors that find it "usual") and "oddest"; None if there is nothing to ask.
    """
    parts = chosen(detectors)
    scaled = _scaled(values)
    if not scaled.shape[1] or (detectors is None and not len(listed)):
        return None
    some = np.random.default_rng(0).permutation(len(scaled))[:_MOST]
    fitted = [clone(part).fit(scaled[some]) for part in parts.values()]
    odd = np.column_stack([part.tail_probability(scaled[listed]) <= _ODD if len(listed) else [] for part in fitted])
    disputed, split = listed[~odd.any(axis=1)], odd.any(axis=1) & ~odd.all(axis=1)
    names = np.array(list(parts))
    told = [
        {"row": int(row), "usual": names[~who].tolist()} for row, who in zip(listed[split], odd[split], strict=True)
    ]
    oddest = [] if detectors is None else _oddest(fitted, scaled)
    found = {"detectors": list(parts), "disputed": disputed.tolist(), "split": told, "oddest": oddest}
    return {"text": opinion(found, listed.tolist()), **found}


def opinion(found: dict[str, Any], listed: list[int]) -> str:
    """What the other detectors say, in words.

    Parameters
    ----------
    found
        "detectors", "disputed", "split" and "oddest" of `second_opinion`.
    listed
        Rows that the report's own model finds out of line.
    """
    names, oddest = found["detectors"], found["oddest"]
    disputed = np.array(found["disputed"], dtype=np.int64)
    return _text(names, len(listed), disputed, found["split"]) + _oddest_text(oddest, np.array(listed), len(names))


def _scaled(values: np.ndarray) -> np.ndarray:
    """Columns that vary, in standard deviations, missing values at the median."""
    known = ~np.isnan(values).all(axis=0)
    values = values[:, known]
    middle, spread = np.nanmedian(values, axis=0), np.nanstd(values, axis=0)
    table = np.where(np.isnan(values), middle, values)[:, spread > 0]
    return np.asarray((table - middle[spread > 0]) / spread[spread > 0])


def _text(names: list[str], n: int, disputed: np.ndarray, split: list[dict[str, Any]]) -> str:
    one = len(names) == 1
    start = f"{'Another detector' if one else 'Other detectors'} ({' and '.join(names)}, on the numbers alone)"
    if not n:
        return f"{start} {'was' if one else 'were'} asked; no row is listed that they could dispute."
    if not len(disputed) and not split:
        which = "row" if n == 1 else "rows"
        return f"{start} {'agrees' if one else 'agree'}: none finds the listed {which} usual."
    said = []
    if len(disputed):
        said.append(f"{'finds' if one else 'find'} {_rows(disputed)} usual")
    if split:
        cases = "; ".join(f"{' and '.join(each['usual'])} alone on row {each['row']}" for each in split[:_TOLD])
        more = f" and {len(split) - _TOLD} more" if len(split) > _TOLD else ""
        said.append(f"disagree with each other on {_rows(np.array([e['row'] for e in split]))} (usual: {cases}{more})")
    return f"{start} {' and '.join(said)}: look at these rows yourself."


def _oddest(fitted: list[Detector], scaled: np.ndarray) -> list[int]:
    """The rows of least tail probability, all detectors together."""
    together = np.sum([np.log(part.tail_probability(scaled)) for part in fitted], axis=0)
    return [int(row) for row in np.argsort(together, kind="stable")[:_TOLD]]


def _oddest_text(oddest: list[int], listed: np.ndarray, n: int) -> str:
    if not oddest:
        return ""
    absent = [row for row in oddest if row not in listed]
    who = "It finds" if n == 1 else "Together they find"
    text = f" {who} {_rows(np.array(oddest))} the oddest"
    which = "none of which is" if len(absent) == len(oddest) else f"of which {_rows(np.array(absent))} is not"
    return f"{text}, {which} listed." if absent else f"{text}."


def _rows(rows: np.ndarray) -> str:
    first = ", ".join(str(int(row)) for row in rows[:_TOLD])
    more = f" and {len(rows) - _TOLD} more" if len(rows) > _TOLD else ""
    return f"{'row' if len(rows) == 1 else 'rows'} {first}{more}"
