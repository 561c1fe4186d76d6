"""`latently explore`."""

import os
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from latently.cli.words import MAX_ROWS, Json, print_json, printable, read_numbered, say, working, write_columns

Outputs = Annotated[list[Path] | None, Parameter(name=["--output", "-o"], negative="")]
_REPORTS = (".html", ".htm", ".json", ".md")
_ROWS = (".csv", ".tsv", ".parquet", ".feather")


def explore(
    file: Path | None = None,
    /,
    *,
    output: Outputs = None,
    fix: Path | None = None,
    target: str | None = None,
    time: Annotated[str | None, Parameter(negative="")] = None,
    no_time: Annotated[bool, Parameter(negative="")] = False,
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
        A name that ends in .csv, .tsv, .parquet or .feather takes every row with its cluster, surprise, reason and
        missing values filled. May be given several times.
    fix
        Where to write a script (.py) that cleans the table with pandas: codes for missing values, dates, numbers
        written as text, copies of rows, spellings. To be read before it is run.
    target
        A column to predict from the others.
    time
        A column that orders the rows in time, to look for trend, season, breaks and states. By default a column of
        dates or years that rises in even steps along the rows, if there is one.
    no_time
        Take no column as time.
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
    if no_time and time is not None:
        raise ValueError("--time and --no-time contradict each other: choose one")
    written = list(output or [])
    if not json and not markdown and not any(path.suffix.lower() in _REPORTS for path in written):
        written.insert(0, Path("report.html"))
    for path in written:
        _check_place(path, file)
    if fix is not None:
        _check_place(fix, file, (".py",))
    others = None if detectors is None else [name.strip() for name in detectors.split(",")]
    how = {"target": target, "time": False if no_time else time, "codes": codes, "detectors": others}
    report = _explored(file, seed=seed, max_rows=max_rows, **how)
    for path in written:
        _write(report, path)
    if fix is not None:
        report.fix(fix)
    if json:
        print_json(report.to_dict())
    elif markdown:
        print(report.to_markdown())
    else:
        print(printable(repr(report)))
    _print_summary(written, fix, open_)


def _print_summary(written: list[Path], fix: Path | None, open_: bool) -> None:
    """Say what was written where, and open the page if it is wanted."""
    pages = [path for path in written if path.suffix.lower() in _REPORTS]
    if written or fix is not None:
        say("")
    for path in written:
        say(f"{'Report' if path in pages else 'Rows'}: {path}")
    if fix is not None:
        say(f"Script: {fix} (read it, then run: python {fix} FILE CLEANED)")
    if open_ and pages:
        import webbrowser

        webbrowser.open(pages[0].resolve().as_uri())


def _explored(file: Path | None, *, max_rows: int, seed: int, **how: Any) -> Any:
    # the file first: a bad file is reported before anything heavy is loaded
    given = None if file is None else read_numbered(file, max_rows, seed)
    from latently.report import example_table
    from latently.report import explore as find

    if file is None or given is None:
        table, name, about = example_table()
        say(f"No file is given: this is the example table that comes with latently. {about}")
    else:
        table, name = given.table, file.name
        how |= {"total_rows": given.total_rows, "row_numbers": given.row_numbers}
    with working(f"exploring {name}") as on_progress:
        return find(table, seed=seed, name=name, progress=on_progress, **how)


def _check_place(path: Path, file: Path | None, ends: tuple[str, ...] = (*_REPORTS, *_ROWS)) -> None:
    """See that something can be written before it is made."""
    if path.suffix.lower() not in ends:
        known = (
            "a script is .py" if ends == (".py",) else "a report is .html, .json or .md, rows are .csv, .tsv, .parquet"
        )
        raise ValueError(f"{path} ends in {path.suffix!r}: {known}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no directory {path.parent}: make it, or write elsewhere")
    if not os.access(path if path.exists() else path.parent, os.W_OK) or path.is_dir():
        raise PermissionError(f"{path} cannot be written: write elsewhere (--output)")
    if file is not None and path.exists() and file.exists() and path.samefile(file):
        raise ValueError(f"{path} is the file that is explored: write elsewhere (--output)")


def _write(report: Any, path: Path) -> None:
    if path.suffix.lower() in _ROWS:
        columns = report.rows(as_frame=False)
        write_columns({name: _without_nan(values) for name, values in columns.items()}, path)
    else:
        writers = {".json": report.to_json, ".md": report.to_markdown}
        writers.get(path.suffix.lower(), report.to_html)(path)
    sys.stdout.flush()


def _without_nan(values: Any) -> list[Any]:
    """Values as Python has them, None for what is not a number."""
    listed = values.tolist() if hasattr(values, "tolist") else values
    return [None if value != value else value for value in listed]
