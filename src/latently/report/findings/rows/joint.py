"""Rows far from all others in several columns at once, where they may hide each other.

The densest half of the rows (the minimum covariance determinant, by concentration steps) orders the rows; the furthest
are left out, and their distances from the rest compared with the furthest of the rest. So wide a gap must be rare among
normal rows, and in the same table with each column permuted: what one column shows by itself is told elsewhere.
"""

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from latently.report.findings.rows.gap import gap, have_normal_tails

Values = NDArray[np.float64]
Masks = NDArray[np.bool_]
_LEAST_ROWS, _MOST_ROWS, _MOST_COLUMNS = 20, 200, 8
_ROWS_EACH: Final = 3  # rows for each column
_STARTS, _KEPT, _STEPS, _LOOKS = 60, 12, 8, 3
_SHARE: Final = 0.2  # of the rows at most
_LEAST_GAP: Final = 1.7
_SHUFFLES, _MAY_EXCEED = 200, 4
_SIMULATED, _RARE = 60, 2.8  # standard deviations of the logarithm of the gap
_HEAVY, _SKEWED = 3.2, 3.2  # standard errors of kurtosis and skewness of the other rows, along any principal axis


def rows_apart(X: Values) -> tuple[NDArray[np.intp], float] | None:
    """The rows that lie apart from all others, and how many times as far as these; None if there are none.

    Parameters
    ----------
    X
        (n, d) columns on scales on which they look normal, without missing values.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) @ [[1, 0.95], [0, 0.3]]
    >>> X[:3] = [2, -2]
    >>> rows_apart(X)[0].tolist()
    [0, 1, 2]
    """
    n, d = X.shape
    if d < 2 or not max(_LEAST_ROWS, _ROWS_EACH * d) <= n <= _MOST_ROWS:
        return None
    rng = np.random.default_rng(0)
    rows, width = _widest(X, rng)
    if width < _LEAST_GAP or _is_heavy(np.delete(X, rows, axis=0)) or _is_of_columns(X, width, rng):
        return None
    return (rows, width) if np.log(width) > _usual(n, d) else None


def most_related(X: Values) -> list[int]:
    """Places of the columns that go most with the others, as many as the rows allow."""
    size = np.abs(np.corrcoef(X.T)).sum(axis=0) if X.shape[1] > 1 else np.ones(X.shape[1])
    most = min(_MOST_COLUMNS, len(X) // _ROWS_EACH)
    return sorted(int(j) for j in np.argsort(-np.nan_to_num(size), kind="stable")[:most])


def _is_heavy(rest: Values) -> bool:
    """Whether the rows that are left have longer tails than normal ones, or are skewed."""
    axes = np.linalg.svd((rest - rest.mean(axis=0)) / rest.std(axis=0), full_matrices=False)[0]
    return not have_normal_tails(axes, _HEAVY, _SKEWED)


def _is_of_columns(X: Values, width: float, rng: np.random.Generator) -> bool:
    """Whether the columns show as wide a gap when they have nothing to do with each other."""
    exceeded = 0
    for _ in range(_SHUFFLES):
        exceeded += _widest(rng.permuted(X, axis=0), rng)[1] >= width
        if exceeded > _MAY_EXCEED:
            return True
    return False


@lru_cache(maxsize=64)
def _usual(n: int, d: int) -> float:
    """The logarithm of a gap that normal rows hardly ever have."""
    rng = np.random.default_rng(0)
    gaps = np.log([_widest(rng.normal(size=(n, d)), rng)[1] for _ in range(_SIMULATED)])
    return float(gaps.mean() + _RARE * gaps.std())


def _widest(X: Values, rng: np.random.Generator) -> tuple[NDArray[np.intp], float]:
    """The outermost rows with the widest gap before them."""
    n = len(X)
    X = (X - np.median(X, axis=0)) / X.std(axis=0)
    order = np.argsort(-_from_densest(X, rng), kind="stable")
    most = int(_SHARE * n)
    inner = np.ones((most, n), dtype=np.bool_)
    for m in range(most):
        inner[m, order[: m + 1]] = False
    gaps = gap(np.sqrt(_distances(X, inner)[0]), inner)
    at = int(gaps.argmax())
    return order[: at + 1], float(gaps[at])


def _from_densest(X: Values, rng: np.random.Generator) -> Values:
    """(n,) squared distances from the half of the rows with the least determinant, of those that steps lead to."""
    n, d = X.shape
    half = (n + d + 1) // 2
    inner = rng.random((_STARTS, n)).argsort(axis=1) <= d
    for step in range(_STEPS):
        size, volume = _distances(X, inner)
        if step == _LOOKS:
            size = size[np.argsort(volume, kind="stable")[:_KEPT]]
        inner = np.zeros(size.shape, dtype=np.bool_)
        np.put_along_axis(inner, np.argsort(size, axis=1, kind="stable")[:, :half], True, axis=1)
    size, volume = _distances(X, inner)
    return np.asarray(size[volume.argmin()])


def _distances(X: Values, inner: Masks) -> tuple[Values, Values]:
    """(k, n) squared distances of all rows by mean and covariance of the inner ones, and (k,) log determinants."""
    weight = inner / inner.sum(axis=1, keepdims=True)
    away = X - (weight @ X)[:, None]
    spread = (away * weight[..., None]).transpose(0, 2, 1) @ away + 1e-9 * np.eye(X.shape[1])
    size = (away * np.linalg.solve(spread, away.transpose(0, 2, 1)).transpose(0, 2, 1)).sum(axis=2)
    return size, np.linalg.slogdet(spread)[1]
