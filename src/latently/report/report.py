"""A report: plain data, and the ways to show it."""

import copy
import html as escaping
import json
import os
from pathlib import Path
from typing import Any

from latently.report.figures import certainty, counted

Contents = dict[str, Any]


class Report:
    """What was found in a table, as plain data, with ways to show it.

    Parameters
    ----------
    contents
        The report as a dict of strings, numbers, None, lists and dicts. `latently.explore` makes it; one that was
        read back from a JSON file will do as well.

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

    def __init__(self, contents: Contents) -> None:
        if not isinstance(contents, dict):
            raise TypeError(f"a report is made from a dict, got {type(contents).__name__}")
        self._contents = contents

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


def _written(text: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        Path(path).write_text(text, encoding="utf-8", newline="\n")
    return text
