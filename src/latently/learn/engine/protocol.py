"""What a model is to the engine: two pure functions over additive statistics."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from latently.data.sources.chunks import Chunk
from latently.distributions.inputs import Array
from latently.distributions.statistics import Statistics

__all__ = ["AnyParams", "Array", "JointModel", "LatentModel", "Params", "Reduce", "Statistics", "Stats"]

Params = TypeVar("Params")
AnyParams = TypeVar("AnyParams", contravariant=True)


Stats = TypeVar("Stats", bound=Statistics)
Reduce = Callable[[Callable[[Chunk], Any]], Any]
"""The sum of f(chunk) over all chunks; where and in what order it is computed is the reduction's business."""


class LatentModel(Protocol[Params, Stats]):
    """A model that the engine can fit.

    `expect` must not depend on anything but its arguments (a chunk's `memo` may make it faster, never
    different), so that the sum over chunks can be taken anywhere.
    """

    def expect(self, params: Params, chunk: Chunk) -> Stats:
        """E-step: the expected sufficient statistics of a chunk under the current parameters."""

    def update(self, params: Params, stats: Stats) -> Params:
        """M-step: the parameters that are best for these statistics, under the prior."""

    def log_prior(self, params: Params) -> float:
        """Log prior density of the parameters, up to a constant; zero for maximum likelihood."""


class JointModel(Protocol[AnyParams]):
    """A model with a discrete latent variable whose joint density can be written down row by row."""

    def log_joint(self, params: AnyParams, X: Array) -> Array:
        """(n, k) log p(x_i, z_i = k | params)."""
