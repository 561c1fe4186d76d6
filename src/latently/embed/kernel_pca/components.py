"""Principal components in feature space, from all rows or from landmarks."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from latently.kernel.base import Array, Kernel, length, take
from latently.kernel.gram.centring import Centring
from latently.kernel.gram.eigen import ROUNDING, Solver, decomposed, negative_share
from latently.kernel.gram.nystroem import nystroem
from latently.learn.engine.blocks import for_blocks

_ZERO = 1e-12  # eigenvalues up to this share of the largest are zero
_VALUES = 2_000_000  # features in memory at a time


@dataclass(frozen=True, eq=False)
class Components:
    """Principal components: the score of x is sum_j k(x, z_j) weights_j - shift.

    Parameters
    ----------
    values
        (k,) eigenvalues of the centred Gram matrix, the largest first; negative ones where it is indefinite.
    scores
        (n, k) coordinates of the rows of the fit.
    weights
        (m, k) expansion of the components in the m rows or landmarks z_j.
    shift
        (k,) what centring takes away.
    mean
        (m,) expansion of the mean of the rows.
    negative
        Size of the most negative eigenvalue as a share of the largest.
    """

    values: Array
    scores: Array
    weights: Array
    shift: Array
    mean: Array
    negative: float

    @property
    def vectors(self) -> Array:
        """(n, k) eigenvectors of length one; zeros for an eigenvalue of zero."""
        return np.asarray(self.scores * _inverse(np.sqrt(np.abs(self.values))))

    def kept(self, which: Any) -> "Components":
        """Some of the components."""
        return Components(
            self.values[which], self.scores[:, which], self.weights[:, which], self.shift[which], self.mean,
            self.negative,
        )  # fmt: skip


@dataclass(frozen=True)
class Solving:
    """How eigenvectors are sought; see `latently.kernel.gram.eigen.decomposed`."""

    solver: Solver = "auto"
    tol: float = 0.0
    max_iter: int | None = None
    n_powers: int = 7
    seed: int = 0


def from_all_rows(K: Array, k: int | None, how: Solving, *, indefinite: bool, rounding: float = ROUNDING) -> Components:
    """Components of a Gram matrix (n, n), centred here.

    Parameters
    ----------
    K
        Gram matrix.
    k
        How many components; all if None.
    how
        The solver.
    indefinite
        Whether negative eigenvalues are to be looked for; without, they are rounding.
    rounding
        Share of the largest eigenvalue up to which a negative one is rounding.
    """
    centring = Centring.of(K)
    centred = centring.training(K)
    values, vectors = decomposed(centred, k, solver=how.solver, tol=how.tol, max_iter=how.max_iter,
                                 n_powers=how.n_powers, seed=how.seed)  # fmt: skip
    low = _lowest(centred, values) if indefinite else 0.0
    share = low if low > rounding else 0.0
    values = _cleaned(values, len(K), share > 0, rounding)
    scores = vectors * np.sqrt(np.abs(values))
    weights = scores * _inverse(values)
    weights = weights - weights.mean(axis=0)
    mean = np.full(len(K), 1.0 / len(K))
    return Components(values, scores, weights, centring.columns @ weights, mean, share)


def from_landmarks(kernel: Kernel, X: Any, k: int | None, m: int, seed: int) -> tuple[Components, Any]:
    """Components of Nystroem's features of the rows with m landmarks, and the landmarks; memory is linear in n."""
    made = nystroem(kernel, X, m, random_state=seed)
    n, r = length(X), made.projection.shape[1]
    rows = max(1, _VALUES // max(1, length(made.landmarks)))
    features = np.empty((n, r))

    def fill(first: int, last: int) -> None:
        features[first:last] = made.transform(take(X, np.arange(first, last)))

    for_blocks(n, fill, rows=rows)
    centre = features.mean(axis=0)
    features -= centre
    values, axes = decomposed(features.T @ features, k)
    values = _cleaned(values, n, False, ROUNDING)
    weights = made.projection @ axes
    found = Components(values, features @ axes, weights, centre @ axes, made.projection @ centre, 0.0)
    return found, made.landmarks


def _lowest(centred: Array, values: Array) -> float:
    """The most negative eigenvalue as a share of the largest in size."""
    if len(values) < len(centred):
        return negative_share((centred + centred.T) / 2)
    size = np.abs(values).max(initial=0.0)
    return float(max(-values[-1], 0.0) / size) if size > 0 else 0.0


def _cleaned(values: Array, n: int, indefinite: bool, rounding: float) -> Array:
    """Eigenvalues with those that are rounding set to zero."""
    largest = np.abs(values).max(initial=0.0)
    kept = values > max(_ZERO, n * np.finfo(float).eps) * largest
    if indefinite:
        kept |= values < -rounding * largest
    return np.asarray(np.where(kept, values, 0.0))


def _inverse(values: Array) -> Array:
    """One over the values; zero for zero."""
    return np.asarray(np.where(values == 0, 0.0, 1.0) / np.where(values == 0, 1.0, values))
