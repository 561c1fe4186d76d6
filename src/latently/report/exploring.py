"""From a table to a report."""

import os
import time as clock
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from latently._version import __version__
from latently.data.files.read import SAMPLE_ROWS, read_numbered
from latently.data.tables.values import quote
from latently.learn.engine.reduce import single_threaded_blas
from latently.report.act.excerpt import excerpt, name_rows
from latently.report.act.explored import Explored, explored
from latently.report.act.numbering import numbered
from latently.report.asked import Asked, check_names, check_numbers, check_row_numbers
from latently.report.fix.steps import steps
from latently.report.reading.table import column_views, read_column
from latently.report.report import Report
from latently.report.sections.along_time.section import MOST_ROWS as TIME_ROWS
from latently.report.sections.along_time.section import time as follow
from latently.report.sections.anomalies import anomalies
from latently.report.sections.clusters import clusters
from latently.report.sections.columns import columns
from latently.report.sections.dependencies import dependencies
from latently.report.sections.insights import insights
from latently.report.sections.limits import limits
from latently.report.sections.map.linear import POINTS, row_map
from latently.report.sections.missing import missing
from latently.report.sections.second_opinion import chosen
from latently.report.sections.selection import selection
from latently.report.sections.target import MOST_ROWS as TARGET_ROWS
from latently.report.sections.target import target as predict
from latently.report.series.evident import evident_time
from latently.report.study.columns import Codes, Column, judge
from latently.report.study.learning import learn
from latently.report.study.model import FIT_ROWS
from latently.report.study.prepare import Prepared, prepare
from latently.report.study.study import Skipped, Study
from latently.report.study.words import counted, cut, short

MAX_ROWS: Final = 20_000
_LEAST_ROWS: Final = 10
_TEXT: Final = (".csv", ".tsv", ".tab", ".txt")
_PARTS: Final = ("reading", "model", "clusters", "anomalies", "missing", "dependencies", "target", "time", "done")
Progress = Callable[[str, float], None]
Tell = Callable[[str], None]


def explore(
    table: Any,
    *,
    target: str | None = None,
    time: str | Literal[False] | None = None,
    codes: Codes = "apply",
    seed: int = 0,
    max_rows: int = MAX_ROWS,
    detectors: Sequence[Any] | None = None,
    name: str | None = None,
    total_rows: int | None = None,
    row_numbers: Sequence[int] | NDArray[np.int64] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Find out what a table leaves unsaid.

    Clusters, rows that do not belong, what is missing and whether that is random, which columns depend on each other;
    on request which columns tell a target, and which states the rows go through in time. Each finding comes with a
    probability or an interval. Whatever cannot be made is left out, with the reason in its place.

    Parameters
    ----------
    table
        A pandas, polars or Arrow table, an array or nested list (columns x0, x1, ...), or a dict of lists; or the path
        of a file: CSV, TSV, Parquet, Feather or Excel. Of a file with more than 200,000 rows a sample is read.
    target
        A column to predict from the others.
    time
        A column that orders the rows in time. By default a column of dates or years that rises in even steps along the
        rows, if there is one; False for none.
    codes
        Values that stand for a missing one: "apply" takes conventional codes (-999, 9999, "N/A", 1900-01-01) and
        impossible values (0 in a length) as missing and suggests others; "suggest" changes nothing; "none" does not
        look for any.
    seed
        Seed of all that is random; the same table and seed give the same report.
    max_rows
        Rows that models and tests look at; of more rows a sample is taken. Columns, missing values and strange
        rows are looked at in all rows.
    detectors
        Other detectors that are asked about the rows that do not belong: names ("kernel density", "one-class SVM",
        "SVDD", "kernel PCA", "model", "combined") or detectors of `latently.detect`; the first two if None.
    name
        What to call the table; that of the file, if it is one.
    total_rows
        Rows of the whole, if the table is a sample of it.
    row_numbers
        Numbers of the rows in the whole, counted from 0, if the table is a sample of it; the report speaks of rows by
        them.
    progress
        Called with the name of each part and the share of the parts that is done.

    Returns
    -------
    Report
        `to_html`, `to_markdown`, `to_json` and `to_dict` show it; `rows`, `assign` and `fix` act on it.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> side = rng.integers(2, size=300)
    >>> table = {"a": rng.normal(size=300) + 6 * side, "b": rng.normal(size=300) - 6 * side}
    >>> found = explore(table).to_dict()
    >>> found["clusters"]["n"], found["insights"][0]["section"]
    (2, 'clusters')
    >>> noise = explore({"a": rng.normal(size=300), "b": rng.exponential(size=300)}).to_dict()
    >>> noise["clusters"]["n"], noise["insights"][0]["kind"]
    (1, 'nothing')
    """
    began = clock.perf_counter()
    check_numbers(seed, max_rows, total_rows)
    if codes not in get_args(Codes):
        raise ValueError(f"codes must be one of {quote(get_args(Codes))}, got {codes!r}")
    chosen(detectors)
    from_text = Path(name or "").suffix.lower() in _TEXT
    if isinstance(table, str | os.PathLike):
        found = read_numbered(table, max_rows=SAMPLE_ROWS, seed=int(seed))
        name = name or Path(table).name
        from_text = Path(table).suffix.lower() in _TEXT
        table, total_rows, row_numbers = found.table, found.total_rows, found.row_numbers
    numbers = None if row_numbers is None else np.asarray(row_numbers, dtype=np.int64)
    asked = Asked(target, time, codes, int(seed), int(max_rows), name, total_rows, numbers, detectors, from_text)
    # many small products: more than one thread for each costs more than it gains
    with single_threaded_blas():
        contents, kept = _contents(table, asked, _teller(progress))
    contents["source"]["seconds"] = round(clock.perf_counter() - began, 3)
    return Report({key: contents[key] for key in _ORDER}, kept)


def _contents(table: Any, asked: Asked, tell: Tell) -> tuple[dict[str, Any], Explored]:
    tell("reading")
    views = column_views(table)
    check_row_numbers(asked.row_numbers, len(views[0].data))
    judged = [judge(read_column(view, asked.row_numbers), asked.codes) for view in views]
    check_names([column.name for column in judged], target=asked.target, time=asked.time or None)
    if asked.time is None:
        asked = replace(asked, time=evident_time(judged, asked.target), time_is_given=False)
    judged = [_unmodelled(column) if column.name == asked.time else column for column in judged]
    prepared = prepare(judged, len(judged[0].raw), asked.max_rows, asked.seed, asked.target)
    prepared = replace(prepared, row_numbers=asked.row_numbers)
    tell("model")
    study = _study(Study(prepared, time=asked.time or None), tell)
    contents = _source(study.prepared, asked.name, asked.total_rows)
    contents |= _sections(study, asked, tell)
    contents["source"]["sampled"] = _sampled(contents, prepared, asked.total_rows)
    contents |= {
        "insights": insights(contents, study),
        "limits": limits(contents, study),
        "warnings": _taken_as_time(asked) + _warnings(contents, study),
    }
    contents = numbered(contents, asked.row_numbers)
    contents["fixes"] = steps(prepared, contents["insights"], from_text=asked.from_text)
    contents["table"] = excerpt(views, prepared, contents)
    name_rows(contents)
    tell("done")
    return contents, explored(study, asked.row_numbers)


def _unmodelled(column: Column) -> Column:
    """A column that the model does not see: time orders the rows, and is no feature of them."""
    return replace(column, role=None, model=None, curve=None)


_ORDER: Final = (
    *("version", "latently", "source", "insights", "columns", "clusters", "selection", "map", "anomalies", "missing"),
    *("dependencies", "target", "time", "table", "fixes", "limits", "warnings"),
)


def _teller(progress: Progress | None) -> Tell:
    def tell(part: str) -> None:
        if progress is not None:
            progress(part, _PARTS.index(part) / (len(_PARTS) - 1))

    return tell


def _why_not(prepared: Prepared) -> str:
    if prepared.rows < _LEAST_ROWS:
        return f"The table has {counted(prepared.rows, 'row')}: a model needs at least {_LEAST_ROWS}."
    if prepared.distinct < _LEAST_ROWS:
        return f"The table has {counted(prepared.distinct, 'different row')}: a model needs at least {_LEAST_ROWS}."
    return "" if prepared.used else "No column holds numbers or categories that vary: there is nothing to model."


def _study(study: Study, tell: Tell) -> Study:
    prepared = study.prepared
    if why_not := _why_not(prepared):
        return replace(study, why_not=why_not)
    return learn(study, tell)


def _source(prepared: Prepared, name: str | None, total_rows: int | None) -> dict[str, Any]:
    rows = max(total_rows or 0, prepared.rows)
    about = {"name": cut(name or "table"), "rows": rows, "columns": len(prepared.columns), "rows_used": prepared.rows}
    return {
        "version": 2,
        "latently": __version__,
        "source": about | _repeats(prepared) | {"sampled": [], "seed": int(prepared.seed), "seconds": 0.0},
    }


def _repeats(prepared: Prepared) -> dict[str, int]:
    """Rows that repeat another exactly, and those of them that models and tests leave out as copies."""
    return {"repeats": prepared.repeats, "copies": prepared.rows - prepared.distinct}


def _sections(study: Study, asked: Asked, tell: Tell) -> dict[str, Any]:
    made: dict[str, Any] = {"columns": columns(study.prepared)}
    for name, section in (("clusters", clusters), ("selection", selection), ("map", row_map)):
        made[name] = _made(section, study)
    made["anomalies"] = _made(anomalies, study, asked.detectors)
    tell("missing")
    made["missing"] = _made(missing, study)
    tell("dependencies")
    made["dependencies"] = _made(dependencies, study, ordered=bool(asked.time))
    tell("target")
    made["target"] = None if asked.target is None else _wanted("target", predict, study, asked.target)
    tell("time")
    made["time"] = _along_time(study, asked) if asked.time else None
    return made


def _made(section: Callable[..., dict[str, Any]], study: Study, *given: Any, **how: Any) -> dict[str, Any]:
    try:
        return section(study, *given, **how)
    except Skipped as reason:
        return {"skipped": str(reason)}


def _along_time(study: Study, asked: Asked) -> dict[str, Any]:
    return _wanted("time", follow, study, asked.time) if asked.time_is_given else _made(follow, study, asked.time)


def _wanted(what: str, section: Callable[..., dict[str, Any]], study: Study, name: Any) -> dict[str, Any]:
    """A section that was asked for by a column: an error if the column cannot be used."""
    try:
        return section(study, name)
    except Skipped as reason:
        raise ValueError(f"{what}: {reason}") from None


def _sampled(contents: dict[str, Any], prepared: Prepared, total_rows: int | None) -> list[str]:
    """Sections that did not look at all rows."""
    rows = prepared.distinct
    if (total_rows or 0) > rows:
        return [name for name in _ORDER[4:13] if contents[name] and "skipped" not in contents[name]]
    limit = {"clusters": FIT_ROWS, "selection": FIT_ROWS, "map": POINTS, "missing": len(prepared.sample)}
    limit |= {"dependencies": len(prepared.sample), "target": TARGET_ROWS, "time": TIME_ROWS}
    there = [name for name in limit if contents[name] and "skipped" not in contents[name]]
    return [name for name in there if rows > limit[name]]


def _taken_as_time(asked: Asked) -> list[str]:
    if asked.time_is_given or not asked.time:
        return []
    column = short(asked.time)
    return [f"{column} rises in even steps along the rows and is taken as time; time=False (--no-time) keeps it apart."]


def _warnings(contents: dict[str, Any], study: Study) -> list[str]:
    made = []
    for column in contents["columns"]:
        made += [
            f"{code['value']!r} in {column['name']} ({counted(code['count'], 'time')}) is taken as missing."
            for code in column["codes"]
            if code["applied"]
        ]
        if column["kind"] in ("constant", "empty"):
            made.append(f"{column['name']} is {column['kind']} and is not used.")
    if study.fitted is not None and not study.fitted.mixture.converged_:
        made.append("The fit of the model was stopped before it had settled; its numbers may still move a little.")
    return made
