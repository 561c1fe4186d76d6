"""Drift between two tables: how likely new rows are under a model of the old ones, column by column."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.cluster import Mixture
from latently.data import Column, Schema
from latently.data.tables.values import quote
from latently.learn.select.select import select
from latently.report.drift_columns import Shared, shared_columns
from latently.report.drift_test import permuted

Values = NDArray[np.float64]

# Rows of each table that are looked at, and the fewest that say anything.
MOST, FEWEST = 10_000, 20
_SIZES = range(1, 6)
_COLUMN, _WHOLE = 0.04, 0.01  # two halves of one table differ in a column, or as a whole, in 1 of 20 at most


def compare(old: Any, new: Any, *, seed: int = 0, permutations: int = 999) -> dict[str, Any]:
    """Tell whether two tables come from one source, and which columns changed.

    A mixture is fitted to half of the old rows. The other half and the new rows are then looked at through it: how
    likely each value is, alone and given the rest of its row, where it lies, and whether it is missing. If both
    tables come from one source, it does not matter which rows are called new; so the differences are compared with
    those under random names.

    Parameters
    ----------
    old, new
        Tables. Columns are matched by name.
    seed
        Of the halves, the model and the random names.
    permutations
        How many times names are drawn: p-values are at least 1 / (permutations + 1).

    Returns
    -------
    dict
        "p_value" (how often two tables from one source would differ as much in some column), "p_together" (the same for
        how the columns go together), "fall" (by how many nats
        per row the new rows are less likely than old ones that the model has not seen either), "text", "rows" of
        both, "components" of the model, "columns" (those that changed most first), "only_old" and "only_new"
        (columns without a partner) and "left_out". A column has "column", "kind", "p_value", "adjusted" (p-value
        that allows for the number of columns), "changed", "fall" (nats, of its values alone), "fall_given_rest",
        "missing" and "typical", both for old and new, and "new_levels" that the old table does not have.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> old = {"a": rng.normal(size=200), "b": rng.normal(size=200)}
    >>> new = {"a": rng.normal(size=200), "b": rng.normal(size=200) + 1}
    >>> told = compare(old, new)
    >>> [column["column"] for column in told["columns"] if column["changed"]]
    ['b']
    """
    shared = shared_columns(old, new)
    rng = np.random.default_rng(seed)
    parts = _parts(shared, rng)
    mixture = _fitted(shared, parts.learnt, seed)
    features = _features(mixture, shared, parts)
    found = permuted(features.values, features.owners, len(parts.kept), permutations, rng)
    columns = [_column(j, shared, parts, features, found) for j in range(len(shared.names))]
    whole = min(found.adjusted)
    columns.sort(key=lambda column: (column["adjusted"], column["p_value"], -abs(column["fall"])))
    return {
        "p_value": whole,
        "p_together": found.adjusted[-1],
        "fall": features.fall,
        "text": _text(columns, whole),
        "rows": {"old": len(shared.old), "new": len(shared.new), "looked_at": len(parts.kept) + len(parts.new)},
        "components": int(mixture.n_components),
        "columns": columns,
        "only_old": shared.only_old,
        "only_new": shared.only_new,
        "left_out": shared.left_out,
    }


@dataclass(frozen=True, eq=False)
class _Parts:
    """Old rows to learn from, old rows kept aside, and new rows."""

    learnt: Values
    kept: Values
    new: Values


def _parts(shared: Shared, rng: np.random.Generator) -> _Parts:
    for name, rows in (("old", shared.old), ("new", shared.new)):
        if len(rows) < FEWEST:
            raise ValueError(f"the {name} table has {len(rows)} rows: at least {FEWEST} are needed to compare")
    order = rng.permutation(len(shared.old))
    half = len(order) // 2
    pick = rng.permutation(len(shared.new))[:MOST]
    return _Parts(shared.old[order[:half][:MOST]], shared.old[order[half:][:MOST]], shared.new[pick])


def _fitted(shared: Shared, rows: Values, seed: int) -> Any:
    schema = Schema(
        tuple(
            Column(name, "categorical", tuple(_levels_in(rows[:, j]))) if levels else Column(name, "numeric")
            for j, (name, levels) in enumerate(zip(shared.names, shared.levels, strict=True))
        )
    )
    sizes = [k for k in _SIZES if k == 1 or 10 * k <= len(rows)]
    return select((Mixture(schema=schema), {"n_components": sizes}), rows, "bic", random_state=seed).best_model


def _levels_in(x: Values) -> list[int]:
    return [int(code) for code in np.unique(x[~np.isnan(x)])]


@dataclass(frozen=True, eq=False)
class _Features:
    """What is compared: (rows, features), old rows first; whose column each feature is; and falls in likelihood."""

    values: Values
    owners: NDArray[np.intp]
    fall: float
    alone: Values
    given_rest: Values


def _features(mixture: Any, shared: Shared, parts: _Parts) -> _Features:
    rows = np.concatenate([parts.kept, parts.new])
    n, d = len(parts.kept), rows.shape[1]
    known, strange = _without_strange(rows, shared, parts.learnt)
    whole = mixture.score_samples(known) + strange.sum(axis=1)
    rest = strange - mixture.surprise(known)
    # how the columns go together belongs to none of them alone
    found: list[Values] = [whole, *rest.T]
    owners, falls = [d] * (1 + d), np.zeros((2, d))
    for j in range(d):
        only = np.full_like(rows, np.nan)
        only[:, j] = known[:, j]
        alone = mixture.score_samples(only) + strange[:, j]
        seen = ~np.isnan(rows[:, j])
        falls[:, j] = [_fall(what, seen, n) for what in (alone, rest[:, j])]
        own = [np.where(seen, alone, 0.0), (~seen).astype(float), *_places(rows[:, j], seen, len(shared.levels[j]))]
        found += own
        owners += [j] * len(own)
    return _Features(np.column_stack(found), np.array(owners), float(whole[:n].mean() - whole[n:].mean()), *falls)


def _without_strange(rows: Values, shared: Shared, learnt: Values) -> tuple[Values, Values]:
    """Take out levels that the model has not learnt, and give the log probability that such a level has instead.

    Among n rows without it, a level has a probability of about 1 / (n + 1).
    """
    known, strange = rows.copy(), np.zeros_like(rows)
    for j, levels in enumerate(shared.levels):
        if levels:
            new = ~np.isnan(rows[:, j]) & ~np.isin(rows[:, j], _levels_in(learnt[:, j]))
            known[new, j] = np.nan
            strange[new, j] = -np.log(len(learnt) + 1)
    return known, strange


def _fall(likelihood: Values, seen: NDArray[np.bool_], n: int) -> float:
    """By how much the mean over old rows is above that over new ones; zero where there is nothing to compare."""
    old, new = likelihood[:n][seen[:n]], likelihood[n:][seen[n:]]
    return float(old.mean() - new.mean()) if len(old) and len(new) else 0.0


def _places(x: Values, seen: NDArray[np.bool_], levels: int) -> list[Values]:
    """Where values lie: their ranks and how far out these are, or which level they are."""
    if levels:
        return [(x == level).astype(float) for level in range(levels)]
    ranks = np.zeros(len(x))
    _, inverse, counts = np.unique(x[seen], return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts - 1) / 2
    ranks[seen] = middle[inverse] / max(seen.sum(), 1) - 0.5
    return [ranks, np.abs(ranks)]


def _column(j: int, shared: Shared, parts: _Parts, features: _Features, found: Any) -> dict[str, Any]:
    return {
        "column": shared.names[j],
        "kind": shared.kinds[j],
        "p_value": found.p[j],
        "adjusted": found.adjusted[j],
        "changed": bool(found.adjusted[j] <= _COLUMN),
        "fall": float(features.alone[j]),
        "fall_given_rest": float(features.given_rest[j]),
        "missing": {name: float(np.isnan(rows[:, j]).mean()) for name, rows in shared.both()},
        "typical": {name: shared.typical(j, rows[:, j]) for name, rows in shared.both()},
        "new_levels": shared.new_levels[j],
    }


def _text(columns: list[dict[str, Any]], whole: float) -> str:
    changed = [column["column"] for column in columns if column["changed"]]
    if changed:
        return f"The new table differs from the old one in {quote(changed, 5)}."
    if whole <= _WHOLE:
        return "The new table differs from the old one in how its columns go together, but in no single column."
    return "The new table shows no difference from the old one that chance would not explain."
