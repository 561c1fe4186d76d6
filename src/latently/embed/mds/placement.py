"""New points in a map that stands: each where its dissimilarities to those of the map are met best."""

import numpy as np

from latently.geometry.distances import Array, distances

_STEPS = 60  # of the damped Gauss-Newton iteration
_SETTLED = 1e-10  # relative fall of the stress of a point at which it stays
_SAME = 1e-7  # of the largest dissimilarity: what is as close as this is the same thing
_VALUES = 1_000_000  # dissimilarities at a time


def placed(D: Array, points: Array, *, weighted: bool = False) -> Array:
    """Places (m, k) of new things with dissimilarities (m, n) to the points (n, k) of a map.

    Minimises sum_j w_j (D_j - |y - y_j|)^2 for each of them by damped Gauss-Newton steps, w_j is 1, or 1 / D_j if
    weighted (Sammon). What is the same as a point of the map stands where that stands.

    Examples
    --------
    >>> square = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> placed(distances(np.array([[2.0, 0.5]]), square), square).round(6)
    array([[2. , 0.5]])
    """
    rows = max(1, _VALUES // max(1, D.shape[1]))
    parts = [_some(D[i : i + rows], points, weighted) for i in range(0, len(D), rows)]
    return np.asarray(np.concatenate(parts)) if parts else np.empty((0, points.shape[1]))


def _some(D: Array, points: Array, weighted: bool) -> Array:
    nearest = D.argmin(axis=1)
    same = D.min(axis=1) <= _SAME * D.max(axis=1)
    found = points[nearest].copy()
    rest = np.flatnonzero(~same)
    if len(rest):
        W = 1.0 / D[rest] if weighted else np.ones_like(D[rest])
        found[rest] = _best(D[rest], points, W)
    return np.asarray(found)


def _best(D: Array, points: Array, W: Array) -> Array:
    """The better end of the iterations from two starts: beside the nearest point, and by Gower's formula."""
    near = points[D.argmin(axis=1)]
    centre = points.mean(axis=0)
    first = _improved(near + 1e-3 * (centre - near) + 1e-6 * np.abs(points).max(), D, points, W)
    second = _improved(_gower(D, points), D, points, W)
    better = (_stress(second, D, points, W) < _stress(first, D, points, W))[:, None]
    return np.asarray(np.where(better, second, first))


def _gower(D: Array, points: Array) -> Array:
    """Where new points would stand if the dissimilarities were the distances of the map."""
    centred = points - points.mean(axis=0)
    inner = ((centred**2).sum(axis=1) - D**2) / 2
    inner -= inner.mean(axis=1, keepdims=True)
    return np.asarray(np.linalg.lstsq(centred, inner.T, rcond=None)[0].T + points.mean(axis=0))


def _stress(at: Array, D: Array, points: Array, W: Array) -> Array:
    return np.asarray((W * (D - distances(at, points)) ** 2).sum(axis=1))


def _improved(at: Array, D: Array, points: Array, W: Array) -> Array:
    m = len(at)
    now, damping = _stress(at, D, points, W), np.full(m, 1e-3)
    left = np.arange(m)
    for _ in range(_STEPS):
        if not len(left):
            break
        step = _step(at[left], D[left], points, W[left], damping[left])
        tried = at[left] - step
        after = _stress(tried, D[left], points, W[left])
        better = after < now[left]
        settled = np.abs(now[left] - after) <= _SETTLED * now[left]
        at[left[better]] = tried[better]
        now[left[better]] = after[better]
        damping[left] *= np.where(better, 0.2, 5.0)
        left = left[~settled & (damping[left] < 1e12)]
    return at


def _step(at: Array, D: Array, points: Array, W: Array, damping: Array) -> Array:
    """(m, k) Gauss-Newton steps, damped by a share of the curvature."""
    gaps = at[:, None] - points  # (m, n, k)
    d = np.sqrt((gaps**2).sum(axis=2))
    units = gaps / np.where(d > 0, d, 1.0)[:, :, None]
    gradient = np.einsum("mn,mnk->mk", W * (d - D), units)
    curvature = np.einsum("mn,mnk,mnl->mkl", W, units, units)
    ridge = damping * np.trace(curvature, axis1=1, axis2=2) / at.shape[1] + np.finfo(float).tiny
    return np.asarray(np.linalg.solve(curvature + ridge[:, None, None] * np.eye(at.shape[1]), gradient[:, :, None]))[
        :, :, 0
    ]
