"""Fits of a single distribution that need several passes: rows with missing values in them."""

import warnings
from collections.abc import Callable
from typing import TypeVar

from latently.distributions.family import Family

F = TypeVar("F", bound=Family)


def until_still(
    start: F,
    step: Callable[[F], F],
    distance: Callable[[F, F], float],
    tol: float = 1e-11,
    max_iter: int = 10_000,
) -> F:
    """Repeat a step until it moves the parameters by no more than `tol`; warn if it never comes to rest.

    Examples
    --------
    >>> from latently.distributions import Poisson
    >>> halfway = lambda p: Poisson((p.rate + 2.0) / 2)
    >>> until_still(Poisson(10.0), halfway, lambda a, b: float(abs(b.rate - a.rate)[0])).rate
    array([2.])
    """
    current = start
    for _ in range(max_iter):
        previous, current = current, step(current)
        if distance(previous, current) <= tol:
            return current
    warnings.warn(f"the fit still moves after {max_iter} steps: too much is missing", RuntimeWarning, stacklevel=3)
    return current
