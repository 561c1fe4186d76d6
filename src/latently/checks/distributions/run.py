"""Which laws bind a distribution, and whether it keeps them."""

from collections.abc import Callable
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from latently.checks.distributions import learning, probability  # noqa: F401  (each enters its laws)
from latently.checks.distributions.case import LAWS, DistributionCase
from latently.checks.run import kept_laws
from latently.distributions import Distribution


def check_distribution(
    distribution: Any, X: ArrayLike | None = None, expected_failed_checks: dict[str, str] | None = None
) -> list[str]:
    """Check a distribution, or a family that learns from data, against every law that binds it.

    Parameters
    ----------
    distribution
        With parameters; or a template, which is fitted to X first. It is never changed.
    X
        Rows that suit a template.
    expected_failed_checks
        Laws that it is known to break, each with the reason. If it keeps one of them, that is an error too.

    Returns
    -------
    list
        Names of the laws it was found to keep.

    Raises
    ------
    AssertionError
        If it breaks a law; the message lists all that are broken.
    TypeError
        If it is no distribution, or lacks methods that every one must have; the message names them.

    Examples
    --------
    >>> from latently.distributions import Gamma
    >>> kept = check_distribution(Gamma(2.0, 3.0))
    >>> "law_fit_maximises_the_likelihood" in kept
    True
    """
    return kept_laws(distribution, distribution_checks(distribution, X), expected_failed_checks or {})


def distribution_checks(distribution: Any, X: ArrayLike | None = None) -> list[tuple[str, Callable[[], None]]]:
    """Give the laws that bind a distribution, by name, as functions to call: one test for each.

    Parameters
    ----------
    distribution
        With parameters; or a template, which is fitted to X first.
    X
        Rows that suit a template.

    Examples
    --------
    >>> from latently.distributions import Poisson
    >>> checks = dict(distribution_checks(Poisson(), X=[0, 1, 4]))
    >>> checks["law_density_sums_to_one"]()
    """
    case = DistributionCase(_ready(distribution, X))
    return [(law.name, partial(law.check, case)) for law in LAWS if law.binds(case)]


def _ready(distribution: Any, X: ArrayLike | None) -> Distribution:
    cls = distribution if isinstance(distribution, type) else type(distribution)
    if not issubclass(cls, Distribution):
        raise TypeError(
            f"{cls.__name__} is no distribution: derive it from latently.distributions.Family (or ExponentialFamily)"
        )
    lacking = sorted(getattr(cls, "__abstractmethods__", ()))
    if lacking:
        raise TypeError(f"{cls.__name__} lacks {', '.join(lacking)}: write them, see latently.distributions.base")
    made = distribution() if isinstance(distribution, type) else distribution
    if made.is_fitted:
        return made  # type: ignore[no-any-return]
    if X is None:
        raise ValueError(f"{made} is a template: give it parameters, or rows X to fit it to")
    return made.fit(X)  # type: ignore[no-any-return]
