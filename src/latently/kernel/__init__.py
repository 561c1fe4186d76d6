"""Kernels: how alike two things are, as an inner product."""

from latently.kernel.base import Kernel
from latently.kernel.combine import Product, Scaled, Sum
from latently.kernel.vector import RBF, Laplace, Linear, Polynomial

__all__ = ["RBF", "Kernel", "Laplace", "Linear", "Polynomial", "Product", "Scaled", "Sum"]
