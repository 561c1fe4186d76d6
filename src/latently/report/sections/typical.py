"""What is typical of the rows of a cluster or a state, in words."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from latently.data import Column as SchemaColumn
from latently.data import Schema
from latently.explain import cluster_cards
from latently.report.study.columns import Column
from latently.report.study.words import cut, number, often, short

Values = NDArray[np.float64]
_MOST_COLUMNS = 6
_LEAST_BITS = 0.02
_LEAST_ODDS, _LEAST_SHARE = 0.6, 0.1  # of a higher value here than elsewhere, and of a difference of shares


class _Members(BaseEstimator):
    """Memberships as something that `latently.explain` can ask."""

    def __init__(self, shares: Any = None, density: Any = None, schema: Any = None) -> None:
        self.shares, self.density, self.schema = shares, density, schema

    def predict_proba(self, X: Any) -> Any:
        return self.shares

    def score_samples(self, X: Any) -> Any:
        return self.density


def typical(used: tuple[Column, ...], rows: NDArray[np.int64], shares: Values) -> list[list[dict[str, Any]]]:
    """Tell, of each group, which columns tell it from the rest, and how.

    Parameters
    ----------
    used
        Columns that a model sees.
    rows
        Rows to describe the groups by.
    shares
        (rows, groups) how much each of these rows belongs to each group.
    """
    values = np.column_stack([c.raw[rows] if c.role == "numeric" else c.seen[rows] for c in used])
    schema = Schema(tuple(_described(c) for c in used))
    cards = cluster_cards(_Members(shares, np.zeros(len(rows))), values, schema=schema)
    return [_of_card(card, used) for card in cards]


def _described(column: Column) -> SchemaColumn:
    if column.role == "numeric":
        return SchemaColumn(column.name, "numeric")
    return SchemaColumn(column.name, "categorical", tuple(range(len(column.classes))))


def _of_card(card: dict[str, Any], used: tuple[Column, ...]) -> list[dict[str, Any]]:
    by_name = {column.name: column for column in used}
    # an entry without values has its name, kind, information and missing share only
    telling = [entry for entry in card["columns"] if entry["information"] >= _LEAST_BITS and len(entry) > 4]
    told = (_typical(entry, by_name[entry["column"]]) for entry in telling)
    return [entry for entry in told if entry is not None][:_MOST_COLUMNS]


def _typical(entry: dict[str, Any], column: Column) -> dict[str, Any] | None:
    """What is typical of a column in a group; None if that is what it is elsewhere too."""
    about = _of_number(entry) if column.role == "numeric" else _of_level(entry, column)
    return None if about is None else {"column": cut(column.name)} | about


def _of_number(entry: dict[str, Any]) -> dict[str, Any] | None:
    """The median here and elsewhere; None if these look alike, or if there is nothing elsewhere."""
    higher = entry["probability_higher"]
    if higher is None or entry["median_rest"] is None:
        return None
    way, sure = ("higher", higher) if higher >= 0.5 else ("lower", 1 - higher)
    inside, outside = number(entry["median"]), number(entry["median_rest"])
    if sure < _LEAST_ODDS or inside == outside:
        return None
    here = f"median {inside} (80 % from {number(entry['low'])} to {number(entry['high'])})"
    text = f"{short(entry['column'])} is {way}: {here}, elsewhere median {outside}"
    return {"text": text, "here": here, "overall": f"median {outside}", "probability": float(sure)}


def _of_level(entry: dict[str, Any], column: Column) -> dict[str, Any] | None:
    """The level whose share differs most from that elsewhere; None if no share does."""
    ours, theirs = entry["probabilities"], entry["probabilities_rest"]
    code = max(ours, key=lambda level: abs(ours[level] - theirs[level]))
    if abs(ours[code] - theirs[code]) < _LEAST_SHARE:
        return None
    name, inside, outside = short(column.classes[int(code)]), ours[code], theirs[code]
    here, rest = f"{name} ({often(inside)})", f"{name} ({often(outside)})"
    text = f"{short(entry['column'])} is {name} in {often(inside)}, elsewhere in {often(outside)}"
    return {"text": text, "here": here, "overall": rest, "probability": float(min(inside, 1.0))}
