"""Sums of nonlinear functions of the sources: all that a step of FastICA or InfoMax needs of the data."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from latently import compiled
from latently.distributions.statistics import Additive
from latently.factor.ica.white_data import Blocks, WhiteData, padded_size
from latently.learn.engine.protocol import Array

KINDS = {"logcosh": 0, "exp": 1, "cube": 2}
Nonlinearity = Callable[..., tuple[Array, Array]]


@dataclass(frozen=True, eq=False)
class ContrastSums(Additive):
    """Sums over rows for m directions w: cross (m, k) of g(w z) z', derivative (m,) of g'(w z)."""

    cross: Array
    derivative: Array


@dataclass(frozen=True, eq=False)
class LikelihoodSums(Additive):
    """Sums over rows for y = W z: cross (k, k) of tanh(y) z', columns (k, 3) of log cosh y, tanh' y, tanh'(y) y^2."""

    cross: Array
    columns: Array


@dataclass(frozen=True)
class Contrast:
    """A nonlinearity g, by name with the scale alpha of logcosh, or a function of one's own."""

    fun: str | Nonlinearity
    alpha: float = 1.0
    options: Any = None

    def means(self, data: WhiteData, W: Array) -> tuple[Array, Array]:
        """(m, k) mean of g(W z) z', and (m,) mean of g'(W z)."""
        f = self._compiled(W) if isinstance(self.fun, str) else self._called(W, self.fun)
        sums: ContrastSums = data.sum_blocks(f)
        m, k = W.shape
        return sums.cross[:m, :k] / data.n_rows, sums.derivative[:m] / data.n_rows

    def _compiled(self, W: Array) -> Callable[[Blocks], ContrastSums]:
        padded, kind = padded_rows(W), KINDS[str(self.fun)]

        def sums_of(blocks: Blocks) -> ContrastSums:
            scratch, cross = np.empty((len(padded), blocks.values.shape[2])), np.zeros(padded.shape)
            derivative = np.zeros(len(padded))
            compiled.factor.ica_contrast.contrast_sums(
                blocks.values, blocks.n_rows, padded, kind, self.alpha, scratch, cross, derivative
            )
            return ContrastSums(cross, derivative)

        return sums_of

    def _called(self, W: Array, g: Nonlinearity) -> Callable[[Blocks], ContrastSums]:
        m, k = W.shape

        def sums_of(blocks: Blocks) -> ContrastSums:
            Z = blocks.values[:, :k].transpose(1, 0, 2).reshape(k, -1)[:, : blocks.n_rows]
            values, derivative = _answer(g, W @ Z if m > 1 else W[0] @ Z, self.options or {})
            cross = np.atleast_2d(values) @ Z.T
            return ContrastSums(cross, np.broadcast_to(derivative, m) * float(blocks.n_rows))

        return sums_of


def likelihood_means(data: WhiteData, W: Array) -> tuple[Array, Array]:
    """Means of what `LikelihoodSums` sums: (k, k) tanh(y) z', and (k, 3) log cosh y, tanh' y, tanh'(y) y^2."""
    padded, k = padded_rows(W), len(W)

    def sums_of(blocks: Blocks) -> LikelihoodSums:
        scratch, cross = np.empty((len(padded), blocks.values.shape[2])), np.zeros(padded.shape)
        columns = np.zeros((len(padded), 3))
        compiled.factor.ica_contrast.likelihood_sums(blocks.values, blocks.n_rows, padded, scratch, cross, columns)
        return LikelihoodSums(cross, columns)

    sums: LikelihoodSums = data.sum_blocks(sums_of)
    return sums.cross[:k, :k] / data.n_rows, sums.columns[:k] / data.n_rows


def padded_rows(W: Array) -> Array:
    """W with rows and columns of zeros up to the next multiple of four."""
    padded = np.zeros((padded_size(W.shape[0]), padded_size(W.shape[1])))
    padded[: W.shape[0], : W.shape[1]] = W
    return padded


def _answer(g: Nonlinearity, y: Array, options: Any) -> tuple[Array, Array]:
    """What a user's function says, checked for its shape."""
    found = g(y, **options)
    if not (isinstance(found, tuple) and len(found) == 2):
        raise ValueError("fun must return two values: g(x), and the mean of its derivative over the last axis")
    return np.asarray(found[0], dtype=np.float64), np.asarray(found[1], dtype=np.float64)
