"""The Gaussian mixture as the engine sees it: expect and update."""

from dataclasses import dataclass

import numpy as np

from tacit import compiled
from tacit.cluster.gaussian_missing import chunk_patterns, expect_missing, joint_missing, patterns_of
from tacit.cluster.gaussian_params import KINDS, Frame, GaussianParams, Kind
from tacit.cluster.gaussian_stats import GaussianMoments
from tacit.data.chunks import Chunk
from tacit.learn.protocol import Array

_NO_WEIGHTS = np.empty(0)
_NO_JOINT = np.empty((0, 0))


@dataclass(frozen=True)
class GaussianMixtureModel:
    """Maximum a posteriori Gaussian mixture.

    The prior on each covariance is inverse Wishart about the frame's unit matrix, that is, about the data's
    own variances, with the weight of `strength` rows: enough to keep a component that sits on one point
    finite, and gone at `strength` zero.
    """

    kind: Kind
    strength: float = 0.0

    def expect(self, params: GaussianParams, chunk: Chunk) -> GaussianMoments:
        """Expected moments of the components over a chunk."""
        X = np.ascontiguousarray(chunk.X, dtype=np.float64)
        weights = _NO_WEIGHTS if chunk.weights is None else chunk.weights
        if (patterns := chunk_patterns(chunk)) is not None:
            bound, weight, centre, first, second = expect_missing(params, X, weights, patterns)
        else:
            by = _expect_features if params.suits_features else _expect_centred
            bound, weight, centre, first, second = by(params, chunk, X, weights)
        return GaussianMoments(
            chunk.total_weight, bound, self.kind, params.frame, weight, centre, first, second
        )

    def update(self, params: GaussianParams, stats: GaussianMoments) -> GaussianParams:
        """Weights, means and covariances that are best for these moments."""
        alive = stats.weight > 10 * np.finfo(float).eps
        means = np.where(alive[:, None], stats.centre + stats.offsets(), params.means)
        covariances = self._covariances(params, stats, alive)
        return GaussianParams(self.kind, params.frame, stats.weight / stats.weight.sum(), means, covariances)

    def _covariances(self, params: GaussianParams, stats: GaussianMoments, alive: Array) -> Array:
        scatter, d = stats.scatter(), stats.first.shape[1]
        prior = {"full": np.eye(d), "tied": len(alive) * np.eye(d), "diag": np.ones(d)}.get(self.kind, float(d))
        if self.kind == "tied":
            return _symmetric((scatter + self.strength * prior) / (stats.weight.sum() + self.strength * len(alive)))
        shape = (-1,) + (1,) * (scatter.ndim - 1)
        mass = np.where(alive, stats.weight, 1.0) + self.strength
        if self.kind == "spherical":
            mass = mass * d
        fitted = (scatter + self.strength * prior) / mass.reshape(shape)
        fitted = _symmetric(fitted) if self.kind == "full" else fitted
        # with neither rows nor a prior there is nothing to learn from: keep what was
        return np.where(alive.reshape(shape), fitted, params.covariances)

    def log_prior(self, params: GaussianParams) -> float:
        """Log prior of the covariances, zero at the unit matrix."""
        if not self.strength:
            return 0.0
        k, d = params.means.shape
        traces = (params.roots**2).sum(axis=(1, 2)) * (k if self.kind == "tied" else 1)
        return float(-self.strength / 2 * (traces.sum() - 2 * params.log_roots.sum() - k * d))

    def log_joint(self, params: GaussianParams, X: Array) -> Array:
        """(n, k) log p(x_i, component k), with missing entries summed out."""
        rows = np.ascontiguousarray(X, dtype=np.float64)
        if (patterns := patterns_of(rows)) is not None:
            return joint_missing(params, rows, patterns)
        joint = np.empty((len(rows), len(params.weights)))
        run = _run_features if params.suits_features else _run_centred
        run(params, rows, _NO_WEIGHTS, joint)
        return joint


def _expect_features(params: GaussianParams, chunk: Chunk, X: Array, weights: Array):
    k, d = params.means.shape
    bound, sums = _run_features(params, X, weights, _NO_JOINT)
    second = {"full": _unpack, "diag": np.transpose, "spherical": lambda s: s[0]}.get(params.kind)
    quadratic = _total_second(params.frame, chunk, X) if second is None else second(sums[1 + d :])
    return bound, sums[0], np.zeros((k, d)), sums[1 : 1 + d].T, quadratic


def _run_features(params: GaussianParams, X: Array, weights: Array, joint: Array):
    W, frame = params.coefficients(), params.frame
    sums = np.zeros((W.shape[1], len(W)))
    bound = compiled.gaussian.expect_features(
        X, weights, frame.origin, 1 / frame.scale, KINDS.index(params.kind), W, _tied_precision(params),
        _block_rows(W.shape[1], len(X)), sums, joint,
    )  # fmt: skip
    return bound, sums


def _expect_centred(params: GaussianParams, chunk: Chunk, X: Array, weights: Array):
    bound, weight, first, second = _run_centred(params, X, weights, _NO_JOINT)
    if params.kind in ("full", "tied"):
        half = (X.shape[1] + 1) // 2  # the kernel leaves out the lower left quarter
        second[:, half:, :half] = second[:, :half, half:].transpose(0, 2, 1)
    shaped = {"full": second, "tied": second[0], "diag": second[:, 0]}.get(params.kind)
    return bound, weight, params.means, first, second.sum(axis=(1, 2)) if shaped is None else shaped


def _run_centred(params: GaussianParams, X: Array, weights: Array, joint: Array):
    k, d = params.means.shape
    frame, add = params.frame, getattr(compiled.gaussian, f"expect_{params.shape_of_roots}")
    weight, first, second = np.zeros(k), np.zeros((k, d)), np.zeros_like(params.roots)
    bound = add(
        X, weights, frame.origin, 1 / frame.scale, params.means, *params.root_parts, params.constants,
        _block_rows(d, len(X)), weight, first, second, joint,
    )  # fmt: skip
    return bound, weight, first, second


def _total_second(frame: Frame, chunk: Chunk, X: Array) -> Array:
    """(d, d) sum_i w_i z_i z_i'. No parameter touches it, so one pass is enough for all iterations."""
    kept = chunk.memo.get("total_second")
    if kept is None or kept[0] is not frame:
        Z = frame.inward(X)
        weighted = Z if chunk.weights is None else Z * chunk.weights[:, None]
        kept = chunk.memo["total_second"] = (frame, weighted.T @ Z)
    return kept[1]


def _tied_precision(params: GaussianParams) -> Array:
    return params.precision[0] if params.kind == "tied" else np.empty((0, 0))


def _block_rows(width: int, n: int) -> int:
    """Rows per block, so that a block of features stays in the second-level cache."""
    return int(min(np.clip(65536 // width // 64 * 64, 64, 1024), -(-n // 8) * 8))


def _unpack(upper: Array) -> Array:
    """(k, d, d) symmetric matrices from their upper triangles (d (d + 1) / 2, k)."""
    d = int((np.sqrt(8 * len(upper) + 1) - 1) / 2)
    rows, columns = np.triu_indices(d)
    out = np.empty((upper.shape[1], d, d))
    out[:, rows, columns] = out[:, columns, rows] = upper.T
    return out


def _symmetric(matrices: Array) -> Array:
    return np.asarray((matrices + np.swapaxes(matrices, -1, -2)) / 2)
