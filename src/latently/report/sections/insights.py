"""The findings, most important first, each with its probability or the size of its effect."""

from dataclasses import replace
from itertools import combinations
from typing import Any, Final

import numpy as np

from latently.report.act.numbering import identifying, numbered
from latently.report.findings.code import code_of
from latently.report.findings.exact_findings import determines_findings, redundant_finding
from latently.report.findings.finding import Finding
from latently.report.findings.partial import partial_findings
from latently.report.findings.rank import TRIVIAL, ranked
from latently.report.findings.reversals import reversals
from latently.report.findings.rows.copies import copies
from latently.report.findings.rows.dominant import dominant
from latently.report.findings.rows.outliers import outliers
from latently.report.findings.rows.readings import readings
from latently.report.findings.rows.row_numbers import RowNumbers
from latently.report.findings.rows.slips import slips
from latently.report.findings.rules import rules
from latently.report.findings.spelling import spellings
from latently.report.sections.along_time.change import change_findings
from latently.report.sections.along_time.section import states_finding
from latently.report.sections.along_time.words import trend_findings
from latently.report.sections.anomalies import anomaly_finding
from latently.report.sections.clusters import cluster_finding
from latently.report.sections.dependencies import dependency_findings, order_finding
from latently.report.sections.missing import missing_findings
from latently.report.sections.target import leakage_findings, target_finding
from latently.report.study.pairs.aspects import Aspect
from latently.report.study.pairs.association import compare
from latently.report.study.study import Study
from latently.report.study.words import counted, cut, listed, short

_SURE: Final = 0.005  # chance that columns which tell clusters seem to go together
_CODES: Final = 0.8  # size of the finding that values stand for missing ones


def insights(contents: dict[str, Any], study: Study) -> list[dict[str, Any]]:
    """Rank what was found; a sentence that says so, if there is nothing worth knowing.

    Parameters
    ----------
    contents
        The report so far. Every insight also has "kind": "finding" or "nothing".
    study
        The table and its model.
    """
    told = numbered(contents, study.prepared.row_numbers)
    numbers = _named_rows(contents, study)
    searched = _of_search(contents, study, numbers)
    searched += _without_echo(outliers(study.prepared, numbers), searched)
    searched += _without_echo(_dominant(study, numbers), searched)
    found = ranked([*_without_echo(_of_sections(told, study), searched), *_of_columns(told), *searched])
    entries = [replace(each, code=code_of(each, study.time)).to_dict() for each in found]
    if all(each.finding in TRIVIAL for each in found):
        return [_nothing(contents), *entries]
    return entries


def _without_echo(sections: list[Finding], searched: list[Finding]) -> list[Finding]:
    """Leave out strange rows that a slip or a broken rule explains."""
    explained = {row for each in searched if each.finding in ("anomaly", "determines") for row in each.rows or ()}
    return [each for each in sections if each.finding != "anomaly" or not explained.issuperset(each.rows or ())]


def _of_sections(contents: dict[str, Any], study: Study) -> list[Finding]:
    made = []
    target, time, clusters = (contents[name] or {} for name in ("target", "time", "clusters"))
    made += leakage_findings(target)
    if target.get("tells") or target.get("related"):
        made.append(target_finding(target))
    if time.get("trend"):
        made += trend_findings(time)
    made += change_findings(time)
    if time.get("states", 1) > 1:
        made.append(states_finding(time))
    if clusters.get("n", 1) > 1:
        made.append(_clusters(contents, study))
    if contents["anomalies"].get("count"):
        made.append(anomaly_finding(contents["anomalies"]))
    if contents["missing"].get("depends"):
        made += missing_findings(contents["missing"])
    if contents["dependencies"].get("groups"):
        made += dependency_findings(contents["dependencies"])
    if contents["dependencies"].get("order"):
        made.append(order_finding(contents["dependencies"]))
    return made


def _clusters(contents: dict[str, Any], study: Study) -> Finding:
    """The clusters; if no columns that tell them depend on each other, that one column has gaps of its own."""
    found, pairs = cluster_finding(contents["clusters"]), contents["dependencies"].get("pairs", [])
    telling = {entry["column"] for card in contents["clusters"]["cards"] for entry in card["typical"]}
    together = any({pair["a"], pair["b"]} <= telling for pair in pairs)
    together = together or _go_together([a for a in study.aspects if cut(a.name) in telling])
    if together or not telling or contents["dependencies"].get("count", 0) > len(pairs):
        return found
    alone = next((name for name in found.columns if name in telling), min(telling))
    text = f"The values of {short(alone)} fall into groups with a gap between them; no other column goes with it."
    return replace(found, text=text, columns=(alone,), size=0.4)


def _go_together(aspects: list[Aspect]) -> bool:
    """Whether columns go with each other in the rows as they are: what gaps show does not hang on their order."""
    pairs = list(combinations(aspects, 2))
    return any(compare(a, b, share=1.0).p * len(pairs) < _SURE for a, b in pairs)


def _of_columns(contents: dict[str, Any]) -> list[Finding]:
    exact = contents["dependencies"].get("exact", [])
    constants = [column["name"] for column in contents["columns"] if column["kind"] == "constant"]
    single = [_codes(contents["columns"]), redundant_finding(exact, constants), _identifiers(contents)]
    dates = frozenset(column["name"] for column in contents["columns"] if column["kind"] == "date")
    return [*determines_findings(exact, dates), *(each for each in single if each is not None)]


def _named_rows(contents: dict[str, Any], study: Study) -> RowNumbers:
    """What rows are called: their numbers in the whole table, and what stands in the column that names them."""
    prepared = study.prepared
    named = identifying(contents["columns"], prepared.rows)
    return RowNumbers(prepared.row_numbers, next((c for c in prepared.columns if cut(c.name) == named), None))


def _dominant(study: Study, numbers: RowNumbers) -> list[Finding]:
    columns = tuple(column for column in study.prepared.columns if column.name != study.time)
    return dominant(columns, np.arange(study.prepared.rows), numbers)


def _of_search(contents: dict[str, Any], study: Study, numbers: RowNumbers) -> list[Finding]:
    prepared = study.prepared
    kept = rules(prepared.columns, prepared.sample, numbers)
    return [
        *copies(prepared),
        *readings(prepared.columns, numbers),
        *reversals(study, (contents["target"] or {}).get("name")),
        *spellings(prepared.columns, numbers),
        *kept,
        *slips(prepared.columns, contents["anomalies"], numbers),
        *partial_findings(study, contents["dependencies"], _families(kept)),
    ]


def _families(kept: list[Finding]) -> list[set[str]]:
    """The columns that sums and products tie together, directly or by way of others."""
    families: list[set[str]] = []
    for each in (set(rule.columns) for rule in kept if rule.finding == "determines"):
        linked = [family for family in families if family & each]
        families = [family for family in families if family not in linked] + [each.union(*linked)]
    return families


def _identifiers(contents: dict[str, Any]) -> Finding | None:
    time = (contents["time"] or {}).get("column")
    names = [c["name"] for c in contents["columns"] if c["kind"] == "identifier" and c["name"] != time]
    if not names:
        return None
    are = "is an identifier: no two rows share its value" if len(names) == 1 else "are identifiers: no value repeats"
    text = f"{listed(names)} {are}."
    return Finding("identifier", text, "columns", tuple(names), None, len(names), "columns")


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
        size=_CODES,
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
    done += [f"trend, season, breaks and states along {short(time['column'])}"] if "column" in time else []
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
