"""Where emissions start: centres of clusters, and the spread of all rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from latently.data.tables.frames import default_names
from latently.data.tables.matrix import refuse_tiny
from latently.distributions import ColumnError, Family, family_named
from latently.distributions.components.family_answers import Members
from latently.distributions.floor import Floor
from latently.learn.engine.start import row_order
from latently.learn.estimator.table import seeds
from latently.learn.kmeans.clustered import clustered
from latently.sequence.inference.chain import Array, Ints, first_rows

MOST_ROWS = 20_000
N_STARTS = 10


@dataclass(frozen=True, eq=False)
class StartData:
    """What a start may look at: rows, lengths, known states (-1 where unknown), and whether states have an order."""

    X: Array
    lengths: Ints
    labels: Ints | None = None
    is_ordered: bool = False

    def arrange(self, centres: Array) -> Ints:
        """Which centre (k, d) each state gets: near its labelled rows, and in order of time if states have one."""
        k = len(centres)
        if self.labels is None and not self.is_ordered:
            return np.arange(k)
        rows = np.where(np.isnan(self.X), np.nanmean(self.X, axis=0), self.X)
        scale = np.maximum(rows.std(axis=0), np.finfo(float).tiny)
        gaps = np.array([(((rows - centre) / scale) ** 2).sum(axis=1) for centre in centres])
        nearest = gaps.argmin(axis=0)
        steps = np.arange(len(rows)) - np.repeat(first_rows(self.lengths), self.lengths)
        time = steps / np.repeat(self.lengths, self.lengths)
        when = [time[nearest == j].mean() if (nearest == j).any() else 1.0 for j in range(k)]
        order = np.argsort(when, kind="stable")
        if self.labels is None:
            return order
        cost = np.zeros((k, k))
        for state in np.unique(self.labels[self.labels >= 0]):
            cost[state] = gaps[:, self.labels == state].mean(axis=1)
        # labelled states choose; those without a label take what is left, in order of time
        return np.asarray(order[linear_sum_assignment(cost[:, order])[1]])


def filled(X: Array) -> Array:
    """The rows with something observed, missing entries at the mean of their column."""
    rows = X[~np.isnan(X).all(axis=1)]
    if not len(rows):
        where = "column 0 of X is missing in every row" if X.shape[1] == 1 else "every row of X is missing"
        raise ValueError(f"{where}: there is nothing to learn from")
    missing = np.isnan(rows)
    if not missing.any():
        return rows
    if missing.all(axis=0).any():
        column = int(np.argmax(missing.all(axis=0)))
        raise ValueError(f"column {column} of X is missing in every row: leave it out")
    return np.where(missing, np.nanmean(rows, axis=0), rows)


def check_scales(X: Array, names: Sequence[str]) -> None:
    """An error where the squares of a column's deviations are no numbers; of a long table, some rows are seen."""
    rows = X[:: -(-len(X) // MOST_ROWS)]
    known = names if len(names) == X.shape[1] else default_names(X.shape[1])  # a table's inputs are not emitted
    refuse_tiny(rows, np.ones(len(rows)), known)


def clusters(X: Array, k: int, rng: np.random.RandomState) -> tuple[Array, Ints, Array]:
    """Centres (k, d), labels and rows of a k-means clustering of (some of) the rows, in units of their spread."""
    rows = filled(X)
    if len(rows) > MOST_ROWS:
        rows = rows[rng.choice(len(rows), MOST_ROWS, replace=False)]
    # in an order of their own, so that the start does not depend on that of the sequences
    order = row_order(rows)
    rows = rows[order]
    scale = rows.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    origin = rows.mean(axis=0)
    found = clustered((rows - origin) / scale, None, min(k, len(rows)), seeds(rng, N_STARTS))
    centres = found.centres * scale + origin
    if len(centres) < k:
        centres = np.vstack([centres, rows[rng.randint(len(rows), size=k - len(centres))]])
    labels = np.empty(len(rows), dtype=np.int64)
    labels[order] = found.labels
    return centres, labels, rows[np.argsort(order)]


def k_means(data: StartData, k: int, rng: np.random.RandomState) -> Array:
    """Centres (k, d) of a k-means clustering, one for each state."""
    centres = clusters(data.X, k, rng)[0]
    return np.asarray(centres[data.arrange(centres)])


def nested_means(data: StartData, k: int, m: int, rng: np.random.RandomState) -> Array:
    """Means (k, m, d): k clusters of the rows, one for each state, and m clusters within each."""
    centres, labels, rows = clusters(data.X, k, rng)
    means = np.empty((k, m, rows.shape[1]))
    for state, j in enumerate(data.arrange(centres)):
        inside = rows[labels == j]
        means[state] = clusters(inside, m, rng)[0] if len(inside) else centres[j]
    return means


def covariance_start(X: Array, centres: Array, kind: str, k: int, least: float) -> Array:
    """The covariance of the rows about the nearest of the centres, in the shape of its kind for k components."""
    rows = filled(X)[:MOST_ROWS]
    gaps = [rows - centre for centre in centres.reshape(-1, X.shape[1])]
    nearest = np.argmin([np.einsum("ij,ij->i", gap, gap) for gap in gaps], axis=0)
    residual = np.array(gaps)[nearest, np.arange(len(rows))]
    matrix: Array = residual.T @ residual / len(rows) + least * np.eye(X.shape[1])
    if kind == "full":
        return np.repeat(matrix[None], k, axis=0)
    if kind == "tied":
        return matrix
    if kind == "diag":
        return np.repeat(np.diag(matrix)[None], k, axis=0)
    return np.full(k, np.diag(matrix).mean())


def start_families(
    template: Any, X: Array, weights: Array, n_states: int, owner: Ints, prior: Any, floor: Floor
) -> Members:
    """Fit distributions to rows with given weights (n, K); templates that are fitted already stay."""
    given = list(template) if isinstance(template, list | tuple) else [template] * n_states
    if len(given) != n_states:
        raise ValueError(f"emission lists {len(given)} distributions for {n_states} states")
    found: list[Family] = []
    for e in range(int(owner.max()) + 1):
        part = given[int(np.flatnonzero(owner == e)[0])]
        part = family_named(part) if isinstance(part, str) else part
        if not isinstance(part, Family):
            raise TypeError(f"emission must be a distribution that learns from data, not {type(part).__name__}")
        # fitted to all rows first, so that every state knows every category
        whole = part if part.is_fitted else _whole(part, X, prior, floor)
        is_own = isinstance(template, list | tuple) and part.is_fitted
        found.append(part if is_own else _fit_or(whole, X, weights[:, owner == e].sum(axis=1), prior, floor))
    return Members(tuple(found))


def _whole(part: Family, X: Array, prior: Any, floor: Floor) -> Family:
    """Fit to all rows; columns that follow from others are taken one by one for a start."""
    try:
        return part.fit(X, prior=prior)
    except ColumnError:
        alone = None if prior is not None else part.fit_apart(X, floor)
        if alone is None:
            raise
        return alone


def _fit_or(whole: Family, X: Array, weights: Array, prior: Any, floor: Floor) -> Family:
    try:
        return whole.fit_above(whole.expected_statistics(X, weights), prior, floor)
    except ColumnError:
        return whole
