"""Which of many columns a model should see: those that share most with others, from every block of columns."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from latently.report.study.columns import Column

Values = NDArray[np.float64]
_ROWS: Final = 1000
_MOST_FACTORS: Final = 30


def most_shared(columns: Sequence[Column], sample: NDArray[np.int64], most: int) -> list[Column]:
    """At most so many columns, in their order: those that the factors of the table explain best, factor by factor.

    Clusters, trends and whatever else columns have in common make factors; a column that shares nothing with any other
    tells nothing about them.

    Parameters
    ----------
    columns
        Columns with scores or codes.
    sample
        Rows to look at.
    most
        How many columns are wanted.

    Examples
    --------
    >>> from latently.report.reading.table import read_columns
    >>> from latently.report.study.columns import judge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 6))
    >>> X[:, 4:] += 3 * rng.normal(size=(300, 1))
    >>> [column.name for column in most_shared([judge(raw) for raw in read_columns(X)], np.arange(300), 2)]
    ['x4', 'x5']
    """
    if len(columns) <= most:
        return list(columns)
    rows = sample[:: max(1, -(-len(sample) // _ROWS))]
    loadings = _loadings(np.column_stack([_standard(column.seen[rows]) for column in columns]))
    missing = np.array([column.missing[rows].mean() for column in columns])
    chosen: list[int] = []
    for factor in _in_turns(np.abs(loadings) * (1 - missing), most):
        if factor not in chosen:
            chosen.append(factor)
        if len(chosen) == most:
            break
    return [columns[j] for j in sorted(chosen)]


def _standard(x: Values) -> Values:
    """Mean 0 and variance 1; missing values at the mean."""
    seen = ~np.isnan(x)
    if not seen.any():
        return np.zeros(len(x))
    spread = float(x[seen].std())
    return np.where(seen, x - x[seen].mean(), 0.0) / (spread or 1.0)


def _loadings(Z: Values) -> Values:
    """(factors, columns) correlations of columns with the factors beyond those of noise, and what is left at the end.

    Noise alone has no eigenvalue above (1 + sqrt(d / n))^2 (Marchenko and Pastur).
    """
    n, d = Z.shape
    values, vectors = np.linalg.eigh(Z @ Z.T / n)  # (n, n), whatever the number of columns
    kept = np.flatnonzero(values > (1 + np.sqrt(d / n)) ** 2)[::-1][:_MOST_FACTORS]
    factors = np.sqrt(n) * vectors[:, kept].T
    loadings = factors @ Z / n
    shared = np.square(loadings).sum(axis=0, keepdims=True)
    return np.vstack([loadings, np.sqrt(shared), np.full((1, d), 1e-9)])


def _in_turns(loadings: Values, most: int) -> list[int]:
    """Columns by the factors in turn, of each factor the largest first."""
    orders = np.argsort(-loadings[:-1], axis=1, kind="stable")[:, :most]
    rest = np.argsort(-loadings[-1], kind="stable")[: 2 * most]
    return [*orders.T.ravel().tolist(), *rest.tolist()]
