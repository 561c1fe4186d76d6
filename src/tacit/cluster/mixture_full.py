"""A group of numeric columns with a full covariance, in a mixture over a table; entries may be missing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from tacit.cluster.mixture_block import FEW, Block, Ints, Mask, PerComponent, Slab, floored
from tacit.cluster.mixture_numeric import LOG_2PI, SHY, normal_between
from tacit.distributions import ColumnError, Distribution, Gaussian, NormalInverseWishart
from tacit.learn.protocol import Array

THIN = 1e-6
"""Share of the columns' own variance that no direction's variance falls below: thinner ones drown in rounding."""


@dataclass(frozen=True, eq=False)
class FullNormals(PerComponent):
    """Means (K, d) and covariances (K, d, d)."""

    means: Array
    covariances: Array


@dataclass(frozen=True, eq=False)
class FullSums(PerComponent):
    """Weights (K,) of rows with something observed, and expected moments about a centre (K, d)."""

    weight: Array
    centre: Array
    first: Array
    second: Array

    def about(self, centre: Array) -> "FullSums":
        """The same moments about other points."""
        step = self.centre - centre
        first = self.first + self.weight[:, None] * step
        cross = self.first[:, :, None] * step[:, None] + step[:, :, None] * first[:, None]
        return FullSums(self.weight, centre, first, self.second + cross)

    def _combine(self, other: "FullSums", sign: int) -> "FullSums":
        theirs = other if other.centre is self.centre else other.about(self.centre)
        return FullSums(
            self.weight + sign * theirs.weight,
            self.centre,
            self.first + sign * theirs.first,
            self.second + sign * theirs.second,
        )


@dataclass(frozen=True, eq=False)
class FullPrior:
    """Location (d,) of the means with its weight, scatter (d, d) of the covariances with its rows."""

    location: Array
    pull: float
    scatter: Array
    rows: float


@dataclass(frozen=True, eq=False)
class FullBlock(Block):
    """Columns that are jointly Gaussian in a component."""

    prior: FullPrior | None = None
    unit: Array | None = None
    fixed: FullNormals | None = None
    is_fixed: Mask | None = None

    # learning

    def first(self, X: Array, k: int) -> FullNormals:
        """All components at the mean of the rows, with the variances of the columns."""
        values = X[:, self.places]
        seen = ~np.isnan(values)
        counts = np.maximum(seen.sum(axis=0), 1)
        centre = np.where(seen, values, 0.0).sum(axis=0) / counts
        variance = (np.where(seen, values - centre, 0.0) ** 2).sum(axis=0) / counts
        unit = np.diag(floored(variance, centre))
        return FullNormals(np.tile(centre, (k, 1)), np.tile(unit, (k, 1, 1)))

    def log_density(self, theta: FullNormals, slab: Slab, out: Array) -> None:
        """Add log densities of the observed part, pattern by pattern."""
        for seen, rows in slab.patterns(self.places):
            o = np.flatnonzero(seen)
            if len(o) == 0:
                continue
            roots = np.linalg.cholesky(_part(theta.covariances, o, o))
            inverse = np.swapaxes(np.linalg.inv(roots), 1, 2)
            logs = np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1) + len(o) / 2 * LOG_2PI
            for some in _batches(rows):
                white = self._gaps(theta, slab, some, o) @ inverse
                out[:, some] -= 0.5 * (white**2 @ np.ones(len(o))) + logs[:, None]

    def expect(self, theta: FullNormals, slab: Slab, R: Array) -> FullSums:
        """Moments about the means, missing entries at their conditional expectation."""
        K, d = theta.means.shape
        weight, first, second = np.zeros(K), np.zeros((K, d)), np.zeros((K, d, d))
        for o, rows, lift, spread in self._lifts(theta, slab):
            if len(o) == 0:
                continue
            total, one, two = np.zeros((K, 1, 1)), np.zeros((K, 1, len(o))), np.zeros((K, len(o), len(o)))
            for some in _batches(rows):
                gaps, share = self._gaps(theta, slab, some, o), R[:, some]
                total += share.sum(axis=1)[:, None, None]
                one += share[:, None] @ gaps
                two += np.swapaxes(gaps * share[:, :, None], 1, 2) @ gaps
            weight += total[:, 0, 0]
            first += (one @ lift)[:, 0]
            second += np.swapaxes(lift, 1, 2) @ two @ lift + total * spread
        return FullSums(weight, theta.means, first, second)

    def _gaps(self, theta: FullNormals, slab: Slab, rows: Ints, o: Ints) -> Array:
        """(K, n, p) observed entries less the means."""
        return slab.X[np.ix_(rows, self.places[o])] - theta.means[:, None, o]

    def _lifts(self, theta: FullNormals, slab: Slab) -> Iterator[tuple[Ints, Ints, Array, Array]]:
        """By pattern: observed columns, rows, way (K, p, d) from observed gaps to all, covariance left (K, d, d)."""
        K, d = theta.means.shape
        for seen, rows in slab.patterns(self.places):
            o, h = np.flatnonzero(seen), np.flatnonzero(~seen)
            lift, spread = np.zeros((K, len(o), d)), np.zeros((K, d, d))
            lift[:, np.arange(len(o)), o] = 1.0
            if len(h):
                across = _part(theta.covariances, o, h)
                slopes = np.linalg.solve(_part(theta.covariances, o, o), across)  # (K, p, q)
                lift[:, :, h] = slopes
                left = _part(theta.covariances, h, h) - np.swapaxes(across, 1, 2) @ slopes
                spread[np.ix_(np.arange(K), h, h)] = (left + np.swapaxes(left, 1, 2)) / 2
            yield o, rows, lift, spread

    def update(self, theta: FullNormals, stats: FullSums) -> FullNormals:
        """Means and covariances of the moments, drawn to the prior."""
        d = theta.means.shape[1]
        p = self.prior or FullPrior(np.zeros(d), 0.0, np.zeros((d, d)), 0.0)
        mass = stats.weight + p.pull
        step = stats.first + p.pull * (p.location - stats.centre)
        alive = (mass > FEW)[:, None]
        step = np.divide(step, mass[:, None], out=theta.means - stats.centre, where=alive)
        means = stats.centre + step
        about, off = stats.about(means), means - p.location
        scatter = about.second + p.scatter + p.pull * off[:, :, None] * off[:, None]
        rows = (stats.weight + p.rows)[:, None, None]
        covariances = np.divide(scatter, rows, out=theta.covariances.copy(), where=rows > FEW)
        return self.held(FullNormals(means, self._raised(covariances)))

    def _raised(self, covariances: Array) -> Array:
        """Lift directions whose variance has come down to nothing, in units of the columns' own spread."""
        even = (covariances + np.swapaxes(covariances, 1, 2)) / 2
        if self.unit is None:
            return even
        sd = np.sqrt(self.unit)
        values, vectors = np.linalg.eigh(even / sd[:, None] / sd)
        low = values[:, 0] < THIN
        if low.any():
            lifted = (vectors * np.maximum(values, THIN)[:, None]) @ np.swapaxes(vectors, 1, 2)
            even = np.where(low[:, None, None], lifted * sd[:, None] * sd, even)
        return even

    def held(self, theta: FullNormals) -> FullNormals:
        """Put fixed parameters in their place."""
        if self.fixed is None or self.is_fixed is None:
            return theta
        keep, given = self.is_fixed, self.fixed
        return FullNormals(
            np.where(keep[:, None], given.means, theta.means),
            np.where(keep[:, None, None], given.covariances, theta.covariances),
        )

    def log_prior(self, theta: FullNormals) -> float:
        """Normal and inverse Wishart."""
        p = self.prior
        if p is None:
            return 0.0
        off = theta.means - p.location
        inverse = np.linalg.inv(theta.covariances)
        spread = np.einsum("kij,ji->k", inverse, p.scatter) + p.pull * np.einsum("ki,kij,kj->k", off, inverse, off)
        return float(-0.5 * np.sum(p.rows * np.linalg.slogdet(theta.covariances)[1] + spread))

    def with_prior(self, pooled: FullSums, priors: Sequence[Any]) -> Self:
        """Prior of the group; a strength is worth a hundredth of it, in rows with the variances of all rows."""
        offset = (pooled.first / pooled.weight[:, None])[0]
        mean = pooled.centre[0] + offset
        variance = np.diagonal(pooled.second[0]) / pooled.weight[0] - offset**2
        unit, given = floored(variance, mean), priors[0]
        if isinstance(given, NormalInverseWishart):
            d = len(mean)
            if given.kind != "full" or given.n_dimensions != d:
                raise ColumnError(self.names[0], f"is in a group of {d} columns: its prior must be full, of as many")
            prior = FullPrior(given.location, float(given.kappa), given.scatter, float(given.dof) + d + 2)
        elif isinstance(given, int | float):
            prior = FullPrior(mean, 0.0, SHY * given * np.diag(unit), SHY * given)
        else:
            kind = type(given).__name__
            raise ColumnError(self.names[0], f"needs a NormalInverseWishart prior or a strength, not {kind}")
        return replace(self, prior=prior, unit=unit)

    def with_fixed(self, n_components: int, k: int, columns: Sequence[int], given: Distribution) -> Self:
        """Fix mean and covariance of the whole group in component k."""
        if tuple(columns) != self.columns or not isinstance(given, Gaussian):
            raise ColumnError(self.names[0], f"is in the group {self.names}: fix all of it, by a Gaussian")
        d = len(self.columns)
        means, covariances = np.zeros((n_components, d)), np.tile(np.eye(d), (n_components, 1, 1))
        keep = np.zeros(n_components, dtype=bool)
        if self.fixed is not None and self.is_fixed is not None:
            means, covariances, keep = self.fixed.means.copy(), self.fixed.covariances.copy(), self.is_fixed.copy()
        means[k], covariances[k], keep[k] = given.mean, given.covariance_matrix, True
        return replace(self, fixed=FullNormals(means, covariances), is_fixed=keep)

    def loose(self) -> Self:
        """The same block with nothing fixed."""
        return replace(self, fixed=None, is_fixed=None)

    def n_parameters(self, theta: FullNormals) -> int:
        """Means and the upper triangles of covariances."""
        K, d = theta.means.shape
        return int(K - (0 if self.is_fixed is None else self.is_fixed.sum())) * (d + d * (d + 1) // 2)

    def observed(self, stats: FullSums) -> Array:
        """Weight of rows with something observed, for each column alike."""
        return np.full(len(self.columns), stats.weight.sum())

    def cross(self, theta: FullNormals, stats: FullSums) -> Array:
        """Expected log densities."""
        rows = []
        for mean, covariance in zip(theta.means, theta.covariances, strict=True):
            moved = stats.about(np.broadcast_to(mean, stats.centre.shape))
            level = np.linalg.slogdet(covariance)[1] + len(mean) * LOG_2PI
            spread = np.einsum("ij,kji->k", np.linalg.inv(covariance), moved.second)
            rows.append(-0.5 * (stats.weight * level + spread))
        return np.array(rows)

    # talking to distributions

    def distributions(self, theta: FullNormals, k: int) -> list[tuple[Distribution, tuple[int, ...]]]:
        """One Gaussian."""
        return [(Gaussian(theta.means[k], theta.covariances[k]), self.columns)]

    def from_distributions(self, given: Sequence[Distribution]) -> FullNormals:
        """Means and covariances of Gaussians."""
        parts = [d.marginal(self.columns) for d in given]
        if not all(isinstance(part, Gaussian) for part in parts):
            raise ColumnError(self.names[0], f"is in the group {self.names}, which needs a Gaussian")
        return FullNormals(np.array([p.mean for p in parts]), np.array([p.covariance_matrix for p in parts]))

    # answers

    def sample(self, theta: FullNormals, labels: Ints, rng: np.random.Generator) -> Array:
        """Draw rows."""
        noise = rng.standard_normal((len(labels), len(self.columns)))
        roots = np.linalg.cholesky(theta.covariances)
        return theta.means[labels] + np.einsum("nij,nj->ni", roots[labels], noise)

    def _conditional(self, theta: FullNormals, slab: Slab) -> tuple[Array, Array]:
        """Means and variances (K, n, d) of every entry given the observed ones of its row."""
        shape = (len(theta.means), len(slab.X), len(self.columns))
        means, variances = np.zeros(shape), np.ones(shape)
        for o, rows, lift, spread in self._lifts(theta, slab):
            means[:, rows] = theta.means[:, None] + self._gaps(theta, slab, rows, o) @ lift
            variances[:, rows] = np.diagonal(spread, axis1=1, axis2=2)[:, None]
        return means, variances

    def fill(self, theta: FullNormals, slab: Slab, R: Array) -> Array:
        """Conditional means, averaged over the components."""
        return np.einsum("kn,knd->nd", R, self._conditional(theta, slab)[0])

    def between(self, theta: FullNormals, slab: Slab, R: Array, level: float) -> tuple[Array, Array]:
        """Quantiles of mixtures of conditional Gaussians."""
        return normal_between(*self._conditional(theta, slab), slab.X[:, self.places], R, level)

    def draw(self, theta: FullNormals, slab: Slab, labels: Ints, rng: np.random.Generator) -> Array:
        """Draw missing entries given the observed ones."""
        out = np.empty((len(slab.X), len(self.columns)))
        for o, rows, lift, spread in self._lifts(theta, slab):
            noise = rng.standard_normal((len(rows), len(self.columns)))
            values, vectors = np.linalg.eigh(spread)
            roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None]
            own = labels[rows]
            gaps = slab.X[np.ix_(rows, self.places[o])] - theta.means[np.ix_(own, o)]
            middle = theta.means[own] + np.einsum("np,npd->nd", gaps, lift[own])
            out[rows] = middle + np.einsum("nij,nj->ni", roots[own], noise)
        return out


def _batches(rows: Ints, most: int = 1024) -> Iterator[Ints]:
    """Cut rows into batches whose numbers stay in cache."""
    for start in range(0, len(rows), most):
        yield rows[start : start + most]


def _part(matrices: Array, rows: Ints, columns: Ints) -> Array:
    return matrices[:, rows[:, None], columns]
