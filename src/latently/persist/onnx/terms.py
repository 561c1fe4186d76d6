"""Log densities of families as parts of a graph: (rows, K), what is missing left out where columns are independent."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently.distributions import Bernoulli, Categorical, Exponential, Gaussian, Poisson, Product
from latently.persist.onnx.graph import Graph
from latently.predict.labels import log_shares

Array = NDArray[np.float64]
_LOG_2PI: Final = float(np.log(2 * np.pi))
_SHIFT: Final = 8  # from here on four terms of Stirling's series give all digits
_STIRLING: Final = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680)


def members(graph: Graph, X: str, components: Sequence[Any]) -> str:
    """Log density (rows, K) under each of K distributions of one make.

    Parameters
    ----------
    graph
        The graph.
    X
        The encoded table.
    components
        K distributions over its columns.
    """
    first = components[0]
    if not isinstance(first, Product):
        return _family(graph, X, components)
    parts = range(len(first.parts))
    places = [first.parts[i][1] for i in parts]
    return graph.total(
        [_family(graph, graph.columns(X, places[i]), [c.parts[i][0] for c in components]) for i in parts]
    )


def _family(graph: Graph, X: str, members: Sequence[Any]) -> str:
    first = members[0]
    if isinstance(first, Gaussian) and first.kind == "full":
        return full_gaussians(graph, X, np.stack([m.mean for m in members]), np.stack([m.covariance for m in members]))
    if isinstance(first, Gaussian):
        means = np.stack([np.atleast_1d(m.mean) for m in members])
        variances = np.stack([np.broadcast_to(m.covariance, means.shape[1]) for m in members])
        return gaussians(graph, X, means, variances)
    if isinstance(first, Bernoulli):
        return bernoullis(graph, X, np.stack([m.probabilities for m in members]))
    if isinstance(first, Categorical):
        return categories(graph, X, [log_shares(np.stack([m.probabilities for m in members])).T])
    if isinstance(first, Poisson):
        return poissons(graph, X, np.stack([m.rate for m in members]))
    if isinstance(first, Exponential):
        rate = np.stack([m.rate for m in members])
        return _weighted(graph, X, -rate, np.log(rate))
    raise TypeError(f"{type(first).__name__} cannot be written as ONNX: the format has no functions for its density")


def gaussians(graph: Graph, X: str, means: Array, variances: Array) -> str:
    """Independent normal columns, with means and variances (K, d)."""
    centred = graph.add("Sub", graph.add("Unsqueeze", X, np.array([1])), means)  # (rows, K, d)
    squares = graph.add("Div", graph.add("Mul", centred, centred), variances)
    logs = graph.add("Mul", graph.add("Add", squares, np.log(variances) + _LOG_2PI), np.float64(-0.5))
    seen = graph.add("Where", graph.add("IsNaN", logs), np.float64(0.0), logs)
    return graph.add("ReduceSum", seen, np.array([2]), keepdims=0)


def full_gaussians(graph: Graph, X: str, means: Array, covariances: Array) -> str:
    """Normal vectors; NaN for a row with a missing value."""
    logs = []
    for mean, covariance in zip(means, covariances, strict=True):
        factor = np.linalg.cholesky(covariance)
        white = graph.add("MatMul", graph.add("Sub", X, mean), np.linalg.inv(factor).T.copy())
        constant = -0.5 * len(mean) * _LOG_2PI - np.log(np.diag(factor)).sum()
        length = graph.row_sums(graph.add("Mul", white, white))
        logs.append(graph.add("Add", graph.add("Mul", length, np.float64(-0.5)), np.float64(constant)))
    return graph.add("Concat", *logs, axis=1)


def bernoullis(graph: Graph, X: str, probabilities: Array) -> str:
    """Independent columns of zeros and ones, with probabilities (K, d) of a one."""
    return categories(graph, X, [log_shares(np.stack([1 - p, p])) for p in probabilities.T])


def poissons(graph: Graph, X: str, rates: Array) -> str:
    """Independent columns of counts, with rates (K, d)."""
    x, seen = graph.observed(X)
    factorial = graph.row_sums(graph.add("Mul", _log_factorial(graph, x), seen))
    return graph.add("Sub", _weighted(graph, X, np.log(rates), -rates), factorial)


def categories(graph: Graph, X: str, logs: Sequence[Array], unseen: Array | None = None) -> str:
    """Independent columns of codes, with log probabilities (categories, K) for each.

    Parameters
    ----------
    graph
        The graph.
    X
        Codes; NaN where missing.
    logs
        For each column.
    unseen
        Log probability of a code beyond the last, for each column; zero if None.
    """
    x, seen = graph.observed(X)
    found = []
    for j, log in enumerate(logs):
        width, k = log.shape
        beyond = np.full((1, k), 0.0 if unseen is None else unseen[j])
        code = graph.add("Cast", graph.add("Clip", graph.columns(x, j), np.float64(0), np.float64(width)), to=_INT)
        picked = graph.add("Gather", np.concatenate([log, beyond]), code, axis=0)
        found.append(graph.add("Where", _is_one(graph, seen, j), picked, np.float64(0.0)))
    return graph.total(found)


def linear(graph: Graph, x: str, logs: Array) -> str:
    """Values (rows, d) times log probabilities (d, K), with 0 times log 0 being 0."""
    impossible = np.isneginf(logs)
    finite = graph.add("MatMul", x, np.where(impossible, 0.0, logs))
    if not impossible.any():
        return finite
    hits = graph.add("Greater", graph.add("MatMul", x, impossible.astype(np.float64)), np.float64(0.0))
    return graph.add("Where", hits, np.float64(-np.inf), finite)


def memberships(graph: Graph, joint: str) -> tuple[str, str]:
    """Probabilities (rows, K) and log density (rows,) from the log joint."""
    log_density = graph.add("ReduceLogSumExp", joint, np.array([1]), keepdims=1)
    probabilities = graph.add("Exp", graph.add("Sub", joint, log_density))
    return probabilities, graph.add("Squeeze", log_density, np.array([1]))


def best(graph: Graph, value: str) -> str:
    """(rows,) the place of the largest column, the first of equals."""
    return graph.add("ArgMax", value, axis=1, keepdims=0)


_INT: Final = 7  # TensorProto.INT64


def _is_one(graph: Graph, seen: str, j: int) -> str:
    return graph.add("Greater", graph.columns(seen, [j]), np.float64(0.5))


def _weighted(graph: Graph, X: str, factors: Array, constants: Array) -> str:
    """Sums over the observed columns of x times a factor plus a constant, both (K, d)."""
    x, seen = graph.observed(X)
    return graph.add("Add", graph.add("MatMul", x, factors.T.copy()), graph.add("MatMul", seen, constants.T.copy()))


def _log_factorial(graph: Graph, x: str) -> str:
    """Log of x!, by Stirling's series beyond x + 8."""
    z = graph.add("Add", x, np.float64(_SHIFT + 1))
    power = inverse = graph.add("Reciprocal", z)
    square = graph.add("Mul", inverse, inverse)
    half = graph.add("Mul", graph.add("Sub", z, np.float64(0.5)), graph.add("Log", z))
    terms = [half, graph.add("Neg", z)]
    for coefficient in _STIRLING:
        terms.append(graph.add("Mul", power, np.float64(coefficient)))
        power = graph.add("Mul", power, square)
    below = [graph.add("Log", graph.add("Add", x, np.float64(i))) for i in range(1, _SHIFT + 1)]
    series = graph.add("Add", graph.total(terms), np.float64(0.5 * _LOG_2PI))
    return graph.add("Sub", series, graph.total(below))
