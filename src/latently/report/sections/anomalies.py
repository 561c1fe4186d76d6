"""Rows that do not belong, each with the reason."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from latently.explain import surprises
from latently.report.findings.finding import Finding
from latently.report.sections.second_opinion import second_opinion
from latently.report.study.evidence import beliefs
from latently.report.study.study import Skipped, Study, shown
from latently.report.study.words import cut, number, percent, short

ALARM = 0.005  # expected false alarms in a table without anomalies
_MOST_ROWS, _MOST_REASONS = 50, 4
_EXPLAINED = 1200  # numbers (rows times columns) that are explained at most
_REFERENCE = 60
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
    reasons = _reasons(study, rows)
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
            }
            for row in rows
        ],
    }


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


def _reasons(study: Study, rows: np.ndarray) -> dict[int, list[dict[str, Any]]]:
    """What the model finds surprising about rows, by row."""
    if not len(rows):
        return {}
    fitted, _, _ = study.model()
    values = study.prepared.values
    some = rows[: max(_EXPLAINED // values.shape[1], 5)]
    usual = study.prepared.rng(8).permutation(len(values))[:_REFERENCE]
    told = surprises(fitted.mixture, values[some], reference=values[usual], schema=study.prepared.schema, n_orders=2)
    return {int(row): _reason(study, int(row), entry) for row, entry in zip(some, told, strict=True)}


def _reason(study: Study, row: int, told: dict[str, Any]) -> list[dict[str, Any]]:
    _, _, strange = study.model()
    by_name = {column.name: j for j, column in enumerate(study.prepared.used)}
    cells = dict(zip(study.prepared.numeric.tolist(), strange.cells[row].tolist(), strict=True))
    entries = [(by_name[e["column"]], e) for e in told["columns"] if e["value"] is not None]
    # the rarest number given the rest of its row comes first: it is what the row is listed for
    weights = {j: max(e["excess"], 0.0) + max(-cells.get(j, 0.0), 0.0) for j, e in entries}
    total = sum(weights.values()) or 1.0
    top = sorted(entries, key=lambda pair: -weights[pair[0]])[:_MOST_REASONS]
    kept = [(j, e) for j, e in top if weights[j] >= 0.05 * total]
    return [_told(study, row, j, entry, weights[j] / total) for j, entry in kept]


def _told(study: Study, row: int, j: int, entry: dict[str, Any], share: float) -> dict[str, Any]:
    column = study.prepared.used[j]
    value = _value(study, row, j)
    if column.role == "numeric":
        expected = f"{shown(column, entry['low'])} to {shown(column, entry['high'])}"
    else:
        expected = shown(column, float(entry["expected"]))
    text = f"{short(column.name)} is {value}; given the rest of the row, {expected} was expected"
    return {"column": cut(column.name), "value": value, "expected": expected, "share": float(share), "text": text}


def _value(study: Study, row: int, j: int) -> str:
    column = study.prepared.used[j]
    return number(float(column.raw[row])) if column.role == "numeric" else shown(column, float(column.seen[row]))


def anomaly_finding(found: dict[str, Any]) -> Finding:
    """The finding in one sentence."""
    first = found["rows"][0]
    why = f": {first['reasons'][0]['text']}" if first["reasons"] else ""
    more = f" It is the clearest of {found['count']} such rows." if found["count"] > 1 else ""
    text = f"Row {first['row']} does not belong{why}.{more}"
    return Finding(
        "anomaly",
        text,
        "anomalies",
        columns=tuple(reason["column"] for reason in first["reasons"]),
        rows=tuple(entry["row"] for entry in found["rows"]),
        effect=found["count"],
        measure="rows",
        probability=first["probability"],
    )
