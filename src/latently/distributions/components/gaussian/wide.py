"""Gaussian mixtures of many columns: log densities by triangular products, moments by symmetric ones.

A whitened row U' z of an upper triangular root U takes only the first coordinates in its first columns, so the columns
are taken in bands, those of all components side by side. What BLAS knows to be symmetric it computes once.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.inputs import Array
from latently.learn.estimator.memberships import posterior

# From so many columns on, products of BLAS are faster than kernels that leave components out.
WIDE = 48
# Bands of columns: more of them save multiplications, and are narrower.
_BANDS = 4
_BLOCK = 512
