"""Brute force over all paths agrees with every algorithm."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sequence.brute import enumerate_paths, random_chain

from latently.sequence import CategoricalHMM, GaussianHMM, HiddenMarkovModel
from latently.sequence.inference import blocked as part
from latently.sequence.inference import chain, viterbi
from latently.sequence.inference import forward_backward as forward_backward

CASES = st.tuples(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 6), st.booleans())
QUICK = settings(max_examples=60, deadline=None)


def setting(case):
    seed, K, T, zeros = case
    start, A, b = random_chain(np.random.default_rng(seed), K, T, zeros)
    return chain.Chain(start, A), np.log(b), np.array([T]), enumerate_paths(start, A, b)


@QUICK
@given(CASES)
def test_smoothing_is_the_sum_over_all_paths(case):
    model, L, lengths, brute = setting(case)
    found = forward_backward.smooth(model, lambda a, b: L[a:b].copy(), lengths)
    assert found.log_likelihood[0] == pytest.approx(brute.log_likelihood)
    np.testing.assert_allclose(found.posterior, brute.posterior, atol=1e-9)
    np.testing.assert_allclose(found.transitions, brute.moves, atol=1e-9)
    np.testing.assert_allclose(found.first, brute.posterior[0], atol=1e-9)


@QUICK
@given(CASES)
def test_log_space_is_the_sum_over_all_paths(case):
    model, L, lengths, brute = setting(case)
    job = part.Job(model, None, lambda a, b: L[a:b].copy(), lambda i, j, g: g)
    undone = part.ExpectedCounts.empty(model.n_states, np.array([np.nan]))
    found = forward_backward._in_logs(undone, job, np.array([0]), lengths, 0)
    assert found.log_likelihood[0] == pytest.approx(brute.log_likelihood)
    np.testing.assert_allclose(found.results[0], brute.posterior, atol=1e-9)
    np.testing.assert_allclose(found.transitions, brute.moves, atol=1e-9)


@QUICK
@given(CASES)
def test_filtering_ends_where_smoothing_does(case):
    model, L, lengths, brute = setting(case)
    found = chain.forward(model, lambda a, b: L[a:b].copy(), lengths)
    assert found.log_likelihood[0] == pytest.approx(brute.log_likelihood)
    np.testing.assert_allclose(found.belief[-1], brute.posterior[-1], atol=1e-9)
    for t in range(1, len(L)):
        part = forward_backward.smooth(model, lambda a, b: L[a:b].copy(), np.array([t]))
        np.testing.assert_allclose(found.belief[t - 1], part.posterior[-1], atol=1e-9)


@QUICK
@given(CASES)
def test_viterbi_and_the_n_best_are_the_best_of_all_paths(case):
    model, L, lengths, brute = setting(case)
    logs, path = viterbi.best_paths(model, lambda a, b: L[a:b].copy(), lengths)
    assert logs[0] == pytest.approx(np.log(brute.joint[0]))
    assert chain.path_log_prob(model, L, lengths, path)[0] == pytest.approx(logs[0])
    scores, paths = chain.n_best(model, L, 7)
    possible = brute.joint[brute.joint > 0][:7]
    np.testing.assert_allclose(scores, np.log(possible))
    again = [chain.path_log_prob(model, L, lengths, p)[0] for p in paths]
    np.testing.assert_allclose(again, scores)
    assert len({tuple(p) for p in paths}) == len(paths)


def test_sampled_paths_have_the_smoothed_frequencies():
    start, A, b = random_chain(np.random.default_rng(3), 3, 5)
    model, brute = chain.Chain(start, A), enumerate_paths(start, A, b)
    paths = chain.sample_paths(model, np.log(b), 20_000, np.random.RandomState(0))
    shares = np.array([[(paths[:, t] == k).mean() for k in range(3)] for t in range(5)])
    np.testing.assert_allclose(shares, brute.posterior, atol=0.015)
    moves = np.zeros((3, 3))
    np.add.at(moves, (paths[:, :-1].ravel(), paths[:, 1:].ravel()), 1 / len(paths))
    np.testing.assert_allclose(moves, brute.moves, atol=0.05)


def test_several_sequences_are_each_by_themselves():
    rng = np.random.default_rng(0)
    start, A, b = random_chain(rng, 3, 12)
    model, lengths = chain.Chain(start, A), np.array([4, 1, 5, 2])
    found = forward_backward.smooth(model, lambda i, j: np.log(b[i:j]), lengths)
    parts = [enumerate_paths(start, A, rows) for rows in np.split(b, np.cumsum(lengths)[:-1])]
    np.testing.assert_allclose(found.log_likelihood, [p.log_likelihood for p in parts])
    np.testing.assert_allclose(found.posterior, np.vstack([p.posterior for p in parts]))
    np.testing.assert_allclose(found.transitions, sum(p.moves for p in parts))
    logs, path = viterbi.best_paths(model, lambda i, j: np.log(b[i:j]), lengths)
    np.testing.assert_allclose(logs, [np.log(p.joint[0]) for p in parts])
    np.testing.assert_array_equal(path, np.concatenate([p.paths[0] for p in parts]))


@pytest.mark.parametrize("K", [13, 40])
def test_many_states_agree_with_plain_matrix_products(K):
    start, A, b = random_chain(np.random.default_rng(1), K, 30)
    found = forward_backward.smooth(chain.Chain(start, A), lambda i, j: np.log(b[i:j]), np.array([30]))
    alpha = start * b[0]
    for row in b[1:]:
        alpha = (alpha @ A) * row
    assert found.log_likelihood[0] == pytest.approx(np.log(alpha.sum()))
    np.testing.assert_allclose(found.posterior[-1], alpha / alpha.sum())
    np.testing.assert_allclose(found.transitions.sum(axis=1), found.posterior[:-1].sum(axis=0))
    log, path = viterbi.best_paths(chain.Chain(start, A), lambda i, j: np.log(b[i:j]), np.array([30]))
    logs, paths = chain.n_best(chain.Chain(start, A), np.log(b), 1)
    assert log == pytest.approx(logs)
    np.testing.assert_array_equal(path, paths[0])


def test_a_single_state_is_the_plain_distribution():
    X = np.random.default_rng(0).normal(3.0, 2.0, size=(50, 2))
    model = GaussianHMM(1, "full", covars_prior=0, n_iter=5).fit(X, [20, 30])
    np.testing.assert_allclose(model.means_[0], X.mean(axis=0))
    np.testing.assert_allclose(model.covars_[0], np.cov(X.T, bias=True))
    from scipy.stats import multivariate_normal

    expected = multivariate_normal(X.mean(axis=0), np.cov(X.T, bias=True)).logpdf(X).sum()
    assert model.score(X, [20, 30]) == pytest.approx(expected)
    same = HiddenMarkovModel(1).fit(X)
    assert same.score(X) == pytest.approx(expected)


def test_one_row():
    model = CategoricalHMM(2)
    model.startprob_, model.transmat_ = [0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]]
    model.emissionprob_ = [[0.1, 0.9], [0.6, 0.4]]
    assert model.score([[0]]) == pytest.approx(np.log(0.6 * 0.1 + 0.4 * 0.6))
    np.testing.assert_allclose(model.predict_proba([[0]]), [[0.06 / 0.3, 0.24 / 0.3]])
    assert model.decode([[0]])[1].tolist() == [1]
