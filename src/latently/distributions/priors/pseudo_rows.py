"""A prior for any family: as if some rows had been seen before."""

from dataclasses import dataclass
from typing import Any, Self, TypeVar

from numpy.typing import ArrayLike

from latently.distributions.base import Distribution
from latently.distributions.statistics import Additive


@dataclass(frozen=True, eq=False)
class PseudoRows:
    """A prior proportional to the likelihood of pseudo-rows: what families without a conjugate prior take.

    A fit under it is the fit to the rows and the pseudo-rows together; weights say how many rows those are worth. It
    has no normalising constant, so objectives that hold it are up to a constant.

    Parameters
    ----------
    statistics
        Statistics of the pseudo-rows; `PseudoRows.of` makes them from rows.

    Examples
    --------
    >>> from latently.distributions import VonMises
    >>> north = PseudoRows.of(VonMises(), [-0.5, 0.5], weights=[0.5, 0.5])  # worth one angle, about 0
    >>> VonMises().fit([0.3], prior=north).direction  # a single angle alone has no best concentration
    array([0.16])
    """

    statistics: Additive

    @classmethod
    def of(cls, family: Any, X: ArrayLike, weights: ArrayLike | None = None) -> Self:
        """Pseudo-rows X (n, d) of a family, with weights (n,)."""
        return cls(family.statistics(X, weights))


S = TypeVar("S", bound=Additive)


def with_pseudo_rows(stats: S, prior: Any, who: Distribution) -> S:
    """Statistics of rows and pseudo-rows together."""
    if prior is None:
        return stats
    if not isinstance(prior, PseudoRows):
        raise TypeError(f"the prior of {type(who).__name__} must be PseudoRows, not {type(prior).__name__}")
    return stats + prior.statistics  # type: ignore[operator]
