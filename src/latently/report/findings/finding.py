"""One finding of a report: the record that every section and every search makes."""

import re
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal[
    "clusters",
    "missing_code",
    "anomaly",
    "missingness",
    "dependency",
    "reversal",
    "trend",
    "season",
    "states",
    "change",
    "target",
    "leakage",
    "duplicates",
    "spelling",
    "identifier",
    "determines",
    "redundant",
    "order",
    "drift",
]
_ROWS: Final = re.compile(r"\b(?:[Rr]ow \d+|[Rr]ows \d+( and \d+)?)\b")  # how texts speak of rows
_DIGITS: Final = re.compile(r"\d+")


@dataclass(frozen=True)
class Finding:
    """A finding, as an entry of a report's `insights` holds it.

    Parameters
    ----------
    finding
        What was found, one of a fixed list of words.
    text
        The finding in a sentence.
    section
        The section of the report that has more on it.
    columns
        The columns that it is about.
    rows
        The rows that it is about, as the report counts them; None if it is about all of them.
    effect
        How large it is, in units of `measure`.
    measure
        What `effect` measures: "correlation", "ratio", "bits", "rows".
    probability
        How probable the sentence is; None if it is a plain count.
    interval
        An interval of the effect.
    code
        Lines of pandas that show it in a frame `df`.
    importance
        Size of the effect times its surprise, 0 to 1, by which findings are ranked.

    Examples
    --------
    >>> copies = Finding("duplicates", "3 rows repeat another.", "columns", rows=(4, 5, 9), effect=3, measure="rows")
    >>> copies.to_dict()["finding"], copies.to_dict()["rows"]
    ('duplicates', [4, 5, 9])
    """

    finding: Kind
    text: str
    section: str
    columns: tuple[str, ...] = ()
    rows: tuple[int, ...] | None = None
    effect: float | None = None
    measure: str = ""
    probability: float | None = None
    interval: tuple[float, float] | None = None
    code: str = ""
    importance: float = 0.0

    def numbered(self, numbers: NDArray[np.int64] | None) -> "Finding":
        """The finding with rows by their numbers in the whole table; None if the table is the whole."""
        if numbers is None or self.rows is None:
            return self
        rows = {row: int(numbers[row]) for row in self.rows}
        text = _ROWS.sub(lambda part: _DIGITS.sub(lambda d: str(rows.get(int(d[0]), d[0])), part[0]), self.text)
        code = f"df.iloc[{list(rows.values())[:20]}]" if self.code.startswith("df.iloc[") else self.code
        return replace(self, rows=tuple(rows.values()), text=text, code=code)

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "finding": self.finding,
            "text": self.text,
            "section": self.section,
            "columns": list(self.columns),
            "rows": None if self.rows is None else [int(row) for row in self.rows],
            "effect": None if self.effect is None else float(self.effect),
            "measure": self.measure,
            "probability": self.probability,
            "interval": None if self.interval is None else list(self.interval),
            "code": self.code,
            "kind": "finding",
        }
