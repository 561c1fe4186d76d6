"""Constructor parameters: declared once, with what they may be, and checked when a method that learns is called."""

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, dataclass_transform, get_args, get_origin

from sklearn.utils._param_validation import Interval, StrOptions

Class = TypeVar("Class")
P = ParamSpec("P")
Result = TypeVar("Result")

COUNT = Interval(Integral, 1, None, closed="left")
NON_NEGATIVE = Interval(Real, 0.0, None, closed="left")
CHOICES = object()
"""One of the words that the type of a parameter lists."""

Flag = Annotated[bool, "boolean"]
Count = Annotated[int, COUNT]
Whole = Annotated[int, Interval(Integral, 0, None, closed="left")]
Seed = Annotated[Any, "random_state"]
Verbose = Annotated[int, "verbose"]

# of estimators of components that are fitted by iteration
COMPONENT_CONSTRAINTS: dict[str, Any] = {
    "n_components": [COUNT],
    "tol": [NON_NEGATIVE],
    "max_iter": [Interval(Integral, 0, None, closed="left")],
    "n_init": [COUNT],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}


@dataclass_transform(eq_default=False)
def stores_parameters(cls: type[Class]) -> type[Class]:
    """Give a class the constructor that scikit-learn asks for: annotated parameters in their order, stored as given.

    What `Annotated` adds to a type are constraints as scikit-learn writes them. With those of the bases they are the
    class's `_parameter_constraints`, which `checked` methods look at.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> @stores_parameters
    ... class Shift(BaseEstimator):
    ...     by: Annotated[float, NON_NEGATIVE] = 1.0
    ...     edge: Annotated[Literal["wrap", "drop"] | None, CHOICES, None] = None
    >>> Shift(by=2.0), Shift().get_params()
    (Shift(by=2.0), {'by': 1.0, 'edge': None})
    >>> str(Shift._parameter_constraints["by"][0]), inspect.signature(Shift).parameters["by"].annotation
    ('a float in the range [0.0, inf)', <class 'float'>)
    """
    kinds = inspect.get_annotations(cls)
    limited = {name: kind for name, kind in kinds.items() if hasattr(kind, "__metadata__")}
    if limited:
        cls.__annotations__ = kinds | {name: kind.__origin__ for name, kind in limited.items()}
        inherited: dict[str, list[Any]] = getattr(cls, "_parameter_constraints", {})
        own = {name: list(_allowed(kind)) for name, kind in limited.items()}
        cls._parameter_constraints = {**inherited, **own}  # type: ignore[attr-defined]
    return dataclass(eq=False, repr=False)(cls)


def _allowed(kind: Any) -> Iterator[Any]:
    """Constraints of an annotated type."""
    for said in kind.__metadata__:
        yield StrOptions(set(_words(kind.__origin__))) if said is CHOICES else said


def _words(kind: Any) -> Iterator[str]:
    """The words of a type, or of the members of a union."""
    if get_origin(kind) is Literal:
        yield from get_args(kind)
    else:
        for member in get_args(kind):
            yield from _words(member)


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
