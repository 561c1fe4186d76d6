"""Trends and seasons in words and as findings."""

from dataclasses import replace
from typing import Any, Final

from latently.report.findings.finding import Finding
from latently.report.study.words import counted, listed, number, percent, short

_FAINT: Final = 0.1  # strength of a season that is not worth a finding, or
_SMALL: Final = 0.03  # its standard deviation as a share of that of the series
_TOLD: Final = 4  # trends in a sentence, and
_SERIES_TOLD: Final = 3  # series of a column
_WHEN: Final = {("day", 7): "on", ("hour", 168): "on", ("hour", 24): "at"}
Entry = dict[str, Any]


def part_text(entry: Entry) -> str:
    """What a series does along time, in one sentence.

    Parameters
    ----------
    entry
        A part of the section of time.
    """
    said = [f"{_verb(entry)} {_size(entry)}"] if entry["trend"]["found"] else []
    if entry["season"]["length"]:
        said.append(_season(entry))
    joint = " and " if entry["trend"]["steady"] else ", and "
    return f"{series_name(entry)} {joint.join(said)}."


def series_name(entry: Entry) -> str:
    """A column, and which of its series."""
    return short(entry["column"]) + (f" of {short(entry['group'])}" if entry["group"] else "")


def _season(entry: Entry) -> str:
    season = entry["season"]
    if not entry["period"]:
        about = f"{season['length']:.2g} {entry['unit']}s"
        return f"has a cycle of about {about} ({percent(season['strength'])} of its variance)"
    when = _WHEN.get((entry["unit"], entry["period"]), "in")
    peak = f", highest {when} {season['high']} and lowest {when} {season['low']}" if season["high"] else ""
    size = percent(season["size"]) if entry["scale"] == "multiplied" else number(season["size"])
    size += " between them" if peak else " from low to high"
    size += ", in proportion to the level" if entry["scale"] == "multiplied" else ""
    trend = entry["trend"]
    also = f", of the trend {trend['strength']:.2f}" if trend["found"] and trend["steady"] else ""
    how = f"({size}; strength {season['strength']:.2f}{also})"
    if entry["calendar"] or (season["years"] or 0.0) <= 1 or entry["unit"] == "year":
        return f"has a season of {counted(entry['period'], entry['unit'])}{peak} {how}"
    return f"has a cycle of {season['years']:.3g} years ({entry['period']} {entry['unit']}s) {how}"


def rate(share: float) -> str:
    """A growth in percent with its sign, however small.

    Examples
    --------
    >>> rate(0.071), rate(-0.0004)
    ('7.1 %', '-0.04 %')
    """
    size = abs(share)
    return ("-" if share < 0 else "") + (f"{100 * size:.2g} %" if 0 < size < 0.001 else percent(size))


def _verb(entry: Entry) -> str:
    start, end = entry["trend"]["ends"]
    return "grows" if (entry["trend"]["growth"] if entry["trend"]["steady"] else end - start) > 0 else "falls"


def _size(entry: Entry) -> str:
    trend = entry["trend"]
    if trend["steady"]:
        size = rate(abs(trend["growth"])) if entry["scale"] == "multiplied" else number(abs(trend["growth"]))
        return f"by {size} a {trend['per']}"
    start, end = trend["ends"]
    times = f"{end / start:.2g} times as much" if end > start else f"1/{start / end:.2g} of it"
    return f"from {number(start)} to {number(end)} ({times}) without a steady trend"


def trend_findings(found: dict[str, Any]) -> list[Finding]:
    """The strongest season of each length, each in one sentence, and the trends of all other columns together."""
    parts: list[Entry] = found["trend"]["parts"]
    strongest = sorted(parts, key=lambda entry: -entry["season"]["strength"])
    by_column = {entry["column"]: entry for entry in reversed(strongest) if _is_plain(entry["season"])}
    plain = [entry for entry in strongest if by_column.get(entry["column"]) is entry]
    seasonal = list({_length(entry): entry for entry in reversed(plain)}.values())[::-1][:2]
    alone = found["trend"]["by"] is None
    rising = [entry for entry in parts if entry["trend"]["found"] and not (alone and entry in seasonal)]
    made = [_finding(entry if alone else _without_trend(entry), found) for entry in seasonal]
    made = [replace(each, text=each.text + _also(each, parts, found)) for each in made]
    made = [_with_others(each, entry, plain) for each, entry in zip(made, seasonal, strict=True)]
    return made + ([_rising(rising, found)] if rising else [])


def _length(entry: Entry) -> tuple[Any, ...]:
    """What seasons of several columns have in common; a cycle that keeps to no calendar is one of its own."""
    return (entry["period"], entry["unit"]) if entry["period"] else (entry["column"],)


def _with_others(finding: Finding, entry: Entry, plain: list[Entry]) -> Finding:
    """The finding, with the other columns that have a season of the same length."""
    names = tuple(other["column"] for other in plain if _length(other) == _length(entry) and other is not entry)
    if not names:
        return finding
    text = f"{finding.text} {listed(names, _TOLD)} {'has' if len(names) == 1 else 'have'} a season of this length too."
    return replace(finding, text=text, columns=(*finding.columns, *names))


def _is_plain(season: dict[str, Any]) -> bool:
    return bool(season["strength"] >= _FAINT and season["of_all"] >= _SMALL)


def _without_trend(entry: Entry) -> Entry:
    plain = entry | {"trend": entry["trend"] | {"found": False}}
    return plain | {"text": part_text(plain)}


def _also(finding: Finding, parts: list[Entry], found: dict[str, Any]) -> str:
    """In how many series of a table a column has a season."""
    trend = found["trend"]
    same = [entry for entry in parts if entry["column"] == finding.columns[0] and entry["season"]["length"]]
    if trend["by"] is None or not same[0]["group"]:
        return ""
    return f" It has one in {_share(len(same), found)}."


def _share(n: int, found: dict[str, Any]) -> str:
    """So many of the series; of more than are looked at only those are counted."""
    looked, every = found["trend"]["looked_at"], found["trend"]["n"]
    by = short(found["trend"]["by"])
    return (
        f"{n} of {every} series ({by})" if looked == every else f"{n} of the {looked} longest of {every} series ({by})"
    )


def _rising(entries: list[Entry], found: dict[str, Any]) -> Finding:
    """Columns that grow or fall: the strongest trend with its effect, the others in the same sentence."""
    columns = tuple(dict.fromkeys(entry["column"] for entry in entries))
    said = [_of_column([entry for entry in entries if entry["column"] == name], found) for name in columns[:_TOLD]]
    left = len(columns) - _TOLD
    more = f"; {left} more {'has' if left == 1 else 'have'} a trend" if left > 0 else ""
    plain = entries[0] | {"season": entries[0]["season"] | {"probability": None}}
    return replace(_finding(plain, found), text=f"{'; '.join(said)}{more}.", columns=columns)


def _of_column(entries: list[Entry], found: dict[str, Any]) -> str:
    """The trend of a column; of several series how many have one, and the clearest."""
    if not entries[0]["group"]:
        return f"{short(entries[0]['column'])} {_verb(entries[0])} {_size(entries[0])}"
    verbs = sorted({_verb(entry) for entry in entries}, key=lambda verb: -sum(_verb(e) == verb for e in entries))
    counts = [f"{verb} in {sum(_verb(e) == verb for e in entries)}" for verb in verbs]
    share = _share(0, found).removeprefix("0 ")
    shown = [_of_group(entry, verbs[0]) for entry in entries[:_SERIES_TOLD]]
    return f"{short(entries[0]['column'])} {' and '.join(counts)} {share}: {', '.join(shown)}"


def _of_group(entry: Entry, usual: str) -> str:
    verb = "" if _verb(entry) == usual else f"{_verb(entry)} "
    return f"{short(entry['group'])} {verb}{_size(entry)}"


def _finding(entry: Entry, found: dict[str, Any]) -> Finding:
    seasonal = entry["season"]["probability"] is not None
    part = entry["season" if seasonal else "trend"]
    return Finding(
        "season" if seasonal else "trend",
        entry["text"],
        "time",
        columns=(entry["column"],),
        effect=part["strength"],
        measure="share of the variance",
        probability=part["probability"],
        code=f"df.sort_values({found['column']!r}).plot(x={found['column']!r}, y={entry['column']!r})",
        size=max(part["strength"], entry["trend"]["strength"] if entry["trend"]["found"] else 0.0),
    )
