"""What is found on the way forward and backward through sequences."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from latently.sequence.inference.chain import Array


@dataclass(frozen=True, eq=False)
class ExpectedCounts:
    """Log-likelihoods (S,), expected first states (K,), transitions (K, K), visits (K,), results of each block."""

    log_likelihood: Array
    first: Array
    transitions: Array
    visits: Array
    results: list[Any]

    @classmethod
    def empty(cls, K: int, log_likelihood: Array) -> Self:
        """Nothing but log-likelihoods."""
        return cls(log_likelihood, np.zeros(K), np.zeros((K, K)), np.zeros(K), [])


def total(parts: list[ExpectedCounts]) -> ExpectedCounts:
    """Everything of all parts."""
    if len(parts) == 1:
        return parts[0]
    return ExpectedCounts(
        np.concatenate([part.log_likelihood for part in parts]),
        np.sum([part.first for part in parts], axis=0),
        np.sum([part.transitions for part in parts], axis=0),
        np.sum([part.visits for part in parts], axis=0),
        [result for part in parts for result in part.results],
    )
