"""What codes and rows say about the atoms: sums that add, and the best atoms for them."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from latently.distributions.statistics import Additive
from latently.learn.engine.protocol import Array

UNUSED = 1e-6  # sum of squared coefficients below which an atom counts as not used


@dataclass(frozen=True, eq=False)
class CodeSums(Additive):
    """Sums over rows x and their codes s: all that the atoms and the objective depend on.

    Parameters
    ----------
    rows : their number, or weight
    power : sum of ``|x|^2``
    norm : (k,) sum of ``|s_j|`` for each atom
    A : (k, k) sum of s s'
    B : (k, d) sum of s x'
    missed : rows whose code ran out of steps
    """

    rows: float
    power: float
    norm: Array
    A: Array
    B: Array
    missed: float = 0.0

    @classmethod
    def of(cls, X: Array, codes: Array, missed: int = 0) -> Self:
        """Sum up rows (n, d) with codes (n, k)."""
        norm = np.abs(codes).sum(axis=0)
        return cls(float(len(X)), float((X * X).sum()), norm, codes.T @ codes, codes.T @ X, float(missed))

    @classmethod
    def none(cls, D: Array) -> Self:
        """Sums of no rows, for atoms (k, d)."""
        return cls.of(np.zeros((0, D.shape[1])), np.zeros((0, len(D))))

    def scaled(self, share: float) -> Self:
        """Sums of the same rows, each with a share of its weight."""
        return replace(
            self,
            rows=self.rows * share,
            power=self.power * share,
            norm=self.norm * share,
            A=self.A * share,
            B=self.B * share,
        )

    def by_atom(self, factors: Array) -> Self:
        """Sums of the codes that atoms times these factors (k,) need: each coefficient by one over its factor."""
        f = 1 / factors
        return replace(self, norm=self.norm * f, A=self.A * f[:, None] * f[None], B=self.B * f[:, None])

    def squares(self, D: Array) -> float:
        """Sum of ``|x - s D|^2``."""
        return max(self.power - 2 * float((self.B * D).sum()) + float(((self.A @ D) * D).sum()), 0.0)


@dataclass(frozen=True)
class Problem:
    """What is minimised over codes s and atoms D.

    Without eta: the sum of ``|x - s D|^2 / 2 + alpha |s|_1`` with atoms no longer than one. With eta: the mean of
    ``|x - s D|^2 + alpha |s|_1``, plus ``eta |D|_F^2``.
    """

    alpha: float
    eta: float | None = None
    positive: bool = False
    """Whether atoms may not be negative."""

    @property
    def code_alpha(self) -> float:
        """Weight of the 1-norm beside ``|x - s D|^2 / 2``."""
        return self.alpha if self.eta is None else self.alpha / 2

    def cost(self, sums: CodeSums, D: Array) -> float:
        """The objective."""
        if self.eta is None:
            return sums.squares(D) / 2 + self.alpha * float(sums.norm.sum())
        return (sums.squares(D) + self.alpha * float(sums.norm.sum())) / sums.rows + self.eta * float((D * D).sum())

    def updated(self, sums: CodeSums, D: Array) -> tuple[Array, CodeSums, list[int]]:
        """Better atoms for the sums, the sums for their scale, and which atoms nobody uses."""
        if self.eta is None:
            D, unused = self._unit_atoms(sums, D)
            return D, sums, unused
        return *self._balanced(sums, self._ridge_atoms(sums, D, self.eta * sums.rows)), []

    def _balanced(self, sums: CodeSums, D: Array) -> tuple[Array, CodeSums]:
        """Atoms longer and codes shorter, or the other way round, at the scale where both penalties together are least.

        An atom of length c costs ``eta c^2 |D_j|^2``, and its codes ``alpha |s_j|_1 / (c n)``.
        """
        length = (D * D).sum(axis=1)
        pays = (length > 0) & (sums.norm > 0) & (self.alpha * (self.eta or 0.0) > 0)
        safe = np.where(pays, length, 1.0)
        best = self.alpha * np.where(pays, sums.norm, 1.0) / (2 * sums.rows * (self.eta or 1.0) * safe)
        factors = np.where(pays, np.cbrt(best), 1.0)
        return D * factors[:, None], sums.by_atom(factors)

    def _unit_atoms(self, sums: CodeSums, D: Array) -> tuple[Array, list[int]]:
        """One pass of block coordinate descent: each atom in turn, the others as they are by then."""
        D, unused = D.copy(), []
        for j in range(len(D)):
            if sums.A[j, j] <= UNUSED:
                unused.append(j)
                continue
            D[j] += (sums.B[j] - sums.A[j] @ D) / sums.A[j, j]
            D[j] = self.allowed(D[j])
        return D, unused

    def allowed(self, atom: Array) -> Array:
        """The atom nearest to one that is allowed."""
        atom = np.maximum(atom, 0) if self.positive else atom
        return np.asarray(atom / max(float(np.linalg.norm(atom)), 1.0) if self.eta is None else atom)

    def _ridge_atoms(self, sums: CodeSums, D: Array, weight: float) -> Array:
        """The best atoms; if they may not be negative, one pass of coordinate descent."""
        if not self.positive:
            floor = max(weight, 1e-12 * float(np.trace(sums.A)) + np.finfo(float).tiny)
            return np.asarray(np.linalg.solve(sums.A + floor * np.eye(len(D)), sums.B))
        D = D.copy()
        for j in range(len(D)):
            size = sums.A[j, j] + weight
            if size > 0:
                D[j] = np.maximum(D[j] + (sums.B[j] - sums.A[j] @ D - weight * D[j]) / size, 0)
        return D
