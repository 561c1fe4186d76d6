"""Constructor parameters: listed once, and checked when a method that learns is called."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar, dataclass_transform

from sklearn.utils._param_validation import Interval

Class = TypeVar("Class")
P = ParamSpec("P")
Result = TypeVar("Result")

# of estimators of components that are fitted by iteration
COMPONENT_CONSTRAINTS: dict[str, Any] = {
    "n_components": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0.0, None, closed="left")],
    "max_iter": [Interval(Integral, 0, None, closed="left")],
    "n_init": [Interval(Integral, 1, None, closed="left")],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}


@dataclass_transform(eq_default=False)
def stores_parameters(cls: type[Class]) -> type[Class]:
    """Give a class the constructor that scikit-learn asks for: annotated parameters in their order, stored as given.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> @stores_parameters
    ... class Shift(BaseEstimator):
    ...     by: float = 1.0
    >>> Shift(by=2.0), Shift().get_params()
    (Shift(by=2.0), {'by': 1.0})
    """
    return dataclass(eq=False, repr=False)(cls)


def checked(method: Callable[P, Result]) -> Callable[P, Result]:
    """Check the parameters of an estimator by its `_parameter_constraints` before a method is called.

    The constraints and the errors are scikit-learn's; they are prepared once for a class, not at every call.

    Examples
    --------
    >>> from sklearn.utils._param_validation import StrOptions
    >>> class Model:
    ...     _parameter_constraints = {"kind": [StrOptions({"wide", "narrow"})]}
    ...     kind = "wide"
    ...     fit = checked(lambda self: "fitted")
    >>> Model().fit()
    'fitted'
    """

    @functools.wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> Result:
        check_parameters(args[0])
        return method(*args, **kwargs)

    return call


def check_parameters(estimator: Any) -> None:
    """An error if a parameter of an estimator is not what its constraints allow."""
    for name, constraints in _constraints(type(estimator)):  # type: ignore[arg-type]
        value = getattr(estimator, name)
        if not any(constraint.is_satisfied_by(value) for constraint in constraints):
            from sklearn import get_config

            if not get_config()["skip_parameter_validation"]:
                estimator._validate_params()


@functools.cache
def _constraints(kind: type) -> list[tuple[str, list[Any]]]:
    from sklearn.utils._param_validation import make_constraint

    given: dict[str, Any] = kind._parameter_constraints  # type: ignore[attr-defined]
    return [
        (name, [make_constraint(one) for one in allowed])
        for name, allowed in given.items()
        if allowed != "no_validation"
    ]
