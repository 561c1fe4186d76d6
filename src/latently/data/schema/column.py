"""What one column is, as a record: numeric, ordinal or categorical, and what missing looks like in it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Self, TypeAlias, get_args

import numpy as np

from latently.data.tables.values import is_missing, quote

Kind: TypeAlias = Literal["numeric", "ordinal", "categorical"]
Plain: TypeAlias = str | int | float | bool
_Plains: TypeAlias = tuple[Plain, ...]

_FIELDS: Final = ("name", "kind", "categories", "missing")


@dataclass(frozen=True)
class Column:
    """What one column is.

    Parameters
    ----------
    name
        Its name.
    kind
        "numeric", "ordinal" (categories with an order) or "categorical" (categories without).
    categories
        The categories, the code of each being its place; in their order for "ordinal".
    missing
        Values that stand for a missing one, such as -999 or "NA". None, NaN and null always do.

    Examples
    --------
    >>> Column("size", "ordinal", ("S", "M", "L"), missing=("?",)).n_categories
    3
    """

    name: str
    kind: Kind
    categories: tuple[Plain, ...] = ()
    missing: tuple[Plain, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"{self.where}: kind must be one of {quote(get_args(Kind))}, got {self.kind!r}")
        categories = tuple(plain(v, self.where) for v in self.categories)
        missing = tuple(plain(v, self.where) for v in self.missing if not is_missing(v))
        _check_categories(self.where, self.kind, categories, missing)
        object.__setattr__(self, "categories", categories)
        object.__setattr__(self, "missing", missing)

    @property
    def where(self) -> str:
        """What errors call this column."""
        return f"column {self.name!r}"

    @property
    def n_categories(self) -> int:
        """Number of categories, 0 for a numeric column."""
        return len(self.categories)

    def to_dict(self) -> dict[str, Any]:
        """Give the record as plain values that JSON can hold."""
        return {
            "name": self.name,
            "kind": self.kind,
            "categories": [_to_json(v) for v in self.categories],
            "missing": [_to_json(v) for v in self.missing],
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Make the column that `to_dict` wrote down."""
        check_fields("a column", record, _FIELDS)
        lists = {key: tuple(_from_json(v) for v in record[key]) for key in ("categories", "missing")}
        return cls(str(record["name"]), record["kind"], **lists)


def plain(value: Any, where: str) -> Plain:
    """Give a category or missing mark as a plain Python value."""
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, str | int | float | bool):
        raise TypeError(f"{where}: {value!r} is a {type(value).__name__}; give a string or a number")
    return value


def _check_categories(where: str, kind: Kind, categories: _Plains, missing: _Plains) -> None:
    if kind == "numeric" and categories:
        raise ValueError(f"{where} is numeric and has no categories, got {quote(categories)}")
    if any(is_missing(v) for v in categories):
        raise ValueError(f"{where}: NaN is always missing and cannot be a category")
    if len(set(categories)) < len(categories):
        repeated = [v for i, v in enumerate(categories) if v in categories[:i]]
        raise ValueError(f"{where}: category {quote(repeated)} is there more than once")
    both = [v for v in categories if v in missing]
    if both:
        raise ValueError(f"{where}: {quote(both)} is both a category and a mark for missing")


def check_fields(what: str, record: Any, wanted: tuple[str, ...]) -> None:
    """See that a written record has just the fields it should have."""
    if not isinstance(record, Mapping) or set(record) != set(wanted):
        found = quote(record, 10) if isinstance(record, Mapping) else type(record).__name__
        raise ValueError(f"{what} is written as a record with the fields {quote(wanted, 10)}; got {found}")


def _to_json(value: Plain) -> Any:
    # JSON has no infinity
    return {"float": str(value)} if isinstance(value, float) and math.isinf(value) else value


def _from_json(value: Any) -> Any:
    return float(value["float"]) if isinstance(value, Mapping) and set(value) == {"float"} else value
