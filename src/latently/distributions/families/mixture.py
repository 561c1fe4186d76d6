"""Mixture: a draw from one of several distributions; itself a distribution, so that mixtures nest."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from latently.distributions.base import UNSET, Distribution
from latently.distributions.families.categorical import as_simplex
from latently.distributions.family import Family
from latently.distributions.inputs import Array, as_rows, as_weights, no_negative
from latently.distributions.priors.dirichlet import Dirichlet
from latently.distributions.quantiles import bisected
from latently.distributions.statistics import Additive, Parts, Sums
from latently.distributions.unconstrained import Directions, Reader, logit_gradient, packed, unpacked

MAX_ITER = 2000
TOL = 1e-9


@dataclass(frozen=True, eq=False)
class MixtureStatistics(Additive):
    """Weight (K,) of the rows in each component, and the statistics of the components.

    Examples
    --------
    >>> import numpy as np
    >>> one = MixtureStatistics(np.array([1.0, 2.0]), Parts((Sums(np.ones(1)), Sums(np.ones(1)))))
    >>> (one + one).weight
    array([2., 4.])
    """

    weight: Array
    components: Parts


class BaseMixture(Family):
    """What every mixture is, however it is learnt: densities, moments, quantiles and draws.

    Subclasses have weights (K,) and K components.
    """

    weights: Array
    components: Sequence[Distribution]

    @abstractmethod
    def _made_of(self, weights: Array, components: Sequence[Distribution]) -> Self:
        """Give a mixture of the same kind."""

    # parameters

    def _check_parts(self) -> None:
        """Freeze the weights, and check that the components fit together."""
        if not self.components or not all(isinstance(c, Distribution) for c in self.components):
            raise TypeError("components must be distributions, at least one")
        widths = {c._width() for c in self.components} - {None}
        if len(widths) > 1:
            raise ValueError(f"components must have the same columns, but have {sorted(widths)}")  # type: ignore[type-var]
        if self.weights is not None:
            weights = self._freeze("weights", as_simplex(self.weights, type(self).__name__))
            if len(weights) != len(self.components):
                raise ValueError(f"{len(weights)} weights given for {len(self.components)} components")

    @property
    def is_fitted(self) -> bool:
        """Whether weights and components are."""
        return self.weights is not None and all(c.is_fitted for c in self.components)

    @property
    def discrete(self) -> tuple[bool, ...]:
        """Per column, whether probabilities are sums (True) or integrals (False)."""
        return self.components[0].discrete

    @property
    def support(self) -> Array:
        """Lowest and highest value of each column, (2, d)."""
        ends = np.array([c.support for c in self.components])
        return np.stack([ends[:, 0].min(axis=0), ends[:, 1].max(axis=0)])

    def _width(self) -> int | None:
        return next((c._width() for c in self.components if c._width() is not None), None)

    def _n_parameters(self) -> int:
        return len(self.weights) - 1 + sum(c.n_parameters for c in self.components)

    # evaluation

    def responsibilities(self, X: ArrayLike) -> Array:
        """(n, K) probability of each component for each row; the weights where every component gives 0."""
        joint = self._joint(as_rows(X, self._ready()._width()))
        top = joint.max(axis=1, keepdims=True)
        raised = np.where(np.isfinite(top), np.exp(joint - np.where(np.isfinite(top), top, 0.0)), self.weights)
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))

    def _joint(self, X: Array) -> Array:
        logs = np.stack([c.log_prob(X) for c in self.components], axis=1)
        return np.asarray(logs + special.xlogy(1.0, self.weights))

    def _log_prob(self, X: Array) -> Array:
        return np.asarray(np.logaddexp.reduce(self._joint(X), axis=1))

    def _mean(self) -> Array:
        return np.asarray(self.weights @ np.array([c.mean for c in self.components]))

    def _variance(self) -> Array:
        means = np.array([c.mean for c in self.components])
        inner = np.array([c.variance for c in self.components])
        return np.asarray(self.weights @ (inner + (means - self._mean()) ** 2))

    def _entropy(self) -> NoReturn:
        raise TypeError("a mixture has no entropy in closed form")

    def _cdf(self, X: Array) -> Array:
        return np.asarray(np.tensordot(self.weights, [c._cdf(X) for c in self.components], axes=1))

    def _quantile(self, q: Array, upper: bool = False) -> Array:
        level = 1 - q if upper else q
        ends = np.array([c._quantile(q, upper) for c in self.components])
        return bisected(self._cdf, ends.min(axis=0), ends.max(axis=0), level, np.array(self.discrete))

    def _marginal(self, columns: list[int]) -> Self:
        return self._made_of(self.weights, [c.marginal(columns) for c in self.components])

    def _conditional(self, columns: list[int], values: Array, rest: list[int]) -> Self:
        shares = self._marginal(columns).responsibilities(values[None])[0]
        return self._made_of(shares, [c.conditional(columns, values) for c in self.components])

    def _atoms(self) -> Array | None:
        each = [c._atoms() for c in self.components]
        return None if any(a is None for a in each) else np.unique(np.concatenate(each), axis=0)  # type: ignore[arg-type]

    # parameters without constraints

    def pack(self) -> Array:
        """Logits of the weights, then the components."""
        return np.concatenate([packed(self.weights, "simplex"), *(_family(c).pack() for c in self.components)])

    def unpack(self, reader: Reader) -> Self:
        """Weights and components."""
        weights = unpacked(reader, self.weights, "simplex")
        return self._made_of(weights, [_family(c).unpack(reader) for c in self.components])

    def directions(self) -> Directions:
        """Those of the weights, and of the components."""
        own = [_family(c).directions() for c in self.components]
        return Directions.joined([Directions.logits(self.weights), *own])

    def gradient(self, stats: Additive) -> Array:
        """By Fisher's identity: the statistics are expected under the same parameters."""
        weight, parts = self._taken_apart(stats)
        own = [_family(c).gradient(s) for c, s in zip(self.components, parts, strict=True)]
        return np.concatenate([logit_gradient(weight, self.weights), *own])

    @abstractmethod
    def _taken_apart(self, stats: Any) -> tuple[Array, Sequence[Additive]]:
        """Weights (K,) of the components, and the statistics of each."""

    # sampling

    def _sample(self, n: int, rng: np.random.Generator) -> Array:
        labels = rng.choice(len(self.weights), size=n, p=self.weights)
        out = np.empty((n, self.n_columns))
        for k, component in enumerate(self.components):
            out[labels == k] = component._sample(int((labels == k).sum()), rng)
        return out


@dataclass(frozen=True, eq=False)
class MixtureDistribution(BaseMixture):
    """Weighted mixture of distributions over the same columns.

    Statistics are expected ones, with responsibilities under the current parameters, so that a mixture learns
    as any family does: as a component of another mixture, as an emission, or by itself (`fit` repeats the
    step until it stands still, from a start that cuts the rows into as many parts as there are components).
    A prior is a pair: a `Dirichlet` of the weights, and a list of priors of the components (each may be None).

    Parameters
    ----------
    weights : (K,) summing to one; left out in a template
    components : K distributions or templates

    Examples
    --------
    >>> from latently.distributions import Gaussian
    >>> two = MixtureDistribution([0.25, 0.75], [Gaussian(0.0, 1.0), Gaussian(8.0, 1.0)])
    >>> two.mean, two.variance
    (array([6.]), array([13.]))
    >>> two.prob([8.0])
    array([0.299])
    >>> two.quantile(0.25)
    array([3.87])
    """

    weights: Array = UNSET
    components: Sequence[Distribution] = ()

    PARAMETERS: ClassVar[tuple[str, ...]] = ("weights",)

    # parameters

    def __post_init__(self) -> None:
        """Freeze the weights, and check that the components fit together."""
        object.__setattr__(self, "components", tuple(self.components))
        self._check_parts()

    def _made_of(self, weights: Array, components: Sequence[Distribution]) -> Self:
        return replace(self, weights=weights, components=components)

    # statistics

    def _taken_apart(self, stats: Any) -> tuple[Array, Sequence[Additive]]:
        return stats.weight, stats.components.parts

    def statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> MixtureStatistics:
        """Expected statistics: those of the components, weighted by responsibilities."""
        rows = as_rows(X, self._ready()._width())
        shares = self.responsibilities(rows) * as_weights(weights, len(rows))[:, None]
        return self._sums(rows, shares)

    def expected_statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> MixtureStatistics:
        """Do the same: the component is a missing value of every row."""
        return self.statistics(X, weights)

    def _sums(self, rows: Array, shares: Array) -> MixtureStatistics:
        pairs = zip(self.components, shares.T, strict=True)
        return MixtureStatistics(
            shares.sum(axis=0), Parts(tuple(_family(c).expected_statistics(rows, r) for c, r in pairs))
        )

    # evaluation

    def _mode(self) -> NoReturn:
        raise TypeError("a mixture has no mode in closed form")

    # fit

    def from_statistics(self, stats: Additive, prior: Any = None) -> Self:
        """Weights and components that are best for these statistics; a component without weight stays."""
        if not isinstance(stats, MixtureStatistics) or len(stats.weight) != len(self.components):
            raise TypeError(f"a mixture of {len(self.components)} components cannot read these statistics")
        on_weights, priors = self._priors(prior)
        counts = no_negative(stats.weight, "weights")
        if counts.sum() <= 0:
            raise ValueError("the mixture has no observed rows (or no weight)")
        mass = counts if on_weights is None else on_weights.posterior(Sums(counts)).concentration - 1
        triples = zip(self.components, stats.components.parts, priors, counts, strict=True)
        fitted = [_family(c).from_statistics(s, p) if w > 0 else c for c, s, p, w in triples]
        return replace(self, weights=mass / mass.sum(), components=fitted)

    def _priors(self, prior: Any) -> tuple[Dirichlet | None, Sequence[Any]]:
        if prior is None:
            return None, [None] * len(self.components)
        if not isinstance(prior, tuple) or len(prior) != 2:
            raise TypeError("the prior of a mixture is a pair: of the weights, and a list of the components'")
        on_weights, priors = prior
        return on_weights, [None] * len(self.components) if priors is None else priors

    def fit(self, X: ArrayLike, weights: ArrayLike | None = None, prior: Any = None) -> Self:
        """Fit by EM, from the parameters there are, or from rows cut into parts of equal size.

        Components that are not families stay as they are.
        """
        rows = as_rows(X, self._width())
        w = as_weights(weights, len(rows))
        current = self if self.is_fitted else self._start(rows, w, prior)
        before = -np.inf
        for _ in range(MAX_ITER):
            now = float(w @ current._log_prob(rows))
            if now - before <= TOL * (abs(now) + w.sum()):
                break
            before, current = now, current.from_statistics(current.statistics(rows, w), prior)
        return current

    def _start(self, rows: Array, w: Array, prior: Any) -> Self:
        K = len(self.components)
        whole = [c if c.is_fitted else _family(c).fit(rows, w) for c in self.components]
        values = np.where(np.isnan(rows), np.nanmean(rows, axis=0), rows)
        sd = values.std(axis=0)
        line = ((values - values.mean(axis=0)) / np.where(sd > 0, sd, 1.0)).sum(axis=1)
        part = np.argsort(np.argsort(line, kind="stable"), kind="stable") * K // len(rows)
        pooled = replace(self, weights=np.full(K, 1 / K), components=whole)
        return pooled.from_statistics(pooled._sums(rows, np.eye(K)[part] * w[:, None]), prior)


def _family(component: Distribution) -> Family:
    if not isinstance(component, Family):
        raise TypeError(f"{type(component).__name__} does not learn from data: it cannot be fitted in a mixture")
    return component
