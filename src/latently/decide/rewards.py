"""Rewards: what each action brings in each state, with names, checked once."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reward:
    """A table of rewards: a row per state, a column per action.

    Parameters
    ----------
    values
        An array (states, actions), or (rows, states, actions) if rewards depend on the row; or a mapping
        {state: {action: reward}}, which names both.
    states, actions
        Their names; 0, 1, ... if not given.
    loss
        Whether the values are losses, to be kept small: they are negated.

    Examples
    --------
    >>> Reward({"well": {"wait": 10, "treat": 7}, "ill": {"wait": 3, "treat": 5}}).actions
    ('wait', 'treat')
    >>> Reward([[0, 1], [5, 0]], loss=True).values
    array([[ 0., -1.], [-5., 0.]])
    """

    values: Floats
    states: tuple[Hashable, ...]
    actions: tuple[Hashable, ...]
    loss: bool

    def __init__(
        self,
        values: Any,
        states: Sequence[Hashable] | None = None,
        actions: Sequence[Hashable] | None = None,
        loss: bool = False,
    ) -> None:
        if isinstance(values, Mapping):
            states = tuple(values) if states is None else tuple(states)
            values, actions = _from_mapping(values, states, actions)
        table = np.asarray(values, dtype=np.float64)
        if table.ndim not in (2, 3) or 0 in table.shape:
            raise ValueError(f"rewards need shape (states, actions) or (rows, states, actions), got {table.shape}")
        states = _names("state", states, table.shape[-2])
        actions = _names("action", actions, table.shape[-1])
        _check_numbers(table, states, actions)
        object.__setattr__(self, "values", 0.0 - table if loss else table)
        object.__setattr__(self, "states", states)
        object.__setattr__(self, "actions", actions)
        object.__setattr__(self, "loss", False)

    def for_states(self, states: Sequence[Hashable] | None, n_states: int) -> "Reward":
        """Put the states in the order of a posterior's, by name if both have names."""
        if states is None or self.states == tuple(range(len(self.states))):
            if len(self.states) != n_states:
                expected = f": {', '.join(map(repr, states))}" if states is not None else ""
                raise ValueError(
                    f"the rewards have {len(self.states)} rows, but there are {n_states} states{expected}; "
                    "give one row of rewards per state"
                )
            named = tuple(states) if states is not None else self.states
            return Reward(self.values, named, self.actions)
        wanted = [_plain(s) for s in states]
        if set(wanted) != set(self.states) or len(wanted) != len(self.states):
            raise ValueError(f"the rewards are for states {list(self.states)}, expected {wanted}")
        order = [self.states.index(s) for s in wanted]
        return Reward(self.values[..., order, :], wanted, self.actions)

    def with_action(self, name: Hashable, reward: Any) -> "Reward":
        """Add an action that brings the same in every state; one number, or one per row."""
        price = np.asarray(reward, dtype=np.float64)
        if not np.all(np.isfinite(price)) or price.ndim > 1:
            raise ValueError(f"the reward of {name!r} must be finite: one number or one per row: {reward}")
        values = self.values
        if price.ndim == 1:
            if values.ndim == 3 and len(values) != len(price):
                raise ValueError(f"{len(price)} prices do not fit rewards for {len(values)} rows")
            values = np.broadcast_to(values, (len(price), *values.shape[-2:]))
        column = np.broadcast_to(price.reshape(*price.shape, 1, 1), (*values.shape[:-1], 1))
        return Reward(np.concatenate([values, column], axis=-1), self.states, (*self.actions, name))


def as_reward(reward: Any) -> Reward:
    """Give a `Reward` from itself, an array, a mapping or a table with names."""
    if isinstance(reward, Reward):
        return reward
    if not isinstance(reward, Mapping) and hasattr(reward, "columns") and hasattr(reward, "index"):
        return Reward(reward.to_numpy(), list(reward.index), list(reward.columns))
    return Reward(reward)


def _from_mapping(
    values: Mapping[Any, Any], states: tuple[Hashable, ...], actions: Sequence[Hashable] | None
) -> tuple[Floats, tuple[Hashable, ...]]:
    absent = [s for s in states if s not in values]
    if absent:
        raise ValueError(f"the rewards lack state {absent[0]!r}: there are {list(values)}")
    if not all(isinstance(row, Mapping) for row in values.values()):
        raise TypeError("rewards as a mapping must be {state: {action: reward}}")
    named = tuple(values[states[0]]) if actions is None else tuple(actions)
    for state in states:
        if set(values[state]) != set(named):
            raise ValueError(f"state {state!r} has rewards for {list(values[state])}, expected {list(named)}")
    return np.array([[values[s][a] for a in named] for s in states], dtype=np.float64), named


def _names(what: str, names: Iterable[Hashable] | None, n: int) -> tuple[Hashable, ...]:
    if names is None:
        return tuple(range(n))
    named = tuple(_plain(name) for name in names)
    if len(named) != n or len(set(named)) < n:
        raise ValueError(f"the rewards have {n} {what}s, named {list(named)}: give {n} different names")
    return named


def _plain(name: Any) -> Hashable:
    """Turn a numpy scalar (from `classes_`, say) into the Python object it stands for."""
    plain: Hashable = name.item() if isinstance(name, np.generic) else name
    return plain


def _check_numbers(table: Floats, states: tuple[Hashable, ...], actions: tuple[Hashable, ...]) -> None:
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        *row, s, a = bad[0]
        where = f"row {row[0]}, " if row else ""
        raise ValueError(
            f"the reward at {where}state {states[s]!r}, action {actions[a]!r} is {table[tuple(bad[0])]}: "
            "rewards must be finite numbers"
        )
