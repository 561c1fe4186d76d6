"""Rows that do not belong, each with the reason."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from latently.report.findings.finding import Finding
from latently.report.sections.reasons import reason, row_text
from latently.report.sections.second_opinion import second_opinion
from latently.report.study.evidence import beliefs
from latently.report.study.prepare import Prepared
from latently.report.study.study import Skipped, Study
from latently.report.study.words import percent

ALARM = 0.005  # expected false alarms in a table without anomalies
_MOST_ROWS = 50
_EXPLAINED = 1200  # numbers (rows times columns) that are explained at most
_MARGIN, _LEAST_SPREAD = 1.5, 0.4  # beyond 1.28, the 90 % quantile: some columns are bent; by simulation
_MOST_FAR = 25.0  # standard deviations, beyond which no size is told


def anomalies(study: Study, detectors: Sequence[Any] | None = None) -> dict[str, Any]:
    """Find the rows that are out of line with all others.

    Parameters
    ----------
    study
        The table and its model.
    detectors
        Which other detectors are asked; see `second_opinion`.
    """
    _, _, strange = study.model()
    prepared = study.prepared
    if not len(prepared.numeric):
        raise Skipped("There is no column of numbers, and a rare category alone is no reason to call a row strange.")
    if prepared.rows < 20:
        raise Skipped("With fewer than 20 rows nothing can be said about what is usual.")
    limit = np.log(ALARM / prepared.rows)
    found = np.flatnonzero(strange.log_p < limit)
    order = found[np.argsort(strange.log_p[found], kind="stable")]
    sure = beliefs(strange.log_p, prepared.rows)
    rows = order[:_MOST_ROWS]
    reasons = {int(row): reason(study, int(row), float(limit)) for row in rows[: _explained(prepared)]}
    second = second_opinion(prepared.values[:, prepared.numeric], rows, detectors)
    finds = _finds(strange.reach(limit))
    return {
        "text": _text(len(found), prepared.rows, finds),
        "finds": finds,
        "threshold": float(-limit),
        "count": len(found),
        **({} if second is None else {"agreement": second}),
        "rows": [
            {
                "row": int(row),
                "surprise": float(-strange.log_density[row]),
                "probability": float(sure[row]),
                "reasons": reasons.get(int(row), []),
                "text": row_text(reasons.get(int(row), [])),
            }
            for row in rows
        ],
    }


def _explained(prepared: Prepared) -> int:
    """How many rows are explained."""
    return max(_EXPLAINED // max(len(prepared.numeric), 1), 5)


def _finds(reach: np.ndarray) -> float | None:
    """How far a number must be moved to be listed 9 times of 10, in standard deviations; None if no size is.

    It starts from anywhere in its column (one standard deviation), and limits differ by column.
    """
    spread = max(float(reach.std(ddof=1)) if len(reach) > 1 else 0.0, _LEAST_SPREAD)
    found = float(np.median(reach) + _MARGIN * np.hypot(1.0, spread))
    return found if found < _MOST_FAR else None


def _text(count: int, rows: int, finds: float | None) -> str:
    often = f"once in {1 / ALARM:.0f} tables"
    rule = f"A row is listed if a table of {rows} rows like the others would have one like it {often}."
    if count == 0:
        size = f" A number moved by {finds:.1f} standard deviations would be listed in 9 of 10 cases." if finds else ""
        return f"No row is out of line with the others. {rule}{size}"
    are = "row is" if count == 1 else "rows are"
    return f"{count} {are} out of line with the others ({percent(count / rows)}). {rule}"


def anomaly_finding(found: dict[str, Any]) -> Finding:
    """The finding in one sentence."""
    first = found["rows"][0]
    why = f": {first['text']}" if first["text"] else ""
    more = f" It is the clearest of {found['count']} such rows." if found["count"] > 1 else ""
    columns = tuple(reason["column"] for reason in first["reasons"])
    rows = tuple(entry["row"] for entry in found["rows"])
    return Finding(
        "anomaly",
        f"Row {first['row']} does not belong{why}.{more}",
        "anomalies",
        columns=columns,
        rows=rows,
        effect=found["count"],
        measure="rows",
        probability=first["probability"],
        code=f"df.iloc[{list(rows[:10])}]" + (f"[{list(columns)}]" if columns else ""),
        size=1.0 if found["count"] <= 10 else 0.7,
    )
