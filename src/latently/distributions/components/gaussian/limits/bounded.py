"""Best weights, means and covariances inside bounds: fixed is a bound of no width, tied is one value for several."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latently.distributions.components.gaussian.frame import Frame, Kind
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.inputs import Array

# Sweeps of coordinate descent in one M-step: stopping early costs exactness, which later steps make up for.
_SWEEPS = 200
# Halvings of the range of a multiplier: enough to decide which weights are at their bounds.
_HALVINGS = 200


class Box(NamedTuple):
    """Lowest and highest values, of one shape."""

    low: Array
    high: Array

    @property
    def fixed(self) -> NDArray[np.bool_]:
        """Where there is only one value."""
        return np.asarray(self.low == self.high)

    def clip(self, values: Array) -> Array:
        """The nearest values inside."""
        return np.clip(values, self.low, self.high)


class Groups(NamedTuple):
    """(k,) the number of the group each component belongs to, for each parameter; its own where it is alone."""

    weights: NDArray[np.intp]
    means: NDArray[np.intp]
    covariances: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Limits:
    """Constraints in a frame. Components of a group have the same box."""

    kind: Kind
    frame: Frame
    groups: Groups
    weight_box: Box  # (k,)
    mean_box: Box  # (k, d)
    variance_box: Box  # (k,) full and spherical, () tied, (k, d) diag; of the full and tied kinds in the data's units
    known: Array  # shaped as the covariances, NaN where they are learnt

    def weights(self, counts: Array) -> Array:
        """The weights that are best for these counts."""
        return best_weights(counts, self.groups.weights, self.weight_box)

    def means(self, params: GaussianParams, best: Array, mass: Array) -> Array:
        """The best means at the current covariances, `best` and `mass` (k, 1 or d) being those without limits."""
        if self.kind in ("diag", "spherical"):
            return self._means_by_column(params, best, mass)
        out = params.means.copy()
        precision = np.broadcast_to(params.precision, (len(out), *params.precision.shape[1:]))
        for group in np.unique(self.groups.means):
            members = np.flatnonzero(self.groups.means == group)
            A = mass[members][:, :, None] * precision[members]
            if mass[members].sum() > 0:
                b = np.einsum("kij,kj->i", A, best[members])
                box = Box(self.mean_box.low[members[0]], self.mean_box.high[members[0]])
                alone = len(members) == 1 and bool(((box.low <= best[members]) & (best[members] <= box.high)).all())
                out[members] = best[members] if alone else boxed(A.sum(axis=0), b, box, out[members[0]])
        return out

    def _means_by_column(self, params: GaussianParams, best: Array, mass: Array) -> Array:
        power = mass / params.covariances.reshape(len(best), -1) * np.ones_like(best)
        return self.mean_box.clip(_pooled(best, power, self.groups.means, params.means))

    def covariances(self, best: Array, mass: Array) -> Array:
        """The best covariances, `best` and the weight behind each being those without limits."""
        if self.kind != "tied":
            best = _pooled(best, np.broadcast_to(mass, best.shape), self.groups.covariances, best)
        if self.kind in ("full", "tied"):
            best = self._clip_eigenvalues(best)
        else:
            best = self.variance_box.clip(best)
        return np.where(np.isnan(self.known), best, self.known)

    def _clip_eigenvalues(self, covariances: Array) -> Array:
        if not (self.variance_box.low.any() or np.isfinite(self.variance_box.high).any()):
            return covariances
        units = self.frame.covariance_factor(self.kind)
        values, vectors = np.linalg.eigh(covariances * units)
        low, high = self.variance_box.low[..., None], self.variance_box.high[..., None]
        inside = np.clip(values, low, high)
        clipped = (vectors * inside[..., None, :]) @ np.swapaxes(vectors, -1, -2)
        return np.where((inside == values).all(axis=-1)[..., None, None], covariances, clipped / units)

    def project(self, params: GaussianParams) -> GaussianParams:
        """Parameters that keep to the limits, near those given: where a fit starts."""
        weights = params.weights
        pooled = _pooled(params.means, np.broadcast_to(weights[:, None], params.means.shape), self.groups.means)
        mass = weights if self.kind == "tied" else weights.reshape((-1,) + (1,) * (params.covariances.ndim - 1))
        return replace(
            params,
            weights=self.weights(weights),
            means=self.mean_box.clip(pooled),
            covariances=self.covariances(params.covariances, mass),
        )


def _pooled(values: Array, mass: Array, groups: NDArray[np.intp], otherwise: Array | None = None) -> Array:
    """The average of each group; without mass, what stands in `otherwise`."""
    out = np.array(values if otherwise is None else otherwise)
    for group in np.unique(groups):
        members = groups == group
        total = mass[members].sum(axis=0)
        if members.sum() == 1:
            out[members] = np.where(total > 0, values[members], out[members])
        else:
            sums = (mass[members] * values[members]).sum(axis=0)
            out[members] = np.where(total > 0, sums / np.where(total > 0, total, 1.0), out[members])
    return out


def boxed(A: Array, b: Array, box: Box, start: Array) -> Array:
    """The point of a box that minimises x'Ax / 2 - b'x; coordinate by coordinate where bounds are in the way.

    Examples
    --------
    >>> A, b = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([4.0, 5.0])
    >>> boxed(A, b, Box(np.zeros(2), np.full(2, 1.5)), np.zeros(2))
    array([1.25, 1.5 ])
    """
    free = ~box.fixed
    point = box.clip(start)
    rest = b[free] - A[np.ix_(free, ~free)] @ point[~free]
    inner = np.linalg.solve(A[np.ix_(free, free)], rest)
    if ((box.low[free] <= inner) & (inner <= box.high[free])).all():
        point[free] = inner
        return point
    for _ in range(_SWEEPS):
        before = point.copy()
        for j in np.flatnonzero(free):
            point[j] = np.clip(point[j] + (b[j] - A[j] @ point) / A[j, j], box.low[j], box.high[j])
        if np.abs(point - before).max() <= 1e-14 * np.abs(point).max():
            break
    return point


def best_weights(counts: Array, groups: NDArray[np.intp], box: Box) -> Array:
    """The w in a box, equal within groups, that maximise sum counts log w: by water-filling.

    Examples
    --------
    >>> best_weights(np.array([6.0, 3.0, 1.0]), np.arange(3), Box(np.array([0.0, 0.0, 0.2]), np.ones(3)))
    array([0.53..., 0.26..., 0.2 ])
    """
    first, group = np.unique(groups, return_index=True, return_inverse=True)[1:]
    n = np.maximum(np.bincount(group, counts), np.finfo(float).tiny)  # none at all is shared out evenly
    return _filled(n, np.bincount(group), Box(box.low[first], box.high[first]))[group]


def _filled(n: Array, size: NDArray[Any], box: Box) -> Array:
    """Values in the box with sum(size * value) = 1 that maximise sum(n log value): n / (size * level), clipped."""
    low, high = -800.0, 800.0  # logarithms of the level
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        too_much = size @ box.clip(_level(n / size, middle)) > 1
        low, high = (middle, high) if too_much else (low, middle)
    values = box.clip(_level(n / size, (low + high) / 2))
    free = (values > box.low) & (values < box.high)
    if free.any():
        left = 1 - size[~free] @ values[~free]
        values[free] = n[free] / size[free] / n[free].sum() * left
    return values


def _level(heights: Array, log_level: float) -> Array:
    return np.exp(np.minimum(np.log(heights) - log_level, 700.0))
