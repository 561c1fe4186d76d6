"""Rows with missing values under a full covariance: summed up by pattern, and completed by expectation."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latently.distributions.covariance import joint_moments
from latently.distributions.inputs import Array, patterns
from latently.distributions.statistics import Moments

BLOCK = 1_000_000
"""Numbers in the second moments of one block of patterns."""
KEPT = 20 * BLOCK
"""Numbers in all second moments up to which they are kept from pass to pass."""


@dataclass(frozen=True)
class Block:
    """Moments of the rows of p patterns, each about its own centre; zeros in columns not observed."""

    observed: NDArray[np.bool_]  # (p, d)
    weight: Array  # (p,)
    centre: Array  # (p, d)
    first: Array  # (p, d)
    second: Array  # (p, d, d)


class Summary:
    """All that EM needs to know about the rows, in blocks: computed once, or anew in each pass if too large.

    Rows with nothing observed say nothing, and are left out.
    """

    def __init__(self, X: Array, weights: Array) -> None:
        self._X, self._weights = X, weights
        self._groups = [(observed, rows) for observed, rows in patterns(X) if observed.any()]
        d = X.shape[1]
        self._step = max(1, BLOCK // d**2)
        self._kept = list(self._blocks()) if len(self._groups) * d**2 <= KEPT else None

    def __iter__(self) -> Iterator[Block]:
        return iter(self._kept) if self._kept is not None else self._blocks()

    def _blocks(self) -> Iterator[Block]:
        for start in range(0, len(self._groups), self._step):
            yield self._block(self._groups[start : start + self._step])

    def _block(self, groups: list[tuple[NDArray[np.bool_], NDArray[np.intp]]]) -> Block:
        p, d = len(groups), self._X.shape[1]
        masks = np.array([observed for observed, _ in groups])
        block = Block(masks, np.zeros(p), np.zeros((p, d)), np.zeros((p, d)), np.zeros((p, d, d)))
        for i, (o, rows) in enumerate(groups):
            seen = joint_moments(self._X[np.ix_(rows, o)], self._weights[rows])
            block.weight[i], block.centre[i, o], block.first[i, o] = seen.weight, seen.centre, seen.first
            block.second[i][np.ix_(o, o)] = seen.second
        return block


def complete(block: Block, mean: Array, covariance: Array, origin: Array) -> Moments:
    """Moments about the origin of all columns, those missing at their expectation given those observed."""
    sd = np.sqrt(np.diagonal(covariance))
    correlation = covariance / sd[:, None] / sd
    seen, hidden = block.observed, ~block.observed
    # with a one on the diagonal of what is missing, the inverse holds that of the observed part
    both = seen[:, :, None] & seen[:, None, :]
    inverse = np.linalg.inv(np.where(both, correlation, np.eye(len(sd)))) * both
    lift = np.where(hidden[:, :, None], correlation @ inverse, np.eye(len(sd)) * both)  # of a deviation
    spread = np.where(hidden[:, :, None] & hidden[:, None, :], correlation - lift @ correlation, 0.0)
    w = block.weight[:, None]
    away = np.where(seen, block.centre - mean, 0.0) / sd
    place = (lift @ away[:, :, None])[:, :, 0] + (mean - origin) / sd  # (p, d) of the completed centres
    first = (lift @ (block.first / sd)[:, :, None])[:, :, 0]
    second = lift @ (block.second / sd[:, None] / sd) @ lift.swapaxes(1, 2) + w[:, :, None] * spread
    cross = first.T @ place
    total = second.sum(axis=0) + cross + cross.T + (w * place).T @ place
    return Moments(block.weight.sum(), origin, (first + w * place).sum(axis=0) * sd, total * sd[:, None] * sd)


def change(old_mean: Array, old_covariance: Array, mean: Array, covariance: Array) -> float:
    """Largest change of a parameter, in standard deviations."""
    sd = np.sqrt(np.diagonal(covariance))
    moved = np.abs(covariance - old_covariance) / sd[:, None] / sd
    return float(max(moved.max(), (np.abs(mean - old_mean) / sd).max()))
