"""The penalised log-likelihood of a conditional random field, as the engine's L-BFGS takes it."""

from dataclasses import dataclass

import numpy as np

from latently.learn.engine.protocol import Statistics
from latently.structure.protocol import Array, Problem


@dataclass(frozen=True, eq=False)
class LikelihoodSums(Statistics):
    """The log-likelihood of all items (`bound`), and its gradient."""

    gradient: Array


class Likelihood:
    """log p(y | x, w) summed over items, less |w|^2 / (2 C); the parameters are the weights themselves.

    Parameters
    ----------
    problem
        Items and their true outputs.
    weights
        (n,) weights of the items.
    C
        How much the likelihood counts against the penalty.
    """

    def __init__(self, problem: Problem, weights: Array, C: float) -> None:
        self.problem, self.weights, self.C = problem, weights, C
        zeros = np.zeros(problem.size)
        self._observed = problem.observed(zeros, weights)[1] if problem.is_complete else None

    def expect(self, params: Array, chunk: object) -> LikelihoodSums:
        """The log-likelihood and its gradient at some weights."""
        if self._observed is not None:
            there, gradient = float(self._observed @ params), self._observed
        else:
            there, gradient = self.problem.observed(params, self.weights)
        everything, expected = self.problem.expected(params, self.weights)
        return LikelihoodSums(float(self.weights.sum()), there - everything, gradient - expected)

    def update(self, params: Array, stats: LikelihoodSums) -> Array:
        """The weights as they are: there is no closed form."""
        return params

    def log_prior(self, params: Array) -> float:
        """Minus the penalty."""
        return -float(params @ params) / (2 * self.C)

    def pack(self, params: Array) -> Array:
        """The weights."""
        return params

    def unpack(self, like: Array, vector: Array) -> Array:
        """The weights."""
        return vector

    def gradient(self, params: Array, stats: LikelihoodSums) -> Array:
        """Gradient of the penalised log-likelihood."""
        return stats.gradient - params / self.C
