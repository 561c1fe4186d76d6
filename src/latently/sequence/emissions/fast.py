"""Emissions that have kernels of their own for rows without missing entries."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from latently import compiled
from latently.distributions.components.discrete import Tally, Values
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.slab import Slab
from latently.distributions.statistics import Moments
from latently.sequence.emissions.base import Emission, as_slab
from latently.sequence.inference.chain import Array, Chain, Ints, width_of
from latently.sequence.inference.diagonal import DiagonalPlan, diagonal_moments


@dataclass(frozen=True, eq=False)
class GaussianEmission(Emission):
    """One Gaussian for each state; `complete` says that rows are known to have no missing entries."""

    complete: bool = False

    def _is_plain(self, theta: GaussianParams, slab: Slab) -> bool:
        return not theta.is_matrix and (self.complete or not slab.absent(self.block.places))

    def log_density(self, theta: GaussianParams, X: Array | Slab) -> Array:
        """Log density (n, K)."""
        slab = as_slab(X)
        if not self._is_plain(theta, slab):
            return super().log_density(theta, slab)
        L = np.empty((len(slab.X), len(theta.means)))
        compiled.sequence.emissions.diagonal_densities(slab.X, *theta.diagonal, width_of(len(theta.means)), L)
        return L

    def fill(self, theta: GaussianParams, slab: Slab, width: tuple[int, ...], b: Array, top: Array) -> None:
        """Densities (n, K) over exp(top), in one go."""
        if self._is_plain(theta, slab):
            compiled.sequence.emissions.diagonal_fill(slab.X, *theta.diagonal, width, b, top)
        else:
            super().fill(theta, slab, width, b, top)

    def diagonal(self, theta: GaussianParams, chain: Chain, X: Array | Slab) -> DiagonalPlan | None:
        """All of it in one go."""
        slab = as_slab(X)
        possible = DiagonalPlan.applies(chain, theta) and self._is_plain(theta, slab)
        return DiagonalPlan(chain, theta, slab.X) if possible else None

    def expect(self, theta: GaussianParams, X: Array | Slab, g: Array) -> Moments:
        """Moments about the current means."""
        slab = as_slab(X)
        if not self._is_plain(theta, slab):
            return super().expect(theta, slab, g)  # type: ignore[no-any-return]
        K, d = theta.means.shape
        weight, first, second = np.zeros(K), np.zeros((K, d)), np.zeros((K, d))
        means = theta.diagonal[0]
        compiled.sequence.emissions.diagonal_moments(slab.X, g, means, width_of(K), weight, first, second)
        return diagonal_moments(theta, weight, first, second)


@dataclass(frozen=True, eq=False)
class CategoricalEmission(Emission):
    """One column of codes."""

    def log_density(self, theta: Values, X: Array | Slab) -> Array:
        """Log probabilities (n, K)."""
        with np.errstate(divide="ignore"):
            table = np.log(np.vstack([theta.values.T, np.ones(len(theta.values))]))
        return np.asarray(table[codes_of(as_slab(X).X)])  # that of a missing code, -1, is the last row

    def fill(self, theta: Values, slab: Slab, width: tuple[int, ...], b: Array, top: Array) -> None:
        """Probabilities themselves: no logarithm, no exponential."""
        compiled.sequence.emissions.gather(codes_of(slab.X), np.ascontiguousarray(theta.values.T), top, b)

    def expect(self, theta: Any, X: Array | Slab, g: Array) -> Tally:
        """Expected counts."""
        counts = np.zeros(theta.values.T.shape)
        compiled.sequence.emissions.tally(codes_of(as_slab(X).X), g, counts)
        return Tally(counts.T, np.repeat(counts.sum(axis=0)[:, None], len(counts), axis=1))


def codes_of(X: Array) -> Ints:
    """Codes (n,) of a column; -1 for missing."""
    column = X[:, 0]
    if np.isnan(column.sum()):
        column = np.where(np.isnan(column), -1.0, column)
    return np.asarray(column.astype(np.int64))
