"""A mixture as a single distribution: what a state emits when one family is not enough."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from tacit.distributions import Additive, ColumnError, Family, Parts, Sums
from tacit.distributions.base import UNSET
from tacit.distributions.inputs import as_rows, as_weights
from tacit.distributions.mixture import bisected
from tacit.sequence.chain import Array
from tacit.sequence.start import clusters


@dataclass(frozen=True, eq=False)
class MixtureOf(Family):
    """Mixture of distributions of any families, as a distribution.

    `fit` is a start (a clustering), to be improved by the iterations of the model around it.

    Parameters
    ----------
    parts : distributions, or templates of them
    weights : (M,) summing to one

    Examples
    --------
    >>> from tacit.distributions import Gaussian
    >>> pair = MixtureOf((Gaussian(0.0, 1.0), Gaussian(10.0, 1.0)), [0.5, 0.5])
    >>> pair.mean, pair.variance
    (array([5.]), array([26.]))
    """

    parts: tuple[Family, ...]
    weights: Array = UNSET

    PARAMETERS: ClassVar[tuple[str, ...]] = ("weights",)

    # parameters

    def __post_init__(self) -> None:
        """Check that the weights are probabilities."""
        object.__setattr__(self, "parts", tuple(self.parts))
        if self.weights is not None:
            weights = self._freeze("weights", self.weights)
            if weights.shape != (len(self.parts),) or (weights < 0).any() or abs(weights.sum() - 1) > 1e-8:
                raise ValueError(f"weights must be {len(self.parts)} probabilities that sum to 1, got {weights}")

    @property
    def is_fitted(self) -> bool:
        """Whether weights and parts are there."""
        return self.weights is not None and all(part.is_fitted for part in self.parts)

    def _width(self) -> int | None:
        return self.parts[0]._width()

    def _n_parameters(self) -> int:
        return len(self.parts) - 1 + sum(part.n_parameters for part in self.parts)

    # evaluation

    def _joint(self, X: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.column_stack([part.log_prob(X) for part in self.parts]) + np.log(self.weights)

    def _log_prob(self, X: Array) -> Array:
        return np.asarray(special.logsumexp(self._joint(X), axis=1))

    def _mean(self) -> Array:
        return np.asarray(self.weights @ np.array([part.mean for part in self.parts]))

    def _variance(self) -> Array:
        means = np.array([part.mean for part in self.parts])
        within = np.array([part.variance for part in self.parts])
        return np.asarray(self.weights @ (within + means**2) - self._mean() ** 2)

    def _cdf(self, X: Array) -> Array:
        return np.asarray(np.tensordot(self.weights, [part._cdf(X) for part in self.parts], axes=1))

    def _quantile(self, q: Array, upper: bool = False) -> Array:
        ends = np.array([part._quantile(q, upper) for part in self.parts])
        level = 1 - q if upper else q
        return bisected(self._cdf, ends.min(axis=0), ends.max(axis=0), level, np.array(self.parts[0].discrete))

    def _mode(self) -> Array:
        peaks = np.array([part.mode for part in self.parts])
        return np.asarray(peaks[np.argmax(self._log_prob(peaks))])

    def _entropy(self) -> float:
        raise TypeError("the entropy of a mixture has no closed form")

    def _marginal(self, columns: list[int]) -> "MixtureOf":
        return MixtureOf(tuple(part.marginal(columns) for part in self.parts), self.weights)  # type: ignore[arg-type]

    def _conditional(self, columns: list[int], values: Array, rest: list[int]) -> "MixtureOf":
        with np.errstate(divide="ignore"):
            logs = np.log(self.weights) + [part.marginal(columns).log_prob(values[None])[0] for part in self.parts]
        parts = tuple(part.conditional(columns, values) for part in self.parts)
        return MixtureOf(parts, special.softmax(logs))  # type: ignore[arg-type]

    # sampling

    def _sample(self, n: int, rng: np.random.Generator) -> Array:
        counts = rng.multinomial(n, self.weights)
        rows = np.concatenate([p.sample(int(c), rng) for p, c in zip(self.parts, counts, strict=True)])
        return np.asarray(rng.permutation(rows))

    # statistics

    def statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> Parts:
        """Expected statistics, since which part a row comes from is not known."""
        return self.expected_statistics(X, weights)

    def expected_statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> Parts:
        """Statistics of the parts, each row shared among them."""
        rows = as_rows(X, self._ready()._width())
        shares = special.softmax(self._joint(rows), axis=1) * as_weights(weights, len(rows))[:, None]
        own = [part.expected_statistics(rows, w) for part, w in zip(self.parts, shares.T, strict=True)]
        return Parts((Sums(shares.sum(axis=0)), *own))

    # fit

    def from_statistics(self, stats: Additive, prior: Any = None) -> Self:
        """Weights and parts; a part without rows, or that has come down to a point, stays as it is."""
        if not isinstance(stats, Parts):
            raise TypeError(f"a mixture reads the statistics of its parts, not {type(stats).__name__}")
        counts = np.asarray(stats.parts[0].total)  # type: ignore[attr-defined]
        parts = []
        for part, own, count in zip(self.parts, stats.parts[1:], counts, strict=True):
            try:
                parts.append(part.from_statistics(own, prior) if count > 1e-8 * counts.sum() else part)
            except ColumnError:
                parts.append(part)
        return replace(self, parts=tuple(parts), weights=counts / counts.sum())

    def fit(self, X: ArrayLike, weights: ArrayLike | None = None, prior: Any = None) -> Self:
        """Start from a clustering of the rows."""
        rows = as_rows(X, self._width())
        if weights is not None:
            rows = rows[as_weights(weights, len(rows)) > 0]
        M = len(self.parts)
        _, labels, used = clusters(rows, M, np.random.RandomState(0))
        whole = [part.fit(used, prior=prior) for part in self.parts]
        shares = 0.9 * np.eye(M)[labels] + 0.1 / M
        parts = []
        for m, part in enumerate(whole):
            try:
                parts.append(part.from_statistics(part.expected_statistics(used, shares[:, m]), prior))
            except ColumnError:
                parts.append(part)
        return replace(self, parts=tuple(parts), weights=shares.mean(axis=0))
