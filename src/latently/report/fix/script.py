"""The script itself: fixed functions of pandas, and one call for each step.

Nothing that stood in the table becomes code: strings are written as Python's own literals, on one line each, and
comments hold no character that could end them.
"""

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from latently._version import __version__

Step = dict[str, Any]


def script(contents: dict[str, Any]) -> str:
    """Write the script that does the steps of a report.

    Parameters
    ----------
    contents
        The dict of a report.

    Examples
    --------
    >>> step = {"step": "code", "column": "age", "rows": 4, "text": "-999 is a code", "value": -999, "applied": True}
    >>> text = script({"source": {"name": "ages.csv", "rows": 90, "rows_used": 90}, "fixes": [step]})
    >>> [line.strip() for line in text.splitlines() if "df = missing" in line]
    ["df = missing(df, 'age', [-999], rows=4)"]
    """
    source, steps = contents.get("source", {}), contents.get("fixes", [])
    whole = source.get("rows", 0) == source.get("rows_used", source.get("rows", 0))
    body = "\n".join(_clean(source, steps, whole))
    frame = (files("latently.report") / "fix" / "frame.txt").read_text(encoding="utf-8")
    return frame.replace("VERSION", __version__).replace("    STEPS", body)


def comment(text: str) -> str:
    r"""Write a comment that ends where its line does.

    Examples
    --------
    >>> comment("a\nimport os")
    '# a\\nimport os'
    """
    return "# " + repr(str(text))[1:-1]


def _clean(source: dict[str, Any], steps: list[Step], whole: bool) -> Iterator[str]:
    yield f"    {comment('The report is on ' + str(source.get('name', 'a table')))}"
    if whole:
        yield f"    same_rows(df, {int(source.get('rows', 0))})"
    else:
        sample = f"a sample of {int(source['rows_used'])} of {int(source['rows'])} rows"
        yield f"    # It looked at {sample}: how often a step acts in all of them is not known."
    if not steps:
        yield "    # There is nothing to mend."
    for step in steps:
        yield ""
        where = "" if step["column"] is None else f"{step['column']}: "
        yield f"    {comment(where + step['text'])}"
        call = f"df = {_WRITERS[step['step']](step)}"
        rows = int(step["rows"]) if whole else None
        call = f"{call[:-1]}, rows={rows})"
        yield f"    {call}" if step.get("applied", True) else f"    # only suggested: {call}"


def _literal(value: Any) -> str:
    """A literal of Python for plain data; anything else is an error."""
    if value is None or type(value) in (bool, int, float, str):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(key)}: {_literal(inner)}" for key, inner in value.items()) + "}"
    raise TypeError(f"a step holds {type(value).__name__}, which is no plain data")


def _call(name: str, *given: Any) -> str:
    return f"{name}(df, {', '.join(map(_literal, given))})"


_WRITERS = {
    "number": lambda step: _call("numbers", step["column"], str(step["decimal"]), step["words"]),
    "date": lambda step: _call("dates", step["column"], bool(step["day_first"]), step["words"]),
    "code": lambda step: _call("missing", step["column"], [step["value"]]),
    "duplicates": lambda step: _call("without_copies", step["ignore"]),
    "spelling": lambda step: _call("spellings", step["column"], step["changes"]),
}
