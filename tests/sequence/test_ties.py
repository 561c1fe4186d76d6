"""Which of equally probable paths is returned: the lowest state last, of those the lowest before it, and so on."""

import itertools

import numpy as np
import pytest

from latently import compiled
from latently.distributions import Gaussian
from latently.sequence import CategoricalHMM, HiddenMarkovModel


def best_by_rule(L, log_start, log_A):
    """The best path by enumeration; whole numbers, so that equal sums are equal."""
    T, K = L.shape
    paths = np.array(list(itertools.product(range(K), repeat=T)))
    scores = (
        log_start[paths[:, 0]] + L[np.arange(T), paths].sum(axis=1) + log_A[paths[:, :-1], paths[:, 1:]].sum(axis=1)
    )
    best = paths[scores == scores.max()]
    return scores.max(), min(best.tolist(), key=lambda path: path[::-1]), len(best)


def found_by_kernel(name, L, log_start, log_A):
    T, K = L.shape
    path, logs = np.empty(T, dtype=np.int64), np.empty(1)
    lengths = np.array([T])
    if name == "few":
        compiled.sequence.paths.viterbi(
            L.copy(), lengths, log_start, log_A, np.ascontiguousarray(log_A.T), (0,) * K, path, logs
        )
    elif name == "many":
        pointers = np.empty((T, K), dtype=np.uint16)
        compiled.sequence.paths.viterbi_of_many(L, lengths, log_start, log_A, pointers, path, logs, None)
    else:
        paths, several = np.empty((3, T), dtype=np.int64), np.empty(3)
        pointers = np.empty((T, K, 3), dtype=np.int32)
        compiled.sequence.paths.n_best(L, log_start, log_A, np.empty((2, K, 3)), pointers, paths, several)
        path, logs = paths[0], several
    return logs[0], path.tolist()


@pytest.mark.parametrize("kernel", ["few", "many", "n best"])
def test_ties_are_broken_by_one_rule(kernel):
    rng, ties = np.random.default_rng(0), 0
    for _ in range(200):
        T, K = rng.integers(1, 6), rng.integers(2, 4)
        L, log_start, log_A = (-rng.integers(0, 2, size=s).astype(float) for s in ((T, K), (K,), (K, K)))
        score, path, n = best_by_rule(L, log_start, log_A)
        assert found_by_kernel(kernel, L, log_start, log_A) == (score, path)
        ties += n > 1
    assert ties > 100


@pytest.mark.parametrize("K", [2, 13])
def test_a_model_that_says_nothing_has_the_path_of_zeros(K):
    model = CategoricalHMM(K)
    model.startprob_, model.transmat_ = np.full(K, 1 / K), np.full((K, K), 1 / K)
    model.emissionprob_ = np.full((K, 2), 0.5)
    assert model.predict([[0], [1], [1], [0]]).tolist() == [0, 0, 0, 0]
    assert model.decode([[0], [1]], n_best=1)[1][0].tolist() == [[0, 0]]


def test_with_inputs_the_rule_is_the_same():
    model = HiddenMarkovModel(2)
    model.startprob_, model.transmat_ = [0.5, 0.5], np.full((2, 2), 0.5)
    model.emissions_ = [Gaussian(0.0, 1.0)] * 2
    model.coef_ = np.zeros((2, 2, 2))
    assert model.predict(np.zeros((5, 1)), inputs=np.ones((5, 1))).tolist() == [0] * 5
