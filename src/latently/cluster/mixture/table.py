"""From a table as it comes to the blocks of a mixture: which column is described by what."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.data import Column, Schema, infer_schema
from latently.data.schema.codes import Unseen, encode_codes, encode_numbers
from latently.data.sources.chunks import ChunkSource
from latently.data.tables import frames
from latently.data.tables.column_view import ColumnView
from latently.data.tables.matrix import refuse_extreme
from latently.data.tables.values import quote
from latently.distributions import Family, Gaussian, family_named
from latently.distributions.components.base import Block
from latently.distributions.components.categories import CategoryBlock
from latently.distributions.components.choose import is_by_column, kind_of
from latently.distributions.components.counts import CountBlock
from latently.distributions.components.family import FamilyBlock
from latently.distributions.components.full import FullBlock
from latently.distributions.components.numeric import NumericBlock
from latently.distributions.names import WORDS
from latently.distributions.names import families as families_by_name
from latently.learn.engine.protocol import Array


@dataclass(frozen=True)
class Group:
    """Columns, by position, and the family that describes them together."""

    columns: tuple[int, ...]
    family: Family


def position(key: Any, names: Sequence[str], what: str) -> int:
    """Where a column is, by name or position; an error if it is not in the table."""
    if isinstance(key, int | np.integer) and not isinstance(key, bool) and 0 <= key < len(names):
        return int(key)
    if key in names:
        return list(names).index(key)
    raise ValueError(f"{what}: column {key!r} is not in the table, which has {quote(names, 10)}")


def positions(key: Any, names: Sequence[str], what: str) -> tuple[int, ...]:
    """Where one or several columns are."""
    keys = key if key not in names and isinstance(key, tuple) else (key,)
    return tuple(position(k, names, what) for k in keys)


def asked_groups(families: Any, names: Sequence[str]) -> list[Group]:
    """What was asked for; families of single columns, given for several, are taken apart."""
    if families is None:
        return []
    if not isinstance(families, Mapping):
        families = dict.fromkeys(names, families)
    groups: list[Group] = []
    for key, family in families.items():
        template = _template(key, family)
        columns = positions(key, names, "families")
        together = len(columns) > 1 and not is_by_column(template)
        groups += [Group(columns, template)] if together else [Group((c,), template) for c in columns]
    taken = [c for group in groups for c in group.columns]
    twice = sorted({names[c] for c in taken if taken.count(c) > 1})
    if twice:
        raise ValueError(f"families: column {quote(twice)} is given more than once")
    return groups


def _template(key: Any, family: Any) -> Family:
    if family == "gaussian":
        return Gaussian(kind="diag")
    if isinstance(family, str) and (family in families_by_name() or family in WORDS):
        return family_named(family)
    if not isinstance(family, Family):
        known = quote(sorted([*families_by_name(), *WORDS]), 20)
        raise TypeError(f"families: {key!r} must be one of {known} or a distribution, got {family!r}")
    return family


def make_schema(table: Any, groups: Sequence[Group], names: Sequence[str]) -> Schema:
    """Find out what the columns are, given what they are asked to be."""
    views = frames.views(table)
    coded = {names[g.columns[0]] for g in groups if g.family.IS_CODED}
    numeric = {names[c] for g in groups for c in g.columns} - coded
    # numbers that are only labels: their categories are found without looking at them one by one
    labels = {n for n in coded if views[n].kind in ("float", "integer")}
    schema = infer_schema(table, categorical=sorted(coded - labels), numeric=sorted(numeric | labels))
    return Schema(tuple(_coded(c, views[c.name]) if c.name in labels else c for c in schema))


def _coded(column: Column, view: ColumnView) -> Column:
    values = encode_numbers(column, view)
    kinds = np.unique(values[~np.isnan(values)])
    whole = view.kind == "integer"
    return Column(column.name, "categorical", tuple(int(v) if whole else float(v) for v in kinds))


def encode(schema: Schema, table: Any, *, unseen: Unseen) -> Array:
    """The table as floats; unseen categories are "missing" or an "error"."""
    views = schema._views(table)
    out = np.empty((len(views[0].data), len(schema)))
    for j, (column, view) in enumerate(zip(schema, views, strict=True)):
        out[:, j] = _encode_column(column, view, unseen)
    refuse_extreme(out, table)
    return out


def _encode_column(column: Column, view: ColumnView, unseen: Unseen) -> Array:
    if column.kind == "numeric":
        return encode_numbers(column, view)
    numbers = all(isinstance(c, int | float) for c in column.categories)
    if not (numbers and column.categories and view.kind in ("float", "integer", "boolean")):
        return encode_codes(column, view, unseen)
    values = encode_numbers(replace(column, kind="numeric", categories=()), view)
    kinds = np.array(column.categories, dtype=np.float64)
    if np.array_equal(kinds, np.arange(len(kinds))):  # codes already
        unseen_rows = (values < 0) | (values >= len(kinds)) | (np.floor(values) < values)
        at: NDArray[Any] = values
    else:
        order = np.argsort(kinds)
        at = order[np.minimum(np.searchsorted(kinds[order], values), len(kinds) - 1)]
        unseen_rows = (kinds[at] != values) & ~np.isnan(values)
    if not unseen_rows.any():
        return np.where(np.isnan(values), np.nan, at)
    if unseen == "error":
        found = quote(np.unique(values[unseen_rows]).tolist())
        raise ValueError(f"{column.where} has values that are not among its categories: {found}")
    return np.where(unseen_rows | np.isnan(values), np.nan, at)


def make_blocks(schema: Schema, groups: Sequence[Group]) -> tuple[Block, ...]:
    """Blocks of columns that are described alike; columns that nobody asked about follow the schema."""
    asked = {c: g for g in groups for c in g.columns}
    numeric, counts, codes, others = [], [], [], []
    for c, column in enumerate(schema):
        group = asked.get(c)
        if column.kind != "numeric":
            _check_coded(column, group)
            codes.append(c)
        elif (kind := "numeric" if group is None else kind_of(group.family, len(group.columns))) == "numeric":
            numeric.append(c)
        elif kind == "counts":
            counts.append(c)
        elif group is not None and group.columns[0] == c:
            others.append(_group_block(group, schema))
    made: list[Block] = []
    for block, columns in ((NumericBlock, numeric), (CountBlock, counts)):
        if columns:
            made.append(block(tuple(columns), tuple(schema.names[c] for c in columns)))
    if codes:
        widths = tuple(schema.columns[c].n_categories for c in codes)
        made.append(CategoryBlock(tuple(codes), tuple(schema.names[c] for c in codes), widths=widths))
    return (*made, *others)


def _check_coded(column: Column, group: Group | None) -> None:
    if column.n_categories == 0:
        raise ValueError(f"{column.where} has no observed values: leave it out")
    family = None if group is None else group.family
    if family is not None and not family.IS_CODED:
        raise ValueError(f"{column.where} is {column.kind} in the schema, which does not go with {family}")
    if family is not None and column.n_categories > family.most_codes:
        who = type(family).__name__
        raise ValueError(f"{column.where} holds {column.n_categories} different values: {who} takes two")


def _group_block(group: Group, schema: Schema) -> Block:
    names = tuple(schema.names[c] for c in group.columns)
    odd = [schema.names[c] for c in group.columns if schema.columns[c].kind != "numeric"]
    if odd:
        raise ValueError(f"column {quote(odd)} is not numeric, which {group.family} needs")
    if group.family.IS_CODED:
        raise ValueError(f"column {names[0]!r} is numeric in the schema, which does not go with {group.family}")
    if kind_of(group.family, len(names)) == "full":
        return FullBlock(group.columns, names)
    # a copy: what a constructor parameter and a fitted attribute share is not stored twice
    return FamilyBlock(group.columns, names, templates=(copy(group.family),), widths=(0,) * len(names))


def check_values(X: Array, blocks: Sequence[Block]) -> None:
    """See that columns hold what they can."""
    for block in blocks:
        block.checked(X[:, block.places])


def refuse_empty(blocks: Sequence[Block], source: ChunkSource) -> None:
    """Refuse a column of nothing but missing values; rows are looked at until every column has been seen."""
    seen = np.zeros(source.n_columns, dtype=bool)
    for chunk in source:
        seen |= ~np.isnan(chunk.X).all(axis=0)
        if seen.all():
            return
    for block in blocks:
        for c, name in zip(block.columns, block.names, strict=True):
            if not seen[c]:
                raise ValueError(f"column {name!r} has no observed values: leave it out")
