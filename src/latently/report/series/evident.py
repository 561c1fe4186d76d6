"""A column that is plainly the time of the rows: dates or years, each later than the one before, in even steps."""

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from latently.report.series.calendar import dated
from latently.report.series.panel import LEAST
from latently.report.series.spacing import spacing
from latently.report.study.columns import Column

_NAMES: Final = re.compile(
    r"(^|[_\W])(time|date|datetime|timestamp|years?|yr|quarters?|months?|weeks?|days?|hours?|minutes?)([_\W]|$)",
    re.IGNORECASE,
)


def evident_time(columns: Sequence[Column], target: str | None) -> str | None:
    """Name the column that orders the rows in time, if one plainly does and another column has numbers to follow.

    Parameters
    ----------
    columns
        All columns of the table.
    target
        A column that is to be predicted, which is no time.
    """
    found = [column for column in columns if column.name != target and _is_time(column)]
    if not found:
        return None
    time = min(found, key=lambda column: column.kind != "date")
    return time.name if any(c.role == "numeric" and c not in found for c in columns) else None


def _is_time(column: Column) -> bool:
    if column.kind not in ("date", "numeric", "identifier") or column.levels or len(column.raw) < LEAST:
        return False
    if not (np.diff(column.raw) > 0).all():  # a missing value is not later than the one before
        return False
    if column.kind == "date":
        return spacing(column.raw, dates=True) is not None
    seconds = dated(column.raw)
    if seconds is not None:
        return spacing(seconds, dates=True) is not None
    steps = spacing(column.raw, dates=False)
    return steps is not None and (steps.unit == "year" or _NAMES.search(column.name) is not None)
