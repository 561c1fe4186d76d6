"""A report: plain data, and the ways to show it."""

import copy
import html as escaping
import json
import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from latently.report.figures import certainty, counted

if TYPE_CHECKING:
    from latently.report.act.explored import Explored

Contents = dict[str, Any]


class Report:
    """What was found in a table, as plain data, with ways to show it.

    Parameters
    ----------
    contents
        The report as a dict of strings, numbers, None, lists and dicts. `latently.explore` makes it; one that was
        read back from a JSON file will do as well.
    explored
        What `latently.explore` keeps of the table and its model, in memory only: not in the dict, nor in a pickle.
        Without it the report can be shown, and `fix` works; `rows`, `labels`, `model` and `assign` are errors.

    Examples
    --------
    >>> report = Report({
    ...     "source": {"name": "irises", "rows": 150, "columns": 5},
    ...     "insights": [{"text": "Rows fall into 2 clusters.", "section": "clusters", "probability": 0.998}],
    ... })
    >>> report
    Report on irises: 150 rows, 5 columns
    1. Rows fall into 2 clusters. (probability 99.8 %)
    >>> print(report.to_markdown().splitlines()[0])
    # irises
    """

    def __init__(self, contents: Contents, explored: "Explored | None" = None) -> None:
        if not isinstance(contents, dict):
            raise TypeError(f"a report is made from a dict, got {type(contents).__name__}")
        self._contents = contents
        self._explored = explored

    def __getstate__(self) -> dict[str, Any]:
        return {"_contents": self._contents, "_explored": None}

    def to_dict(self) -> Contents:
        """Give the report as a dict of strings, numbers, None, lists and dicts; yours to change."""
        return copy.deepcopy(self._contents)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Give the report as JSON; write it too if there is a path.

        Parameters
        ----------
        path
            A file to write.
        """
        return _written(json.dumps(self._contents, ensure_ascii=False, allow_nan=False, indent=1), path)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Give the report as one HTML page that needs nothing else; write it too if there is a path.

        The page has charts that answer to the pointer, tables that can be sorted, a light and a dark dress, and no
        connection to any network.

        Parameters
        ----------
        path
            A file to write.
        """
        from latently.report.html import page

        return _written(page(self._contents), path)

    def to_markdown(self, path: str | os.PathLike[str] | None = None) -> str:
        """Give the report as Markdown: the same words and tables without the charts.

        Parameters
        ----------
        path
            A file to write.
        """
        from latently.report.markdown import document

        return _written(document(self._contents), path)

    def fix(self, path: str | os.PathLike[str] | None = None) -> str:
        """Give a script that cleans the table with pandas alone; write it too if there is a path.

        Codes for missing values, dates and numbers that are text, copies of rows, spellings: each step with its
        evidence and how often it acts. Run on a table that has changed since, it says what no longer applies. It is
        meant to be read first.

        Parameters
        ----------
        path
            A file to write.

        Examples
        --------
        >>> from latently.report import example_table, explore
        >>> text = explore(example_table()[0]).fix()
        >>> next(line.strip() for line in text.splitlines() if "-999" in line and "df =" in line)
        "df = missing(df, 'sepal_width', [-999], rows=4)"
        """
        from latently.report.fix.script import script

        return _written(script(self._contents), path)

    def rows(self, *, as_frame: bool = True) -> Any:
        """Give what the model says of every row of the table.

        Parameters
        ----------
        as_frame
            Whether to give a pandas frame; a dict of arrays and lists if not.

        Returns
        -------
        frame or dict
            `row` (its number in the whole table, counted from 0), `cluster` (counted from 1, as in the report) and its
            `probability`, `surprise` (minus the log density, in nats), `reason` (why the row does not belong; empty
            for most). Then, for each column of the model that has missing values: the column itself, filled with what
            the model expects, and for numbers `<name>_low` and `<name>_high`, an interval that holds with 90 %, or for
            classes `<name>_probability`; these are empty where nothing was missing.

        Examples
        --------
        >>> from latently.report import example_table, explore
        >>> rows = explore(example_table()[0]).rows()
        >>> list(rows.columns)[:8]
        ['row', 'cluster', 'probability', 'surprise', 'reason', 'sepal_length', 'sepal_length_low', 'sepal_length_high']
        """
        found = self._kept("rows").rows(self._reasons())
        return _frame(found) if as_frame else found

    @property
    def model(self) -> Any:
        """The mixture that was fitted: a `latently.cluster.Mixture` over the columns as the model sees them, bent."""
        return self._kept("model").model().mixture

    @property
    def labels(self) -> Any:
        """(n,) the cluster of each row, counted from 1, as in the report."""
        kept = self._kept("labels")
        kept.model()
        return kept.labels

    def assign(self, table: Any, *, as_frame: bool = True) -> Any:
        """Say to which cluster new rows belong, how surely, and how surprising they are.

        Parameters
        ----------
        table
            New rows, in any form that `explore` takes, with the columns that the model sees; others are ignored.
            A level that the report has not seen counts as missing, or as one of the rare ones if there were such.
        as_frame
            Whether to give a pandas frame; a dict of arrays if not.

        Returns
        -------
        frame or dict
            `cluster`, `probability` and `surprise`, as in `rows`.

        Examples
        --------
        >>> import numpy as np
        >>> from latently.report import explore
        >>> rng = np.random.default_rng(0)
        >>> side = rng.integers(2, size=300)
        >>> report = explore({"a": rng.normal(size=300) + 6 * side, "b": rng.normal(size=300) - 6 * side})
        >>> new = report.assign({"a": [0.0, 6.0, 3.0], "b": [0.0, -6.0, 9.0]})
        >>> bool(new["cluster"][0] != new["cluster"][1]), int(new["surprise"].argmax())
        (True, 2)
        """
        found = self._kept("assign").assign(table)
        return _frame(found) if as_frame else found

    def _kept(self, what: str) -> "Explored":
        if self._explored is None:
            raise ValueError(
                f"{what}: this report was read back from a dict or a file, which holds no model and no table: "
                "explore the table again"
            )
        return self._explored

    def _reasons(self) -> dict[int, str]:
        listed = (self._contents.get("anomalies") or {}).get("rows", [])
        return {row["row"]: "; ".join(reason["text"] for reason in row["reasons"]) for row in listed}

    def _repr_html_(self) -> str:
        """Show the page in a notebook, in a frame that keeps its styles and scripts to itself."""
        inside = escaping.escape(self.to_html(), quote=True)
        title = escaping.escape(self._title(), quote=True)
        return (
            f'<iframe title="{title}" srcdoc="{inside}" sandbox="allow-scripts" width="100%" height="720" '
            'style="border: 1px solid #8884; border-radius: 8px"></iframe>'
        )

    def _title(self) -> str:
        source = self._contents.get("source", {})
        size = f"{counted(source.get('rows', 0), 'row')}, {counted(source.get('columns', 0), 'column')}"
        return f"Report on {source.get('name', 'a table')}: {size}"

    def __repr__(self) -> str:
        found = self._contents.get("insights", [])
        lines = [f"{place}. {insight['text']}{_surely(insight)}" for place, insight in enumerate(found, 1)]
        return "\n".join([self._title(), *lines])


def _surely(insight: dict[str, Any]) -> str:
    told = certainty(insight)
    return f" ({told})" if told else ""


def _frame(columns: dict[str, Any]) -> Any:
    try:
        pandas = import_module("pandas")
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "a frame needs pandas: pip install pandas, or ask for as_frame=False", name="pandas"
        ) from None
    return pandas.DataFrame(columns)


def _written(text: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        Path(path).write_text(text, encoding="utf-8", newline="\n")
    return text
