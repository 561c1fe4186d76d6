"""Factors from rows with missing values, by EM: every row counts with what is observed of it.

Each column is regressed on the expected factors of the rows that have it. The factors themselves are then taken to
a mean of zero and a covariance of one (the expanded parameters of Liu, Rubin and Wu 1998), which saves most steps.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.data.sources.chunks import Chunk, ChunkSource
from latently.distributions.covariance import column_moments
from latently.distributions.inputs import ColumnError
from latently.distributions.statistics import Additive, Statistics
from latently.factor.linear_gaussian import LinearGaussian, Posterior
from latently.learn.engine.em import Fit, em
from latently.learn.engine.reduce import Reduction, reducing

Array = NDArray[np.float64]
BLOCK = 1 << 20  # numbers in the second moments of the factors of one block of rows
LEAST = 1e-9  # share of a variance below which noise is taken for none


@dataclass(frozen=True, eq=False)
class FactorSums(Statistics):
    """What EM needs to know about the rows.

    Attributes
    ----------
    products : (d, q + 1, q + 1) sum over the rows that have column j of E[(z, 1)(z, 1)']
    cross : (d, q + 1) sum of x_j E[(z, 1)]
    squares : (d,) sum of x_j^2
    factors : (q + 1, q + 1) sum over all rows of E[(z, 1)(z, 1)']
    """

    products: Array
    cross: Array
    squares: Array
    factors: Array


@dataclass(frozen=True, eq=False)
class PairSums(Additive):
    """Products of columns over the rows that have both, and their weight: (d, d) each; how many rows a column has."""

    products: Array
    weight: Array
    observed: Array


@dataclass(frozen=True, eq=False)
class IncompleteFactors:
    """The model of EM, in columns of mean zero and unit size.

    Attributes
    ----------
    origin : (d,) what is taken off the columns
    unit : (d,) what they are divided by; the same for all if the noise is isotropic
    floor : (d,) least noise
    isotropic : whether all columns have one noise variance
    """

    origin: Array
    unit: Array
    floor: Array
    isotropic: bool

    def scaled(self, X: NDArray[Any]) -> Array:
        """The rows in units of the model."""
        return np.asarray((X - self.origin) / self.unit)

    def expect(self, params: LinearGaussian, chunk: Chunk) -> FactorSums:
        """E-step: posteriors of the factors, summed up."""
        q = params.loadings.shape[1]
        size = max(BLOCK // (q + 1) ** 2, 1)
        parts = [self._block(params, chunk, slice(a, a + size)) for a in range(0, chunk.n_rows, size)]
        return sum(parts[1:], start=parts[0])

    def _block(self, params: LinearGaussian, chunk: Chunk, rows: slice) -> FactorSums:
        X = self.scaled(chunk.X[rows])
        w = np.ones(len(X)) if chunk.weights is None else chunk.weights[rows]
        missing = np.isnan(X)
        w = np.where(missing.all(axis=1), 0.0, w)  # rows with nothing observed say nothing
        known = np.where(missing, 0.0, w[:, None])
        post, x = params.posterior(X), np.where(missing, 0.0, X)
        z, second = _augmented(post)
        q = z.shape[1]
        flat = second.reshape(len(X), -1)
        bound = float(w @ (post.log_density - ~missing @ np.log(self.unit)))
        return FactorSums(
            float(w.sum()),
            bound,
            (known.T @ flat).reshape(-1, q, q),
            (known * x).T @ z,
            np.einsum("ij,ij,ij->j", known, x, x),
            (w @ flat).reshape(q, q),
        )

    def update(self, params: LinearGaussian, stats: FactorSums) -> LinearGaussian:
        """M-step: regressions on the factors, and the factors brought to N(0, I)."""
        coef = np.linalg.solve(stats.products, stats.cross[:, :, None])[:, :, 0]  # (d, q + 1)
        rest = np.maximum(stats.squares - np.einsum("ij,ij->i", coef, stats.cross), 0.0)
        weight = stats.products[:, -1, -1]
        noise = np.full(len(rest), rest.sum() / weight.sum()) if self.isotropic else rest / weight
        average = stats.factors / stats.factors[-1, -1]
        centre = average[:-1, -1]
        root = np.linalg.cholesky(average[:-1, :-1] - np.outer(centre, centre))
        mean = coef[:, -1] + coef[:, :-1] @ centre
        return LinearGaussian(mean, np.asarray(coef[:, :-1] @ root, dtype=np.float64), np.maximum(noise, self.floor))

    def log_prior(self, params: LinearGaussian) -> float:
        """No prior."""
        return 0.0

    def rounding(self, params: LinearGaussian) -> float:
        """Nats per row that rounding may cost: noise is what is left of variances of one."""
        return float(16 * np.finfo(float).eps / params.noise.min())

    def original(self, params: LinearGaussian) -> LinearGaussian:
        """The parameters in the units of the data."""
        return LinearGaussian(
            self.origin + self.unit * params.mean,
            self.unit[:, None] * params.loadings,
            self.unit**2 * params.noise,
        )


def _augmented(post: Posterior) -> tuple[Array, Array]:
    """E[(z, 1)] (n, q + 1) and E[(z, 1)(z, 1)'] (n, q + 1, q + 1)."""
    z = np.column_stack([post.mean, np.ones(len(post.mean))])
    second = z[:, :, None] * z[:, None, :]
    second[:, :-1, :-1] += post.covariance
    return z, second


def fit_incomplete(
    source: ChunkSource, n_factors: int, *, isotropic: bool, tol: float, max_iter: int, hook: Any = None
) -> tuple[LinearGaussian, Fit[Any, Any]]:
    """Maximum likelihood from rows with missing values: the parameters, and how the fit went."""
    with reducing(source) as reduce:
        model, start = _begun(reduce, n_factors, isotropic)
        done = em(model, start, reduce, tol=tol, max_iter=max_iter, on_iteration=hook)
    return model.original(done.params), done


def _begun(reduce: Reduction, q: int, isotropic: bool) -> tuple[IncompleteFactors, LinearGaussian]:
    """Units, and a start from the products of columns over the rows that have both."""
    columns = reduce(_columns)
    if not (columns.weight > 0).all():
        raise ColumnError(int(np.argmin(columns.weight > 0)), "has no observed value: leave it out")
    variance = np.maximum(columns.scatter(), 0.0) / columns.weight
    typical = float(variance.mean()) or 1.0
    own = np.where(variance > 0, variance, typical)
    unit = np.sqrt(np.full(len(variance), typical) if isotropic else own)
    model = IncompleteFactors(columns.mean(), unit, np.full(len(unit), LEAST), isotropic)
    pairs = reduce(_Pairs(model))
    if not isotropic and (few := pairs.observed < q + 2).any():
        found = int(pairs.observed[few][0])
        needs = f"{q} factors and noise of its own need at least {q + 2}; leave it out, or ask for fewer factors"
        raise ColumnError(int(np.argmax(few)), f"has {found} observed values: {needs}")
    return model, _start(pairs, q, isotropic)


def _columns(chunk: Chunk) -> Any:
    weights = np.ones(chunk.n_rows) if chunk.weights is None else chunk.weights
    return column_moments(np.asarray(chunk.X, dtype=np.float64), weights)


@dataclass(frozen=True, eq=False)
class _Pairs:
    model: IncompleteFactors

    def __call__(self, chunk: Chunk) -> PairSums:
        X = self.model.scaled(chunk.X)
        seen = ~np.isnan(X)
        w = np.where(seen, 1.0 if chunk.weights is None else chunk.weights[:, None], 0.0)
        x = np.where(seen, X, 0.0)
        return PairSums((w * x).T @ x, w.T @ seen, (w > 0).sum(axis=0, dtype=np.float64))


def _start(pairs: PairSums, q: int, isotropic: bool) -> LinearGaussian:
    covariance = np.divide(pairs.products, pairs.weight, out=np.zeros(pairs.weight.shape), where=pairs.weight > 0)
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    rest = float(values[q:].mean()) if q < len(values) else 0.0
    noise = max(rest, 1e-3 * float(values.mean()))
    loadings = vectors[:, :q] * np.sqrt(np.maximum(values[:q] - noise, 0.1 * noise))
    diagonal = np.full(len(values), noise)
    if not isotropic:
        diagonal = np.maximum(np.diagonal(covariance) - (loadings**2).sum(axis=1), 0.1 * noise)
    return LinearGaussian(np.zeros(len(values)), loadings, diagonal)
