"""What a model is given of each column: its values, whether it is missing, and the parts of a date."""

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from latently.report.study.columns import Column

Values = NDArray[np.float64]
_SHARE: Final = 0.01  # at least so many rows must be missing, and be known, for that to be a feature
_LEAST: Final = 5
_YEAR: Final = 365.2425 * 86400.0


@dataclass(frozen=True, eq=False)
class Feature:
    """One input of a model.

    Attributes
    ----------
    owner
        The column that it comes from.
    part
        "" for its values, "missing", or the part of a date.
    values
        (n,) numbers, or codes of classes; NaN where missing.
    classes
        Number of classes; 0 for numbers.
    """

    owner: str
    part: str
    values: Values = field(repr=False)
    classes: int = 0


def features_of(column: Column, rows: NDArray[np.int64], *, is_clock: bool = False) -> list[Feature]:
    """What a model sees of a column in some rows; nothing, if that does not vary.

    Parameters
    ----------
    column
        The column.
    rows
        Which rows.
    is_clock
        Whether the rows are in its order: then only what comes round again (month, weekday, hour) is a feature.
    """
    gone = column.missing[rows]
    made = _dated(column, rows, is_clock) if column.kind == "date" else []
    if column.role is not None and column.model is not None:
        made.append(Feature(column.name, "", column.model[rows], len(column.classes) if column.role == "codes" else 0))
    if min(gone.sum(), (~gone).sum()) >= max(_SHARE * len(rows), _LEAST):
        made.append(Feature(column.name, "missing", gone.astype(np.float64), 2))
    return [feature for feature in made if _varies(feature.values)]


def _varies(x: Values) -> bool:
    seen = x[~np.isnan(x)]
    return bool(len(seen) and (seen != seen[0]).any())


def _dated(column: Column, rows: NDArray[np.int64], is_clock: bool) -> list[Feature]:
    """The year, month, weekday and hour of dates."""
    seconds = column.raw[rows]
    gone = np.isnan(seconds)
    moments = np.where(gone, 0.0, seconds).astype("int64").astype("datetime64[s]")
    months, days = moments.astype("datetime64[M]").astype(np.int64), moments.astype("datetime64[D]").astype(np.int64)
    hours = moments.astype("datetime64[h]").astype(np.int64)
    codes = {"month": (months % 12, 12), "weekday": ((days + 3) % 7, 7), "hour": (hours % 24, 24)}
    made = [] if is_clock else [Feature(column.name, "year", _scaled(seconds / _YEAR))]
    return made + [
        Feature(column.name, part, np.where(gone, np.nan, code.astype(np.float64)), classes)
        for part, (code, classes) in codes.items()
    ]


def _scaled(x: Values) -> Values:
    seen = x[~np.isnan(x)]
    spread = float(seen.std()) if len(seen) else 0.0
    return (x - seen.mean()) / spread if spread > 0 else np.zeros_like(x)
