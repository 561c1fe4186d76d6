"""Kernels: how alike two things are, as an inner product."""

from latently.kernel.base import Kernel
from latently.kernel.combine import Product, Scaled, Sum
from latently.kernel.fisher import FisherKernel
from latently.kernel.graphs import DiffusionKernel
from latently.kernel.strings import NGramKernel, SubsequenceKernel
from latently.kernel.trees import TreeKernel
from latently.kernel.vector import RBF, Laplace, Linear, Polynomial

__all__ = [
    "RBF", "DiffusionKernel", "FisherKernel", "Kernel", "Laplace", "Linear", "NGramKernel", "Polynomial", "Product",
    "Scaled", "SubsequenceKernel", "Sum", "TreeKernel",
]  # fmt: skip
