"""Gaussian: numbers with a mean and a covariance, full, diagonal or spherical."""

from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from latently.distributions import covariance as cov
from latently.distributions.base import UNSET, Distribution
from latently.distributions.columns import with_weight
from latently.distributions.floor import TOUCHING, Floor
from latently.distributions.gaussian_vector import LOG_2PI, GaussianVector
from latently.distributions.incomplete import Summary, change, complete
from latently.distributions.inputs import Array, ColumnError, as_rows, as_weights, patterns
from latently.distributions.iterate import until_still
from latently.distributions.priors.base import as_prior
from latently.distributions.priors.normal_inverse_wishart import NormalInverseWishart
from latently.distributions.statistics import Additive, Moments, Sums


@dataclass(frozen=True, eq=False)
class Gaussian(GaussianVector):
    """Normal distribution of one or more columns.

    Statistics are moments about a centre, so that an offset of 1e8 costs no digits. Features are (products
    of pairs, x, 1) for kind="full", which needs complete rows, and (x^2, x, observed) per column otherwise.
    The conjugate prior is `NormalInverseWishart` of the same kind. Maximum likelihood refuses a column that
    is constant (to rounding).

    Parameters
    ----------
    mean : (d,)
    covariance : (d, d) for kind="full", (d,) variances for "diag", one variance for "spherical"
    kind : "full", "diag" or "spherical"

    Examples
    --------
    >>> height = Gaussian().fit([1.0, 2.0, 3.0])
    >>> height.mean, height.variance
    (array([2.]), array([0.667]))
    >>> pair = Gaussian([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]])
    >>> pair.conditional(0, 2.0)
    Gaussian(mean=array([1.]), covariance=array([[0.75]]), kind='full')
    >>> Gaussian(kind="diag").fit([[1.0, 5.0], [3.0, float("nan")], [2.0, 6.0]]).mean
    array([2. , 5.5])
    """

    mean: Array = UNSET
    covariance: Array = UNSET
    kind: cov.Kind = "full"

    PARAMETERS: ClassVar[tuple[str, ...]] = ("mean", "covariance")

    # parameters

    def __post_init__(self) -> None:
        """Freeze the parameters in the shapes of their kind, and check them."""
        cov.check_kind(self.kind)
        if all(getattr(self, name) is None for name in self.PARAMETERS):
            return
        self._ready()
        mean = self._freeze("mean", np.atleast_1d(self.mean))
        d = len(mean)
        given = np.asarray(self.covariance, dtype=np.float64)
        shape = {"full": (d, d), "diag": (d,), "spherical": ()}[self.kind]
        if given.size == 1 and (d == 1 or self.kind != "full"):
            given = np.broadcast_to(given.reshape(()), shape)
        if mean.ndim != 1 or given.shape != shape:
            raise ValueError(f"a {self.kind} covariance of {d} columns has shape {shape}, not {given.shape}")
        covariance = self._freeze("covariance", given)
        if self.kind == "full":
            self.__dict__["_lower"] = cov.factor(covariance)
        elif (covariance <= 0).any():
            raise ColumnError(int(np.argmin(np.atleast_1d(covariance) > 0)), "needs a positive variance")

    def _width(self) -> int | None:
        return None if self.mean is None else len(self.mean)

    def _n_parameters(self) -> int:
        d = self.n_columns
        return d + {"full": d * (d + 1) // 2, "diag": d, "spherical": 1}[self.kind]

    @property
    def covariance_matrix(self) -> Array:
        """Covariance as (d, d), whatever the kind."""
        return self._ready().covariance if self.kind == "full" else np.diag(self.variance)

    @property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """All columns together (full), or each by itself."""
        return super().blocks if self.kind == "full" else tuple((c,) for c in range(self.n_columns))

    @cached_property
    def _lower(self) -> Array:
        return np.diag(np.sqrt(self.variance))

    # statistics

    def _outside(self, X: Array) -> NDArray[np.bool_]:
        return np.isinf(X)

    def _features(self, X: Array, origin: Array | None) -> Array:
        X = X if origin is None else X - origin
        seen = ~np.isnan(X)
        if self.kind != "full":
            values = np.where(seen, X, 0.0)
            return np.hstack([values**2, values, seen])
        self._complete_rows(X)
        values = np.where(seen, X, 0.0)
        pairs = [values[:, i:] * values[:, i : i + 1] for i in range(X.shape[1])]
        return np.hstack([*pairs, values, seen[:, :1]])

    def _natural(self, origin: Array | None) -> Array:
        mean = self.mean if origin is None else self.mean - origin
        if self.kind != "full":
            v = self.variance
            return np.concatenate([-0.5 / v, mean / v, -0.5 * (mean**2 / v + np.log(v) + LOG_2PI)])
        inverse = cov.whiten(self._lower, np.eye(self.n_columns))  # rows solve L z = e_i
        precision = inverse @ inverse.T
        constant = mean @ precision @ mean + cov.log_det(self._lower) + self.n_columns * LOG_2PI
        pairs = cov.pack(np.diag(np.diagonal(precision)) / 2 - precision)  # each pair stands for (i, j) and (j, i)
        return np.concatenate([pairs, precision @ mean, [-0.5 * constant]])

    def record(self, total: Array, base: float = 0.0, origin: Array | None = None) -> Moments:
        """Moments from summed features (P,), about the origin that the features were taken from."""
        if self.kind != "full":
            second, first, weight = np.reshape(total, (3, -1))
            return Moments(weight, np.zeros(first.size) if origin is None else origin, first, second)
        d = int((np.sqrt(8 * total.size + 1) - 3) / 2)
        first, weight = total[-d - 1 : -1], total[-1]
        centre = np.zeros(d) if origin is None else origin
        return Moments(np.asarray(weight), centre, first, cov.unpack(total[: -d - 1], d))

    def statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> Moments:
        """Moments about the mean of these rows; with kind="full", partly missing rows are an error."""
        rows = self._supported(as_rows(X, self._width()))
        w = as_weights(weights, len(rows))
        if self.kind != "full":
            return cov.column_moments(rows, w)
        kept = self._complete_rows(rows)
        return cov.joint_moments(rows[kept], w[kept])

    def expected_statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> Moments:
        """Moments with missing entries at their conditional expectation given the rest of the row.

        This is the E-step of EM. Rows with nothing observed say nothing, and have no weight in it.
        """
        if self.kind != "full":
            return self.statistics(X, weights)
        rows = self._ready()._supported(as_rows(X, self._width()))
        w = as_weights(weights, len(rows))
        return self._expect(Summary(rows, w), cov.column_moments(rows, w).mean())

    def _expect(self, blocks: Summary, origin: Array) -> Moments:
        d = self.n_columns
        nothing = Moments(np.asarray(0.0), origin, np.zeros(d), np.zeros((d, d)))
        return reduce(add, (complete(b, self.mean, self.covariance, origin) for b in blocks), nothing)

    def _complete_rows(self, X: Array) -> NDArray[np.bool_]:
        missing = np.isnan(X)
        seen = np.asarray(~missing.any(axis=1))
        partly = ~seen & ~missing.all(axis=1)
        if partly.any():
            row = int(np.argmax(partly))
            raise ColumnError(
                int(np.argmax(missing[row])),
                f"is missing in row {row}, of which other columns are observed: a full covariance needs "
                "expected_statistics of a fitted Gaussian there, or fit, which iterates it",
            )
        return seen

    # evaluation

    def _log_prob(self, X: Array) -> Array:
        outside = np.isinf(X).any(axis=1)
        X = self._inside(X)
        if self.kind != "full":
            v = self.variance
            terms = (X - self.mean) ** 2 / v + np.log(v) + LOG_2PI
            return np.where(outside, -np.inf, -0.5 * np.where(np.isnan(X), 0.0, terms).sum(axis=1))
        result = np.where(outside, -np.inf, 0.0)
        for seen, rows in patterns(X):
            if seen.any():
                lower = self._lower if seen.all() else cov.factor(self.covariance[np.ix_(seen, seen)])
                z = cov.whiten(lower, X[np.ix_(rows, seen)] - self.mean[seen])
                result[rows] = -0.5 * (np.einsum("ij,ij->i", z, z) + cov.log_det(lower) + seen.sum() * LOG_2PI)
        return result

    def _mean(self) -> Array:
        return self.mean

    def _variance(self) -> Array:
        if self.kind == "full":
            return np.diagonal(self.covariance)
        return np.broadcast_to(self.covariance, (self.n_columns,))

    def _mode(self) -> Array:
        return self.mean

    def _entropy(self) -> float:
        return 0.5 * (self.n_columns * (LOG_2PI + 1) + cov.log_det(self._lower))

    def _cdf(self, X: Array) -> Array:
        return np.asarray(special.ndtr((X - self.mean) / np.sqrt(self.variance)))

    def _quantile(self, q: Array, upper: bool = False) -> Array:
        return np.asarray(self.mean + np.sqrt(self.variance) * special.ndtri(q) * (-1 if upper else 1))

    def _marginal(self, columns: list[int]) -> "Gaussian":
        chosen: Any = {"full": np.ix_(columns, columns), "diag": (columns,), "spherical": ()}[self.kind]
        return replace(self, mean=self.mean[columns], covariance=self.covariance[chosen])

    def _conditional(self, columns: list[int], values: Array, rest: list[int]) -> "Gaussian":
        if self.kind != "full":
            return self._marginal(rest)
        order = np.argsort(columns)
        given = np.isin(np.arange(self.n_columns), columns)
        gradient = cov.regression(self.covariance, given)
        shift = gradient @ (values[order] - self.mean[given])
        left = self.covariance[np.ix_(rest, rest)] - gradient @ self.covariance[np.ix_(given, ~given)]
        return replace(self, mean=self.mean[rest] + shift, covariance=(left + left.T) / 2)

    def _kl(self, other: Distribution) -> float | None:
        if not isinstance(other, Gaussian):
            return None
        if "full" in (self.kind, other.kind):
            ratios = np.linalg.svd(cov.whiten(other._lower, self._lower.T), compute_uv=False) ** 2
        else:
            ratios = self.variance / other.variance
        step = cov.whiten(other._lower, (self.mean - other.mean)[None])
        return 0.5 * float((ratios - 1 - np.log1p(ratios - 1)).sum() + (step**2).sum())

    # sampling

    def _sample(self, n: int, rng: np.random.Generator) -> Array:
        z = rng.standard_normal((n, self.n_columns))
        return self.mean + (z @ self._lower.T if self.kind == "full" else z * np.sqrt(self.variance))

    # fit

    def from_statistics(self, stats: Additive, prior: NormalInverseWishart | None = None) -> Self:
        """Mean and covariance of the moments; with a prior, the mode of the posterior over both together."""
        seen = self._moments(stats)
        if prior is not None:
            mean, covariance = as_prior(prior, NormalInverseWishart, self).posterior(seen).modal_parameters()
            return replace(self, mean=mean, covariance=covariance)
        d = len(seen.first)
        weight = with_weight(np.broadcast_to(seen.weight, (d,)))
        mean, scatter = seen.mean(), seen.scatter()
        if self.kind == "spherical":
            covariance = np.asarray(scatter.sum() / weight.sum())
            cov.refuse_constant(covariance[None], seen)
        else:
            covariance = scatter / (weight[0] if self.kind == "full" else weight)
            cov.refuse_constant(np.diagonal(covariance) if self.kind == "full" else covariance, seen)
        return replace(self, mean=mean, covariance=covariance)

    def _fit_above(self, stats: Additive, floor: Floor) -> Self:
        seen = self._moments(stats)
        weight, scatter = with_weight(np.broadcast_to(seen.weight, seen.first.shape)), seen.scatter()
        if self.kind == "full":
            covariance = floor.constrained(scatter / weight[0])
        elif self.kind == "diag":
            covariance = np.maximum(scatter / weight, floor.least)
        else:
            covariance = np.maximum(scatter.sum() / weight.sum(), floor.least.min())
        return replace(self, mean=seen.mean(), covariance=covariance)

    def fit_apart(self, X: ArrayLike, floor: Floor) -> Self:
        """Means and variances of the columns, above the floor."""
        columns = Gaussian(kind="diag")
        alone = columns._fit_above(columns.statistics(X), floor)
        own = {"full": alone.covariance_matrix, "diag": alone.variance}.get(self.kind, alone.variance.mean())
        return replace(self, mean=alone.mean, covariance=own)

    def is_on_floor(self, floor: Floor) -> bool:
        """Whether the variance along an axis has come down to it."""
        if self.kind == "full":
            return floor.n_touching(self.covariance) > floor.n_flat
        least = floor.least if self.kind == "diag" else np.full(self.n_columns, floor.least.min())
        return bool((floor.varies & (self.variance <= TOUCHING * least)).any())

    def fit(self, X: ArrayLike, weights: ArrayLike | None = None, prior: NormalInverseWishart | None = None) -> Self:
        """Fit to the rows of X; a full covariance with partly missing rows, by EM until it stands still."""
        rows = self._supported(as_rows(X, self._width()))
        missing = np.isnan(rows)
        if self.kind != "full" or (missing.any(axis=1) == missing.all(axis=1)).all():
            return super().fit(rows, weights, prior)
        w = as_weights(weights, len(rows))
        centre = cov.column_moments(rows, w).mean()
        summary = Summary(rows - centre, w)  # about their mean: "still" means the same at any offset
        if prior is not None:
            prior = as_prior(prior, NormalInverseWishart, self)
            prior = replace(prior, location=prior.location - centre)
        start = self._start(rows - centre, w, prior)
        found = until_still(
            start,
            lambda g: g.from_statistics(g._expect(summary, np.zeros_like(centre)), prior),
            lambda old, new: change(old.mean, old.covariance, new.mean, new.covariance),
        )
        return replace(found, mean=found.mean + centre)

    def _start(self, X: Array, weights: Array, prior: NormalInverseWishart | None) -> Self:
        if prior is not None:
            return self.from_statistics(self.statistics(X[:0]), prior)
        single = Gaussian(kind="diag").fit(X, weights)
        return replace(self, mean=single.mean, covariance=single.covariance_matrix)

    def _moments(self, stats: Additive) -> Moments:
        seen = self.record(stats.total) if isinstance(stats, Sums) else stats
        if not isinstance(seen, Moments) or (seen.second.ndim == 2) != (self.kind == "full"):
            raise TypeError(
                f"a {self.kind} Gaussian cannot read these statistics: {type(stats).__name__} of another kind"
            )
        return seen
