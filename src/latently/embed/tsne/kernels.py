"""Similarities in the map as functions of the squared distance."""

from dataclasses import dataclass

import numpy as np

from latently.geometry.distances import Array


@dataclass(frozen=True)
class Student:
    """(1 + s / freedom)^(-(freedom + 1) / 2) of a squared distance s: Student's t without its normalisation.

    Examples
    --------
    >>> Student(1.0).value(np.array([0.0, 1.0, 3.0]))
    array([1.  , 0.5 , 0.25])
    """

    freedom: float = 1.0

    @property
    def factor(self) -> float:
        """Twice the derivative of -log value with s is factor * force."""
        return (self.freedom + 1) / self.freedom

    def value(self, squares: Array) -> Array:
        """The similarity."""
        if self.freedom == 1:
            return np.asarray(1.0 / (1.0 + squares))
        return np.asarray((1.0 + squares / self.freedom) ** (-(self.freedom + 1) / 2))

    def force(self, squares: Array) -> Array:
        """By what p_ij (y_i - y_j) is multiplied in the gradient."""
        return np.asarray(1.0 / (1.0 + squares / self.freedom))

    def minus_log(self, squares: Array) -> Array:
        """Minus the logarithm of the similarity."""
        return np.asarray(0.5 * (self.freedom + 1) * np.log1p(squares / self.freedom))


@dataclass(frozen=True)
class Gaussian:
    """exp(-s) of a squared distance s.

    Examples
    --------
    >>> Gaussian().value(np.array([0.0, 1.0]))
    array([1.   , 0.368])
    """

    factor = 2.0

    def value(self, squares: Array) -> Array:
        """The similarity."""
        return np.asarray(np.exp(-squares))

    def force(self, squares: Array) -> Array:
        """By what p_ij (y_i - y_j) is multiplied in the gradient."""
        return np.ones_like(squares)

    def minus_log(self, squares: Array) -> Array:
        """Minus the logarithm of the similarity."""
        return squares
