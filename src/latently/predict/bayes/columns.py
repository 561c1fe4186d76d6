"""Which column gets which kind of distribution: by the schema, or as asked for."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from latently.data import Column, Schema, infer_schema
from latently.data.tables import frames
from latently.data.tables.matrix import as_table
from latently.data.tables.values import is_missing, quote
from latently.distributions import Family, family_named
from latently.distributions.names import families as families_by_name
from latently.predict.bayes.blocks import CategoryColumns, CountColumns, FamilyColumn, GaussianColumns

NAMES = ("gaussian", "counts", "categorical", "ordinal", "binary")
BY_SCHEMA = {"numeric": "gaussian", "categorical": "categorical", "ordinal": "ordinal"}


def chosen_families(families: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Give what was asked for, by the name of the column; positions stand for names too."""
    if families is None:
        return {}
    if not isinstance(families, Mapping):
        families = dict.fromkeys(names, families)
    by_name = {names[key] if isinstance(key, int) and key < len(names) else key: f for key, f in families.items()}
    for name, family in by_name.items():
        if name not in names:
            raise ValueError(f"families: column {name!r} is not in the table, which has {quote(names, 10)}")
        by_name[name] = _checked(name, family)
    return by_name


def _checked(name: str, family: Any) -> Any:
    """Give a family, or one of the words that have a kind of block of their own."""
    word = {"poisson": "counts", "bernoulli": "binary"}.get(family, family) if isinstance(family, str) else family
    if isinstance(word, Family) or word in NAMES:
        return word
    if word not in families_by_name():
        known = quote(sorted({*NAMES, *families_by_name()}), 20)
        raise ValueError(f"families: column {name!r} must be one of {known} or a distribution, got {family!r}")
    return family_named(word)


def make_schema(table: Any, chosen: Mapping[str, Any]) -> Schema:
    """Find out what the columns are, given what they are asked to be."""
    table = as_table(table, "X")
    views = frames.views(table)
    categorical = [name for name, family in chosen.items() if family in ("categorical", "binary")]
    numeric = [name for name, family in chosen.items() if isinstance(family, Family) or family in NAMES[:2]]
    ordinal = {name: _levels(views[name]) for name, family in chosen.items() if family == "ordinal"}
    return infer_schema(table, categorical=categorical, numeric=numeric, ordinal=ordinal)


def _levels(view: Any) -> list[Any]:
    """Levels of an ordinal column in their order: declared by its type, or numbers from low to high."""
    if view.kind == "ordered":
        return list(view.levels)
    values = {v for v in view.to_list() if not is_missing(v)}
    if any(isinstance(v, str) for v in values):
        raise ValueError(
            f"column {view.name!r} holds strings, whose order is not known: give a schema "
            "(infer_schema(..., ordinal={column: levels in order})) or an ordered type"
        )
    return sorted(values)


def kinds_of(schema: Schema, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Give the kind of distribution of each column; a choice that the schema contradicts is an error."""
    kinds = {column.name: chosen.get(column.name, BY_SCHEMA[column.kind]) for column in schema}
    for column in schema:
        kind = kinds[column.name]
        if (column.kind == "numeric") != (isinstance(kind, Family) or kind in NAMES[:2]):
            raise ValueError(f"{column.where} is {column.kind} in the schema, which does not go with {kind!r}")
        if kind == "binary" and column.n_categories > 2:
            raise ValueError(f"{column.where} is asked to be binary, but has {column.n_categories} values")
    return kinds


def make_blocks(schema: Schema, kinds: Mapping[str, Any], m: float | str, p: Any, smoothing: float) -> tuple[Any, ...]:
    """Give groups of columns that are counted and evaluated together."""

    def places(*wanted: str) -> tuple[int, ...]:
        return tuple(j for j, name in enumerate(schema.names) if isinstance(kinds[name], str) and kinds[name] in wanted)

    blocks: list[Any] = []
    if columns := places("gaussian"):
        blocks.append(GaussianColumns(columns, tuple(schema.names[j] for j in columns), smoothing))
    if columns := places("counts"):
        weight = 1.0 if m == "laplace" else float(m)
        blocks.append(CountColumns(columns, tuple(schema.names[j] for j in columns), weight))
    if columns := places("categorical", "ordinal", "binary"):
        records = tuple(schema.columns[j] for j in columns)
        ordered = tuple(kinds[record.name] == "ordinal" for record in records)
        blocks.append(CategoryColumns(columns, records, ordered, m, p))
    families = [j for j, name in enumerate(schema.names) if isinstance(kinds[name], Family)]
    return (*blocks, *(FamilyColumn((j,), schema.names[j], kinds[schema.names[j]]) for j in families))


def grown(schema: Schema, table: Any) -> Schema:
    """Give the schema with the categories that more rows bring; an ordinal column cannot place new levels."""
    table = as_table(table, "X")
    names = [c.name for c in schema if c.kind == "categorical"]
    if not names:
        return schema
    views = _by_schema(schema, table)
    return Schema(tuple(_grown(c, views[c.name]) if c.name in names else c for c in schema))


def _by_schema(schema: Schema, table: Any) -> dict[str, Any]:
    views = frames.views(table)
    if frames.is_frame(table):
        return (
            {name: views[name] for name in schema.names if name in views}
            if set(schema.names) <= set(views)
            else (_absent(schema, views))
        )
    return dict(zip(schema.names, views.values(), strict=True))


def _absent(schema: Schema, views: Mapping[str, Any]) -> Any:
    absent = [name for name in schema.names if name not in views]
    raise ValueError(f"column {quote(absent)} is not in the table, which has {quote(views, 10)}")


def _grown(column: Column, view: Any) -> Column:
    known = {*column.categories, *column.missing}
    values = {v.item() if isinstance(v, np.generic) else v for v in view.to_list() if not is_missing(v)}
    new = sorted(values - known, key=lambda v: (isinstance(v, str), v))
    return replace(column, categories=(*column.categories, *new)) if new else column


def united(mine: Schema, theirs: Schema) -> Schema:
    """Give the schema with the categories of both; columns must be the same, and ordinal ones alike."""
    if mine.names != theirs.names or mine.kinds != theirs.kinds:
        raise ValueError(f"the two models have different columns: {mine.names} and {theirs.names}")
    return Schema(tuple(_united(a, b) for a, b in zip(mine, theirs, strict=True)))


def _united(a: Column, b: Column) -> Column:
    new = tuple(c for c in b.categories if c not in a.categories)
    if a.kind == "ordinal" and a.categories != b.categories:
        raise ValueError(f"{a.where} has the levels {a.categories} in one model and {b.categories} in the other")
    return replace(a, categories=a.categories + new)
