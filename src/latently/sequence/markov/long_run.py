"""The long run of a Markov chain: stationary shares, durations, first passages."""

import itertools
from typing import Any

import numpy as np

from latently.sequence.inference.chain import Array, stationary


def matrix(chain: Any) -> Array:
    """Transition probabilities (V, V) of a chain of order 0 or 1."""
    V = len(chain.symbols_)
    if chain.order > 1:
        raise ValueError(f"a chain of order {chain.order} has no matrix of symbols: use predict_next, or order 1")
    return np.array([chain._row((i,) if chain.order else ()) for i in range(V)])


def stationary_symbols(chain: Any) -> Array:
    """Shares (V,) of the symbols in the long run, for any order, by way of the chain of contexts."""
    V = len(chain.symbols_)
    if chain.order <= 1:
        return stationary(matrix(chain))
    contexts = list(itertools.product(range(V), repeat=chain.order))
    place = {context: i for i, context in enumerate(contexts)}
    A = np.zeros((len(contexts), len(contexts)))
    for context in contexts:
        for symbol, p in enumerate(chain._row(context)):
            A[place[context], place[(*context[1:], symbol)]] += p
    shares = stationary(A)
    last = np.array([context[-1] for context in contexts])
    return np.bincount(last, weights=shares, minlength=V).astype(np.float64, copy=False)


def expected_durations(transition: Array) -> Array:
    """Expected steps (K,) in a state once it is entered; infinite if it is never left.

    Examples
    --------
    >>> expected_durations(np.array([[0.5, 0.5], [0.0, 1.0]]))
    array([ 2., inf])
    """
    leaving = np.where(np.eye(len(transition), dtype=bool), 0.0, transition).sum(axis=1)
    with np.errstate(divide="ignore"):
        return np.asarray(1 / leaving)  # 1 - a_kk would lose digits where a state is rarely left


def first_passage_times(transition: Array) -> Array:
    """Expected steps (K, K) from each state to the first visit of each other, and of return in the diagonal.

    Infinite where the visit is not certain.

    Examples
    --------
    >>> first_passage_times(np.array([[0.5, 0.5], [0.25, 0.75]]))
    array([[3. , 2. ], [4. , 1.5]])
    """
    K = len(transition)
    times = np.full((K, K), np.inf)
    for target in range(K):
        sure = _certain(transition, target)
        inside = np.flatnonzero(sure & (np.arange(K) != target))
        times[inside, target] = _steps_to(transition, inside, target)
        onward = transition[target] > 0
        if (sure | ~onward).all():
            steps = np.where(np.arange(K) == target, 0.0, times[:, target])
            times[target, target] = 1 + np.where(onward, transition[target] * np.where(onward, steps, 0.0), 0.0).sum()
    return times


def _steps_to(transition: Array, inside: Any, target: int) -> Array:
    """Expected steps from states inside to the target, by elimination without subtractions, as in `stationary`.

    State k is left with probability `leave[k]` for one that is not yet eliminated, or for the target; between two such
    moves, `steps` go by.
    """
    P, arrive = transition[np.ix_(inside, inside)], transition[inside, target].copy()
    n = len(P)
    steps, leave, times = np.ones(n), np.empty(n), np.empty(n)
    for k in range(n - 1, -1, -1):
        leave[k] = P[k, :k].sum() + arrive[k]
        via = P[:k, k] / leave[k]
        P[:k, :k] += np.outer(via, P[k, :k])
        arrive[:k] += via * arrive[k]
        steps[:k] += via * steps[k]
    for k in range(n):
        times[k] = (steps[k] + P[k, :k] @ times[:k]) / leave[k]
    return times


def _certain(transition: Array, target: int) -> Any:
    """Which states are sure to come to the target: those that cannot get to where there is no way to it."""
    K = len(transition)
    step = transition > 0
    step[target] = False
    reach = step | np.eye(K, dtype=bool)
    for _ in range(K.bit_length()):  # ways of twice as many steps each time
        reach = reach | (reach.astype(int) @ reach.astype(int) > 0)
    has_way = reach[:, target]
    return ~(reach & ~has_way).any(axis=1)
