"""Paths of models with inputs: the n best, draws, and fixed-lag smoothing, against the enumeration of all paths."""

import numpy as np
import pytest
from tests.sequence.brute import enumerate_paths

from latently.distributions import Categorical, Gaussian
from latently.sequence import HiddenMarkovModel, ImpossibleSequence

CASES = [(K, T, p, seed) for seed, (K, T, p) in enumerate([(2, 5, 1), (3, 5, 2), (3, 4, 3), (2, 1, 1)])]


def random_model(K, p, rng, banned=()):
    """A model of three symbols whose transitions depend on p inputs; `banned` ones are impossible."""
    rows = rng.integers(0, 3, size=(30, 1))
    rows[:3, 0] = range(3)
    model = HiddenMarkovModel(K, Categorical(n_categories=3), random_state=0, n_iter=1)
    model.fit(rows, inputs=rng.standard_normal((30, p)))
    coef = 1.5 * rng.standard_normal((K, K, 1 + p))
    for place in banned:
        coef[place] = [-np.inf] + [0.0] * p
    model.coef_, model.startprob_ = coef, rng.dirichlet(np.ones(K))
    return model


def transitions(model, U):
    return np.array([model.transition_at(u) for u in U])


def densities(model, X):
    table = np.array([e.probabilities for e in model.emissions_]).T
    known = np.where(np.isnan(X[:, 0]), 0, X[:, 0]).astype(int)
    return np.where(np.isnan(X), 1.0, table[known])


def truth(model, X, U):
    return enumerate_paths(np.asarray(model.startprob_), transitions(model, U), densities(model, X))


def question(K, T, p, seed, **more):
    rng = np.random.default_rng(seed)
    model = random_model(K, p, rng, **more)
    return model, rng.integers(0, 3, size=(T, 1)).astype(float), rng.standard_normal((T, p))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_n_best_paths_are_the_best_of_all(case):
    model, X, U = question(*case)
    every = truth(model, X, U)
    n = min(7, len(every.paths))
    (logs,), (paths,) = model.decode(X, inputs=U, n_best=n)
    np.testing.assert_allclose(logs, np.log(every.joint[:n]))
    np.testing.assert_array_equal(paths, every.paths[:n])
    best, path = model.decode(X, inputs=U)
    assert best == pytest.approx(logs[0])
    np.testing.assert_array_equal(path, paths[0])


def test_there_are_no_more_paths_than_possible_ones():
    model, X, U = question(3, 4, 2, 5, banned=[(0, 2), (1, 0), (2, 0), (2, 1)])
    every = truth(model, X, U)
    possible = int((every.joint > 0).sum())
    assert possible < 81
    (logs,), (paths,) = model.decode(X, inputs=U, n_best=81)
    np.testing.assert_allclose(logs, np.log(every.joint[:possible]))
    assert {tuple(path) for path in paths} == {tuple(path) for path in every.paths[:possible]}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_paths_are_drawn_as_often_as_they_are_probable(case):
    model, X, U = question(*case)
    every = truth(model, X, U)
    drawn = model.sample_paths(X, inputs=U, n_paths=40_000, random_state=1)
    assert drawn.shape == (40_000, len(X))
    code = model.n_components ** np.arange(len(X))
    counts = np.bincount(drawn @ code, minlength=len(every.paths))[every.paths @ code]
    expected = 40_000 * every.joint / every.joint.sum()
    assert (np.abs(counts - expected) <= 5 * np.sqrt(expected) + 1).all()


def test_impossible_transitions_are_never_drawn():
    banned = [(0, 2), (1, 0), (2, 0), (2, 1)]
    model, X, U = question(3, 5, 2, 5, banned=banned)
    drawn = model.sample_paths(X, inputs=U, n_paths=2000, random_state=0)
    assert not set(banned) & set(zip(drawn[:, :-1].ravel().tolist(), drawn[:, 1:].ravel().tolist(), strict=True))


@pytest.mark.parametrize("lag", [0, 1, 2, 9])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_fixed_lag_is_smoothing_of_the_rows_up_to_the_lag(case, lag):
    model, X, U = question(*case)
    found = model.fixed_lag(X, inputs=U, lag=lag)
    for t in range(len(X)):
        stop = t + lag + 1
        np.testing.assert_allclose(found[t], truth(model, X[:stop], U[:stop]).posterior[t], atol=1e-12)


def test_a_lag_of_the_whole_sequence_is_smoothing_and_a_stream_says_the_same():
    rng = np.random.default_rng(0)
    X, U = rng.standard_normal((200, 1)), rng.standard_normal((200, 2))
    X[20:40] = np.nan
    model = HiddenMarkovModel(3, Gaussian(), random_state=0, n_iter=5).fit(X, inputs=U)
    np.testing.assert_allclose(
        model.fixed_lag(X, inputs=U, lag=500), model.predict_proba(X, inputs=U), rtol=1e-9, atol=1e-12
    )
    stream = model.stream(lag=4)
    pushed = [stream.push(x, u) for x, u in zip(X, U, strict=True)]
    np.testing.assert_allclose(pushed[4:], model.fixed_lag(X, inputs=U, lag=4)[:-4], rtol=1e-9, atol=1e-12)


def test_missing_rows_are_summed_over():
    model, X, U = question(3, 5, 2, 11)
    X[1] = X[3] = np.nan
    every = truth(model, X, U)
    (logs,), (paths,) = model.decode(X, inputs=U, n_best=5)
    np.testing.assert_allclose(logs, np.log(every.joint[:5]))
    np.testing.assert_array_equal(paths, every.paths[:5])
    drawn = model.sample_paths(X, inputs=U, n_paths=40_000, random_state=0)
    shares = np.array([(drawn == k).mean(axis=0) for k in range(3)]).T
    np.testing.assert_allclose(shares, every.posterior, atol=5 * np.sqrt(0.25 / 40_000))


def test_sequences_are_apart():
    model, X, U = question(3, 12, 2, 3)
    lengths = [4, 1, 7]
    parts = list(zip(np.split(X, [4, 5]), np.split(U, [4, 5]), strict=True))
    logs, paths = model.decode(X, lengths, inputs=U, n_best=3)
    for i, (rows, own) in enumerate(parts):
        (alone,), (own_paths,) = model.decode(rows, inputs=own, n_best=3)
        np.testing.assert_allclose(logs[i], alone)
        np.testing.assert_array_equal(paths[i], own_paths)
    joined = np.concatenate([model.fixed_lag(rows, inputs=own, lag=2) for rows, own in parts])
    np.testing.assert_allclose(model.fixed_lag(X, lengths, inputs=U, lag=2), joined, atol=1e-12)
    drawn = model.sample_paths(X, lengths, inputs=U, n_paths=20_000, random_state=0)
    shares = np.array([(drawn == k).mean(axis=0) for k in range(3)]).T
    np.testing.assert_allclose(shares, model.predict_proba(X, lengths, inputs=U), atol=5 * np.sqrt(0.25 / 20_000))
    whole = sum(model.decode(rows, inputs=own)[0] for rows, own in parts)
    assert model.decode(X, lengths, inputs=U)[0] == pytest.approx(whole)


def test_inputs_without_influence_leave_the_plain_model():
    rng = np.random.default_rng(7)
    X, U, lengths = rng.integers(0, 3, size=(60, 1)).astype(float), rng.standard_normal((60, 2)), [40, 20]
    plain = HiddenMarkovModel(3, Categorical(), random_state=0, n_iter=5).fit(X, lengths)
    model = HiddenMarkovModel(3, Categorical(), random_state=0, n_iter=1).fit(X, lengths, inputs=U)
    model.startprob_, model.emissions_ = plain.startprob_, plain.emissions_
    model.coef_ = np.dstack([np.log(plain.transmat_), np.zeros((3, 3)), np.zeros((3, 3))])
    expected, found = plain.decode(X, lengths, n_best=4), model.decode(X, lengths, n_best=4, inputs=U)
    for own, other in zip(found[0] + found[1], expected[0] + expected[1], strict=True):
        np.testing.assert_allclose(own, other)
    np.testing.assert_array_equal(model.predict(X, lengths, inputs=U), plain.predict(X, lengths))
    np.testing.assert_allclose(
        model.fixed_lag(X, lengths, lag=3, inputs=U), plain.fixed_lag(X, lengths, lag=3), atol=1e-12
    )
    draws = {"n_paths": 50, "random_state": 0}
    np.testing.assert_array_equal(
        model.sample_paths(X, lengths, inputs=U, **draws), plain.sample_paths(X, lengths, **draws)
    )


def test_an_impossible_sequence_is_named():
    model, X, U = question(2, 6, 1, 0, banned=[(0, 1), (1, 0)])
    model.startprob_ = np.array([1.0, 0.0])
    only = Categorical(np.array([1.0, 0.0, 0.0])), Categorical(np.array([0.0, 0.5, 0.5]))
    model.emissions_ = list(only)
    X = np.array([[0.0], [0], [0], [0], [0], [1]])
    for ask in (model.decode, model.sample_paths, lambda *a, **k: model.fixed_lag(*a, lag=1, **k)):
        with pytest.raises(ImpossibleSequence, match="sequence 1 .* step 2"):
            ask(X, [3, 3], inputs=U)


def test_plain_models_name_an_impossible_sequence_too():
    model = HiddenMarkovModel(2, init_params="", params="")
    model.startprob_, model.transmat_ = np.array([1.0, 0.0]), np.eye(2)
    model.emissions_ = [Categorical(np.array([1.0, 0.0])), Categorical(np.array([0.0, 1.0]))]
    X = np.array([[0.0], [0], [0], [0], [0], [1]])
    for ask in (model.sample_paths, lambda *a: model.fixed_lag(*a, lag=1)):
        with pytest.raises(ImpossibleSequence, match="sequence 1 .* step 2"):
            ask(X, [3, 3])


def test_outliers_that_contradict_each_other_leave_probabilities():
    model = HiddenMarkovModel(2, init_params="", params="")
    model.startprob_, model.transmat_ = np.array([0.5, 0.5]), np.array([[1 - 1e-12, 1e-12], [1e-12, 1 - 1e-12]])
    model.emissions_ = [Gaussian([0.0], [[1.0]]), Gaussian([100.0], [[1.0]])]
    X = np.array([[0.0], [100.0], [-200.0], [300.0], [0.0]])
    found = model.fixed_lag(X, lag=2)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_array_equal(found.argmax(axis=1), [0, 1, 0, 1, 0])


def test_an_outlier_does_not_lose_a_state_for_good():
    # the second row says "state 1", by far; the rows after it are possible in state 0 alone, to which nothing returns
    model = HiddenMarkovModel(2, Gaussian(), random_state=0, n_iter=1).fit(
        np.arange(9.0)[:, None], inputs=np.arange(9.0)
    )
    model.startprob_ = np.array([1.0, 0.0])
    model.coef_ = np.array([[[1.0, 0.5], [0.0, 0.0]], [[-np.inf, 0.0], [0.0, 0.0]]])
    model.emissions_ = [Gaussian([0.0], [[1.0]]), Gaussian([100.0], [[1.0]])]
    X, U = np.array([[0.0], [100.0], [0.0], [0.0]]), np.array([0.3, -0.2, 1.0, 0.5])
    logs = np.array([e.log_prob(X) for e in model.emissions_]).T
    stay = np.log([model.transition_at(u)[0, 0] for u in U[1:]]).sum()
    assert model.score(X, inputs=U) == pytest.approx(logs[:, 0].sum() + stay)
    np.testing.assert_allclose(model.predict_proba(X, inputs=U)[:, 0], 1.0)
    np.testing.assert_allclose(model.fixed_lag(X, lag=1, inputs=U)[[0, 2, 3], 0], 1.0)
    assert (model.sample_paths(X, inputs=U, n_paths=20, random_state=0) == 0).all()
    (best,), (path,) = model.decode(X, inputs=U, n_best=1)
    assert best[0] == pytest.approx(logs[:, 0].sum() + stay)
    assert (path == 0).all()
