"""Directions in which the parameters of a hidden Markov model are free, each with a unit of its own.

The coordinates of `coordinates` are redundant (logits of a row may all be shifted together) and have units (means,
Cholesky factors). Here is how large a step in each is small, and which of them say the same.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from latently.distributions import Categorical, Gaussian, Multinomial, Product
from latently.distributions.components.gaussian.unscaled import Gaussians
from latently.sequence.emissions.discrete import CategoricalEmission, PoissonEmission
from latently.sequence.emissions.gaussian import Mixtures
from latently.sequence.emissions.mixture_of import MixtureOf
from latently.sequence.emissions.unconstrained import pack
from latently.sequence.inference.chain import Array, Ints

BOUND = 1e-6
"""A probability below this is at its bound: it has no error of its own."""


@dataclass(frozen=True, eq=False)
class Piece:
    """Some coordinates (P,): the unit of each, the row of logits it is in (-1 for none), whether it is at a bound."""

    unit: Array
    row: Ints
    at_bound: Any

    @classmethod
    def plain(cls, unit: Array) -> "Piece":
        """Coordinates that are free by themselves."""
        flat = np.ravel(unit)
        return cls(flat, np.full(flat.shape, -1), np.zeros(flat.shape, dtype=bool))

    @classmethod
    def logits(cls, p: Array, free: Any) -> "Piece":
        """Those of probabilities, as `coordinates.logits` lists them."""
        used = np.atleast_2d(np.broadcast_to(free & (p > 0), np.shape(p)))
        values = np.atleast_2d(p)[used]
        return cls(np.ones(len(values)), np.nonzero(used)[0], values < BOUND)

    @classmethod
    def joined(cls, pieces: "list[Piece]") -> "Piece":
        """Several, one after the other."""
        rows, n = [], 0
        for piece in pieces:
            rows.append(np.where(piece.row >= 0, piece.row + n, -1))
            n += int(piece.row.max(initial=-1)) + 1
        unit, at_bound = (np.concatenate([getattr(p, name) for p in pieces]) for name in ("unit", "at_bound"))
        return cls(unit, np.concatenate(rows), at_bound)

    def if_learnt(self, learnt: bool) -> "Piece":
        """The same, held where it is unless it is learnt."""
        return self if learnt else replace(self, at_bound=np.ones(len(self.unit), dtype=bool))

    def directions(self) -> Array:
        """Independent directions (P, F), each with the length of a unit: a shift of all logits of a row is none."""
        columns = [np.diag(self.unit)[:, (self.row < 0) & ~self.at_bound]]
        for row in range(int(self.row.max(initial=-1)) + 1):
            members = np.flatnonzero((self.row == row) & ~self.at_bound)
            contrasts = np.zeros((len(self.unit), max(len(members) - 1, 0)))
            contrasts[members] = _contrasts(len(members))
            columns.append(contrasts)
        return np.hstack(columns)


def _contrasts(n: int) -> Array:
    """Orthonormal directions (n, n - 1) that sum to zero."""
    return np.linalg.qr(np.eye(n)[:, :-1] - 1 / n)[0] if n > 1 else np.zeros((n, 0))


def emission_piece(emission: Any, theta: Any) -> Piece:
    """The coordinates of `pack_emission`; what is not learnt is held."""
    if isinstance(emission, CategoricalEmission):
        return Piece.logits(theta, emission.possible).if_learnt(emission.learn)
    if isinstance(emission, PoissonEmission):
        return Piece.plain(np.ones(theta.size)).if_learnt(emission.learn)
    if isinstance(theta, Gaussians):
        return _gaussians_piece(theta, emission.learn)
    if isinstance(theta, Mixtures):
        weights = Piece.logits(theta.weights, True).if_learnt("w" in emission.learn)
        return Piece.joined([weights, _gaussians_piece(theta.parts, emission.learn)])
    return piece_of(theta).if_learnt(emission.learn)


def _gaussians_piece(theta: Gaussians, learn: str) -> Piece:
    sd = np.sqrt(np.diagonal(theta.matrices, axis1=1, axis2=2))
    means, covars = Piece.plain(sd), Piece.plain(_covar_units(theta))
    return Piece.joined([means.if_learnt("m" in learn), covars.if_learnt("c" in learn)])


def piece_of(theta: Any) -> Piece:
    """The coordinates of `pack`, of distributions."""
    if isinstance(theta, tuple):
        return Piece.joined([piece_of(part) for part in theta])
    if isinstance(theta, Product):
        return Piece.joined([piece_of(part) for part, _ in theta.parts])
    if isinstance(theta, MixtureOf):
        return Piece.joined([Piece.logits(theta.weights, True), piece_of(theta.parts)])
    if isinstance(theta, Gaussian):
        sd = np.sqrt(theta.variance)
        return Piece.plain(np.concatenate([sd, _cholesky_units(sd) if theta.kind == "full" else _ones(theta)]))
    if isinstance(theta, Categorical | Multinomial):
        return Piece.logits(theta.probabilities, True)
    return Piece.plain(np.ones(len(pack(theta))))  # logits and logarithms, one by one


def _ones(theta: Gaussian) -> Array:
    return np.ones(np.size(theta.covariance))


def _covar_units(theta: Gaussians) -> Array:
    if theta.is_matrix:
        sds = np.sqrt(np.diagonal(theta.covars, axis1=1, axis2=2))
        return np.concatenate([_cholesky_units(sd) for sd in sds])
    return np.ones(len(theta.covars) if theta.kind == "spherical" else theta.covars.size)


def _cholesky_units(sd: Array) -> Array:
    """A row of a Cholesky factor has the unit of its column; the diagonal is in logarithms."""
    rows, columns = np.tril_indices(len(sd))
    return np.where(rows == columns, 1.0, sd[rows])
