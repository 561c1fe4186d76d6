"""Log densities of rows under Gaussian components, and moments at given responsibilities; entries may be missing."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import special

from latently import compiled
from latently.distributions.components.gaussian.frame import unit_frame
from latently.distributions.components.gaussian.incomplete.conditional import (
    IncompleteRows,
    coloured,
    describe_incomplete,
    expect_incomplete,
    incomplete_rows,
    joint_incomplete,
)
from latently.distributions.components.gaussian.moments import GaussianMoments
from latently.distributions.components.gaussian.params import LOG_2PI, GaussianParams
from latently.distributions.components.slab import Ints, Slab
from latently.distributions.inputs import Array
from latently.distributions.quantiles import bisected
from latently.distributions.statistics import Moments

_TOGETHER = 1 << 16  # numbers that stay in the cache


def add_log_densities(params: GaussianParams, slab: Slab, places: Ints, out: Array) -> None:
    """Add the log densities of the observed entries to out (k, n)."""
    if not params.is_matrix:
        variances = params.variances
        peaks, roots = -0.5 * (LOG_2PI + np.log(variances)), 1 / np.sqrt(variances)
        compiled.components.columns.numeric_density(slab.X, places, params.means, roots, peaks, out)
    elif slab.absent(places):
        out += joint_incomplete(params.unweighted(), _incomplete(slab, places)).T
    else:
        X = slab.take(places)
        roots, constants = _by_component(params)
        for some in _side_by_side(len(out), X.size):
            z = np.matmul(X - params.means[some, None], roots[some])
            out[some] += constants[some, None] - 0.5 * np.einsum("kij,kij->ki", z, z)


def _side_by_side(k: int, size: int) -> Iterator[slice]:
    """Components whose rows are looked at together: all of a small table, one by one of a large one."""
    step = max(_TOGETHER // max(size, 1), 1)
    return (slice(start, start + step) for start in range(0, k, step))


def _by_component(params: GaussianParams) -> tuple[Array, Array]:
    """Roots (k, d, d) of the precisions, and log densities (k,) at the means."""
    k, d = params.means.shape
    return np.broadcast_to(params.roots, (k, d, d)), params.log_roots - d / 2 * LOG_2PI


def moments(params: GaussianParams, slab: Slab, places: Ints, R: Array) -> Moments:
    """Moments about the means with responsibilities R (k, n).

    Of matrices, missing entries are at their conditional expectation, and rows with nothing observed have no weight;
    columns that are independent of each other have the weight of what is observed.
    """
    k, d = params.means.shape
    first = np.zeros((k, d))
    if not params.is_matrix:
        weight, second = np.zeros((k, d)), np.zeros((k, d))
        compiled.components.columns.numeric_moments(slab.X, places, params.means, R, weight, first, second)
        return Moments(weight, params.means, first, second if params.kind == "diag" else second.sum(axis=1))
    if slab.absent(places):
        weight, first, second = _incomplete_moments(params, _incomplete(slab, places), R)
    else:
        X, weight, second = slab.take(places), R.sum(axis=1), np.empty((k, d, d))
        for some in _side_by_side(k, X.size):
            centred = X - params.means[some, None]
            weighted = centred * R[some, :, None]
            first[some], second[some] = weighted.sum(axis=1), np.matmul(weighted.swapaxes(1, 2), centred)
    if params.kind == "full":
        return Moments(weight, params.means, first, second)
    return GaussianMoments(0.0, 0.0, weight, params.means, first, second.sum(axis=0), "tied", params.frame)


def _incomplete(slab: Slab, places: Ints) -> IncompleteRows:
    # each component is centred at its own mean anyway
    key = ("incomplete", *places.tolist())
    found: IncompleteRows = slab.kept(key, lambda: incomplete_rows(slab.take(places), unit_frame(len(places))))
    return found


def _incomplete_moments(params: GaussianParams, rows: IncompleteRows, R: Array) -> tuple[Array, Array, Array]:
    if rows.counts[-1] == 0:  # of a row with nothing observed there is nothing to learn
        R = R * np.asarray(~rows.absent.all(axis=1))[np.argsort(rows.order)]
    _, weight, _, first, second = expect_incomplete(params.unweighted(), rows, R)
    return weight, first, second


# answers


def conditional(params: GaussianParams, slab: Slab, places: Ints) -> tuple[Array, Array]:
    """Means and variances (k, n, d) of every entry given the observed ones of its row."""
    if not params.is_matrix:
        shape = (len(params.means), len(slab.X), len(places))
        return np.broadcast_to(params.means[:, None], shape), np.broadcast_to(params.variances[:, None], shape)
    rows = _incomplete(slab, places)
    back = np.argsort(rows.order)
    _, completed, spread = describe_incomplete(params.unweighted(), rows)
    return completed[:, back], spread[:, back]


def draw(params: GaussianParams, slab: Slab, places: Ints, labels: Ints, rng: Any) -> Array:
    """Draw (n, d) missing entries given the observed ones and the component of each row."""
    if not params.is_matrix:
        return sample(params, labels, rng)
    rows, alone = _incomplete(slab, places), params.unweighted()
    own = labels[rows.order]
    noise = coloured(alone, rows, own, rng.standard_normal(rows.Z.shape))
    out = np.empty_like(noise)
    out[rows.order] = describe_incomplete(alone, rows)[1][own, np.arange(len(own))] + noise
    return out


def sample(params: GaussianParams, labels: Ints, rng: Any) -> Array:
    """Draw a row (n, d) from each of these components."""
    noise = rng.standard_normal((len(labels), params.means.shape[1]))
    if not params.is_matrix:
        return np.asarray(params.means[labels] + noise * np.sqrt(params.variances[labels]))
    lowers = np.linalg.cholesky(params.matrices)
    return np.asarray(params.means[labels] + np.einsum("nij,nj->ni", lowers[labels], noise))


def normal_interval(means: Array, variances: Array, X: Array, R: Array, level: float) -> tuple[Array, Array]:
    """Ends (n, m) of intervals of mixtures of Gaussians (k, n, m) with weights R (k, n), where X is missing."""
    low, high = np.zeros(X.shape), np.zeros(X.shape)
    rows, columns = np.nonzero(np.isnan(X))
    mean, sd, share = means[:, rows, columns], np.sqrt(variances[:, rows, columns]), R[:, rows]

    def cdf(x: Array) -> Array:
        return np.asarray(np.einsum("kn,kn->n", share, special.ndtr((x - mean) / sd)))

    for out, q in ((low, (1 - level) / 2), (high, (1 + level) / 2)):
        ends = mean + sd * special.ndtri(q)
        out[rows, columns] = bisected(cdf, ends.min(axis=0), ends.max(axis=0), q, False)
    return low, high
