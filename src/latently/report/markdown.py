"""From the dict of a report to Markdown: the same words and tables without the charts."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from latently.report.charts import made
from latently.report.figures import CONVENTION, certainty, counted, interval, number, percent

# Signs that Markdown, or HTML inside it, would obey.
_SIGNS = re.compile(r"([\\`*_{}\[\]<>#|~!&$])")


def document(contents: dict[str, Any]) -> str:
    r"""Write a report as Markdown; strings from the data are escaped.

    Examples
    --------
    >>> print(document({"source": {"name": "a|b", "rows": 2, "columns": 1}, "limits": ["All."]}))
    # a\|b
    <BLANKLINE>
    2 rows, 1 column
    <BLANKLINE>
    ## Findings
    <BLANKLINE>
    Nothing stands out.
    <BLANKLINE>
    ## What this cannot tell
    <BLANKLINE>
    - All.
    <BLANKLINE>
    """
    return "\n\n".join(block for block in _blocks(contents) if block) + "\n"


def plain(value: Any) -> str:
    r"""Write a value so that Markdown takes every sign of it for itself, on one line.

    Examples
    --------
    >>> print(plain("<b>a | b</b>"))
    \<b\>a \| b\</b\>
    """
    text = value if isinstance(value, str) else number(value)
    return _SIGNS.sub(r"\\\1", " ".join(text.split()))


def _blocks(contents: dict[str, Any]) -> Iterator[str]:
    yield from _top(contents)
    writers = (
        ("target", "Target", _target),
        ("time", "Time", _time),
        ("clusters", "Clusters", _clusters),
        ("map", "Map of the rows", _map),
        ("anomalies", "Anomalies", _anomalies),
        ("missing", "Missing values", _missing),
        ("dependencies", "Dependencies", _dependencies),
        ("selection", "Choice of model", _selection),
    )
    for name, title, write in writers:
        if contents.get(name):
            yield f"## {title}"
            yield plain(contents[name].get("skipped") or contents[name].get("text", ""))
            yield from write(made(contents, name)) if made(contents, name) else ()
    if contents.get("columns"):
        yield "## Columns"
        yield _columns(contents["columns"])
    if contents.get("limits"):
        yield "## What this cannot tell"
        yield "\n".join(f"- {plain(sentence)}" for sentence in contents["limits"])


def _top(contents: dict[str, Any]) -> Iterator[str]:
    source = contents.get("source", {})
    yield f"# {plain(source.get('name', 'A table'))}"
    facts = [counted(source.get("rows", 0), "row"), counted(source.get("columns", 0), "column")]
    if source.get("rows_used", source.get("rows")) != source.get("rows"):
        facts.append(f"looked at {counted(source['rows_used'], 'row')}")
    yield ", ".join(facts)
    if contents.get("table"):
        yield CONVENTION
    if source.get("sampled"):
        yield f"Computed on a sample of the rows: {plain(', '.join(source['sampled']))}."
    yield from (f"Note: {plain(sentence)}" for sentence in contents.get("warnings", []))
    yield "## Findings"
    found = contents.get("insights", [])
    lines = [f"{place}. {plain(item['text'])}{_surely(item)}" for place, item in enumerate(found, 1)]
    yield "\n".join(lines) or "Nothing stands out."


def _surely(item: dict[str, Any]) -> str:
    told = certainty(item)
    return f" ({told})" if told else ""


def _table(titles: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    if not rows:
        return ""
    lines = [titles, ["---"] * len(titles), *([plain(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _target(part: dict[str, Any]) -> Iterator[str]:
    score = f"{number(part['score'])} ({interval(part.get('interval'))})"
    yield f"{plain(part['metric'])}: {score}, without the columns {number(part['baseline'])}"
    rows = [(item["column"], item["gain"], interval(item.get("interval"))) for item in part.get("importance", [])]
    yield _table(("column", "gain", "interval"), rows)


def _time(part: dict[str, Any]) -> Iterator[str]:
    rows = [(item["row"], item["at"], percent(item["probability"])) for item in part.get("changes", [])]
    yield _table(("row", "change at", "probability"), rows)


def _clusters(part: dict[str, Any]) -> Iterator[str]:
    for card in part.get("cards", []):
        yield f"### Cluster {card['cluster']}: {percent(card['share'])} of the rows"
        rows = [(t["column"], t["here"], t["overall"], percent(t.get("probability"))) for t in card["typical"]]
        yield _table(("column", "here", "elsewhere", "probability"), rows)


def _map(part: dict[str, Any]) -> Iterator[str]:
    tsne = part.get("tsne") or {}
    yield plain(tsne.get("skipped") or f"t-SNE: {tsne['text']}") if tsne else ""


def _anomalies(part: dict[str, Any]) -> Iterator[str]:
    if "agreement" in part:
        yield part["agreement"]["text"]
    rows = [
        (_named(row), percent(row["probability"]), row["surprise"], "; ".join(r["text"] for r in row["reasons"]))
        for row in part.get("rows", [])
    ]
    yield _table(("row", "does not belong", "surprise (nats)", "why"), rows)


def _named(row: dict[str, Any]) -> str:
    return f"{number(row['row'])} ({row['name']})" if row.get("name") else number(row["row"])


def _missing(part: dict[str, Any]) -> Iterator[str]:
    patterns = part.get("patterns", [])
    rows = [(", ".join(item["columns"]) or "nothing", item["rows"], percent(item["share"])) for item in patterns]
    yield _table(("missing together", "rows", "share"), rows)
    depends = part.get("depends", [])
    told = [(item["column"], item["on"], percent(item["probability"]), item["text"]) for item in depends]
    yield _table(("missing", "depends on", "probability", "how"), told)


def _dependencies(part: dict[str, Any]) -> Iterator[str]:
    pairs = part.get("pairs", [])
    rows = [(pair["a"], pair["b"], pair["strength"], percent(pair["probability"]), pair["text"]) for pair in pairs]
    yield _table(("column", "with", "strength", "probability", "how"), rows)


def _selection(part: dict[str, Any]) -> Iterator[str]:
    rows = [
        (line["model"], line["components"], line["criterion"], line["parameters"], "chosen" if line["chosen"] else "")
        for line in part.get("table", [])
    ]
    yield _table(("model", "components", part["criterion"], "parameters", ""), rows)


def _columns(columns: list[dict[str, Any]]) -> str:
    rows = [
        (c["name"], c["kind"], percent(c.get("missing_share")), c.get("distinct"), c.get("note") or "") for c in columns
    ]
    return _table(("column", "kind", "missing", "distinct", "remarks"), rows)
