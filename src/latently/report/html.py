"""From the dict of a report to one HTML page that needs nothing else and may do nothing else.

The page carries a content security policy: its two scripts and its one style sheet are named by their hashes, and
nothing may be loaded, sent, framed or evaluated besides.
"""

import base64
import hashlib
import json
import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

from latently._version import __version__
from latently.report import figures
from latently.report.charts import charts, described
from latently.report.charts_findings import kinds_of, pair_specs
from latently.report.charts_parts import untaken

# What could end a script element or a string, in JSON that stands in a page.
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_LISTED = 200  # rows of a finding
_COLUMNS = 100  # that the page describes
_SHORT = 24  # characters of a name that stays on one line
_SECTIONS = (
    ("target", "Target"),
    ("time", "Time"),
    ("clusters", "Clusters"),
    ("anomalies", "Anomalies"),
    ("missing", "Missing values"),
    ("dependencies", "Dependencies"),
    ("table", "First rows"),
    ("columns", "Columns"),
    ("selection", "Choice of model"),
    ("limits", "What this cannot tell"),
)


def page(contents: dict[str, Any]) -> str:
    """Write a report as an HTML page.

    Examples
    --------
    >>> text = page({"source": {"name": "<b>", "rows": 1, "columns": 1}, "insights": []})
    >>> "&lt;b&gt;" in text, "<b>" in text
    (True, False)
    """
    contents = _few_columns(contents)
    drawn = charts(contents)
    style, bundle = _asset("style.css"), _vendored()
    script = _asset("page.js").replace("/* rows */\n", _asset("rows.js"))
    return str(
        _environment()
        .get_template("page.html")
        .render(
            report=_complete(contents),
            sections=[(name, title) for name, title in _SECTIONS if contents.get(name)],
            has_chart=drawn.__contains__,
            describe=lambda name: described(name, contents),
            state=_payload(drawn),
            rows=_payload(_rows(contents)),
            convention=figures.CONVENTION,
            style=style,
            bundle=bundle if drawn else "",
            script=script,
            policy=_policy([style], [bundle, script] if drawn else [script]),
        )
    )


def _few_columns(contents: dict[str, Any]) -> dict[str, Any]:
    """Leave columns of a wide table to the dict; those that findings name, and the first of the others, are shown."""
    columns = contents.get("columns") or []
    told = {name for found in contents.get("insights", []) for name in found.get("columns") or []}
    first = sorted(range(len(columns)), key=lambda at: (columns[at]["name"] not in told, at))[:_COLUMNS]
    return {**contents, "columns": [columns[at] for at in sorted(first)]} if "columns" in contents else contents


def _complete(contents: dict[str, Any]) -> dict[str, Any]:
    """Give the contents with an empty section for each that is absent, so that a template can ask for any."""
    empty: dict[str, Any] = {name: {} for name, _ in _SECTIONS} | {"map": {}}
    lists: dict[str, Any] = {name: [] for name in ("insights", "columns", "limits", "warnings")}
    given = {name: value for name, value in contents.items() if value is not None}
    empty["table"] = {}
    return empty | lists | {"source": {}, "latently": __version__} | given


def _rows(contents: dict[str, Any]) -> dict[str, Any]:
    """Give the rows that the page carries, and what its script needs to show them."""
    nothing: dict[str, Any] = {"columns": [], "row": [], "values": [], "taken": []}
    table = {key: (contents.get("table") or nothing).get(key, []) for key in nothing}
    found = [
        {"text": each["text"], "columns": each.get("columns") or [], "rows": (each.get("rows") or [])[:_LISTED]}
        for each in contents.get("insights", [])
    ]
    kinds, strange = kinds_of(contents), (contents.get("anomalies") or {}).get("rows", [])
    about = {"total": contents.get("source", {}).get("rows", 0), "kinds": [kinds.get(n) for n in table["columns"]]}
    about["strange"] = [row["row"] for row in strange]
    safe: dict[str, Any] = untaken(table | about | {"findings": found, "pairs": pair_specs()})
    return safe


def _payload(data: dict[str, Any]) -> str:
    """Write data as JSON that can stand between script tags."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign, safe in _UNSAFE.items():
        text = text.replace(sign, safe)
    return text


def _policy(styles: list[str], scripts: list[str]) -> str:
    allowed = {"script-src": scripts, "style-src": styles}
    rules = [f"{what} {' '.join(map(_hash, texts))}" for what, texts in allowed.items()]
    return "; ".join(["default-src 'none'", *rules, "img-src data:", "base-uri 'none'", "form-action 'none'"])


@cache
def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _asset(name: str) -> str:
    return (files("latently.report") / "templates" / name).read_text(encoding="utf-8")


@cache
def _vendored() -> str:
    return (files("latently.report") / "vendor" / "vega-embed.js").read_text(encoding="utf-8")


@cache
def _environment() -> Any:
    try:
        from jinja2 import Environment, PackageLoader
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "a report as HTML needs jinja2: pip install 'latently[report]'", name="jinja2"
        ) from None
    loader = PackageLoader("latently.report")
    made_by = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, finalize=_together)
    made_by.filters["column"] = _column_name
    writers = (figures.number, figures.percent, figures.interval, figures.counted, spark)
    made_by.filters |= {writer.__name__: _lenient(writer) for writer in writers}
    return made_by


def _column_name(name: Any) -> Any:
    """Write the name of a column so that it breaks where its parts do, and not at all if it is short."""
    from markupsafe import Markup, escape

    text = str(name)
    if len(text) <= _SHORT and not re.search(r"\s", text):
        return Markup('<span class="whole">{}</span>').format(text)
    return Markup("<wbr>").join(escape(part) for part in re.split(r"(?<=[_.\-/])", text))


def _together(value: Any) -> Any:
    """Keep a number and its percent sign on one line."""
    return value.replace(" %", "\u00a0%") if type(value) is str else value


def _lenient(writer: Callable[..., str]) -> Callable[..., str]:
    """Write what a report does not have as it writes None."""
    from jinja2 import Undefined

    return lambda value, *more: writer(None if isinstance(value, Undefined) else value, *more)


def spark(column: dict[str, Any]) -> str:
    """Trace the bars of a small histogram, as the path of an SVG 100 wide and 24 high; "" if there is none.

    Examples
    --------
    >>> spark({"levels": [{"count": 2}, {"count": 1}]})
    'M0 24V0H11V24ZM12 24V12H23V24Z'
    """
    counts = column["histogram"]["counts"] if column.get("histogram") else []
    counts = counts or [item["count"] for item in column.get("levels", [])]
    top = max(counts, default=0)
    if top <= 0:
        return ""
    step = min(100 / len(counts), 12)
    bars = ((place * step, 24 - 24 * count / top) for place, count in enumerate(counts) if count > 0)
    return "".join(f"M{x:.4g} 24V{y:.3g}H{x + step - min(1, step / 5):.4g}V24Z" for x, y in bars)
