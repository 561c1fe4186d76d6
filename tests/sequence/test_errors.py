"""Standard errors: the same in every unit, and those of independent likelihoods and of closed forms."""

import numpy as np
import pytest
from scipy import stats
from tests.sequence.series import NILE

from latently.distributions import Gaussian, Poisson, Product
from latently.sequence import CategoricalHMM, GaussianHMM, HiddenMarkovModel

FINE = {"random_state": 0, "tol": 1e-9, "n_iter": 3000}


def log_likelihood(x, free):
    """A chain of two Gaussian states by the plain recursion: means, variances, and one transition each."""
    means, variances, (stay, leave) = free[:2], free[2:4], free[4:]
    A = np.array([[stay, 1 - stay], [leave, 1 - leave]])
    row, total = np.array([1.0, 0.0]), 0.0
    for t, density in enumerate(stats.norm.pdf(x[:, None], means, np.sqrt(variances))):
        row = (row if t == 0 else row @ A) * density
        total += np.log(row.sum())
        row = row / row.sum()
    return total


def hessian(f, at, steps):
    """Second derivatives by central differences."""
    n = len(at)
    H = np.empty((n, n))
    for i, j in zip(*np.tril_indices(n), strict=True):
        a, b = np.eye(n)[i] * steps, np.eye(n)[j] * steps
        H[i, j] = (f(at + a + b) - f(at + a - b) - f(at - a + b) + f(at - a - b)) / (4 * steps[i] * steps[j])
        H[j, i] = H[i, j]
    return H


def noisy_chain(n=250):
    rng = np.random.default_rng(3)
    states = np.zeros(n, dtype=int)
    for t in range(1, n):
        states[t] = states[t - 1] if rng.uniform() < 0.85 else 1 - states[t - 1]
    return rng.normal(3.0 * states, 1.0 + 0.5 * states)[:, None]


@pytest.mark.parametrize("unit", [1.0, 1000.0, 1e-6])
def test_errors_are_those_of_an_independent_likelihood(unit):
    X = unit * noisy_chain()
    model = HiddenMarkovModel(2, startprob=[1, 0], **FINE).fit(X)
    means, variances = (np.ravel([getattr(e, name) for e in model.emissions_]) for name in ("mean", "variance"))
    at = np.concatenate([means, variances, model.transmat_[:, 0]])
    steps = 1e-3 * np.concatenate([np.sqrt(variances), variances, [1.0, 1.0]])
    expected = np.sqrt(np.diag(np.linalg.inv(-hessian(lambda v: log_likelihood(X[:, 0], v), at, steps))))
    found = model.standard_errors(X)
    own = np.concatenate([found["means_"].ravel(), found["variances_"].ravel(), found["transmat_"][:, 0]])
    np.testing.assert_allclose(own, expected, rtol=2e-4)
    assert found["startprob_"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("unit", [1000.0, 1e-6, 1e100, 1e-100])
def test_errors_have_the_unit_of_the_data(unit):
    errors = HiddenMarkovModel(2, **FINE).fit(NILE).standard_errors(NILE)
    np.testing.assert_allclose(np.sort(errors["means_"].ravel()), [14.75, 25.56], atol=0.02)
    scaled = HiddenMarkovModel(2, **FINE).fit(unit * NILE).standard_errors(unit * NILE)
    np.testing.assert_allclose(scaled["means_"], unit * errors["means_"], rtol=1e-6)
    np.testing.assert_allclose(scaled["variances_"], unit * (unit * errors["variances_"]), rtol=1e-6)
    np.testing.assert_allclose(scaled["transmat_"], errors["transmat_"], rtol=1e-6)
    assert scaled["transmat_"].max() > 0.03


@pytest.mark.parametrize("emission", [Gaussian(), Gaussian(kind="diag"), Product([(Gaussian(), 0), (Gaussian(), 1)])])
def test_a_column_of_a_small_unit_beside_another_has_its_own_errors(emission):
    other = np.random.default_rng(0).normal(size=100)
    large, small = (np.column_stack([NILE, unit * other]) for unit in (1.0, 1e-4))
    expected = HiddenMarkovModel(2, emission, **FINE).fit(large).standard_errors(large)
    found = HiddenMarkovModel(2, emission, **FINE).fit(small).standard_errors(small)
    np.testing.assert_allclose(found["means_"], expected["means_"] * [1.0, 1e-4], rtol=1e-5)
    np.testing.assert_allclose(found["variances_"], expected["variances_"] * [1.0, 1e-8], rtol=1e-5)
    assert (found["means_"] > 0).all()


def test_known_states_have_the_errors_of_samples():
    labels = (np.arange(100) >= 28).astype(int)
    errors = HiddenMarkovModel(2, **FINE).fit(NILE, labels=labels).standard_errors(NILE, labels=labels)
    for k in (0, 1):
        own = NILE[labels == k]
        np.testing.assert_allclose(errors["means_"][k], own.std() / np.sqrt(len(own)), rtol=1e-6)
        np.testing.assert_allclose(errors["variances_"][k], own.var() * np.sqrt(2 / len(own)), rtol=1e-6)
    stay = 27 / 28
    np.testing.assert_allclose(errors["transmat_"][0], np.sqrt(stay * (1 - stay) / 28), rtol=1e-5)


def test_known_states_count_where_transitions_depend_on_inputs():
    labels = (np.arange(100) % 10 >= 4).astype(int)
    U = np.random.default_rng(1).normal(size=(100, 1))
    model = HiddenMarkovModel(2, **FINE).fit(NILE, inputs=U, labels=labels)
    errors = model.standard_errors(NILE, inputs=U, labels=labels)
    sizes = np.bincount(labels)
    expected = [NILE[labels == k].std() / np.sqrt(sizes[k]) for k in (0, 1)]
    np.testing.assert_allclose(errors["means_"].ravel(), expected, rtol=1e-6)


def test_a_weight_of_two_is_two_sequences():
    X = noisy_chain(200)
    twice = np.concatenate([X, X[:80]])
    weighted = HiddenMarkovModel(2, **FINE).fit(X, [80, 120], sample_weight=[2.0, 1.0])
    repeated = HiddenMarkovModel(2, **FINE).fit(twice, [80, 120, 80])
    own = weighted.standard_errors(X, [80, 120], sample_weight=[2.0, 1.0])["means_"]
    expected = repeated.standard_errors(twice, [80, 120, 80])["means_"]
    np.testing.assert_allclose(np.sort(own.ravel()), np.sort(expected.ravel()), rtol=1e-4)


def test_a_prior_counts_as_it_did_in_the_fit():
    """A rate with a Gamma prior of shape a and rate b has the posterior Gamma(a + sum, b + n), here in its mode."""
    from latently.distributions import Gamma

    counts = np.random.default_rng(0).poisson(3, (40, 1))
    prior = Gamma(20.0, 10.0)
    model = HiddenMarkovModel(1, Poisson(), emission_prior=prior, **FINE).fit(counts)
    shape, rate = 20.0 + counts.sum(), 10.0 + 40
    mode = (shape - 1) / rate
    # minus the second derivative of (shape - 1) log r - rate r is (shape - 1) / r^2
    np.testing.assert_allclose(model.standard_errors(counts)["means_"], mode / np.sqrt(shape - 1), rtol=1e-6)


def test_no_errors_away_from_the_maximum():
    early = HiddenMarkovModel(2, random_state=0, n_iter=2).fit(NILE)
    with pytest.raises(ValueError, match="smaller tol"):
        early.standard_errors(NILE)
    labels = np.random.default_rng(0).integers(0, 2, size=100)
    other = HiddenMarkovModel(2, **FINE).fit(NILE, labels=labels)
    with pytest.raises(ValueError, match="not at a maximum|same labels"):
        other.standard_errors(NILE)


def test_no_errors_of_states_that_cannot_be_told_apart():
    model = HiddenMarkovModel(2, init_params="")
    model.startprob_, model.transmat_ = [0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]]
    model.emissions_ = [Gaussian().fit(NILE)] * 2
    with pytest.raises(ValueError, match="not positive definite"):
        model.standard_errors(NILE)


def test_what_is_not_learnt_has_no_error():
    model = GaussianHMM(2, covars_prior=0, params="stm", **FINE).fit(NILE / 100)
    errors = model.standard_errors(NILE / 100)
    assert (errors["variances_"] == 0).all()
    assert (errors["means_"] > 0).all()
    codes = (NILE > 900).astype(int)
    held = CategoricalHMM(2, params="st", init_params="st", **FINE)
    held.emissionprob_ = [[0.9, 0.1], [0.2, 0.8]]
    errors = held.fit(codes).standard_errors(codes)
    assert (errors["emissionprob_"] == 0).all()
    assert errors["transmat_"].max() > 0
