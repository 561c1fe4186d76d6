"""The first layer of a flow: the map from a Gaussian mixture to a standard Gaussian.

Column after column, z_i = Phi^-1(F(x_i | x_1, ..., x_i-1)), with the conditional distribution functions F of the
mixture (Rosenblatt, 1952). The map is triangular, invertible, and has a known log-determinant, so a flow that begins
with it has the density of the mixture before its other layers have learnt anything. Each F has a small share of a
Cauchy distribution: without it F is flat between clusters and far away, where rounding would end the inverse.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, logsumexp, ndtr, ndtri_exp
from sklearn.exceptions import ConvergenceWarning

from latently.cluster import GaussianMixture
from latently.neural.inputs import Array

LOG_2PI = 1.8378770664093453
HEAVY = 1e-6
"""Share of the Cauchy distribution."""
STEPS = 200
"""Most steps of the inverse; halving alone needs fewer."""
CLOSE = 1e-14
SMALLEST_TAIL = 1e-100
TOGETHER = 4096
"""Rows at a time."""
COUNTS = (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 30)
PATIENCE = 3
"""Numbers of components without a lower criterion after which no larger ones are tried."""
ROWS_PER_PARAMETER = 5


@dataclass(frozen=True, eq=False)
class Gaussianization:
    """Log weights (k,), means (k, d) and Cholesky factors (k, d, d) of the covariances of a mixture.

    Examples
    --------
    >>> layer = Gaussianization(np.log([0.5, 0.5]), np.array([[-1.0], [1.0]]), np.ones((2, 1, 1)))
    >>> z, _ = layer.forward(np.array([[0.0], [2.5]]))
    >>> bool(abs(z[0, 0]) < 1e-12), np.allclose(layer.inverse(z), [[0.0], [2.5]])
    (True, True)
    """

    log_weights: Array
    means: Array
    factors: Array

    @classmethod
    def of(cls, mixture: GaussianMixture) -> Self:
        """That of a fitted mixture."""
        factors = np.linalg.cholesky(np.asarray(mixture.covariances_, dtype=np.float64))
        return cls(np.log(mixture.weights_), mixture.means_, np.asarray(factors))

    def forward(self, x: Array) -> tuple[Array, Array]:
        """Rows (n, d) that are standard Gaussian if x is of the mixture, and the log-determinant (n,)."""
        z, logs = np.empty_like(x), np.zeros(len(x))
        for part in _parts(len(x)):
            for i, conditional in self._columns(x[part]):
                z[part, i] = conditional.normal_score(x[part, i])
                logs[part] += conditional.log_density(x[part, i]) + 0.5 * (z[part, i] ** 2 + LOG_2PI)
        return z, logs

    def inverse(self, z: Array) -> Array:
        """Rows (n, d) of the mixture."""
        x = np.zeros_like(z)
        for part in _parts(len(x)):
            for i, conditional in self._columns(x[part]):  # it looks at columns that are filled in by then
                x[part, i] = conditional.value(z[part, i])
        return x

    def _columns(self, x: Array) -> Iterator[tuple[int, "_Conditional"]]:
        """Each column, and its distribution given those before it."""
        log_weights = np.broadcast_to(self.log_weights, (len(x), len(self.log_weights)))
        white = np.zeros((*log_weights.shape, x.shape[1]))
        for i in range(x.shape[1]):
            centres = self.means[:, i] + np.einsum("nkj,kj->nk", white[:, :, :i], self.factors[:, i, :i])
            conditional = _Conditional(log_weights, centres, self.factors[:, i, i])
            yield i, conditional
            white[:, :, i] = conditional.white(x[:, i])
            log_joint = conditional.log_joint(x[:, i])
            log_weights = log_joint - logsumexp(log_joint, axis=1, keepdims=True)


@dataclass(frozen=True, eq=False)
class _Conditional:
    """For each row a mixture of one column: log weights and centres (n, k), scales (k,); and the Cauchy share."""

    log_weights: Array
    centres: Array
    scales: Array

    def white(self, x: Array) -> Array:
        return np.asarray((x[:, None] - self.centres) / self.scales)

    def log_joint(self, x: Array) -> Array:
        return np.asarray(self.log_weights - 0.5 * (self.white(x) ** 2 + LOG_2PI) - np.log(self.scales))

    def log_density(self, x: Array) -> Array:
        return _with_heavy(self.log_joint(x), -np.log(np.pi) - 2 * np.log(np.hypot(1.0, x)))

    def normal_score(self, x: Array) -> Array:
        """Phi^-1(F(x)), from the smaller of the two tails."""
        white = self.white(x)
        below, above = (
            _with_heavy(self.log_weights + log_ndtr(side * white), np.log(np.arctan2(1.0, -side * x) / np.pi))
            for side in (1.0, -1.0)
        )
        tail = ndtri_exp(np.minimum(below, above))
        return np.asarray(np.where(below < above, tail, -tail))

    def of_rows(self, index: NDArray[np.intp]) -> "_Conditional":
        return _Conditional(self.log_weights[index], self.centres[index], self.scales)

    def bracket(self, z: Array) -> tuple[Array, Array]:
        """The least and the largest quantile of the parts, between which that of the whole is."""
        heavy = np.sign(z) / np.tan(np.pi * np.maximum(ndtr(-np.abs(z)), SMALLEST_TAIL))
        ends = np.column_stack([self.centres + self.scales * z[:, None], heavy])
        return ends.min(axis=1), ends.max(axis=1)

    def value(self, z: Array) -> Array:
        """The x (n,) of which z is the score: Newton's steps in a bracket, which is halved where they do not shrink."""
        low, high = self.bracket(z)
        x, last, left = (low + high) / 2, high - low, np.arange(len(z))
        for _ in range(STEPS):
            now, at = self.of_rows(left), x[left]
            score = now.normal_score(at)
            above = score - z[left]
            low[left], high[left] = np.where(above < 0, at, low[left]), np.where(above < 0, high[left], at)
            steepness = now.log_density(at) + 0.5 * (score**2 + LOG_2PI)
            newton = at - above * np.exp(np.clip(-steepness, -700.0, 700.0))
            good = (newton >= low[left]) & (newton <= high[left]) & (2 * np.abs(newton - at) <= last[left])
            x[left] = np.where(good, newton, (low[left] + high[left]) / 2)
            last[left] = np.abs(x[left] - at)
            left = left[last[left] > CLOSE * (1 + np.abs(at))]
            if not len(left):
                break
        return np.asarray(x)


def _with_heavy(log_parts: Array, heavy: Array) -> Array:
    """log of the sum of parts (n, k), of which there is a little less, and of the Cauchy share (n,)."""
    return np.logaddexp(np.log1p(-HEAVY) + logsumexp(log_parts, axis=1), np.log(HEAVY) + heavy)


def standard_normal(z: Array) -> Array:
    """Log density (n,) of rows (n, d) under the standard Gaussian.

    Examples
    --------
    >>> standard_normal(np.zeros((1, 2))).round(3)
    array([-1.838])
    """
    return np.asarray(-0.5 * (z**2 + LOG_2PI).sum(axis=1))


def _parts(n: int) -> list[slice]:
    return [slice(a, a + TOGETHER) for a in range(0, n, TOGETHER)]


def gaussianization(rows: Array, n_components: int | str, seed: int) -> Gaussianization | None:
    """That of a mixture fitted to rows (n, d); None if it is to have no components.

    "auto" is the number of least AIC, since a density is asked for and not a number of clusters, among those that leave
    five rows for each parameter.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(200, 2))
    >>> gaussianization(rows, "auto", 0).means.shape  # one component
    (1, 2)
    """
    if n_components == "auto":
        mixture = _least_aic(rows, seed)
    else:
        mixture = _fitted(rows, int(n_components), seed) if n_components else None
    return None if mixture is None else Gaussianization.of(mixture)


def _least_aic(rows: Array, seed: int) -> GaussianMixture | None:
    best, least, stale = None, np.inf, 0
    n, d = rows.shape
    for k in COUNTS:
        if ROWS_PER_PARAMETER * k * (1 + d + d * (d + 1) // 2) > n or stale == PATIENCE:
            break
        mixture = _fitted(rows, k, seed)
        found = mixture.aic(rows)
        stale = stale + 1 if found >= least else 0
        best, least = (best, least) if stale else (mixture, found)
    return best


def _fitted(rows: Array, k: int, seed: int) -> GaussianMixture:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the other layers go on from wherever it came to
        return GaussianMixture(k, random_state=seed, max_iter=500).fit(rows)
