"""Parameters of an estimator, listed once."""

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

Class = TypeVar("Class")


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
