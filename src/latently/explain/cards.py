"""Cluster cards: what is typical in each cluster, and what distinguishes it from the rest."""

from typing import Any

import numpy as np
from scipy.special import xlogy

from latently.data.schema.column import Column
from latently.data.schema.schema import Schema
from latently.impute.tables import Table, for_model, read_table
from latently.learn.engine.protocol import Array

# A numeric column is cut at these many quantiles to see how much it tells about membership.
_BINS = 10
_LEVELS = (0.1, 0.5, 0.9)
_LEAST = 1e-12  # of the memberships of a cluster, summed over the rows, for it to have a value


def cluster_cards(model: Any, X: Any, *, schema: Schema | None = None) -> list[dict[str, Any]]:
    """Describe each cluster of a fitted model by the rows that belong to it, each as much as it does.

    Parameters
    ----------
    model
        A fitted mixture, or anything with `predict_proba` or `predict` whose answers are clusters.
    X
        (n, d) table to describe the clusters by.
    schema
        What the columns are; that of the model, or found out from the table, if None.

    Returns
    -------
    list of dict
        One for each cluster: "cluster", "share" of all rows, "rows" (expected number), "certainty" (mean
        probability of the cluster among the rows for which it is the most probable; None if there are none),
        "typical_row" (the row that belongs to it most, of the highest density), and "columns", those that tell
        most first. A column has "column", "kind", "information" (bits that its value tells about whether a row
        belongs to the cluster) and "missing" (share of missing values, in the cluster). A numeric one has "mean",
        "sd", "median", "low" and "high" (between them lie 80 % of the rows), "mean_rest", "median_rest", "sd_rest",
        "difference" (of the means, in standard deviations of the whole column) and "probability_higher" (that
        a row of the cluster has a higher value than one of the rest). Others have "typical" (the most probable
        category), "probabilities", "probabilities_rest" and "lift" (ratio of the two for the typical one; None if
        it does not occur in the rest).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from latently.cluster import GaussianMixture
    >>> X = load_iris(as_frame=True).data
    >>> card = cluster_cards(GaussianMixture(2, random_state=0).fit(X), X)[1]
    >>> card["columns"][0]["column"], round(card["share"], 2)
    ('petal width (cm)', 0.33)
    >>> card["columns"][0]["mean"], card["columns"][0]["probability_higher"]
    (0.2..., 0.0)
    """
    table = read_table(X, schema or getattr(model, "schema_", None))
    given = for_model(model, table)
    shares = np.clip(_memberships(model, given), 0.0, 1.0)  # (n, k); rounding may have gone beyond
    density = model.score_samples(given) if hasattr(model, "score_samples") else np.zeros(len(shares))
    return [_card(k, shares, density, table) for k in range(shares.shape[1])]


def _memberships(model: Any, given: Any) -> Array:
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(given))
    if not hasattr(model, "predict"):
        raise TypeError(f"{type(model).__name__} has neither predict_proba nor predict, so it has no clusters")
    labels = np.asarray(model.predict(given))
    return np.asarray(np.eye(int(labels.max()) + 1)[labels])


def _card(k: int, shares: Array, density: Array, table: Table) -> dict[str, Any]:
    inside = shares[:, k]
    own = shares.argmax(axis=1) == k
    columns = [_column(c, table.values[:, j], inside) for j, c in enumerate(table.schema)]
    return {
        "cluster": k,
        "share": float(inside.mean()),
        "rows": float(inside.sum()),
        "certainty": float(inside[own].mean()) if own.any() else None,
        "typical_row": int(np.lexsort((density, inside.round(6)))[-1]),
        "columns": sorted(columns, key=lambda column: -column["information"]),
    }


def _column(column: Column, x: Array, inside: Array) -> dict[str, Any]:
    seen = ~np.isnan(x)
    total = inside.sum()
    base = {
        "column": column.name,
        "kind": column.kind,
        "information": 0.0,
        "missing": float(inside[~seen].sum() / total) if total > 0 else 0.0,
    }
    v, w = x[seen], inside[seen]
    if not w.sum() > _LEAST:
        return base
    about = _numeric(v, w) if column.kind == "numeric" else _coded(column, v, w)
    return base | about


def _numeric(v: Array, w: Array) -> dict[str, Any]:
    rest = 1 - w
    mean, sd = _moments(v, w)
    other, other_sd = _moments(v, rest)
    spread = float(v.std())
    low, median, high = (_quantile(v, w, q) for q in _LEVELS)
    edges = np.unique(np.quantile(v, np.linspace(0, 1, _BINS + 1)[1:-1]))
    return {
        "information": _information(np.searchsorted(edges, v), w),
        "mean": mean,
        "sd": sd,
        "median": median,
        "low": low,
        "high": high,
        "mean_rest": other,
        "median_rest": None if other is None else _quantile(v, rest, 0.5),
        "sd_rest": other_sd,
        "difference": None if other is None else ((mean - other) / spread if spread > 0 else 0.0),
        "probability_higher": _probability_higher(v, w, rest),
    }


def _moments(v: Array, w: Array) -> tuple[Any, Any]:
    """Weighted mean and standard deviation; None where there is no weight."""
    if not w.sum() > _LEAST:
        return None, None
    mean = float(np.average(v, weights=w))
    return mean, float(np.sqrt(np.average((v - mean) ** 2, weights=w)))


def _quantile(v: Array, w: Array, q: float) -> float:
    order = np.argsort(v, kind="stable")
    mass = np.cumsum(w[order])
    return float(v[order][min(np.searchsorted(mass, q * mass[-1]), len(v) - 1)])


def _probability_higher(v: Array, w: Array, rest: Array) -> float | None:
    """P(value in the cluster > value in the rest), ties counted half."""
    if not rest.sum() > _LEAST:
        return None
    _, codes = np.unique(v, return_inverse=True)
    ours, theirs = np.bincount(codes, weights=w), np.bincount(codes, weights=rest)
    below = np.cumsum(theirs) - theirs / 2
    return float(ours @ below / (ours.sum() * theirs.sum()))


def _coded(column: Column, codes: Array, w: Array) -> dict[str, Any]:
    places = codes.astype(np.intp)
    ours, theirs = (np.bincount(places, weights=m, minlength=column.n_categories) for m in (w, 1 - w))
    p, q = ours / ours.sum(), theirs / max(theirs.sum(), np.finfo(float).tiny)
    best = int(p.argmax())
    return {
        "information": _information(places, w),
        "typical": column.categories[best],
        "probabilities": dict(zip(column.categories, p.tolist(), strict=True)),
        "probabilities_rest": dict(zip(column.categories, q.tolist(), strict=True)),
        "lift": float(p[best] / q[best]) if q[best] > 0 else None,
    }


def _information(codes: Any, w: Array) -> float:
    """Mutual information of a code and membership, in bits."""
    table = np.stack([np.bincount(codes, weights=w), np.bincount(codes, weights=1 - w)]) / len(w)
    marginal = xlogy(table.sum(axis=0), table.sum(axis=0)).sum() + xlogy(table.sum(axis=1), table.sum(axis=1)).sum()
    return float(max((xlogy(table, table).sum() - marginal) / np.log(2), 0.0))
