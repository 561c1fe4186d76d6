"""Filled tables in the user's own form: what was observed stays, to the last bit and type."""

from typing import Any

import numpy as np

from latently.data.tables import frames
from latently.impute.tables import Table
from latently.learn.engine.protocol import Array


def filled_in(table: Table, values: Array) -> Any:
    """Give the table with `values` in its missing values; what was there stays, an unknown category too."""
    if set(table.schema.kinds) <= {"numeric"} and not frames.is_frame(table.raw):
        return values
    unknown = _unknown(table)
    if not unknown.any():
        return table.decoded(values)
    columns = {}
    decoded = frames.views(table.decoded(values))
    for j, (name, old) in enumerate(zip(table.schema.names, frames.views(table.raw).values(), strict=True)):
        new, kept = list(decoded.values())[j].to_list(), old.to_list()
        columns[name] = [kept[i] if unknown[i, j] else v for i, v in enumerate(new)]
    if frames.is_frame(table.raw):
        return frames.restore_types(frames.from_columns(columns, table.raw), table.raw)
    return np.array(list(columns.values()), dtype=object).T


def _unknown(table: Table) -> Any:
    """(n, d) where a value is there, but not among the categories."""
    return ~np.isnan(table.schema.encode(table.raw, unseen="code")) & np.isnan(table.values)


def in_kind(estimator: Any, output: Any, table: Table) -> Any:
    """Give an array where `set_output` asks for another kind of frame than the one at hand."""
    from sklearn.utils._set_output import _get_output_config

    wanted = _get_output_config("transform", estimator)["dense"]
    if wanted == "default" or not frames.is_frame(output) or type(output).__module__.startswith(wanted):
        return output
    views = frames.views(output)
    if set(table.schema.kinds) <= {"numeric"}:
        return frames.to_array(output)
    return np.array([view.to_list() for view in views.values()], dtype=object).T
