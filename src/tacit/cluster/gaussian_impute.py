"""What a Gaussian mixture knows of the missing entries of a row, given the observed ones."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, softmax
from sklearn.utils.validation import check_is_fitted, check_random_state

from tacit.cluster.gaussian_given import stored_params
from tacit.cluster.gaussian_missing import conditionals, patterns_of
from tacit.data.chunks import as_source
from tacit.learn.protocol import Array
from tacit.learn.skin import read_rows

# Halvings of a bracket of some twenty standard deviations: what is left is below rounding.
_HALVINGS = 60


@dataclass(frozen=True, eq=False)
class Holes:
    """The missing entries of rows with one pattern: a mixture of Gaussians, in the data's own units."""

    rows: Array  # (n,) indices
    columns: Array  # (m,) missing columns
    shares: Array  # (n, k) responsibilities given what was observed
    means: Array  # (k, n, m)
    covariances: Array  # (k, m, m)

    def mean(self) -> Array:
        """(n, m) conditional means."""
        return np.einsum("nk,knm->nm", self.shares, self.means)

    def draw(self, rng: np.random.RandomState) -> Array:
        """(n, m) one joint draw for each row."""
        n, k = self.shares.shape
        chosen = (self.shares.cumsum(axis=1) < rng.uniform(size=(n, 1))).sum(axis=1).clip(max=k - 1)
        noise = rng.standard_normal((n, len(self.columns)))
        factors = np.stack([_root(c) for c in self.covariances])
        return self.means[chosen, np.arange(n)] + np.einsum("nij,nj->ni", factors[chosen], noise)

    def quantile(self, level: float) -> Array:
        """(n, m) quantile of each entry's own mixture, by bisection."""
        deviations = np.sqrt(np.diagonal(self.covariances, axis1=1, axis2=2))[:, None]  # (k, 1, m)
        low = (self.means - 10 * deviations).min(axis=0)
        high = (self.means + 10 * deviations).max(axis=0)
        tiny = np.finfo(float).tiny
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            below = np.einsum("nk,knm->nm", self.shares, ndtr((middle - self.means) / np.maximum(deviations, tiny)))
            low, high = np.where(below < level, middle, low), np.where(below < level, high, middle)
        return (low + high) / 2


def _root(covariance: Array) -> Array:
    """A matrix square root that forgives a covariance of less than full rank."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


class GaussianImputation:
    """Conditional means, intervals and draws of missing entries."""

    def impute_mean(self, X: Any) -> Array:
        """The rows with each missing entry at its mean given the observed ones."""
        filled, holes = self._holes(X)
        for hole in holes:
            filled[np.ix_(hole.rows, hole.columns)] = hole.mean()
        return filled

    def impute_interval(self, X: Any, level: float = 0.9) -> tuple[Array, Array]:
        """Lower and upper end of an equal-tailed interval for each missing entry; observed ones stand twice."""
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, got {level}")
        lower, holes = self._holes(X)
        upper = lower.copy()
        for hole in holes:
            where = np.ix_(hole.rows, hole.columns)
            lower[where], upper[where] = hole.quantile((1 - level) / 2), hole.quantile((1 + level) / 2)
        return lower, upper

    def impute_draws(self, X: Any, n_draws: int = 1, random_state: Any = None) -> Array:
        """(n_draws, n, d) rows with the missing entries drawn jointly given the observed ones."""
        rng = check_random_state(random_state)
        filled, holes = self._holes(X)
        draws = np.tile(filled, (n_draws, 1, 1))
        for hole in holes:
            for draw in draws:
                draw[np.ix_(hole.rows, hole.columns)] = hole.draw(rng)
        return draws

    def _holes(self, X: Any) -> tuple[Array, Iterator[Holes]]:
        check_is_fitted(self)
        rows = read_rows(self, X, reset=False, allow_nan=True).astype(np.float64)
        return rows, self._each_hole(rows.copy())

    def _each_hole(self, rows: Array) -> Iterator[Holes]:
        params = stored_params(self)
        scale = params.frame.scale
        for chunk in as_source(rows):
            shares = softmax(self._joint(chunk.X), axis=1)
            for inside, seen, missing in patterns_of(chunk.X) or ():
                if len(missing):
                    means, covariances = conditionals(params, chunk.X[inside], missing, seen)
                    yield Holes(
                        inside + chunk.start,
                        missing,
                        shares[inside],
                        means * scale[missing] + params.frame.origin[missing],
                        covariances * np.outer(scale[missing], scale[missing]),
                    )
