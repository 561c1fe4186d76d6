"""Transitions that depend on inputs."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.sequence.brute import random_chain

from latently.distributions import Categorical, Gaussian, Poisson
from latently.sequence import HiddenMarkovModel, ImpossibleSequence
from latently.sequence.inputs.table import Units

RNG = np.random.RandomState(0)


def simulate(n=3000):
    """Two states; the input drives the chain into state 1."""
    U = RNG.standard_normal(n)
    states = [0]
    for t in range(1, n):
        stay = 1 / (1 + np.exp(-([2.0 - 3.0 * U[t], 2.0 + 3.0 * U[t]][states[-1]])))
        states.append(states[-1] if RNG.uniform() < stay else 1 - states[-1])
    states = np.array(states)
    return 4.0 * states[:, None] + RNG.standard_normal((n, 1)), U, states


def test_coefficients_are_found():
    X, U, states = simulate()
    model = HiddenMarkovModel(2, Gaussian(), random_state=0, n_iter=400, tol=1e-6).fit(X, inputs=U)
    assert model.converged_
    assert model.n_iter_ < 40
    assert (np.diff(model.history_) > -1e-7).all()
    low, high = np.argsort([e.mean[0] for e in model.emissions_])
    stay_low = model.coef_[low, low] - model.coef_[low, high]
    stay_high = model.coef_[high, high] - model.coef_[high, low]
    np.testing.assert_allclose(stay_low, [2.0, -3.0], atol=0.5)
    np.testing.assert_allclose(stay_high, [2.0, 3.0], atol=0.5)
    plain = HiddenMarkovModel(2, Gaussian(), random_state=0).fit(X)
    assert model.bic(X, inputs=U) < plain.bic(X) - 100
    found = (model.predict(X, inputs=U) == high).astype(int)
    assert (found == states).mean() > 0.97
    np.testing.assert_allclose(model.transition_at(0.5).sum(axis=1), 1.0)
    assert model.n_parameters_ == 1 + 2 * 1 * 2 + 4


def test_it_is_the_sum_over_all_paths():
    rng = np.random.default_rng(4)
    K, T = 3, 5
    start, _, _ = random_chain(rng, K, T)
    X, U = np.arange(T)[:, None], rng.standard_normal((T, 2))
    model = HiddenMarkovModel(K, Categorical(n_categories=T), n_iter=1, random_state=0)
    model.fit(np.tile(X, (3, 1)), [T] * 3, inputs=np.tile(U, (3, 1)))
    model.coef_, model.startprob_ = rng.standard_normal((K, K, 3)), start
    b = np.array([e.probabilities for e in model.emissions_]).T
    total, occupied, best = 0.0, np.zeros((T, K)), 0.0
    for path in itertools.product(range(K), repeat=T):
        p = start[path[0]] * b[0, path[0]]
        for t in range(1, T):
            p *= model.transition_at(U[t])[path[t - 1], path[t]] * b[t, path[t]]
        total += p
        best = max(best, p)
        occupied[np.arange(T), path] += p
    assert model.score(X, inputs=U) == pytest.approx(np.log(total))
    np.testing.assert_allclose(model.predict_proba(X, inputs=U), occupied / total)
    np.testing.assert_allclose(model.filter(X, inputs=U)[-1], (occupied / total)[-1])
    assert model.decode(X, inputs=U)[0] == pytest.approx(np.log(best))


def test_inputs_that_say_nothing_change_nothing():
    X, _, _ = simulate(300)
    with_inputs = HiddenMarkovModel(2, random_state=0, n_iter=2000, tol=1e-9).fit(X, inputs=np.zeros(300))
    plain = HiddenMarkovModel(2, random_state=0, n_iter=2000, tol=1e-9).fit(X)
    assert with_inputs.score(X, inputs=np.zeros(300)) == pytest.approx(plain.score(X), abs=1e-3)


def test_known_states_give_logistic_regressions():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    U = rng.normal(size=(4000, 2))
    model = HiddenMarkovModel(3, Gaussian(), random_state=0, n_iter=100, tol=1e-10).fit(U, inputs=U)
    model.coef_ = rng.normal(size=(3, 3, 3))
    _, states = model.sample(inputs=U, random_state=1)
    X = 10.0 * states[:, None] + rng.normal(size=(4000, 1))
    model = HiddenMarkovModel(3, Gaussian(), random_state=0, n_iter=100, tol=1e-10).fit(X, inputs=U, labels=states)
    for i in range(3):
        left = np.flatnonzero(states[:-1] == i)
        peer = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(U[left + 1], states[left + 1])
        own = model.coef_[i]
        np.testing.assert_allclose(own[:, 1:] - own[:1, 1:], peer.coef_ - peer.coef_[:1], atol=1e-4)
        np.testing.assert_allclose(own[:, 0] - own[0, 0], peer.intercept_ - peer.intercept_[0], atol=1e-4)
    np.testing.assert_allclose(model.coef_.sum(axis=1), 0.0, atol=1e-9)


def test_standard_errors_are_those_of_the_regressions_if_states_are_plain():
    X, U, _ = simulate(1500)
    X = 30.0 * (X > 2) + RNG.standard_normal(X.shape)  # apart, so that nothing is hidden
    model = HiddenMarkovModel(2, Gaussian(), random_state=0, n_iter=100, tol=1e-8).fit(X, inputs=U)
    found = model.standard_errors(X, inputs=U)
    states = model.predict(X, inputs=U)
    for i in range(2):
        left = np.flatnonzero(states[:-1] == i) + 1
        design = np.column_stack([np.ones(len(left)), U[left]])
        p = np.array([model.transition_at(u)[i, 1] for u in U[left]])
        errors = np.sqrt(np.diag(np.linalg.inv((design * (p * (1 - p))[:, None]).T @ design)))
        # coefficients of two states sum to zero: half of the difference, whose error the regression gives
        np.testing.assert_allclose(found["coef_"][i], [errors / 2, errors / 2], rtol=1e-3)
    sizes = np.bincount(states)
    np.testing.assert_allclose(
        found["means_"].ravel(), np.sqrt(model._emission(None).variances(model._theta()).ravel() / sizes), rtol=0.01
    )


def test_scores_are_the_slopes_of_the_log_likelihood():
    X, U, _ = simulate(60)
    lengths = [25, 35]
    model = HiddenMarkovModel(2, Gaussian(), random_state=0, n_iter=3).fit(X, lengths, inputs=U)
    found = model.fisher_scores(X, lengths, inputs=U)
    units = Units.of(np.column_stack([np.ones(60), U]))
    coef = units.of_coef(model.coef_)
    for place in np.ndindex(coef.shape):
        values = []
        for step in (1e-5, -1e-5):
            moved = coef.copy()
            moved[place] += step
            model.coef_ = units.back(moved)
            values.append(model.score_sequences(X, lengths, inputs=U))
        column = 2 + np.ravel_multi_index(place, coef.shape)
        np.testing.assert_allclose(found[:, column], (values[0] - values[1]) / 2e-5, atol=1e-5)


def test_impossible_transitions_stay_impossible():
    rng = np.random.default_rng(0)
    lengths, U = [50] * 20, rng.normal(size=1000)
    first = HiddenMarkovModel(3, Gaussian(), n_iter=2, random_state=0).fit(U[:, None], lengths, inputs=U)
    first.startprob_, none = [1.0, 0.0, 0.0], -np.inf
    first.coef_ = np.array(
        [[[1, 1], [-1, -1], [none, 0]], [[none, 0], [1, -1], [-1, 1]], [[none, 0], [none, 0], [0, 0]]]
    )
    parts = [first.sample(inputs=u, random_state=i)[1] for i, u in enumerate(np.split(U, 20))]
    X = 8.0 * np.concatenate(parts)[:, None] + rng.normal(size=(1000, 1))
    fixed = [[np.nan, np.nan, 0], [0, np.nan, np.nan], [0, 0, 1]]
    with pytest.raises(ValueError, match="fixes zeros only"):
        HiddenMarkovModel(3, Gaussian(), transmat=fixed).fit(X, lengths, inputs=U)
    fixed[2][2] = np.nan
    model = HiddenMarkovModel(3, Gaussian(), transmat=fixed, startprob=[1, 0, 0], random_state=0)
    model.fit(X, lengths, inputs=U)
    A = model.transition_at(0.7)
    np.testing.assert_allclose(A.sum(axis=1), 1.0)
    assert (A[[0, 1, 2, 2], [2, 0, 0, 1]] == 0).all()
    assert (np.diff(model.predict(X, lengths, inputs=U).reshape(20, 50)) >= 0).all()
    np.testing.assert_allclose(model.coef_[0, 0] - model.coef_[0, 1], [2.0, 2.0], atol=1.0)
    # two regressions with an intercept and a slope, three Gaussians
    assert model.n_parameters_ == 2 * 2 + 6
    errors = model.standard_errors(X, lengths, inputs=U)
    assert np.isfinite(errors["coef_"]).all()
    assert errors["coef_"][0, 2].tolist() == [0.0, 0.0]


def test_labels_restarts_and_weights():
    X, U, states = simulate(400)
    known = np.where(np.arange(400) % 3 == 0, states, -1)
    model = HiddenMarkovModel(2, Gaussian(), random_state=0).fit(X, inputs=U, labels=known)
    assert model.emissions_[0].mean[0] < model.emissions_[1].mean[0]
    one, best = (HiddenMarkovModel(2, Gaussian(), random_state=3, n_init=n).fit(X, inputs=U) for n in (1, 4))
    assert best.history_[-1] >= one.history_[-1] - 1e-6
    half, twice = [200, 200], np.r_[X[:200], X[:200], X[200:]]
    start_model = HiddenMarkovModel(2, init_params="", random_state=0, n_iter=300, tol=1e-9)
    start_model.startprob_, start_model.transmat_, start_model.emissions_ = (
        one.startprob_,
        one.transmat_,
        one.emissions_,
    )
    a = clone(start_model).fit(X, half, inputs=U, sample_weight=[2, 1])
    b = clone(start_model).fit(twice, [200] * 3, inputs=np.r_[U[:200], U[:200], U[200:]])
    assert a.history_[-1] == pytest.approx(b.history_[-1])
    banned = HiddenMarkovModel(2, transmat=[[np.nan, 0], [np.nan, np.nan]])
    with pytest.raises(ImpossibleSequence, match="step 1"):
        banned.fit(X, inputs=U, labels=np.r_[0, 1, np.full(398, -1)])


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 3), st.integers(1, 3))
def test_the_objective_never_falls(seed, K, p):
    rng = np.random.default_rng(seed)
    X, U = rng.normal(size=(80, 1)) * rng.integers(1, 5), rng.standard_t(2, size=(80, p)) * 10.0 ** rng.integers(-3, 4)
    model = HiddenMarkovModel(K, Gaussian(), random_state=0, n_iter=30, tol=0).fit(X, inputs=U)
    assert (np.diff(model.history_) >= -1e-7 * np.abs(model.history_[1:])).all()
    assert np.isfinite(model.coef_).all()


def test_units_of_the_inputs_do_not_matter():
    X, U, _ = simulate(300)
    near = HiddenMarkovModel(2, random_state=0, n_iter=60, tol=1e-9).fit(X, inputs=U)
    far = HiddenMarkovModel(2, random_state=0, n_iter=60, tol=1e-9).fit(X, inputs=2000 + 1e-3 * U)
    np.testing.assert_allclose(near.history_, far.history_, rtol=1e-6)
    np.testing.assert_allclose(near.transition_at(0.3), far.transition_at(2000.0003), atol=1e-4)


def test_separable_transitions_stay_finite():
    states = np.repeat([0, 1], 50)
    U = np.where(np.arange(100) == 50, 1.0, 0.0)
    X = 9.0 * states[:, None] + RNG.standard_normal((100, 1))
    model = HiddenMarkovModel(2, random_state=0, n_iter=200).fit(X, inputs=U)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.score(X, inputs=U))


def test_samples_follow_the_inputs():
    X, U, _ = simulate(1500)
    model = HiddenMarkovModel(2, Gaussian(), random_state=0).fit(X, inputs=U)
    u = np.full(40_000, 0.4)
    drawn, states = model.sample(inputs=u, random_state=0)
    assert drawn.shape == (40_000, 1)
    A = model.transition_at(0.4)
    moves = np.array([[(states[1:][states[:-1] == i] == j).mean() for j in range(2)] for i in range(2)])
    np.testing.assert_allclose(moves, A, atol=0.02)
    assert model.sample(inputs=u[:3], currstate=1)[1][0] == 1


def test_rows_that_come_in_with_their_inputs():
    X, U, _ = simulate(80)
    model = HiddenMarkovModel(2, Gaussian(), random_state=0, n_iter=20).fit(X, inputs=U)
    stream, lagged = model.stream(), model.stream(lag=3)
    pushed = np.array([stream.push(x, u) for x, u in zip(X, U, strict=True)])
    np.testing.assert_allclose(pushed, model.filter(X, inputs=U), atol=1e-12)
    assert stream.log_likelihood == pytest.approx(model.score(X, inputs=U))
    behind = [lagged.push(x, u) for x, u in zip(X[:30], U[:30], strict=True)]
    np.testing.assert_allclose(behind[-1], model.predict_proba(X[:30], inputs=U[:30])[-4], atol=1e-12)
    ahead = model.predict_next(X[:-2], 2, inputs=U[:-2], next_inputs=U[-2:, None])
    gain = model.score(X[:-1], inputs=U[:-1]) - model.score(X[:-2], inputs=U[:-2])
    assert ahead.log_prob(X[-2:-1])[0] == pytest.approx(gain)
    np.testing.assert_allclose(ahead.state[1], ahead.state[0] @ model.transition_at(U[-1]))
    again = model.stream()
    for x, u in zip(X[:-2], U[:-2], strict=True):
        again.push(x, u)
    np.testing.assert_allclose(again.predict_next(2, U[-2:, None]).state, ahead.state)
    with pytest.raises(ValueError, match="give those of the row"):
        stream.push(X[0])
    with pytest.raises(ValueError, match="next_inputs must have 2 rows"):
        model.predict_next(X, 2, inputs=U)
    with pytest.raises(ValueError, match="fitted without inputs"):
        HiddenMarkovModel(1).fit(X).stream().push(X[0], 1.0)


def test_criteria_and_single_states():
    X, U, _ = simulate(200)
    lengths = [120, 80]
    model = HiddenMarkovModel(2, Gaussian(), random_state=0).fit(X, lengths, inputs=U)
    best, path = model.decode(X, lengths, inputs=U)
    penalty = model.n_parameters_ * np.log(200)
    assert model.icl(X, lengths, inputs=U) == pytest.approx(-2 * best + penalty)
    assert model.bic(X, lengths, inputs=U) == pytest.approx(-2 * model.score(X, lengths, inputs=U) + penalty)
    log, single = model.decode(X, lengths, "map", inputs=U)
    np.testing.assert_array_equal(single, model.predict_proba(X, lengths, inputs=U).argmax(axis=1))
    assert log <= best + 1e-9
    where = np.array_equal(single, path)
    assert not where or log == pytest.approx(best)


def test_bad_inputs():
    X, U, _ = simulate(50)
    with pytest.raises(ValueError, match="inputs must have 50 rows"):
        HiddenMarkovModel(2).fit(X, inputs=U[:10])
    with pytest.raises(ValueError, match="row 3 of column 0 is nan"):
        HiddenMarkovModel(2).fit(X, inputs=np.where(np.arange(50) == 3, np.nan, U))
    for wrong in ({"duration": Poisson()}, {"startprob": "stationary"}, {"transmat_prior": 2.0}):
        with pytest.raises(ValueError, match="do not go together"):
            HiddenMarkovModel(2, **wrong).fit(X, inputs=U)
    model = HiddenMarkovModel(2, random_state=0, n_iter=2).fit(X, inputs=U)
    for question in (
        model.score,
        model.predict,
        model.conditional_mean,
        model.sample_paths,
        model.expected_transitions,
    ):
        with pytest.raises(ValueError, match="depend on inputs: give inputs="):
            question(np.where(np.arange(50)[:, None] == 7, np.nan, X))
    with pytest.raises(ValueError, match="inputs have 2 columns"):
        model.score(X, inputs=np.zeros((50, 2)))
    with pytest.raises(ValueError, match="inputs have 2 columns"):
        model.transition_at([1.0, 2.0])
    with pytest.raises(ValueError, match="n_best must be at least 1"):
        model.decode(X, inputs=U, n_best=0)
    with pytest.raises(ValueError, match="lag must not be negative"):
        model.fixed_lag(X, inputs=U, lag=-1)
    with pytest.raises(NotFittedError, match="fitted without inputs"):
        HiddenMarkovModel(2, random_state=0).fit(X).score(X, inputs=U)
