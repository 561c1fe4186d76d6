"""A mixture as a single distribution: what a state emits when one family is not enough."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from latently.distributions import Additive, ColumnError, Distribution, Family, Parts, Sums
from latently.distributions.base import UNSET
from latently.distributions.families.mixture import BaseMixture
from latently.distributions.floor import Floor
from latently.distributions.inputs import as_rows, as_weights
from latently.sequence.emissions.start import clusters
from latently.sequence.inference.chain import Array


@dataclass(frozen=True, eq=False)
class MixtureOf(BaseMixture):
    """Mixture of distributions of any families, as a distribution.

    `fit` is a start (a clustering), to be improved by the iterations of the model around it.

    Parameters
    ----------
    parts : distributions, or templates of them
    weights : (M,) summing to one

    Examples
    --------
    >>> from latently.distributions import Gaussian
    >>> pair = MixtureOf((Gaussian(0.0, 1.0), Gaussian(10.0, 1.0)), [0.5, 0.5])
    >>> pair.mean, pair.variance
    (array([5.]), array([26.]))
    """

    parts: tuple[Family, ...]
    weights: Array = UNSET

    PARAMETERS: ClassVar[tuple[str, ...]] = ("weights",)

    # parameters

    def __post_init__(self) -> None:
        """Freeze the weights, and check that the parts fit together."""
        object.__setattr__(self, "parts", tuple(self.parts))
        self._check_parts()

    @property
    def components(self) -> tuple[Family, ...]:  # type: ignore[override]
        """The parts, by the name that mixtures among the distributions have for them."""
        return self.parts

    def _made_of(self, weights: Array, components: Sequence[Distribution]) -> Self:
        parts: Any = tuple(components)  # of our own parts, which are families
        return replace(self, parts=parts, weights=weights)

    # evaluation

    def _mode(self) -> Array:
        peaks = np.array([part.mode for part in self.parts])
        return np.asarray(peaks[np.argmax(self._log_prob(peaks))])

    # statistics

    def _taken_apart(self, stats: Any) -> tuple[Array, Sequence[Additive]]:
        return stats.parts[0].total, stats.parts[1:]

    def statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> Parts:
        """Expected statistics, since which part a row comes from is not known."""
        return self.expected_statistics(X, weights)

    def expected_statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> Parts:
        """Statistics of the parts, each row shared among them."""
        rows = as_rows(X, self._ready()._width())
        shares = self.responsibilities(rows) * as_weights(weights, len(rows))[:, None]
        own = [part.expected_statistics(rows, w) for part, w in zip(self.parts, shares.T, strict=True)]
        return Parts((Sums(shares.sum(axis=0)), *own))

    # fit

    def from_statistics(self, stats: Additive, prior: Any = None) -> Self:
        """Weights and parts; a part without rows, or that has come down to a point, stays as it is."""
        if not isinstance(stats, Parts):
            raise TypeError(f"a mixture reads the statistics of its parts, not {type(stats).__name__}")
        return self.refitted(stats, lambda part, own: part.from_statistics(own, prior))

    def fit_above(self, stats: Additive, prior: Any, floor: Floor | None) -> Self:
        """Weights, and parts above the floor."""
        return self.refitted(stats, lambda part, own: part.fit_above(own, prior, floor))

    def is_on_floor(self, floor: Floor) -> bool:
        """Whether a part is."""
        return any(part.is_on_floor(floor) for part in self.parts)

    def refitted(self, stats: Any, fit: Callable[[Any, Additive], Any]) -> Self:
        """The same with weights and parts of statistics, where `fit` makes a part of its own."""
        counts = np.asarray(stats.parts[0].total)
        parts = []
        for part, own, count in zip(self.parts, stats.parts[1:], counts, strict=True):
            try:
                parts.append(fit(part, own) if count > 1e-8 * counts.sum() else part)
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
