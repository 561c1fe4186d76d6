"""What a user fixes, bounds or ties in a Gaussian mixture: read, checked, and put into a frame."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from latently.distributions.components.gaussian.frame import Frame, Kind, covariance_shape
from latently.distributions.components.gaussian.limits.bounded import Box, Groups, Limits
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.inputs import Array

# Weights that are given to so many digits count as a sum of one.
_ROUNDING = 1e-8


@dataclass(frozen=True, eq=False)
class Constraints:
    """Constraints in the data's own units; a fixed number is a box of no width."""

    kind: Kind
    groups: Groups
    weights: Box
    means: Box
    variances: Box
    known: Array

    def in_frame(self, frame: Frame) -> Limits:
        """The same in a frame."""
        means = Box(frame.inward(self.means.low), frame.inward(self.means.high))
        # a box of no width must keep none, whatever the rounding
        means = Box(means.low, np.where(self.means.fixed, means.low, means.high))
        variances = self.variances
        if self.kind in ("diag", "spherical"):
            factor = frame.covariance_factor(self.kind)
            variances = Box(variances.low / factor, variances.high / factor)
        known = self.known / frame.covariance_factor(self.kind)
        return Limits(self.kind, frame, self.groups, self.weights, means, variances, known)

    def matched(self, params: GaussianParams) -> GaussianParams:
        """The start with its components in the order that suits the constraints best."""
        box = self.in_frame(params.frame).mean_box
        # (k, k) how far each component of the start is from what each place allows
        gaps = params.means[None] - np.clip(params.means[None], box.low[:, None], box.high[:, None])
        shares = params.weights - np.clip(params.weights, self.weights.low[:, None], self.weights.high[:, None])
        _, order = linear_sum_assignment((gaps**2).sum(axis=2) + shares**2)
        return params.permuted(order)

    @property
    def touched(self) -> NDArray[np.bool_]:
        """(k,) components of which something is said that moving them elsewhere could break."""
        ties = sum(np.bincount(g, minlength=len(g))[g] > 1 for g in self.groups) > 0
        boxes = np.isfinite(self.means.low).any(axis=1) | np.isfinite(self.means.high).any(axis=1)
        return np.asarray(ties | boxes | (self.weights.low > 0) | (self.weights.high < 1))


def read_constraints(fixed: Any, bounds: Any, tied: Any, *, kind: Kind, k: int, d: int) -> Constraints | None:
    """The constraints that a user gave, checked against each other; None if there are none."""
    if not fixed and not bounds and not tied:
        return None
    fixed = _mapping(fixed, "fixed", ("weights", "means", "covariances"))
    bounds = _mapping(bounds, "bounds", ("weights", "means", "variances"))
    tied = _mapping(tied, "tied", ("weights", "means", "covariances"))
    if kind == "tied" and tied.get("covariances"):
        raise ValueError('tied["covariances"]: with covariance_type="tied" all of them are one already')
    groups = Groups(*(read_groups(tied.get(name), f'tied["{name}"]', k) for name in Groups._fields))
    variance_shape = {"diag": (k, d), "tied": ()}.get(kind, (k,))
    found = Constraints(
        kind,
        groups,
        _box(fixed, bounds, "weights", (k,), groups.weights, (0.0, 1.0)),
        _box(fixed, bounds, "means", (k, d), groups.means, (-np.inf, np.inf)),
        _box({}, bounds, "variances", variance_shape, groups.covariances, (0.0, np.inf)),
        _known(fixed.get("covariances"), kind, k, d),
    )
    check_weight_box(found.weights, 'fixed["weights"]')
    return _check_known(found)


def _mapping(given: Any, name: str, keys: tuple[str, ...]) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} must be a mapping with any of {', '.join(keys)}, got {type(given).__name__}")
    if unknown := [key for key in given if key not in keys]:
        raise ValueError(f"{name} has the unknown key {unknown[0]!r}: it may have {', '.join(keys)}")
    return given


def _array(given: Any, name: str, shape: tuple[int, ...], *, exact: bool) -> Array:
    """An array of the shape; with `exact` off, whatever broadcasts to it."""
    try:
        values = np.asarray(given, dtype=float)
        shaped = np.array(np.broadcast_to(values, shape))
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers of shape {shape}, got {given!r}") from None
    if exact and values.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {values.shape}")
    return shaped


def _box(
    fixed: Mapping[str, Any],
    bounds: Mapping[str, Any],
    name: str,
    shape: tuple[int, ...],
    groups: NDArray[np.intp],
    widest: tuple[float, float],
) -> Box:
    box = read_bounds(bounds.get(name), f'bounds["{name}"]', shape, widest)
    if fixed.get(name) is not None:
        value = _array(fixed[name], f'fixed["{name}"]', shape, exact=True)
        given = ~np.isnan(value)
        outside = given & ((value < box.low) | (value > box.high) | np.isinf(value))
        if outside.any():
            where = tuple(int(i) for i in np.argwhere(outside)[0])
            raise ValueError(
                f'fixed["{name}"] at {where} is {value[where]:g}, outside its bounds {box.low[where]:g} to '
                f"{box.high[where]:g}"
            )
        box = Box(np.where(given, value, box.low), np.where(given, value, box.high))
    return box if box.low.ndim == 0 else _shared(box, groups, name)


def read_bounds(given: Any, name: str, shape: tuple[int, ...], widest: tuple[float, float]) -> Box:
    """A pair (low, high) of numbers or arrays, None for no bound, as a box of some shape; the widest if None."""
    if given is None:
        return Box(np.full(shape, widest[0]), np.full(shape, widest[1]))
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise ValueError(f"{name} must be a pair (low, high), either of them None for no bound, got {given!r}")
    ends = (edge if end is None else end for end, edge in zip(given, widest, strict=True))
    low, high = (_array(end, name, shape, exact=False) for end in ends)
    if np.isnan(low).any() or np.isnan(high).any():
        raise ValueError(f"{name} must not hold NaN: use None, or an infinite bound")
    low, high = np.maximum(low, widest[0]), np.minimum(high, widest[1])
    if (low > high).any():
        where = tuple(int(i) for i in np.argwhere(low > high)[0])
        raise ValueError(f"{name}: the lower bound {low[where]:g} is above the upper bound {high[where]:g} at {where}")
    return Box(low, high)


def read_groups(given: Any, name: str, k: int) -> NDArray[np.intp]:
    """(k,) the first component that each one shares a value with, from groups of them; True for all components."""
    out = np.arange(k)
    seen: set[int] = set()
    for group in [range(k)] if given is True else given or ():
        members = np.atleast_1d(np.asarray(group))
        whole = members.ndim == 1 and np.issubdtype(members.dtype, np.integer)
        if not whole or (members < 0).any() or (members >= k).any():
            raise ValueError(f"{name} must list groups of component numbers from 0 to {k - 1}, got {group!r}")
        if seen & set(members.tolist()) or len(set(members.tolist())) < len(members):
            raise ValueError(f"{name} names a component twice: {given!r}")
        seen |= set(members.tolist())
        out[members] = members.min()
    return out


def _shared(box: Box, groups: NDArray[np.intp], name: str) -> Box:
    """Every component of a group in the part that all of their boxes share."""
    low, high = box.low.copy(), box.high.copy()
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        low[members], high[members] = low[members].max(axis=0), high[members].min(axis=0)
        if (low[members] > high[members]).any():
            raise ValueError(f'tied["{name}"]: components {members.tolist()} have no value in common that is allowed')
    return Box(low, high)


def check_weight_box(box: Box, fixed: str) -> None:
    """See that weights inside can sum to one; `fixed` is what the user calls those that stay."""
    least, most = box.low.sum(), box.high.sum()
    if least > 1 + _ROUNDING:
        raise ValueError(
            f'{fixed} and the lower bounds of bounds["weights"] sum to {least:g}: weights cannot exceed one'
        )
    if most < 1 - _ROUNDING:
        raise ValueError(f'{fixed} and the upper bounds of bounds["weights"] sum to {most:g}: weights must reach one')


def _known(given: Any, kind: Kind, k: int, d: int) -> Array:
    shape = covariance_shape(kind, k, d)
    if given is None:
        return np.full(shape, np.nan)
    return _array(given, 'fixed["covariances"]', shape, exact=True)


def _check_known(found: Constraints) -> Constraints:
    known, kind = found.known, found.kind
    if kind in ("full", "tied"):
        for i, matrix in enumerate(known.reshape(-1, *known.shape[-2:])):
            if not np.isnan(matrix).all():
                bounds = np.broadcast_to(found.variances, (2, *known.shape[:-2])).reshape(2, -1)[:, i]
                check_matrix(matrix, f'fixed["covariances"] of component {i}', bounds)
    else:
        wrong = (known <= 0) | np.isinf(known) | (known < found.variances.low) | (known > found.variances.high)
        if wrong.any():
            where = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise ValueError(
                f'fixed["covariances"] at {where} is {known[where]:g}: it must be positive and inside '
                'bounds["variances"]'
            )
    return found if kind == "tied" else replace(found, known=shared_known(known, found.groups.covariances))


def check_matrix(matrix: Array, name: str, bounds: Array) -> None:
    """See that a matrix is a covariance, with variances inside bounds along its main axes."""
    if not np.isfinite(matrix).all():
        raise ValueError(f"{name} must be given whole (finite), or be NaN throughout to be learnt")
    values = np.linalg.eigvalsh(matrix)
    if not np.allclose(matrix, matrix.T) or values[0] <= 0:
        raise ValueError(f"{name} must be symmetric and positive definite")
    slack = _ROUNDING * values[-1]
    if values[0] < bounds[0] - slack or values[-1] > bounds[1] + slack:
        raise ValueError(f'{name} has variances from {values[0]:g} to {values[-1]:g}, outside bounds["variances"]')


def shared_known(known: Array, groups: NDArray[np.intp]) -> Array:
    """What is fixed for one component of a group is fixed for all of it."""
    out = known.copy()
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        for member in members:
            given = ~np.isnan(known[member])
            clash = given & ~np.isnan(out[members[0]]) & (out[members[0]] != known[member])
            if clash.any():
                raise ValueError(f'tied["covariances"]: fixed["covariances"] differ within {members.tolist()}')
            out[members] = np.where(given, known[member], out[members[0]])
    return out
