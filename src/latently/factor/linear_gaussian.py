"""x = mean + W z + noise, z and the noise Gaussian: what PCA and factor analysis say about rows, complete or not."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Array = NDArray[np.float64]
LOG_2PI = float(np.log(2 * np.pi))
_PATTERN_NUMBERS = 1 << 22  # numbers in the precisions of the rows that are worked on at once


@dataclass(frozen=True, eq=False)
class LinearGaussian:
    """Density of rows with q factors.

    Attributes
    ----------
    mean : (d,)
    loadings : (d, q) W
    noise : (d,) variances, all positive
    """

    mean: Array
    loadings: Array
    noise: Array

    def covariance(self) -> Array:
        """(d, d) W W' + diag(noise)."""
        found = self.loadings @ self.loadings.T
        found.flat[:: len(found) + 1] += self.noise
        return found

    def precision(self) -> Array:
        """(d, d) inverse of the covariance, by one of size (q, q)."""
        scaled = self.loadings / self.noise[:, None]
        found = -scaled @ np.linalg.solve(self._inner(), scaled.T)
        found.flat[:: len(found) + 1] += 1 / self.noise
        return (found + found.T) / 2

    def _inner(self) -> Array:
        """(q, q) precision of the factors of a complete row."""
        return np.eye(self.loadings.shape[1]) + self.loadings.T @ (self.loadings / self.noise[:, None])

    def log_density(self, X: Array) -> Array:
        """(n,) log density of what is observed of each row."""
        seen = ~np.isnan(X)
        if not seen.all():
            return np.concatenate([p.log_density for p in self.posteriors(X)])
        step = X - self.mean
        inner = self._inner()
        squares = self._squares(step, np.asarray(np.linalg.solve(inner, self._along(step).T).T, dtype=float))
        size = np.log(self.noise).sum() + np.linalg.slogdet(inner)[1] + len(self.mean) * LOG_2PI
        return np.asarray(-0.5 * (squares + size))

    def _squares(self, step: Array, factors: Array, seen: Array | float = 1.0) -> Array:
        """(n,) squared lengths of rows in units of their covariance: what the factors leave, and the factors.

        Taking what the factors explain off x' noise^-1 x would lose all digits where noise is small.
        """
        rest = (step - seen * (factors @ self.loadings.T)) / np.sqrt(self.noise)
        return np.asarray(np.einsum("ij,ij->i", rest, rest) + np.einsum("ij,ij->i", factors, factors))

    def _along(self, step: Array) -> Array:
        return np.asarray(step @ (self.loadings / self.noise[:, None]))

    def factors(self, X: Array) -> Array:
        """(n, q) posterior mean of the factors, given what is observed of each row."""
        if not np.isnan(X).any():
            return np.asarray(np.linalg.solve(self._inner(), self._along(X - self.mean).T).T)
        return np.concatenate([p.mean for p in self.posteriors(X)])

    def posteriors(self, X: Array) -> "list[Posterior]":
        """Posteriors of the factors, in blocks of rows that are not too large."""
        q = max(self.loadings.shape[1], 1)
        size = max(_PATTERN_NUMBERS // q**2, 1)
        return [self.posterior(X[start : start + size]) for start in range(0, max(len(X), 1), size)]

    def posterior(self, X: Array) -> "Posterior":
        """Posterior of the factors of each row, and the log density of what is observed."""
        seen = (~np.isnan(X)).astype(np.float64)
        step = np.where(seen > 0, X - self.mean, 0.0)
        q = self.loadings.shape[1]
        scaled = self.loadings / self.noise[:, None]
        products = scaled[:, :, None] * self.loadings[:, None, :]  # (d, q, q)
        inner = (seen @ products.reshape(len(products), -1)).reshape(-1, q, q) + np.eye(q)
        lower = np.linalg.cholesky(inner)
        covariance = np.asarray(np.linalg.inv(inner), dtype=np.float64)
        along = step @ scaled
        mean = np.einsum("nij,nj->ni", covariance, along)
        squares = self._squares(step, mean, seen)
        size = 2 * np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
        log_density = -0.5 * (squares + size + seen @ (np.log(self.noise) + LOG_2PI))
        return Posterior(mean, covariance, log_density)

    def imputed(self, X: Array) -> Array:
        """The rows with missing entries at their conditional mean."""
        filled = np.array(X, dtype=np.float64)
        missing = np.isnan(filled)
        rows = missing.any(axis=1)
        expected = self.mean + self.factors(filled[rows]) @ self.loadings.T
        filled[rows] = np.where(missing[rows], expected, filled[rows])
        return filled

    def interval(self, X: Array, level: float) -> tuple[Array, Array]:
        """Ends of an interval for each missing entry; observed entries stand in both."""
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, got {level}")
        low, high, missing = self.imputed(X), self.imputed(X), np.isnan(X)
        rows = missing.any(axis=1)
        reach = ndtri((1 + level) / 2) * np.sqrt(self._variances(X[rows]))
        low[rows] -= np.where(missing[rows], reach, 0.0)
        high[rows] += np.where(missing[rows], reach, 0.0)
        return low, high

    def _variances(self, X: Array) -> Array:
        """(n, d) variance of each entry given what is observed of its row, were it missing."""
        W = self.loadings
        parts = [np.einsum("jp,npq,jq->nj", W, p.covariance, W, optimize=True) for p in self.posteriors(X)]
        return np.concatenate(parts) + self.noise

    def draws(self, X: Array, n_draws: int, rng: np.random.Generator) -> list[Array]:
        """The rows several times over, missing entries drawn given what is observed."""
        missing = np.isnan(X)
        rows = np.asarray(missing.any(axis=1))
        posteriors = self.posteriors(np.asarray(X, dtype=np.float64)[rows])
        mean = np.concatenate([p.mean for p in posteriors])
        root = np.concatenate([np.linalg.cholesky(p.covariance) for p in posteriors])
        return [self._draw(X, missing, rows, mean, root, rng) for _ in range(n_draws)]

    def _draw(
        self,
        X: Array,
        missing: NDArray[np.bool_],
        rows: NDArray[np.bool_],
        mean: Array,
        root: Array,
        rng: np.random.Generator,
    ) -> Array:
        z = mean + np.einsum("nij,nj->ni", root, rng.standard_normal(mean.shape))
        noise = rng.standard_normal((len(z), len(self.mean))) * np.sqrt(self.noise)
        filled = np.array(X, dtype=np.float64)
        filled[rows] = np.where(missing[rows], self.mean + z @ self.loadings.T + noise, filled[rows])
        return filled

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """(n, d) rows drawn from the density."""
        z = rng.standard_normal((n, self.loadings.shape[1]))
        noise = rng.standard_normal((n, len(self.mean))) * np.sqrt(self.noise)
        return np.asarray(self.mean + z @ self.loadings.T + noise)


@dataclass(frozen=True, eq=False)
class Posterior:
    """Factors of some rows: mean (n, q), covariance (n, q, q); and the log density (n,) of what is observed."""

    mean: Array
    covariance: Array
    log_density: Array
