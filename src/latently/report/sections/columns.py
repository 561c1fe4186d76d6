"""The columns: what each is, what is missing in it, and how its values lie."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.prepare.columns import skewness
from latently.report.study.columns import Column
from latently.report.study.prepare import Prepared
from latently.report.study.words import cut, stamp

_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
_MOST_LEVELS, _BARS = 12, 24
_CURVES = {"sqrt": "square root", "root": "cube root", "log": "logarithm", "asinh": "inverse hyperbolic sine"}
_WHY = {
    "identifier": "all values are different: not used by the model",
    "text": "free text: not used by the model",
    "constant": "always the same: not used by the model",
    "empty": "no values: not used by the model",
    "date": "a date: looked at by the tests, not by the model",
}


def columns(prepared: Prepared) -> list[dict[str, Any]]:
    """Describe every column.

    Parameters
    ----------
    prepared
        The table.
    """
    used = set(prepared.names)
    aside = {column.name for column in prepared.aside}
    return [_column(column, column.name in used, column.name in aside) for column in prepared.columns]


def _column(column: Column, used: bool, aside: bool) -> dict[str, Any]:
    gone = int(column.missing.sum())
    seen = column.raw[~column.missing]
    notes = [*column.notes, *_remarks(column, used, aside)]
    told = {
        "name": cut(column.name),
        "kind": column.kind,
        "used": used,
        "missing": gone,
        "missing_share": gone / len(column.raw),
        "distinct": len(np.unique(seen)),
        "codes": [code | {"value": cut(v) if isinstance(v := code["value"], str) else v} for code in column.codes],
        "note": "; ".join(notes) or None,
    }
    if len(seen) == 0:
        return told
    if column.kind == "date":
        return told | _dates(seen)
    return told | (_levels(column, seen) if column.levels else _numbers(seen))


def _remarks(column: Column, used: bool, aside: bool) -> list[str]:
    made = [f"{code['value']!r} {_standing(code)}" for code in column.codes]
    if column.kind in _WHY:
        made.append(_WHY[column.kind])
    elif aside:
        made.append("set aside: it names the clusters, or nearly so")
    elif not used:
        made.append("not used by the model, which takes the 60 columns with the fewest missing values")
    if column.curve is not None and column.curve.kind != "none":
        made.append(f"the model sees its {_CURVES[column.curve.kind]}")
    return made


def _standing(code: dict[str, Any]) -> str:
    return "is taken as missing" if code["applied"] else "may stand for a missing value; nothing was changed"


def _numbers(seen: NDArray[np.float64]) -> dict[str, Any]:
    low, high = float(seen.min()), float(seen.max())
    counts, edges = _bars(seen, low, high)
    return {
        "mean": float(seen.mean()),
        "sd": float(seen.std(ddof=1)) if len(seen) > 1 else 0.0,
        "min": low,
        "max": high,
        "quantiles": dict(zip(map(str, _LEVELS), np.quantile(seen, _LEVELS).tolist(), strict=True)),
        "skew": skewness(seen),
        "histogram": {"edges": edges.tolist(), "counts": counts.tolist()},
    }


def _bars(seen: NDArray[np.float64], low: float, high: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Counts between even edges; one bar, if the values are too close for the edges to differ."""
    edges = np.linspace(low, high, _BARS + 1)
    if not (np.diff(edges) > 0).all():
        width = max(abs(low), abs(high), 1.0)
        return np.array([len(seen)]), np.array([low - 0.5 * width, high + 0.5 * width])
    return np.histogram(seen, bins=edges)


def _dates(seen: NDArray[np.float64]) -> dict[str, Any]:
    about = _numbers(seen)
    quantiles = {level: stamp(value) for level, value in about["quantiles"].items()}
    ends = {"min": stamp(about["min"]), "max": stamp(about["max"])}
    edges = [stamp(edge) for edge in about["histogram"]["edges"]]
    return ends | {"quantiles": quantiles, "histogram": {"edges": edges, "counts": about["histogram"]["counts"]}}


def _levels(column: Column, seen: NDArray[np.float64]) -> dict[str, Any]:
    counts = np.bincount(seen.astype(np.intp), minlength=len(column.levels))
    order = np.argsort(-counts, kind="stable")[:_MOST_LEVELS]
    top: list[dict[str, Any]] = [
        {"level": cut(column.levels[i]), "count": int(counts[i]), "share": float(counts[i] / len(seen))}
        for i in order
        if counts[i]
    ]
    return {"levels": top, "other": int(len(seen) - sum(level["count"] for level in top))}
