"""What follows from rewards alone: thresholds on a probability; and what it is worth to know more."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from latently.decide.beliefs import as_belief
from latently.decide.choose import _with_abstaining
from latently.decide.rewards import as_reward


@dataclass(frozen=True)
class Region:
    """Probabilities of the second state, from `low` to `high`, for which `action` is best."""

    action: Hashable
    low: float
    high: float


def thresholds(reward: Any, abstain: float | None = None) -> list[Region]:
    """Cut the probability of the second of two states into the regions where each action is best.

    Parameters
    ----------
    reward
        Rewards of two states and any number of actions; two actions give the one threshold of a 2 x 2 table.
    abstain
        The price of abstaining, as in `decide`.

    Returns
    -------
    list of Region
        From probability 0 to 1. Actions that are never best are left out.

    Examples
    --------
    >>> thresholds({"well": {"wait": 10, "treat": 7}, "ill": {"wait": 3, "treat": 5}})
    [Region(action='wait', low=0.0, high=0.6), Region(action='treat', low=0.6, high=1.0)]
    """
    table = as_reward(reward)
    if table.values.shape[-2] != 2 or table.values.ndim != 2:
        raise ValueError(f"thresholds need rewards of two states, got shape {table.values.shape}")
    if abstain is not None:
        table = _with_abstaining(table, abstain)
    # each action is a straight line in the probability of the second state: walk along the upper envelope
    at_zero, slope = table.values[0], table.values[1] - table.values[0]
    best = max(range(len(slope)), key=lambda a: (at_zero[a], slope[a]))
    regions, low = [], 0.0
    while True:
        steeper = [a for a in range(len(slope)) if slope[a] > slope[best]]
        cross = {a: (at_zero[best] - at_zero[a]) / (slope[a] - slope[best]) for a in steeper}
        high = min([1.0, *cross.values()])
        if high > low or high == 1.0:
            regions.append(Region(table.actions[best], low, float(high)))
        if high == 1.0:
            return regions
        low = float(high)
        best = max((a for a in steeper if cross[a] == high), key=lambda a: slope[a])


def value_of_information(
    posterior: Any,
    reward: Any,
    likelihood: ArrayLike | None = None,
    *,
    states: Sequence[Hashable] | None = None,
) -> Any:
    """Give what it is worth to learn more before acting.

    Parameters
    ----------
    posterior, reward, states
        As for `expected_reward`.
    likelihood
        p(outcome | state) of a test, an array (states, outcomes) whose rows sum to one. None for perfect
        information: the state itself.

    Returns
    -------
    float or ndarray
        Expected gain in reward, per row.

    Examples
    --------
    >>> rewards = [[10, 7], [3, 5]]
    >>> value_of_information([0.5, 0.5], rewards)
    1.0
    >>> value_of_information([0.5, 0.5], rewards, [[0.9, 0.1], [0.1, 0.9]])
    0.75
    """
    belief = as_belief(posterior, states)
    p = belief.probabilities
    table = as_reward(reward).for_states(belief.states, p.shape[1]).values
    seen = np.eye(p.shape[1]) if likelihood is None else as_belief(likelihood).probabilities
    if seen.shape[0] != p.shape[1]:
        raise ValueError(f"the likelihood has {seen.shape[0]} rows, but there are {p.shape[1]} states")
    joint = p[:, :, None] * seen  # (rows, states, outcomes)
    after = (joint.transpose(0, 2, 1) @ table).max(axis=-1).sum(axis=-1)  # the best action for each outcome
    before = (p[:, None, :] @ table)[:, 0].max(axis=-1)
    gain = np.maximum(after - before, 0.0)
    return float(gain[0]) if belief.single and gain.size == 1 else gain
