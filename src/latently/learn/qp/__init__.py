"""Quadratic programmes of support vector methods."""

from latently.learn.qp.gram import Gram, MatrixGram
from latently.learn.qp.smo import Solution, minimise

__all__ = ["Gram", "MatrixGram", "Solution", "minimise"]
