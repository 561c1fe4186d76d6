"""`latently explore`."""

import os
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from latently.cli.words import MAX_ROWS, Json, Output, print_json, printable, read, say, working


def explore(
    file: Path | None = None,
    /,
    *,
    output: Output = None,
    target: str | None = None,
    time: str | None = None,
    codes: Literal["apply", "suggest", "none"] = "apply",
    seed: int = 0,
    max_rows: int = MAX_ROWS,
    detectors: str | None = None,
    json: Json = False,
    markdown: Annotated[bool, Parameter(negative="")] = False,
    open_: Annotated[bool, Parameter(name="--open", negative="")] = False,
) -> None:
    """Explore a table: one page on what it leaves unsaid.

    Finds clusters, rows that do not belong, what is missing and why, and which columns depend on each other.

    Parameters
    ----------
    file
        CSV, TSV, Parquet, Feather or Excel. Without it, the example table that comes with latently.
    output
        Where to write the report: .html, .json or .md. By default report.html, unless --json or --markdown is given.
    target
        A column to predict from the others.
    time
        A column that orders the rows in time, to look for states and changes.
    codes
        Values that stand for a missing one, such as -999: apply takes conventional ones as missing, suggest only names
        them, none does not look for any.
    seed
        Seed of all that is random.
    max_rows
        Rows to look at; of a larger file a sample is taken. 0 for all.
    detectors
        Other detectors to ask about the rows that do not belong, separated by commas: kernel density, one-class SVM,
        SVDD, kernel PCA, model, combined. By default the first two.
    json
        Print the report as JSON.
    markdown
        Print the report as Markdown.
    open_
        Open the report in the browser.
    """
    if json and markdown:
        raise ValueError("--json and --markdown both print: choose one")
    written = output or (None if json or markdown else Path("report.html"))
    _check_place(written)
    others = None if detectors is None else [name.strip() for name in detectors.split(",")]
    how = {"target": target, "time": time, "codes": codes, "detectors": others}
    report = _explored(file, seed=seed, max_rows=max_rows, **how)
    if written is not None:
        _write(report, written)
    if json:
        print_json(report.to_dict())
    elif markdown:
        print(report.to_markdown())
    else:
        print(printable(repr(report)))
    if written is not None:
        say(f"\nReport: {written}")
    if open_ and written is not None:
        import webbrowser

        webbrowser.open(written.resolve().as_uri())


def _explored(file: Path | None, *, max_rows: int, seed: int, **how: Any) -> Any:
    # the file first: what is wrong with it is told before anything heavy is loaded
    given: tuple[Any, int | None] | None = None if file is None else read(file, max_rows, seed)
    from latently.report import example_table
    from latently.report import explore as find

    if file is None or given is None:
        table, name, about = example_table()
        say(f"No file is given: this is the example table that comes with latently. {about}")
        given = table, None
    else:
        name = file.name
    with working(f"exploring {name}") as tell:
        return find(given[0], seed=seed, total_rows=given[1], name=name, progress=tell, **how)


def _check_place(path: Path | None) -> None:
    """See that a report can be written before it is made."""
    if path is None:
        return
    if path.suffix.lower() not in (".html", ".htm", ".json", ".md"):
        raise ValueError(f"{path} ends in {path.suffix!r}: a report is .html, .json or .md")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no directory {path.parent}: make it, or write elsewhere")
    if not os.access(path if path.exists() else path.parent, os.W_OK) or path.is_dir():
        raise PermissionError(f"{path} cannot be written: write elsewhere (--output)")


def _write(report: Any, path: Path) -> None:
    writers = {".json": report.to_json, ".md": report.to_markdown}
    writers.get(path.suffix.lower(), report.to_html)(path)
    sys.stdout.flush()
