"""The findings, most important first, each with its probability or interval; at most seven."""

from typing import Any

from latently.report.sections.anomalies import anomaly_insight
from latently.report.sections.clusters import cluster_insight
from latently.report.sections.dependencies import dependency_insight, order_insight
from latently.report.sections.missing import missing_insight
from latently.report.sections.target import target_insight
from latently.report.sections.time import time_insight
from latently.report.study.words import counted, listed

MOST = 7


def insights(contents: dict[str, Any]) -> list[dict[str, Any]]:
    """Pick what is worth knowing first; a sentence that says so, if there is nothing.

    Parameters
    ----------
    contents
        The report so far. Every insight also has "kind": "finding" or "nothing".
    """
    found = [insight | {"kind": "finding"} for insight in _found(contents)]
    return found[:MOST] or [_nothing(contents)]


def _found(contents: dict[str, Any]) -> list[dict[str, Any]]:
    made = []
    target, time, clusters = (contents[name] or {} for name in ("target", "time", "clusters"))
    if target.get("tells"):
        made.append(target_insight(target))
    if time.get("states", 1) > 1:
        made.append(time_insight(time))
    if clusters.get("n", 1) > 1:
        made.append(cluster_insight(clusters))
    if codes := _codes(contents["columns"]):
        made.append(codes)
    if contents["anomalies"].get("count"):
        made.append(anomaly_insight(contents["anomalies"]))
    if contents["missing"].get("depends"):
        made.append(missing_insight(contents["missing"]))
    if contents["dependencies"].get("pairs"):
        made.append(dependency_insight(contents["dependencies"]))
    if contents["dependencies"].get("order"):
        made.append(order_insight(contents["dependencies"]))
    return made


def _codes(columns: list[dict[str, Any]]) -> dict[str, Any] | None:
    with_codes = [column for column in columns if column["codes"]]
    if not with_codes:
        return None
    first = max(with_codes, key=lambda column: column["codes"][0]["probability"])
    code = first["codes"][0]
    names = listed([column["name"] for column in with_codes])
    text = (
        f"{code['value']!r} in {names} probably stands for a missing value ({counted(code['count'], 'time')} in "
        f"{first['name']}); "
        "it is taken as missing."
    )
    return {"text": text, "section": "columns", "probability": code["probability"], "interval": None}


def _nothing(contents: dict[str, Any]) -> dict[str, Any]:
    several = contents["clusters"].get("probability_more_than_one")
    if several is None:
        text, sure = f"Nothing can be said beyond the columns. {contents['clusters']['skipped']}", None
    else:
        text, sure = "Nothing stands out: what was looked for could not be told from chance.", float(1 - several)
    return {"text": text, "section": "columns" if sure is None else "clusters", "probability": sure} | {
        "interval": None,
        "kind": "nothing",
    }
