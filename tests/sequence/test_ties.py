"""Paths that are equally probable, to the last bit: which one is given is a rule, not chance."""

import itertools

import numpy as np
import pytest

from latently.sequence.chain import Chain, n_best
from latently.sequence.viterbi import best_paths, with_pointers


def first_from_the_end(paths):
    """Of some paths, that whose states, from the last row back, have the lowest numbers."""
    return min(paths, key=lambda path: path[::-1])


def tied_chain(rng, K, T):
    """Probabilities that are powers of two, so that sums of their logarithms (to base two) have no rounding."""
    moves = -rng.integers(1, 3, size=(K, K)).astype(float)
    return -rng.integers(1, 3, size=K).astype(float), moves, -rng.integers(0, 3, size=(T, K)).astype(float)


def best_of_all(start, moves, L):
    T, K = L.shape
    scores = {}
    for path in itertools.product(range(K), repeat=T):
        steps = sum(moves[i, j] for i, j in itertools.pairwise(path))
        scores[path] = start[path[0]] + steps + sum(L[t, k] for t, k in enumerate(path))
    return scores


@pytest.mark.parametrize("seed", range(20))
def test_of_equal_paths_the_lowest_states_from_the_end_are_taken(seed):
    rng = np.random.default_rng(seed)
    K, T = int(rng.integers(2, 4)), int(rng.integers(1, 6))
    start, moves, L = tied_chain(rng, K, T)
    scores = best_of_all(start, moves, L)
    top = max(scores.values())
    expected = first_from_the_end([path for path, score in scores.items() if score == top])
    chain, lengths = Logs(start, moves), np.array([T])
    logs, path = best_paths(chain, lambda a, b: L[a:b].copy(), lengths)
    assert (logs[0], tuple(path.tolist())) == (top, expected)
    found, log = np.empty(T, dtype=np.int64), np.empty(1)
    with_pointers(L, lengths, start, moves, found, log)
    assert (log[0], tuple(found.tolist())) == (top, expected)
    ranked, paths = n_best(chain, L, 4)
    assert tuple(paths[0].tolist()) == expected
    np.testing.assert_array_equal(ranked, sorted(scores.values(), reverse=True)[:4])


class Logs(Chain):
    """A chain of which only the logarithms are asked for."""

    def __init__(self, start, moves):
        super().__init__(np.exp2(start), np.exp2(moves))
        object.__setattr__(self, "given", (start, moves))

    def logs(self):
        return self.given


@pytest.mark.parametrize("K", [3, 13, 20])
def test_all_paths_being_equal_the_first_state_is_taken(K):
    T = 5
    chain = Chain(np.full(K, 1 / K), np.full((K, K), 1 / K))
    _, path = best_paths(chain, lambda a, b: np.zeros((b - a, K)), np.array([T]))
    np.testing.assert_array_equal(path, np.zeros(T))
