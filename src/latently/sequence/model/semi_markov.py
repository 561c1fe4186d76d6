"""Durations of their own: a semi-Markov chain as a Markov chain of states that count down.

A state with a duration becomes D states, "r steps left, this one included" for r = 1 to D; only the last of them
leads to other states. Algorithms for Markov chains that sum over paths then hold as they are; for those that look for
single paths see `runs`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from latently.distributions import Family
from latently.sequence.inference.chain import Array, Chain
from latently.sequence.model.durations import fitted, log_durations, trimmed
from latently.sequence.model.transitions import ChainRule


@dataclass(frozen=True, eq=False)
class SemiChain(Chain):
    """The chain of (state, steps left), made of a plain chain and the durations of its states."""

    plain: Chain
    durations: tuple[Family, ...]

    @property
    def longest(self) -> int:
        """Longest duration."""
        return self.n_states // self.plain.n_states

    def entered(self, state: int) -> Array:
        """Probabilities of where the chain is when a state has just been entered: it has a whole duration left."""
        begun = np.zeros((self.plain.n_states, self.longest))
        begun[state] = np.exp(log_durations(self.durations[state], self.longest))
        return begun.ravel()


def expand(plain: Chain, durations: tuple[Family, ...], longest: int) -> SemiChain:
    """Make the chain of (state, steps left); see `durations` for the probability of a duration."""
    K, D = plain.n_states, longest
    p = np.exp([log_durations(part, D) for part in durations])  # (K, D)
    A = np.zeros((K, D, K, D))
    A[:, 0] = plain.transition[:, :, None] * p
    for k in range(K):
        for r in range(1, D):
            A[k, r, k, r - 1] = 1.0
    return SemiChain((plain.start[:, None] * p).ravel(), A.reshape(K * D, K * D), plain, durations)


@dataclass(frozen=True, eq=False)
class SemiRule:
    """How a semi-Markov chain is learnt: start and transitions by a rule, durations by their family unless fixed."""

    rule: ChainRule
    learn: str
    fixed: tuple[Family | None, ...]

    @property
    def is_stationary(self) -> bool:
        """Whether the start follows from the transitions."""
        return False

    def update(self, chain: Chain, first: Array, transitions: Array) -> SemiChain:
        """Posterior mode, given expected first states and transitions of the chain that counts down."""
        assert isinstance(chain, SemiChain), "the rule is that of chains with durations"
        K, D = chain.plain.n_states, chain.longest
        entries = transitions.reshape(K, D, K, D)[:, 0]  # (K, K, D) from the end of a state to (state, steps)
        begun = first.reshape(K, D)
        plain = self.rule.update(chain.plain, begun.sum(axis=1), entries.sum(axis=2))
        counts = begun + entries.sum(axis=0)
        durations = (self._duration(*three) for three in zip(self.fixed, chain.durations, counts, strict=True))
        return expand(plain, tuple(durations), D)

    def _duration(self, fixed: Family | None, old: Family, counts: Array) -> Family:
        if fixed is not None:
            return fixed
        return fitted(old, counts) if "d" in self.learn and counts.sum() > 1e-8 else old

    def log_prior(self, chain: Chain) -> float:
        """Log density of the priors of start and transitions."""
        assert isinstance(chain, SemiChain), "the rule is that of chains with durations"
        return self.rule.log_prior(chain.plain)

    def n_parameters(self) -> int:
        """Of start and transitions."""
        return self.rule.n_parameters()

    def n_duration_parameters(self, chain: Chain) -> int:
        """Of the durations that are learnt."""
        assert isinstance(chain, SemiChain), "the rule is that of chains with durations"
        pairs = zip(self.fixed, chain.durations, strict=True)
        return sum(part.n_parameters for fixed, part in pairs if fixed is None and "d" in self.learn)


def check_leaves(name: str, transition: Array) -> None:
    """Refuse states that are followed by themselves, which is what their durations are for."""
    staying = np.flatnonzero(np.nan_to_num(np.diagonal(transition)) > 0)
    if len(staying):
        k = int(staying[0])
        raise ValueError(
            f"row {k} of {name} lets state {k} be followed by itself (probability {transition[k, k]:.6g}), but how "
            "long a state lasts is up to its duration: give 0 in the diagonal"
        )


def start_durations(template: Any, K: int, longest: int, lengths: Any) -> tuple[Family, ...]:
    """Durations to start from: spread evenly over what is possible, unless they are given."""
    given = list(template) if isinstance(template, list | tuple) else [template] * K
    if len(given) != K:
        raise ValueError(f"duration lists {len(given)} distributions for {K} states")
    for part in given:
        if not isinstance(part, Family):
            raise TypeError(f"duration must be a distribution that learns from data, not {type(part).__name__}")
    top = min(longest, max(int(np.max(lengths)) // 4, 2))
    return tuple(trimmed(part, longest) if part.is_fitted else _spread(part, longest, top) for part in given)


def _spread(part: Family, longest: int, top: int) -> Family:
    """Fit a template to durations up to `top`; one of categories to all, so that it has a little of each."""
    rows = np.arange(longest if hasattr(part, "n_categories") else top, dtype=np.float64)[:, None]
    rows = rows[~part._outside(rows).any(axis=1)]
    return part.fit(rows)
