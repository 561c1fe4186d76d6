"""Transitions that depend on inputs."""

import itertools

import numpy as np
import pytest
from tests.sequence.brute import random_chain

from tacit.distributions import Categorical, Gaussian
from tacit.sequence import HiddenMarkovModel

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


def test_bad_inputs():
    X, U, _ = simulate(50)
    with pytest.raises(ValueError, match="inputs must have 50 rows"):
        HiddenMarkovModel(2).fit(X, inputs=U[:10])
    with pytest.raises(ValueError, match="row 3 is not"):
        HiddenMarkovModel(2).fit(X, inputs=np.where(np.arange(50) == 3, np.nan, U))
    with pytest.raises(ValueError, match="do not go together"):
        HiddenMarkovModel(2, transmat=np.eye(2)).fit(X, inputs=U)
    model = HiddenMarkovModel(2, random_state=0, n_iter=2).fit(X, inputs=U)
    with pytest.raises(ValueError, match="give inputs="):
        model.score(X)
    with pytest.raises(ValueError, match="inputs have 2 columns"):
        model.score(X, inputs=np.zeros((50, 2)))
