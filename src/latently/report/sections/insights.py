"""The findings, most important first, each with its probability or interval; at most seven."""

from typing import Any

from latently.report.findings.finding import Finding
from latently.report.sections.anomalies import anomaly_finding
from latently.report.sections.change import change_findings
from latently.report.sections.clusters import cluster_finding
from latently.report.sections.dependencies import dependency_finding, order_finding
from latently.report.sections.missing import missing_finding
from latently.report.sections.target import leakage_findings, target_finding
from latently.report.sections.time import states_finding
from latently.report.sections.trend import trend_findings
from latently.report.study.words import counted, listed, percent, short

MOST = 7


def insights(contents: dict[str, Any]) -> list[dict[str, Any]]:
    """Pick what is worth knowing first; a sentence that says so, if there is nothing.

    Parameters
    ----------
    contents
        The report so far. Every insight also has "kind": "finding" or "nothing".
    """
    found = [finding.to_dict() for finding in _found(contents)]
    return found[:MOST] or [_nothing(contents)]


def _found(contents: dict[str, Any]) -> list[Finding]:
    made = []
    if contents["source"].get("copies"):
        made.append(_copies(contents["source"]))
    target, time, clusters = (contents[name] or {} for name in ("target", "time", "clusters"))
    made += leakage_findings(target)
    if target.get("tells"):
        made.append(target_finding(target))
    if time.get("trend"):
        made += trend_findings(time)
    made += change_findings(time)
    if time.get("states", 1) > 1:
        made.append(states_finding(time))
    if clusters.get("n", 1) > 1:
        made.append(cluster_finding(clusters))
    if codes := _codes(contents["columns"]):
        made.append(codes)
    if contents["anomalies"].get("count"):
        made.append(anomaly_finding(contents["anomalies"]))
    if contents["missing"].get("depends"):
        made.append(missing_finding(contents["missing"]))
    if contents["dependencies"].get("pairs"):
        made.append(dependency_finding(contents["dependencies"]))
    if contents["dependencies"].get("order"):
        made.append(order_finding(contents["dependencies"]))
    return made


def _copies(source: dict[str, Any]) -> Finding:
    are = "row repeats" if source["copies"] == 1 else "rows repeat"
    share = percent(source["copies"] / max(source["rows_used"], 1))
    text = f"{source['copies']} {are} another row exactly ({share}); models and tests look at each row once."
    return Finding("duplicates", text, "columns", effect=source["copies"], measure="rows")


def _codes(columns: list[dict[str, Any]]) -> Finding | None:
    applied = [(column, code) for column in columns for code in column["codes"] if code["applied"]]
    if not applied:
        return None
    first, code = max(applied, key=lambda pair: pair[1]["probability"])
    with_codes = {column["name"]: column for column, _ in applied}.values()
    more = listed([short(column["name"]) for column in with_codes if column is not first])
    also = f" Codes were found in {more} too." if more else ""
    text = (
        f"{code['value']!r} in {short(first['name'])} ({counted(code['count'], 'time')}) stands for a missing value; "
        f"it is taken as missing.{also}"
    )
    return Finding(
        "missing_code",
        text,
        "columns",
        columns=tuple(column["name"] for column in with_codes),
        effect=code["count"],
        measure="rows",
        probability=code["probability"],
    )


def _nothing(contents: dict[str, Any]) -> dict[str, Any]:
    """What was tested, and what would have been found; there is no probability that there is nothing."""
    if "skipped" in contents["clusters"]:
        text, section = f"Nothing can be said beyond the columns. {contents['clusters']['skipped']}", "columns"
    else:
        text, section = f"Nothing stands out. Looked for: {_looked_for(contents)}.{_would(contents)}", "clusters"
    empty: dict[str, Any] = dict.fromkeys(("finding", "rows", "effect", "probability", "interval"))
    return empty | {"text": text, "section": section, "columns": [], "measure": "", "code": "", "kind": "nothing"}


def _looked_for(contents: dict[str, Any]) -> str:
    done = ["clusters with gaps between them"]
    pairs, target, time = (contents[name] or {} for name in ("dependencies", "target", "time"))
    done += ["rows that do not belong"] if "count" in contents["anomalies"] else []
    done += [f"dependence ({counted(pairs['tests'], 'pair')} of columns)"] if "tests" in pairs else []
    done += ["missing values that depend on other columns"] if contents["missing"].get("cells") else []
    done += [f"what tells {short(target['name'])}"] if "name" in target else []
    done += [f"states along {short(time['column'])}"] if "column" in time else []
    return listed(done, len(done))


def _would(contents: dict[str, Any]) -> str:
    """The sizes of effects that would have been found in nine tables of ten like this one."""
    pair, gap, far = (contents[name].get("finds") for name in ("dependencies", "clusters", "anomalies"))
    sizes = [f"a correlation of {pair:.2f}"] if pair else []
    sizes += [f"two clusters of equal size {gap:.1f} standard deviations apart"] if gap else []
    sizes += [f"one number moved by {far:.1f} standard deviations"] if far else []
    if not sizes:
        return " The table is too small to find anything but the strongest effects."
    either = " or ".join([", ".join(sizes[:-1]), sizes[-1]] if len(sizes) > 1 else sizes)
    return f" In 9 of 10 such tables this would have been found: {either}. Weaker effects may be there."
