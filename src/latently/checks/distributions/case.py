"""What a law of distributions works on: a distribution with parameters, and rows drawn from it."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any
from unittest import SkipTest

import numpy as np

from latently.checks.law import Law
from latently.distributions import Distribution, ExponentialFamily, Family
from latently.distributions.inputs import Array

LAWS: list[Law] = []
"""The laws of distributions, in the order of their files."""

DRAWS = 4000
"""Rows where draws are compared with what they are drawn from."""
ERRORS = 5.0
"""Standard errors that chance is allowed: one seed in a million is beyond them."""


class DistributionCase:
    """A distribution under examination.

    Parameters
    ----------
    distribution
        With parameters; it is never changed.

    Examples
    --------
    >>> from latently.distributions import Poisson
    >>> case = DistributionCase(Poisson([2.0, 5.0]))
    >>> case.rows.shape, case.learns, case.has_features, [single.n_columns for single in case.columns()]
    ((200, 2), True, True, [1, 1])
    """

    def __init__(self, distribution: Any) -> None:
        self.known = distribution

    @cached_property
    def rows(self) -> Array:
        """(200, d) rows."""
        return np.asarray(self.known.sample(200, random_state=0))

    @cached_property
    def draws(self) -> Array:
        """(DRAWS, d) rows."""
        return np.asarray(self.known.sample(DRAWS, random_state=1))

    @property
    def learns(self) -> bool:
        """Whether it is a family that can be fitted."""
        return isinstance(self.known, Family)

    @property
    def has_features(self) -> bool:
        """Whether its log density is linear in features."""
        return isinstance(self.known, ExponentialFamily) and self.known.has_features

    def columns(self) -> Iterator[Distribution]:
        """Give the distribution of each column by itself; nothing more from where there is none of its kind."""
        if self.known.n_columns == 1:
            yield self.known
            return
        for c in range(self.known.n_columns):
            try:
                yield self.known.marginal(c)
            except TypeError:
                return

    def singles(self) -> list[tuple[Distribution, Array]]:
        """Give each column's distribution and its draws, (DRAWS,)."""
        return [(single, self.draws[:, c]) for c, single in enumerate(self.columns())]


def law(
    when: Callable[[DistributionCase], bool] = lambda case: True,
) -> Callable[[Callable[[DistributionCase], None]], Callable[[DistributionCase], None]]:
    """Enter a function in the list of laws; `when` says whom it binds."""

    def enter(check: Callable[[DistributionCase], None]) -> Callable[[DistributionCase], None]:
        LAWS.append(Law(check, when))
        return check

    return enter


def offered(ask: Callable[..., Any], *args: Any) -> Any:
    """Ask for what a distribution may lack (a cdf, say); the law is left out if it does."""
    try:
        return ask(*args)
    except TypeError as problem:
        raise SkipTest(str(problem)) from None


def assert_near(found: Any, expected: Any, what: str, rtol: float = 1e-8, atol: float = 1e-10) -> None:
    """Fail unless two arrays are the same up to rounding."""
    a, b = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert a.shape == b.shape, f"{what}: shapes {a.shape} and {b.shape}"
    same = np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
    assert same.all(), f"{what}: {a[~same].flat[0]!r} against {b[~same].flat[0]!r}"
