"""Laws: functions whose docstrings state them and which fail if they are broken; and whom they bind."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from latently.checks.case import Case


@dataclass(frozen=True)
class Law:
    """A law that estimators, or distributions, keep.

    Parameters
    ----------
    check
        Raises AssertionError if the estimator (or distribution) of a case breaks the law; its docstring states the law.
    binds
        Whether the law says anything about that of a case.
    """

    check: Callable[[Any], None]
    binds: Callable[[Any], bool]

    @property
    def name(self) -> str:
        """Name of the law, as it is listed and reported."""
        return self.check.__name__

    @property
    def text(self) -> str:
        """What the law says."""
        return (self.check.__doc__ or "").strip()


LAWS: list[Law] = []


def law(
    *verbs: str, when: Callable[[Case], bool] = lambda case: True
) -> Callable[[Callable[[Case], None]], Callable[[Case], None]]:
    """Enter a function in the list of laws; it binds estimators that have all of these methods.

    Parameters
    ----------
    verbs
        Methods that the law is about.
    when
        Further condition.
    """

    def enter(check: Callable[[Case], None]) -> Callable[[Case], None]:
        LAWS.append(Law(check, lambda case: case.has(*verbs) and when(case)))
        return check

    return enter
