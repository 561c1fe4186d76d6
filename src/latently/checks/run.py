"""Which laws bind an estimator, and whether it keeps them."""

from collections.abc import Callable
from functools import partial
from typing import Any
from unittest import SkipTest

from latently.checks import arithmetic, fitting, inputs, probability  # noqa: F401  (each enters its laws)
from latently.checks.case import Case
from latently.checks.law import LAWS


def estimator_checks(estimator: Any) -> list[tuple[str, Callable[[], None]]]:
    """Give the laws that bind an estimator, by name, as functions to call.

    Parameters
    ----------
    estimator
        An instance; it is cloned and never touched.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> checks = dict(estimator_checks(GaussianNB()))
    >>> checks["law_probabilities_sum_to_one"]()

    In a test file:

    >>> import pytest
    >>> @pytest.mark.parametrize(("name", "check"), estimator_checks(GaussianNB()))
    ... def test_laws(name, check):
    ...     check()
    """
    case = Case(estimator)
    return [(law.name, partial(law.check, case)) for law in LAWS if law.binds(case)]


def check_estimator(estimator: Any, expected_failed_checks: dict[str, str] | None = None) -> list[str]:
    """Check an estimator against every law that binds it.

    Parameters
    ----------
    estimator
        An instance; it is cloned and never touched.
    expected_failed_checks
        Laws that it is known to break, each with the reason; what its method `_expected_failed_checks` says,
        if None. If it keeps one of them, that is an error too.

    Returns
    -------
    list
        Names of the laws it was found to keep.

    Raises
    ------
    AssertionError
        If it breaks a law; the message lists all that are broken.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> check_estimator(GaussianNB())
    Traceback (most recent call last):
    AssertionError: GaussianNB() breaks ... laws:
    law_missing_values_are_handled_or_named: AssertionError: the error does not name the culprit ...
    """
    expected = expected_failures(estimator) if expected_failed_checks is None else expected_failed_checks
    return kept_laws(estimator, estimator_checks(estimator), expected)


def kept_laws(who: Any, checks: list[tuple[str, Callable[[], None]]], expected: dict[str, str]) -> list[str]:
    """Run checks; give the names of those that pass, or an AssertionError that lists all that do not."""
    outcomes = {name: _outcome(check) for name, check in checks}
    broken = {name: text for name, text in outcomes.items() if text and name not in expected}
    for name in expected:
        if outcomes.get(name, "") is None:
            broken[name] = "is kept, although it is listed as expected to fail"
    if broken:
        lines = "".join(f"\n{name}: {text}" for name, text in broken.items())
        raise AssertionError(f"{who} breaks {len(broken)} laws:{lines}")
    return [name for name, text in outcomes.items() if text is None]


def expected_failures(estimator: Any) -> dict[str, str]:
    """Give the checks, ours and scikit-learn's, that an estimator says it fails, each with the reason.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> expected_failures(GaussianNB())
    {}
    """
    hook = getattr(estimator, "_expected_failed_checks", dict)
    return dict(hook())


def _outcome(check: Callable[[], None]) -> str | None:
    """None if a law is kept, empty if it could not be tried, else how it is broken."""
    try:
        check()
    except SkipTest:
        return ""
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"
    return None
