"""One finding of a report: the record that every section and every search makes."""

from dataclasses import dataclass
from typing import Any, Final, Literal

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
_SHARES: Final = ("correlation", "share", "difference", "strength")


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
    size
        How large the effect is among findings of its kind, 0 to 1; `weight` says what holds if None.

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
    size: float | None = None

    @property
    def weight(self) -> float:
        """By what it is ranked among its kind, 0 to 1: its size, or an effect that is a share, or else 1."""
        is_share = self.effect is not None and self.measure.startswith(_SHARES)
        size = (abs(self.effect or 0.0) if is_share else 1.0) if self.size is None else self.size
        return min(max(size, 0.01), 1.0)

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
