"""What is surprising about a row: -log p of the whole, shared out among its columns."""

from itertools import permutations
from math import factorial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_random_state

from latently.data.schema.schema import Schema
from latently.impute.tables import Table, for_model, read_table
from latently.learn.engine.protocol import Array


def surprise_shares(
    model: Any, X: Any, *, schema: Schema | None = None, n_orders: int = 8, random_state: Any = 0
) -> Array:
    """Share out -log p(x) of each row among its columns.

    By the chain rule -log p(x) is a sum of -log p(x_j | the columns before j), for any order of the columns. A
    column's share is the mean over several orders, each with its reverse: what it says alone and what it says
    after others count alike. The shares of a row always sum to its -log p.

    Parameters
    ----------
    model
        A fitted mixture with `score_samples` that takes missing values.
    X
        (n, d) table.
    schema
        What the columns are; that of the model, or found out from the table, if None.
    n_orders
        How many orders; all of them, if there are no more.
    random_state
        Seed of the orders.

    Returns
    -------
    (n, d) array
        Shares in nats; zero for a missing entry. For a numeric column they are relative to its unit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from latently.cluster import GaussianMixture
    >>> X = load_iris().data
    >>> mixture = GaussianMixture(2, random_state=0).fit(X)
    >>> shares = surprise_shares(mixture, X)
    >>> bool(np.allclose(shares.sum(axis=1), -mixture.score_samples(X)))
    True
    """
    table = read_table(X, schema or getattr(model, "schema_", None))
    return _shares(model, table, n_orders, random_state)


def surprises(
    model: Any,
    X: Any,
    *,
    reference: Any = None,
    schema: Schema | None = None,
    n_orders: int = 8,
    random_state: Any = 0,
) -> list[dict[str, Any]]:
    """Say what is surprising about each row, and what would not have been.

    Parameters
    ----------
    model
        A fitted latently mixture.
    X
        (n, d) rows to explain.
    reference
        Rows to compare with, such as those it was fitted to; X itself if None.
    schema
        What the columns are; that of the model, or found out from the table, if None.
    n_orders, random_state
        See `surprise_shares`.

    Returns
    -------
    list of dict
        One for each row: "row", "surprise" (-log p in nats), "rank" (share of the reference that is less surprising),
        and "columns", the most surprising first. A column has "column", "value", "surprise" (its share; the
        shares sum to the row's), "excess" (by how much the share is above its mean in the reference), "given_rest"
        (-log p of the value given the rest of the row), and what the model expects given the rest:
        "expected", "low" and "high" (90 %; for a category the most probable one). Missing entries have a value of
        None and no surprise.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from latently.cluster import GaussianMixture
    >>> X = load_iris().data
    >>> mixture = GaussianMixture(2, random_state=0).fit(X)
    >>> row = surprises(mixture, [[5.1, 3.5, 1.4, 2.0]], reference=X)[0]
    >>> row["columns"][0]["column"], round(row["columns"][0]["expected"], 1), row["rank"]
    ('x3', 0.2, 1.0)
    """
    known = schema or getattr(model, "schema_", None)
    table = read_table(X, known)
    base = table if reference is None else read_table(reference, table.schema)
    shares = _shares(model, table, n_orders, random_state)
    usual = shares if reference is None else _shares(model, base, n_orders, random_state)
    expected = _expectations(model, table)
    means = _column_means(usual, base.values)
    totals = usual.sum(axis=1)
    return [_row(i, table, shares[i], means, totals, expected) for i in range(len(shares))]


def _shares(model: Any, table: Table, n_orders: int, random_state: Any) -> Array:
    if n_orders < 1:
        raise ValueError(f"n_orders must be at least 1, got {n_orders}")
    values = table.values
    orders = _orders(values.shape[1], n_orders, check_random_state(random_state))
    known: dict[frozenset[int], Array] = {frozenset(): np.zeros(len(values))}
    out = np.zeros(values.shape)
    for order in orders:
        before: frozenset[int] = frozenset()
        for j in order:
            after = before | {j}
            if after not in known:
                known[after] = _log_density(model, table, after)
            out[:, j] += known[before] - known[after]
            before = after
    return np.where(np.isnan(values), 0.0, out / len(orders))


def _orders(d: int, n: int, rng: np.random.RandomState) -> list[tuple[int, ...]]:
    if d <= 6 and factorial(d) <= n:
        return list(permutations(range(d)))
    drawn = [tuple(rng.permutation(d).tolist()) for _ in range(-(-n // 2))]
    return [order for forward in drawn for order in (forward, forward[::-1])]


def _log_density(model: Any, table: Table, columns: frozenset[int]) -> Array:
    """(n,) log density of some columns, the others summed out."""
    hidden = [j for j in range(table.values.shape[1]) if j not in columns]
    values = table.values.copy()
    values[:, hidden] = np.nan
    return np.asarray(model.score_samples(for_model(model, table, values)))


def _column_means(shares: Array, values: Array) -> Array:
    seen = ~np.isnan(values)
    return np.asarray((shares * seen).sum(axis=0) / np.maximum(seen.sum(axis=0), 1))


def _expectations(model: Any, table: Table) -> dict[str, Array]:
    """Of every entry: its surprise, mean and interval given the rest of its row."""
    expected = {name: np.empty(table.values.shape) for name in ("given_rest", "expected", "low", "high")}
    whole = np.asarray(model.score_samples(for_model(model, table)))
    for j in range(table.values.shape[1]):
        values = table.values.copy()
        values[:, j] = np.nan
        rest = for_model(model, table, values)
        expected["given_rest"][:, j] = np.asarray(model.score_samples(rest)) - whole
        expected["expected"][:, j] = model.impute_mean(rest)[:, j]
        low, high = model.impute_interval(rest)
        expected["low"][:, j], expected["high"][:, j] = low[:, j], high[:, j]
    return expected


def _row(
    i: int, table: Table, shares: Array, means: Array, totals: Array, expected: dict[str, Array]
) -> dict[str, Any]:
    total = float(shares.sum())
    columns = [_entry(i, j, table, float(shares[j]), float(means[j]), expected) for j in range(len(shares))]
    return {
        "row": i,
        "surprise": total,
        "rank": float((totals < total).mean()),
        "columns": sorted(columns, key=lambda entry: -entry["excess"]),
    }


def _entry(i: int, j: int, table: Table, share: float, mean: float, expected: dict[str, Array]) -> dict[str, Any]:
    column, value = table.schema.columns[j], table.values[i, j]

    def plain(v: float) -> Any:
        return float(v) if column.kind == "numeric" else column.categories[int(v)]

    entry = {"column": column.name, "value": None if np.isnan(value) else plain(value), "surprise": share}
    entry |= {"excess": 0.0 if np.isnan(value) else share - mean}
    entry |= {"given_rest": float(expected["given_rest"][i, j])}
    return entry | {name: plain(expected[name][i, j]) for name in ("expected", "low", "high")}
