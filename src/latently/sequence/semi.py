"""Durations of their own: a semi-Markov chain as a Markov chain of states that count down.

A state with a duration becomes D states, "r steps left, this one included" for r = 1 to D; only the last of them
leads to other states. Every algorithm for Markov chains then holds as it is.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from latently.distributions import ColumnError, Family
from latently.sequence.chain import Array, Chain
from latently.sequence.rule import ChainRule


@dataclass(frozen=True, eq=False)
class SemiChain(Chain):
    """The chain of (state, steps left), made of a plain chain and the durations of its states."""

    plain: Chain
    durations: tuple[Family, ...]

    @property
    def longest(self) -> int:
        """Longest duration."""
        return self.n_states // self.plain.n_states


def expand(plain: Chain, durations: tuple[Family, ...], longest: int) -> SemiChain:
    """Make the chain of (state, steps left); durations d have the probability of d - 1, none is longer."""
    K, D = plain.n_states, longest
    steps = np.arange(D, dtype=np.float64)[:, None]
    p = np.array([np.exp(part.log_prob(steps)) for part in durations])  # (K, D)
    A = np.zeros((K, D, K, D))
    A[:, 0] = plain.transition[:, :, None] * p
    for k in range(K):
        for r in range(1, D):
            A[k, r, k, r - 1] = 1.0
    return SemiChain((plain.start[:, None] * p).ravel(), A.reshape(K * D, K * D), plain, durations)


@dataclass(frozen=True, eq=False)
class SemiRule:
    """How a semi-Markov chain is learnt: start and transitions by a rule, durations by their family."""

    rule: ChainRule
    learn: str
    prior: Any = None

    @property
    def is_stationary(self) -> bool:
        """Whether the start follows from the transitions."""
        return False

    def update(self, chain: SemiChain, first: Array, transitions: Array) -> SemiChain:
        """Posterior mode, given expected first states and transitions of the chain that counts down."""
        K, D = chain.plain.n_states, chain.longest
        entries = transitions.reshape(K, D, K, D)[:, 0]  # (K, K, D) from the end of a state to (state, steps)
        begun = first.reshape(K, D)
        plain = self.rule.update(chain.plain, begun.sum(axis=1), entries.sum(axis=2))
        durations = chain.durations
        if "d" in self.learn:
            pairs = zip(durations, begun + entries.sum(axis=0), strict=True)
            durations = tuple(self._fit(old, counts) for old, counts in pairs)
        return expand(plain, durations, D)

    def _fit(self, old: Family, counts: Array) -> Family:
        if not counts.sum() > 1e-8:
            return old
        try:
            return old.fit(np.arange(len(counts), dtype=np.float64)[:, None], counts, self.prior)
        except ColumnError:
            return old

    def log_prior(self, chain: SemiChain) -> float:
        """Log density of the priors of start and transitions."""
        return self.rule.log_prior(chain.plain)

    def n_parameters(self) -> int:
        """Of start and transitions; those of the durations are counted with the model."""
        return self.rule.n_parameters()


def start_durations(template: Any, K: int, longest: int, lengths: Any) -> tuple[Family, ...]:
    """Durations to start from: spread evenly over what is possible, unless they are given."""
    given = list(template) if isinstance(template, list | tuple) else [template] * K
    if len(given) != K:
        raise ValueError(f"duration lists {len(given)} distributions for {K} states")
    top = float(min(longest, max(np.max(lengths) // 4, 2)))
    rows = np.arange(top)[:, None]
    return tuple(_whole(part, longest).fit(rows) if not part.is_fitted else part for part in given)


def _whole(part: Any, longest: int) -> Any:
    """Let a categorical template have all durations, with a little of each."""
    if hasattr(part, "n_categories"):
        return part.fit(np.arange(longest, dtype=np.float64)[:, None])
    return part
