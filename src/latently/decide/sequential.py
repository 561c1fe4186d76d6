"""Decisions as the data come in: a belief about a hidden state, carried from step to step."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from latently.decide.beliefs import as_belief
from latently.decide.choose import Decision, decide
from latently.decide.rewards import Floats, Reward, as_reward


@dataclass(frozen=True, eq=False)
class BeliefState:
    """The filtered belief about the state of a Markov chain; moves on with each observation.

    Nothing is changed in place: `observe` gives the next belief.

    Parameters
    ----------
    probabilities
        p(state now | everything seen so far).
    transition
        p(next state | state), rows sum to one.
    states
        Names of the states; 0, 1, ... if not given.
    started
        Whether an observation has been seen; before the first one the state does not move.

    Examples
    --------
    >>> rain = BeliefState([0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]], states=["rain", "dry"])
    >>> for umbrella_seen in (True, True):
    ...     rain = rain.observe([0.9, 0.2] if umbrella_seen else [0.1, 0.8])
    >>> rain.probabilities
    array([0.883, 0.117])
    >>> rain.decide({"rain": {"walk": -5, "bus": -2}, "dry": {"walk": 0, "bus": -2}}).action
    'bus'
    """

    probabilities: Floats
    transition: Floats
    states: Sequence[Hashable] | None
    started: bool

    def __init__(
        self,
        probabilities: ArrayLike,
        transition: ArrayLike,
        states: Sequence[Hashable] | None = None,
        started: bool = False,
    ) -> None:
        belief = as_belief(probabilities, states)
        if not belief.single:
            raise ValueError("a belief state is one row of probabilities")
        moves = as_belief(transition).probabilities
        n = belief.probabilities.shape[1]
        if moves.shape != (n, n):
            raise ValueError(f"the transition has shape {moves.shape}, but there are {n} states")
        object.__setattr__(self, "probabilities", belief.probabilities[0])
        object.__setattr__(self, "transition", moves)
        object.__setattr__(self, "states", states)
        object.__setattr__(self, "started", started)

    @classmethod
    def from_model(cls, model: Any) -> Self:
        """Start from a fitted hidden Markov model (`startprob_`, `transmat_`)."""
        return cls(model.startprob_, model.transmat_)

    def ahead(self, steps: int = 1) -> Floats:
        """Give the distribution of the state some steps from now."""
        return np.asarray(self.probabilities @ np.linalg.matrix_power(self.transition, steps))

    def observe(self, likelihood: ArrayLike, *, log: bool = False) -> "BeliefState":
        """Move one step on and take in an observation.

        Parameters
        ----------
        likelihood
            p(observation | state) for each state, up to a factor.
        log
            Whether these are logs.
        """
        before = self.ahead() if self.started else self.probabilities
        weight = np.asarray(likelihood, dtype=np.float64)
        if weight.shape != np.shape(before) or np.any(np.isnan(weight)) or (not log and np.any(weight < 0)):
            n = len(np.atleast_1d(before))
            raise ValueError(f"give one likelihood for each of the {n} states, none negative or NaN")
        with np.errstate(divide="ignore"):
            score = np.log(before) + (weight if log else np.log(weight))
        if not np.isfinite(score.max()):
            raise ValueError("the observation is impossible in every state that is possible now")
        after = np.exp(score - score.max())
        return BeliefState(after / after.sum(), self.transition, self.states, True)

    def decide(self, reward: Any, abstain: float | None = None, *, ahead: int = 0) -> Decision:
        """Choose an action now, for the state now or some steps ahead."""
        return decide(self.ahead(ahead), reward, abstain, states=self.states)

    def wait_or_act(self, reward: Any, likelihood: ArrayLike, price: float, horizon: int = 1) -> Decision:
        """Choose between acting now and paying to see up to `horizon` more observations first.

        Parameters
        ----------
        reward
            Rewards (states, actions) of acting.
        likelihood
            p(outcome | state) of the next observation, an array (states, outcomes).
        price
            What each further step costs.
        horizon
            The most further steps.

        Returns
        -------
        Decision
            Among the actions and "wait".

        Examples
        --------
        >>> coin = BeliefState([0.5, 0.5], [[1, 0], [0, 1]])
        >>> coin.wait_or_act([[1, 0], [0, 1]], [[0.8, 0.2], [0.2, 0.8]], price=0.1).action
        'wait'
        """
        table = as_reward(reward).for_states(self.states, len(np.atleast_1d(self.probabilities)))
        seen = as_belief(likelihood).probabilities
        if seen.shape[0] != len(table.states):
            n = len(table.states)
            raise ValueError(f"the likelihood has {seen.shape[0]} rows, but there are {n} states")
        now = self.probabilities @ table.values
        later = self._value_of_waiting(table, seen, price, horizon) if horizon > 0 else -np.inf
        both = np.append(now, later) if horizon > 0 else now
        actions = (*table.actions, "wait") if horizon > 0 else table.actions
        return Decision(actions, both[None, :], None, True)

    def _value_of_waiting(self, table: Reward, seen: Floats, price: float, horizon: int) -> float:
        before = self.ahead() if self.started else np.asarray(self.probabilities)
        value = -price
        for outcome in range(seen.shape[1]):
            chance = float(before @ seen[:, outcome])
            if chance > 0:
                after = self.observe(seen[:, outcome])
                value += chance * float(after.wait_or_act(table, seen, price, horizon - 1).reward)
        return value
