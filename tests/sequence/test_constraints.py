"""What is fixed stays fixed, what is labelled is believed, and durations are their own."""

import itertools

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

from latently.distributions import Categorical, Dirichlet, Gaussian, Poisson
from latently.learn import threads
from latently.sequence import GMMHMM, CategoricalHMM, GaussianHMM, HiddenMarkovModel, MixtureOf, PoissonHMM
from latently.sequence.inference.chain import stationary

RNG = np.random.RandomState(1)
STATES = np.repeat([0, 1, 2, 0, 1, 2], 25)
X = 3.0 * STATES[:, None] + RNG.standard_normal((150, 1))
LENGTHS = [75, 75]
BAND = np.array([[np.nan, np.nan, 0], [0, np.nan, np.nan], [0, 0, 1.0]])


def test_left_to_right_survives_clone_and_fit():
    model = clone(GaussianHMM(3, transmat=BAND, startprob=[1, 0, 0], random_state=0, n_iter=50)).fit(X, LENGTHS)
    assert (model.transmat_[BAND == 0] == 0).all()
    assert model.transmat_[2, 2] == 1.0
    np.testing.assert_array_equal(model.startprob_, [1, 0, 0])
    assert (np.diff(model.predict(X[:75])) >= 0).all()
    assert (model.predict(X, LENGTHS) == STATES).mean() > 0.95


def test_fixed_values_stay_and_the_rest_is_learnt():
    fixed = np.array([[0.5, np.nan, np.nan], [np.nan] * 3, [np.nan] * 3])
    model = GaussianHMM(3, transmat=fixed, random_state=0).fit(X, LENGTHS)
    assert model.transmat_[0, 0] == 0.5
    np.testing.assert_allclose(model.transmat_.sum(axis=1), 1.0)
    assert model.transmat_[1, 1] != 0.5


def test_all_labels_make_it_counting():
    model = GaussianHMM(3, random_state=0, n_iter=5, covars_prior=0).fit(X, LENGTHS, labels=STATES)
    counts = np.zeros((3, 3))
    for part in np.split(STATES, 2):
        np.add.at(counts, (part[:-1], part[1:]), 1)
    np.testing.assert_allclose(model.transmat_, counts / counts.sum(axis=1, keepdims=True), atol=1e-12)
    for k in range(3):
        assert model.means_[k, 0] == pytest.approx(X[k == STATES].mean())


def test_a_few_labels_name_the_states():
    labels = np.full(150, -1)
    labels[[5, 30, 60]] = [2, 0, 1]
    model = GaussianHMM(3, random_state=0, n_iter=100).fit(X, LENGTHS, labels=labels)
    np.testing.assert_allclose(model.means_[[2, 0, 1], 0], [0, 3, 6], atol=0.6)


def test_a_stationary_start_is_stationary_and_better_than_none_other():
    lengths = [5] * 30
    model = GaussianHMM(3, startprob="stationary", random_state=0, n_iter=60, tol=1e-8).fit(X, lengths)
    np.testing.assert_allclose(model.startprob_, stationary(model.transmat_), atol=1e-10)
    assert (np.diff(model.history_) > -1e-7).all()
    best = model.score(X, lengths)
    for _ in range(20):
        other = clone(model)
        A = np.exp(np.log(model.transmat_ + 1e-12) + 0.05 * RNG.standard_normal((3, 3)))
        other.transmat_ = A / A.sum(axis=1, keepdims=True)
        other.startprob_, other.means_, other.covars_ = stationary(other.transmat_), model.means_, model._covars_
        assert other.score(X, lengths) <= best + 1e-6


def test_tied_emissions_are_one():
    model = HiddenMarkovModel(3, Gaussian(), tied=[0, 1, 0], random_state=0).fit(X, LENGTHS)
    assert model.emissions_[0] == model.emissions_[2]
    assert model.emissions_[0] != model.emissions_[1]
    with pytest.raises(ValueError, match="tied must give each"):
        HiddenMarkovModel(3, tied=[0, 2, 0]).fit(X)


def test_priors_pull():
    strong = CategoricalHMM(2, transmat_prior=[[1000, 1], [1, 1000]], random_state=0).fit(STATES[:, None], LENGTHS)
    assert np.diag(strong.transmat_).min() > 0.9
    rate = PoissonHMM(1, lambdas_prior=1000.0, lambdas_weight=100.0).fit(STATES[:, None])
    assert rate.lambdas_[0, 0] == pytest.approx((1000 + STATES.sum()) / (100 + 150))
    prior = Dirichlet([11.0, 1.0, 1.0])
    model = HiddenMarkovModel(1, Categorical(n_categories=3), emission_prior=prior).fit(STATES[:, None])
    np.testing.assert_allclose(model.emissions_[0].probabilities, [60 / 160, 50 / 160, 50 / 160])


def test_weights_are_repeats():
    for model in (GaussianHMM(2, random_state=0), GMMHMM(2, n_mix=2, random_state=0)):
        start = clone(model).set_params(n_iter=0).fit(X, LENGTHS)
        fits = []
        for rows, lengths, weights in ((X, LENGTHS, [2, 1]), (np.r_[X[:75], X], [75, 75, 75], None)):
            other = clone(model).set_params(init_params="", n_iter=5)
            for name in model.PARAMETERS.values():
                setattr(
                    other,
                    name,
                    start._covars_ if name == "covars_" and hasattr(start, "_covars_") else getattr(start, name),
                )
            fits.append(other.fit(rows, lengths, sample_weight=weights))
        np.testing.assert_allclose(fits[0].transmat_, fits[1].transmat_)
        np.testing.assert_allclose(fits[0].means_, fits[1].means_)


def test_threads_do_not_change_the_result():
    rows = RNG.standard_normal((40_000, 1))
    fits = []
    for n in (1, 2):
        with threads(n):
            fits.append(GaussianHMM(2, random_state=0, n_iter=3).fit(rows, [100] * 400))
    np.testing.assert_array_equal(fits[0].transmat_, fits[1].transmat_)
    np.testing.assert_array_equal(fits[0].means_, fits[1].means_)


def test_restarts_keep_the_best():
    one = [GaussianHMM(4, random_state=s, n_iter=50).fit(X, LENGTHS).history_[-1] for s in range(3)]
    many = GaussianHMM(4, random_state=0, n_init=8, n_iter=50).fit(X, LENGTHS)
    assert many.history_[-1] >= min(one)
    again = GaussianHMM(4, random_state=0, n_init=8, n_iter=50).fit(X, LENGTHS)
    np.testing.assert_array_equal(many.means_, again.means_)


def test_mixtures_as_emissions_are_the_named_case():
    rows = np.r_[X, X + 1.5]
    named = GMMHMM(2, n_mix=2, random_state=0, n_iter=0).fit(rows)
    model = HiddenMarkovModel(2, random_state=0, n_iter=5, init_params="", tol=-1.0)
    model.startprob_, model.transmat_ = named.startprob_, named.transmat_
    parts = [[Gaussian(named.means_[k, m], named.covars_[k, m], kind="diag") for m in range(2)] for k in range(2)]
    model.emissions_ = [MixtureOf(parts[k], named.weights_[k]) for k in range(2)]
    start = named.means_, named.covars_, named.weights_, named.startprob_, named.transmat_
    named.set_params(n_iter=5, init_params="", tol=-1.0)
    named.means_, named.covars_, named.weights_, named.startprob_, named.transmat_ = start
    np.testing.assert_allclose(model.fit(rows).history_, named.fit(rows).history_, rtol=1e-7)


# durations


def segments(T, K, D):
    """All ways to cover T steps with states that change at each segment; the last may be cut off."""
    for n in range(1, T + 1):
        for states in itertools.product(range(K), repeat=n):
            if all(a != b for a, b in itertools.pairwise(states)):
                for lengths in itertools.product(range(1, D + 1), repeat=n):
                    if sum(lengths[:-1]) < T <= sum(lengths):
                        yield states, lengths


def test_durations_are_the_sum_over_all_segmentations():
    K, D, T = 3, 3, 4
    b = RNG.gamma(1.0, size=(T, K))
    model = HiddenMarkovModel(K, Categorical(), duration=Categorical(), max_duration=D)
    model.startprob_ = RNG.dirichlet(np.ones(K))
    A = RNG.dirichlet(np.ones(K), size=K) * (1 - np.eye(K))
    model.transmat_ = A / A.sum(axis=1, keepdims=True)
    model.durations_ = [Categorical(RNG.dirichlet(np.ones(D))) for _ in range(K)]
    table = b.T / b.T.sum(axis=1, keepdims=True)
    model.emissions_ = [Categorical(row) for row in table]
    total, occupied = 0.0, np.zeros((T, K))
    for states, lengths in segments(T, K, D):
        path = np.repeat(states, lengths)[:T]
        p = model.startprob_[states[0]] * np.prod([table[k, t] for t, k in enumerate(path)])
        p *= np.prod([model.transmat_[i, j] for i, j in itertools.pairwise(states)])
        p *= np.prod([model.durations_[k].probabilities[d - 1] for k, d in zip(states, lengths, strict=True)])
        total += p
        occupied[np.arange(T), path] += p
    rows = np.arange(T)[:, None]
    assert model.score(rows) == pytest.approx(np.log(total))
    np.testing.assert_allclose(model.predict_proba(rows), occupied / total)


def test_durations_are_learnt():
    states = []
    while len(states) < 800:
        k = 1 - states[-1] if states else 0
        states += [k] * (1 + RNG.poisson([3, 12][k]))
    rows = 2.5 * np.array(states)[:, None] + RNG.standard_normal((len(states), 1))
    model = HiddenMarkovModel(2, duration=Poisson(), max_duration=35, random_state=0).fit(rows)
    assert model.converged_
    assert (np.diff(model.history_) > -1e-7).all()
    order = np.argsort([e.mean[0] for e in model.emissions_])
    np.testing.assert_allclose(model.expected_durations()[order], [4, 13], rtol=0.2)
    plain = HiddenMarkovModel(2, random_state=0).fit(rows)
    assert model.bic(rows) < plain.bic(rows)
    assert model.n_parameters_ == 1 + 0 + 2 * 2 + 2
    drawn, path = model.sample(2000, random_state=0)
    assert drawn.shape == (2000, 1)
    runs = np.diff(np.flatnonzero(np.diff(path, prepend=-1)))
    assert stats.describe(runs).mean == pytest.approx(model.expected_durations().mean(), rel=0.15)
    assert set(model.predict(rows)) == {0, 1}
