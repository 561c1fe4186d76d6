"""Why a row does not belong: the smallest set of numbers without which it would, and what was to be expected there."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently.report.study.columns import Column
from latently.report.study.study import Study
from latently.report.study.words import cut, number, short

Values = NDArray[np.float64]
_MOST: Final = 4
_DRAWS: Final = 400
_LEVEL: Final = (0.05, 0.95)


def reason(study: Study, row: int, limit: float) -> list[dict[str, Any]]:
    """The numbers to blame, the strangest first, each with the interval in which 90 % of such rows would have it.

    Parameters
    ----------
    study
        The table and its model.
    row
        Which row.
    limit
        Log of the chance above which a row is ordinary.
    """
    _, _, strange = study.model()
    blamed, x = _blamed(study, row, limit)
    if not blamed:
        return []
    places = study.prepared.numeric
    cells = -strange.cells[row][blamed]
    total = float(cells.sum()) or 1.0
    drawn = _drawn(study, x)
    order = np.argsort(-cells, kind="stable")
    return [_entry(study.prepared.used[places[blamed[i]]], row, drawn[:, blamed[i]], cells[i] / total) for i in order]


def _blamed(study: Study, row: int, limit: float) -> tuple[list[int], Values]:
    """Places (among scores) of the numbers without which the row is ordinary, one by one; and the row without them."""
    _, _, strange = study.model()
    numeric, x = study.prepared.numeric, study.prepared.spread[row].copy()
    blamed: list[int] = []
    while len(blamed) < _MOST:
        known = np.flatnonzero(~np.isnan(x[numeric]))
        if not len(known) or (blamed and strange.again(x[None])[0] >= limit):
            break
        without = np.repeat(x[None], len(known), axis=0)
        without[np.arange(len(known)), numeric[known]] = np.nan
        best = int(known[strange.again(without).argmax()])
        blamed.append(best)
        x[numeric[best]] = np.nan
    return blamed, x


def _drawn(study: Study, x: Values) -> Values:
    """(draws, scores) of what is missing in a row, given the rest, by the components that vouch for rows."""
    _, _, strange = study.model()
    assert strange.judges is not None
    drawn = strange.judges.completed(np.repeat(x[None], _DRAWS, axis=0), study.prepared.rng(8))
    return np.asarray(drawn[:, study.prepared.numeric])


def _entry(column: Column, row: int, scores: Values, share: float) -> dict[str, Any]:
    value = number(float(column.raw[row]))
    low, high = _ends(column, row, scores)
    expected = f"about {number(low)}" if number(low) == number(high) else f"{number(low)} to {number(high)}"
    text = f"{short(column.name)} is {value} where {expected} would be usual"
    if low <= column.raw[row] <= high:
        text = f"{short(column.name)} is {value}, in a gap between values that would be usual ({expected})"
    return {"column": cut(column.name), "value": value, "expected": expected, "share": float(share), "text": text}


def _ends(column: Column, row: int, scores: Values) -> tuple[float, float]:
    """An interval in the column's own unit: within its range in other rows, and whole where it is whole."""
    assert column.curve is not None
    others = np.delete(column.raw, row)
    others = others[~np.isnan(others)]
    low, high = np.quantile(np.clip(column.curve.undo(scores), others.min(), others.max()), _LEVEL)
    whole = bool((others == np.round(others)).all())
    return (float(round(low)), float(round(high))) if whole else (float(low), float(high))


def row_text(reasons: list[dict[str, Any]]) -> str:
    """One sentence for a row, without a full stop."""
    if not reasons:
        return ""
    *first, last = (entry["text"] for entry in reasons)
    return "given the rest of the row, " + (f"{', '.join(first)} and {last}" if first else last)
