"""The Gaussian mixture as the engine sees it: expect and update."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from latently import compiled
from latently.data.sources.chunks import Chunk
from latently.data.tables.matrix import FloatArray
from latently.distributions.components.gaussian.collapse import lost_nats
from latently.distributions.components.gaussian.frame import Frame, Kind
from latently.distributions.components.gaussian.gradient import pack, packed_gradient, unpack
from latently.distributions.components.gaussian.incomplete.missing import chunk_patterns, expect_missing, joint_missing
from latently.distributions.components.gaussian.incomplete.patterns import patterns_of
from latently.distributions.components.gaussian.limits.constraints import Constraints
from latently.distributions.components.gaussian.moments import GaussianMoments
from latently.distributions.components.gaussian.params import SLACK, GaussianParams, powers_of_two, upper_triangle
from latently.distributions.components.gaussian.prior import GaussianPrior, MixturePrior, relative_prior
from latently.distributions.components.gaussian.update import updated
from latently.distributions.components.gaussian.wide import banded_joint, suits_bands
from latently.distributions.unconstrained import Reader
from latently.learn.engine.em import Fit
from latently.learn.engine.protocol import Array

GaussianFit = Fit[GaussianParams, GaussianMoments]
# Bound, weights, centres, first and second moments.
_Found = tuple[float, Array, Array, Array, Array]

_NO_WEIGHTS = np.empty(0)
_NO_JOINT = np.empty((0, 0))
# Rows that are worked on together: their features stay in the cache, which their whitened copies need not.
_FEATURE_BLOCK, _CENTRED_BLOCK = 128, 1024


@dataclass(frozen=True)
class GaussianMixtureModel:
    """Maximum a posteriori Gaussian mixture.

    Without another, the prior on each covariance is inverse Wishart about the variances inside clusters, as the frame
    knows them (see `spread`), with the weight of `strength` rows: enough to keep a component that sits on one point
    finite, and gone at `strength` zero.
    """

    kind: Kind
    strength: float = 0.0
    prior: MixturePrior | None = None
    constraints: Constraints | None = None

    def expect(self, params: GaussianParams, chunk: Chunk) -> GaussianMoments:
        """Expected moments of the components over a chunk."""
        X = np.ascontiguousarray(chunk.X, dtype=np.float64)
        weights = _NO_WEIGHTS if chunk.weights is None else chunk.weights
        if (patterns := chunk_patterns(chunk)) is not None:
            bound, weight, centre, first, second = expect_missing(params, X, weights, patterns)
        else:
            by = _expect_features if params.suits_features else _expect_centred
            bound, weight, centre, first, second = by(params, chunk, X, weights)
        return GaussianMoments(chunk.total_weight, bound, weight, centre, first, second, self.kind, params.frame)

    def update(self, params: GaussianParams, stats: GaussianMoments) -> GaussianParams:
        """Weights, means and covariances that are best for these moments."""
        limits = None if self.constraints is None else self.constraints.in_frame(params.frame)
        return updated(params, stats, self.frame_prior(params), limits)

    def log_prior(self, params: GaussianParams) -> float:
        """Log prior density; that of `strength` is zero where every covariance is the prior's own."""
        return self.frame_prior(params).log_density(params)

    def rounding(self, params: GaussianParams) -> float:
        """Nats per row that the objective may lose where a matrix is so near to singular that its update is inexact."""
        return lost_nats(params)

    def frame_prior(self, params: GaussianParams) -> GaussianPrior:
        """The prior in the frame of some parameters."""
        k = len(params.weights)
        if self.prior is None:
            return relative_prior(self.kind, k, params.frame, self.strength)
        return self.prior.in_frame(self.kind, k, params.frame, self.strength)

    def pack(self, params: GaussianParams) -> Array:
        """The parameters as a vector without constraints."""
        logits = np.log(np.maximum(params.weights, np.finfo(float).tiny))
        return np.concatenate([logits, pack(params)])

    def unpack(self, like: GaussianParams, vector: Array) -> GaussianParams:
        """Parameters from such a vector."""
        reader, k = Reader(vector), len(like.weights)
        logits = reader.take((k,))
        raised = np.exp(logits - logits.max())
        return replace(unpack(like, reader), weights=raised / raised.sum())

    def gradient(self, params: GaussianParams, stats: GaussianMoments) -> Array:
        """Gradient of the objective in the vector."""
        prior = self.frame_prior(params)
        counts = stats.weight + prior.excess
        logits = counts - params.weights * counts.sum()
        return np.concatenate([logits, packed_gradient(params, stats, prior)])

    def log_joint(self, params: GaussianParams, X: FloatArray) -> Array:
        """(n, k) log p(x_i, component k), with missing entries summed out."""
        rows = np.ascontiguousarray(X, dtype=np.float64)
        if (patterns := patterns_of(rows)) is not None:
            return joint_missing(params, rows, patterns)
        joint = np.empty((len(rows), len(params.weights)))
        if suits_bands(params):
            banded_joint(params, rows, joint)
            return joint
        run = _run_features if params.suits_features else _run_centred
        run(params, rows, _NO_WEIGHTS, joint)
        return joint


def _expect_features(params: GaussianParams, chunk: Chunk, X: Array, weights: Array) -> _Found:
    k, d = params.means.shape
    bound, sums = _run_features(params, X, weights, _NO_JOINT)
    first, quadratic = sums[:k, 1 : 1 + d], sums[:k, 1 + d : 1 + int(params.quadratic[2][-1])]
    shaped: dict[str, Callable[[Array], Array]]
    shaped = {"full": _unpack, "diag": np.asarray, "spherical": lambda s: s[:, 0]}
    second = shaped.get(params.kind)
    total = _total_second(params.frame, chunk, X) if second is None else second(quadratic)
    return bound, sums[:k, 0], np.zeros((k, d)), first, total


def _run_features(params: GaussianParams, X: Array, weights: Array, joint: Array) -> tuple[float, Array]:
    frame, W = params.frame, params.coefficients
    K, P = W.shape
    powers, sums = _powers(_FEATURE_BLOCK, len(X)), np.zeros((K, P))
    B = len(powers[0])
    features = np.zeros((P, B))
    features[0] = 1.0
    bound = compiled.components.gaussian.expect_features(
        X, weights, frame.origin, 1 / frame.scale, W, params.quadratic, powers,
        (features, np.empty((K, B)), np.empty((K, B)), *np.empty((2, B))), sums, joint,
    )  # fmt: skip
    return bound, sums


def _expect_centred(params: GaussianParams, chunk: Chunk, X: Array, weights: Array) -> _Found:
    bound, weight, first, second = _run_centred(params, X, weights, _NO_JOINT)
    shaped = {"full": second, "tied": second[0], "diag": second[:, 0]}.get(params.kind)
    centre = params.means if params.shape_of_roots == "elementwise" else params.whitening[0]
    quadratic = second.sum(axis=(1, 2)) if shaped is None else shaped
    return bound, weight, np.broadcast_to(centre, params.means.shape), first, quadratic


def _run_centred(params: GaussianParams, X: Array, weights: Array, joint: Array) -> tuple[float, Array, Array, Array]:
    k, d = params.means.shape
    weight, first, second = np.zeros(k), np.zeros((k, d)), np.zeros_like(params.roots)
    table, sums = (X, weights, params.frame.origin, 1 / params.frame.scale), (weight, first, second, joint)
    if params.shape_of_roots == "elementwise":
        bound = compiled.components.gaussian.expect_elementwise(
            *table, params.means, params.roots, params.constants, _powers(_CENTRED_BLOCK, len(X)), *sums
        )
    else:
        slack = np.inf if len(joint) else SLACK
        bound = compiled.components.gaussian_wide.expect(
            *table, *params.whitening, params.constants, slack, _room(params, len(X)), *sums
        )
    return bound, weight, first, second


def _room(params: GaussianParams, n: int) -> tuple[Array, ...]:
    """Scratch of the kernel of wide rows."""
    (k, d), half = params.means.shape, params.whitening[1][1].shape[1]
    B, b = min(_CENTRED_BLOCK, n), min(_FEATURE_BLOCK, n)
    return (
        *np.empty((2, B, d)), np.zeros((half, b)), np.empty((2, b)), np.empty(B * d), np.empty((d, d)),
        np.empty((k, B)), *np.empty((2, B)), *np.empty((2, B), np.int64),
    )  # fmt: skip


def _total_second(frame: Frame, chunk: Chunk, X: Array) -> Array:
    """(d, d) sum_i w_i z_i z_i'. No parameter touches it, so one pass is enough for all iterations."""
    kept = chunk.memo.get("total_second")
    if kept is None or not frame.is_same(kept[0]):
        Z = frame.inward(X)
        weighted = Z if chunk.weights is None else Z * chunk.weights[:, None]
        kept = chunk.memo["total_second"] = (frame, weighted.T @ Z)
    return kept[1]


def _powers(block: int, n: int) -> tuple[Array, Array]:
    return powers_of_two(min(block, -(-n // 8) * 8))


def _unpack(upper: Array) -> Array:
    """(k, d, d) symmetric matrices from their upper triangles (k, d (d + 1) / 2)."""
    d = int((np.sqrt(8 * upper.shape[1] + 1) - 1) / 2)
    rows, columns = upper_triangle(d)
    out = np.empty((len(upper), d, d))
    out[:, rows, columns] = out[:, columns, rows] = upper
    return out
