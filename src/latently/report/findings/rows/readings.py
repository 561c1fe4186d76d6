"""Cells that could not be read as what the rest of their column is, and dates in several formats."""

from collections.abc import Iterator, Sequence

from latently.report.findings.finding import Finding
from latently.report.findings.rows.row_numbers import RowNumbers
from latently.report.reading.raw import Written
from latently.report.study.columns import Column
from latently.report.study.words import counted, cut, listed, short

_ODD, _FORMATS = 0.6, 0.7  # sizes: there is something to mend, however few the rows
_SHOWN = 20


def readings(columns: Sequence[Column], numbers: RowNumbers) -> list[Finding]:
    """Tell of cells that are no number or no date in a column of them, and of dates in several formats.

    Parameters
    ----------
    columns
        The columns, with how they were written.
    numbers
        What the rows are called.

    Examples
    --------
    >>> from latently.report.reading.table import read_columns
    >>> from latently.report.study.columns import judge
    >>> prices = [judge(raw) for raw in read_columns({"price": [f"{k}.5" for k in range(40)] + ["see note"]})]
    >>> readings(prices, RowNumbers())[0].text
    "price holds numbers, but for 'see note' in row 40, which is taken as missing."
    """
    return [found for column in columns if column.written for found in _of_column(column, column.written, numbers)]


def _of_column(column: Column, written: Written, numbers: RowNumbers) -> Iterator[Finding]:
    if written.unread:
        yield _unread(column, written, numbers.all(written.places))
    if len(written.formats) > 1:
        yield _formats(column, written)


def _unread(column: Column, written: Written, rows: tuple[int, ...]) -> Finding:
    texts = listed([repr(short(text, 30)) for text in written.unread])
    where = f"in row {rows[0]}" if len(rows) == 1 else f"in rows {listed([str(row) for row in rows], 5)}"
    what = "numbers" if written.kind == "number" else "dates"
    missing = "which is taken as missing" if len(rows) == 1 else "which are taken as missing"
    text = f"{short(column.name)} holds {what}, but for {texts} {where}, {missing}."
    code = f"df.iloc[{list(rows[:_SHOWN])}]"
    return Finding("missing_code", text, "columns", (cut(column.name),), rows, len(rows), "rows", code=code, size=_ODD)


def _formats(column: Column, written: Written) -> Finding:
    ways = listed([f"{form} ({counted(count, 'date')})" for form, count in written.formats.items()])
    others = sum(written.formats.values()) - max(written.formats.values())
    text = f"{short(column.name)} writes its dates in {len(written.formats)} formats: {ways}."
    return Finding("spelling", text, "columns", (cut(column.name),), None, others, "dates", size=_FORMATS)
