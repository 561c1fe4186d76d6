"""From a posterior and rewards to the action of highest expected reward."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.decide.beliefs import Belief, as_belief
from latently.decide.rewards import Floats, Reward, as_reward

ABSTAIN = "abstain"


@dataclass(frozen=True, eq=False)
class Decision:
    """What was chosen for each row, what it is expected to bring, and how close the next action was.

    Attributes
    ----------
    actions : tuple
        Names of all actions.
    expected : ndarray (rows, actions)
        Expected reward of each action.
    perfect : ndarray (rows,) or None
        Expected reward if the state were known before acting; None for continuous states.
    single : bool
        Whether the posterior was one row; `action`, `margin` and the like are then numbers and not arrays.

    Examples
    --------
    >>> from latently.decide import decide
    >>> choice = decide([0.5, 0.5], [[10, 7], [3, 5]])
    >>> choice.action, float(choice.reward), float(choice.margin)
    (0, 6.5, 0.5)
    >>> float(choice.value_of_perfect_information)
    1.0
    """

    actions: tuple[Hashable, ...]
    expected: Floats
    perfect: Floats | None
    single: bool

    @property
    def _order(self) -> NDArray[np.intp]:
        # stable: of equal actions the first is taken
        return np.argsort(-self.expected, axis=1, kind="stable")

    def _shaped(self, values: NDArray[Any]) -> Any:
        return values[0] if self.single else values

    def _named(self, which: NDArray[np.intp]) -> Any:
        pool = np.empty(len(self.actions), dtype=object)
        pool[:] = self.actions
        simple = np.asarray(self.actions) if len({type(a) for a in self.actions}) == 1 else pool
        return pool[which[0]] if self.single else (simple if simple.ndim == 1 else pool)[which]

    @property
    def action(self) -> Any:
        """The action of highest expected reward."""
        return self._named(self._order[:, 0])

    @property
    def runner_up(self) -> Any:
        """The next best action; None if there is only one."""
        return self._named(self._order[:, 1]) if len(self.actions) > 1 else None

    @property
    def reward(self) -> Any:
        """Expected reward of the action taken."""
        return self._shaped(self.expected.max(axis=1))

    @property
    def margin(self) -> Any:
        """How much more the action brings than the next best; infinite if there is only one action."""
        if len(self.actions) == 1:
            return self._shaped(np.full(len(self.expected), np.inf))
        best = np.partition(self.expected, -2, axis=1)[:, -2:]
        return self._shaped(best[:, 1] - best[:, 0])

    @property
    def abstained(self) -> Any:
        """Whether the action is to abstain."""
        where = self.actions.index(ABSTAIN) if ABSTAIN in self.actions else -1
        return self._shaped(self._order[:, 0] == where)

    @property
    def value_of_perfect_information(self) -> Any:
        """What knowing the state before acting would add; no test or expert is worth more."""
        if self.perfect is None:
            raise ValueError("the value of perfect information is known for discrete states only")
        return self._shaped(np.maximum(self.perfect - self.expected.max(axis=1), 0.0))

    def __len__(self) -> int:
        return len(self.expected)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.action, dtype=dtype)

    def report(self) -> list[dict[str, Any]]:
        """Give one plain record per row: the action, its reward, the next action, and the margin.

        Examples
        --------
        >>> from latently.decide import decide
        >>> decide({"well": 0.5, "ill": 0.5}, {"well": {"wait": 10, "treat": 7},
        ...                                    "ill": {"wait": 3, "treat": 5}}).report()
        [{'action': 'wait', 'reward': 6.5, 'runner_up': 'treat', 'margin': 0.5,
          'expected': {'wait': 6.5, 'treat': 6.0}}]
        """
        return list(self._records())

    def _records(self) -> Iterator[dict[str, Any]]:
        margins = np.atleast_1d(self.margin)
        for row, order, margin in zip(self.expected, self._order, margins, strict=True):
            yield {
                "action": self.actions[order[0]],
                "reward": float(row[order[0]]),
                "runner_up": self.actions[order[1]] if len(order) > 1 else None,
                "margin": float(margin),
                "expected": {a: float(r) for a, r in zip(self.actions, row, strict=True)},
            }


def expected_reward(posterior: Any, reward: Any, *, states: Sequence[Hashable] | None = None) -> Floats:
    """Give the expected reward of each action: sum over states of reward times probability.

    Parameters
    ----------
    posterior
        Probabilities of the states: an array (states,) or (rows, states), a mapping {state: probability}, a
        `latently.infer.Joint`; or a continuous posterior with an `expect` method, as `latently.infer.Posterior`.
    reward
        An array (states, actions) or (rows, states, actions), a mapping {state: {action: reward}}, or a
        `Reward`. For a continuous posterior, a mapping from actions to functions of the parameters.
    states
        Names of the states of a posterior given as an array.

    Returns
    -------
    ndarray
        Of shape (actions,) for a single posterior, (rows, actions) for several.

    Examples
    --------
    >>> expected_reward([0.5, 0.5], [[10, 7], [3, 5]])
    array([6.5, 6. ])
    """
    expected = decide(posterior, reward, states=states)
    return expected.expected[0] if expected.single else expected.expected


def decide(
    posterior: Any,
    reward: Any,
    abstain: Any = None,
    *,
    states: Sequence[Hashable] | None = None,
) -> Decision:
    """Choose the action of highest expected reward.

    Parameters
    ----------
    posterior, reward, states
        As for `expected_reward`.
    abstain
        The price of abstaining, one number or one per row: adds the action "abstain", which brings minus that
        price in every state. None: one of the given actions is always taken.

    Returns
    -------
    Decision
        The actions taken, their expected rewards and margins.

    Examples
    --------
    >>> loss = Reward([[0, 1], [1, 0]], states=["no", "yes"], actions=["say no", "say yes"], loss=True)
    >>> decide([[0.9, 0.1], [0.6, 0.4]], loss, abstain=0.3).action
    array(['say no', 'abstain'], dtype='<U7')
    """
    if hasattr(posterior, "expect") and isinstance(reward, Mapping):
        return _decide_continuous(posterior, reward, abstain)
    belief = as_belief(posterior, states)
    table = as_reward(reward).for_states(belief.states, belief.probabilities.shape[1])
    if abstain is not None:
        table = _with_abstaining(table, abstain)
    return _decide(belief, table)


def _with_abstaining(table: Reward, abstain: Any) -> Reward:
    if ABSTAIN in table.actions:
        raise ValueError('there is an action "abstain" already: leave out abstain= or rename the action')
    return table.with_action(ABSTAIN, -np.asarray(abstain, dtype=np.float64))


def _decide(belief: Belief, table: Reward) -> Decision:
    p, r = belief.probabilities, table.values
    if r.ndim == 3 and len(p) not in (1, len(r)):
        raise ValueError(f"there are rewards for {len(r)} rows, but {len(p)} rows of probabilities")
    expected = p @ r if r.ndim == 2 else (p[:, None, :] @ r)[:, 0]  # (rows, actions)
    perfect = (p * r.max(axis=-1)).sum(axis=1)
    return Decision(table.actions, expected, perfect, belief.single and r.ndim == 2)


def _decide_continuous(posterior: Any, reward: Mapping[Any, Callable[..., Any]], abstain: Any) -> Decision:
    wrong = [name for name, function in reward.items() if not callable(function)]
    if wrong:
        raise TypeError(f"the reward of {wrong[0]!r} must be a function of the parameters of the posterior")
    actions, values = list(reward), [float(posterior.expect(f)) for f in reward.values()]
    if not actions:
        raise ValueError("there are no actions: give at least one")
    bad = [name for name, value in zip(actions, values, strict=True) if not np.isfinite(value)]
    if bad:
        raise ValueError(f"the expected reward of {bad[0]!r} is not finite")
    if abstain is not None:
        actions.append(ABSTAIN)
        values.append(-float(abstain))
    return Decision(tuple(actions), np.array([values]), None, True)
