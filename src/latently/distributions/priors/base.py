"""Priors: distributions over the parameters of a family."""

from abc import abstractmethod
from typing import Any, Self, TypeVar

from latently.distributions.base import Distribution
from latently.distributions.statistics import Additive

PER_STRENGTH = 0.01
"""Rows that the default prior of a spread is worth, per row of strength: the spread inside clusters is measured before
they are known, and may be wider than that of a component."""


class Prior(Distribution):
    """A distribution over the parameters of a family, conjugate to it.

    Data, by their statistics, turn it into another of its own kind: the posterior, whose mode is what
    ``family.from_statistics(stats, prior)`` returns (MAP).
    """

    @abstractmethod
    def posterior(self, stats: Additive) -> Self:
        """Distribution over the parameters once the data behind these statistics are seen."""

    @abstractmethod
    def log_marginal(self, stats: Additive) -> float:
        """Log probability of the data behind these statistics, the parameters integrated out."""


P = TypeVar("P", bound=Prior)


def as_prior(prior: Any, kind: type[P], who: Distribution) -> P:
    """Give back a prior of the conjugate kind, or say which kind that is."""
    if not isinstance(prior, kind):
        raise TypeError(f"the prior of {type(who).__name__} must be {kind.__name__}, not {type(prior).__name__}")
    return prior
