"""What follows exactly from other columns, in sentences."""

from dataclasses import replace
from typing import Any, Final

from latently.report.findings.finding import Finding
from latently.report.study.words import listed, short

_OF_DATE: Final = 0.2  # size of the finding that a date fixes other columns


def determines_findings(found: list[dict[str, Any]], dates: frozenset[str] = frozenset()) -> list[Finding]:
    """One finding for each column that fixes others; what a date fixes is mostly a part of it, and little news."""
    copies = {each["target"] for each in found if each["relation"] == "copy"}
    sources = dict.fromkeys(e["source"] for e in found if e["relation"] == "determines" and e["source"] not in copies)
    made = [
        _fixes(source, [e for e in found if (e["source"], e["relation"]) == (source, "determines")])
        for source in sources
    ]
    return [replace(each, size=_OF_DATE) if each.columns[0] in dates else each for each in made]


def _fixes(source: str, found: list[dict[str, Any]]) -> Finding:
    targets = [each["target"] for each in found]
    broken = [each for each in found if each["rows"]]
    each_has = f"each {short(source)} has one {short(targets[0])}"
    text = f"{short(source)} fixes {listed(targets, 5)}: {each_has}"
    if len(targets) == 1 and not broken:
        text = f"{found[0]['text']} (all {found[0]['of']} rows)"
    elif broken:
        text = broken[0]["text"] if len(found) == 1 else f"{text}; {broken[0]['text'].partition(': ')[2]}"
    else:
        text += f" (all {found[0]['of']} rows)"
    rows = tuple(dict.fromkeys(row for each in broken for row in each["rows"])) or None
    held = 1 - len(rows or ()) / max(found[0]["of"], 1)
    columns = (source, *targets)
    return Finding("determines", f"{text}.", "dependencies", columns, rows, held, "share of the rows")


def redundant_finding(found: list[dict[str, Any]], constants: list[str]) -> Finding | None:
    """Copies, units and constants in one line."""
    same = [each for each in found if each["relation"] != "determines"]
    said = [each["text"] for each in same]
    said += [f"{listed(constants)} {'never varies' if len(constants) == 1 else 'never vary'}"] if constants else []
    if not said:
        return None
    more = f"; {len(said) - 4} more like these" if len(said) > 4 else ""
    names = dict.fromkeys([name for each in same for name in (each["source"], each["target"])] + constants)
    text = f"Nothing new in some columns: {'; '.join(said[:4])}{more}."
    effect = len({each["target"] for each in same} | set(constants))
    return Finding("redundant", text, "dependencies", tuple(names), None, effect, "columns")
