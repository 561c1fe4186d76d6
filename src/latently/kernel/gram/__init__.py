"""Gram matrices: centring, leading eigenvectors, and approximations of low rank."""

from latently.kernel.gram.centring import Centring, centred
from latently.kernel.gram.cholesky import IncompleteCholesky, incomplete_cholesky
from latently.kernel.gram.eigen import Spectrum, leading, negative_share, warn_indefinite
from latently.kernel.gram.nystroem import Nystroem, nystroem

__all__ = [
    "Centring", "IncompleteCholesky", "Nystroem", "Spectrum", "centred", "incomplete_cholesky", "leading",
    "negative_share", "nystroem", "warn_indefinite",
]  # fmt: skip
