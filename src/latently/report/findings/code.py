"""Lines of pandas that show a finding in a frame `df`."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from latently.report.findings.finding import Finding
from latently.report.study.words import is_given

_IMPORT: Final = "import pandas as pd\n"
_MOST: Final = 8
_IN_TIME: Final = ("trend", "season", "states", "change", "drift")


def code_of(finding: Finding, time: str | None = None) -> str:
    """Write the lines that show a finding; nothing, if names are too long to be written.

    Parameters
    ----------
    finding
        What was found.
    time
        The column that orders the rows.

    Examples
    --------
    >>> code_of(Finding("identifier", "id counts the rows.", "columns", columns=("id",)))
    'df["id"].is_unique'
    """
    if finding.code or any(name.endswith("…") for name in finding.columns):
        return finding.code
    along = replace(finding, columns=(time, *(c for c in finding.columns if c != time))) if time else finding
    return _WRITERS[finding.finding](along if finding.finding in _IN_TIME else finding)


def name(column: str) -> str:
    """A column's name as Python writes it, in double quotes where that is possible."""
    text = repr(column)
    return f'"{text[1:-1]}"' if text[0] == "'" and '"' not in text else text


def names(columns: tuple[str, ...]) -> str:
    """A list of columns as Python writes it."""
    return f"[{', '.join(name(column) for column in columns[:_MOST])}]"


def by_group(group: str, column: str) -> str:
    """How a column lies in each group of another."""
    return f"df.groupby({name(group)}, observed=True)[{name(column)}].describe()"


def correlations(columns: tuple[str, ...]) -> str:
    """Rank correlations."""
    return f'df[{names(columns)}].corr("spearman", numeric_only=True)'


def crosstab(a: str, b: str) -> str:
    """Shares of the values of one column for each of another."""
    return f'{_IMPORT}pd.crosstab(df[{name(a)}], df[{name(b)}], normalize="columns")'


def _rows(finding: Finding) -> str:
    rows = [] if finding.rows is None else list(finding.rows[:20])
    return f"df.iloc[{rows}]" if rows else f"df[{names(finding.columns)}].describe()"


def _dependency(finding: Finding) -> str:
    if finding.measure == "correlation" or len(finding.columns) < 2:
        return correlations(finding.columns)
    given, other = finding.columns[:2]
    if "median" in finding.text:
        return by_group(given, other)
    return crosstab(given, other) if is_given(finding.text, other) else crosstab(other, given)


def _missingness(finding: Finding) -> str:
    gone = f"df[{name(finding.columns[0])}].isna()"
    return f"df.groupby({gone})[{name(finding.columns[-1])}].describe()"


def _along(finding: Finding) -> str:
    """The columns in the order of time, if it is named first."""
    return f"df.sort_values({name(finding.columns[0])})[{names(finding.columns)}]"


def _target(finding: Finding) -> str:
    target, *others = finding.columns
    return "\n".join(by_group(target, other) for other in others[:3]) or f"df[{name(target)}].describe()"


def _order(finding: Finding) -> str:
    column = name(finding.columns[0])
    if "rank correlation" in finding.text:
        return f'df[{column}].corr(df[{column}].shift(), method="spearman")'
    return f"(df[{column}] == df[{column}].shift()).mean()"


_WRITERS: Final[dict[str, Callable[[Finding], str]]] = {
    "clusters": lambda f: f"df[{names(f.columns)}].describe()",
    "missing_code": lambda f: f"df[{name(f.columns[0])}].value_counts().head(10)",
    "anomaly": _rows,
    "missingness": _missingness,
    "dependency": _dependency,
    "reversal": _dependency,
    "trend": _along,
    "season": _along,
    "states": _along,
    "change": _along,
    "drift": _along,
    "target": _target,
    "leakage": _target,
    "duplicates": lambda f: "df[df.duplicated(keep=False)]",
    "spelling": lambda f: f"df[{name(f.columns[0])}].value_counts()",
    "identifier": lambda f: f"df[{name(f.columns[0])}].is_unique",
    "determines": lambda f: f"df.groupby({name(f.columns[0])}, observed=True)[{names(f.columns[1:])}].nunique().max()",
    "redundant": lambda f: f"df[{names(f.columns)}].drop_duplicates()",
    "order": _order,
}
