"""Linear models at the nodes of a regression tree: M5's pruning and smoothing, with Bayesian linear regression."""

import warnings
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently.predict.linear.regression import BayesianLinearRegression
from latently.predict.tree.model.answers import leaves_of, paths_of
from latently.predict.tree.model.nodes import Nodes

Array = NDArray[np.float64]
_LEAST_SPREAD: Final = 0.05  # of the root's standard deviation: below it a node is not split


@dataclass(frozen=True, eq=False)
class LinearLeaves:
    """A linear model for each node, those above mixed in: y = intercept + coef x, missing values at their means."""

    coef: Array  # (nodes, d)
    intercept: Array  # (nodes,)
    fill: Array  # (d,) what stands for a missing value; columns of categories are left out

    def predict(self, nodes: Nodes, X: Array) -> Array:
        """(n,) answers of the models at the leaves."""
        leaves = leaves_of(nodes, X)
        filled = np.where(np.isnan(X), self.fill, X)
        return np.asarray(self.intercept[leaves] + np.einsum("ij,ij->i", filled, self.coef[leaves]))


@dataclass(frozen=True, eq=False)
class _Fits:
    """Models at nodes before smoothing."""

    coef: Array
    intercept: Array
    square: Array  # (nodes,) mean squared error
    weights: Array  # (nodes,) how many weights a model has


def fit_models(nodes: Nodes, X: Array, y: Array, w: Array | None, smoothing: float) -> tuple[Nodes, LinearLeaves]:
    """Fit models at all nodes, make leaves of those whose own model is no worse than what is below, smooth.

    Parameters
    ----------
    nodes
        The full tree.
    X, y, w
        Rows of the fit, targets and weights.
    smoothing
        Weight, in rows, of the model of the node above.
    """
    spread = np.sqrt(nodes.impurity)
    nodes = nodes.cut(nodes.is_leaf | (spread < _LEAST_SPREAD * spread[0]))
    fill = np.array([0.0 if np.isnan(x).all() else float(np.nanmean(x)) for x in X.T])
    fill[nodes.n_categories > 0] = 0.0
    filled = np.where(np.isnan(X), fill, X)
    weights = np.ones(len(y)) if w is None else w
    fits = _fit_all(nodes, filled, paths_of(nodes, X).tocsc(), y, weights)
    leaves = _chosen(nodes, fits)
    coef, intercept = _smoothed(nodes, fits, smoothing)
    kept = nodes.kept(leaves)
    return nodes.cut(leaves), LinearLeaves(coef[kept], intercept[kept], fill)


def _columns(nodes: Nodes) -> NDArray[np.bool_]:
    """(nodes, d) numeric columns that are split by on the way to a node or below it."""
    used = np.zeros((len(nodes), len(nodes.n_categories)), dtype=bool)
    inner = np.flatnonzero(~nodes.is_leaf)
    used[inner, nodes.feature[inner]] = True
    parents = nodes.parents()
    above = used.copy()
    for node in range(len(nodes) - 1, 0, -1):
        used[parents[node]] |= used[node]
    for node in range(1, len(nodes)):
        above[node] |= above[parents[node]]
    return np.asarray((used | above) & (nodes.n_categories == 0))


def _fit_all(nodes: Nodes, X: Array, through: Any, y: Array, w: Array) -> _Fits:
    n, columns = len(nodes), _columns(nodes)
    coef, intercept, square, weights = np.zeros((n, X.shape[1])), np.zeros(n), np.zeros(n), np.ones(n)
    for node in range(n):
        rows = through.indices[through.indptr[node] : through.indptr[node + 1]]
        rows = rows[w[rows] > 0]
        chosen = np.flatnonzero(columns[node])
        chosen = chosen[np.ptp(X[np.ix_(rows, chosen)], axis=0) > 0] if len(rows) else chosen[:0]
        intercept[node] = np.average(y[rows], weights=w[rows])
        square[node] = np.average((y[rows] - intercept[node]) ** 2, weights=w[rows])
        if len(chosen) and len(rows) > len(chosen) + 1 and np.ptp(y[rows]) > 0:
            line, at = _line(X[np.ix_(rows, chosen)], y[rows], w[rows])
            less = np.average((y[rows] - at - X[np.ix_(rows, chosen)] @ line) ** 2, weights=w[rows])
            size, count = len(chosen) + 1.0, float(w[rows].sum())
            if less * _raised(count, size) ** 2 < square[node] * _raised(count, 1.0) ** 2:
                coef[node, chosen], intercept[node], square[node], weights[node] = line, at, less, size
    return _Fits(coef, intercept, square, weights)


def _raised(n: float, weights: float) -> float:
    """By how much an error is raised that was reached with so many weights on n rows."""
    return (n + weights) / (n - weights) if n > weights else 10.0


def _line(X: Array, y: Array, w: Array) -> tuple[Array, float]:
    """Weights and intercept of a Bayesian linear model of scaled columns."""
    centre, scale = X.mean(axis=0), X.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a search that has not ended is good enough for one node of many
        model = BayesianLinearRegression().fit((X - centre) / scale, y, sample_weight=w)
    coef = model.coef_ / scale
    return coef, float(model.intercept_ - centre @ coef)


def _chosen(nodes: Nodes, fits: _Fits) -> NDArray[np.bool_]:
    """The nodes to be leaves: those whose own model has no more error than the branches below."""
    leaves, below, size = nodes.is_leaf.copy(), fits.square.copy(), fits.weights.copy()
    for node in np.flatnonzero(~nodes.is_leaf)[::-1]:
        children = np.array(nodes.children(int(node)))
        under = float(np.average(below[children], weights=nodes.weight[children]))
        params, n = float(size[children].sum()) + 1, float(nodes.weight[node])
        if fits.square[node] * _raised(n, fits.weights[node]) ** 2 <= under * _raised(n, params) ** 2:
            leaves[node] = True
        else:
            below[node], size[node] = under, params
    return leaves


def _smoothed(nodes: Nodes, fits: _Fits, smoothing: float) -> tuple[Array, Array]:
    """Mix the model of each node with what its parent says: (n own + k parent's) / (n + k)."""
    coef, intercept, parents = fits.coef.copy(), fits.intercept.copy(), nodes.parents()
    for node in range(1, len(nodes)):
        share = smoothing / (nodes.weight[node] + smoothing)
        coef[node] += share * (coef[parents[node]] - coef[node])
        intercept[node] += share * (intercept[parents[node]] - intercept[node])
    return coef, intercept
