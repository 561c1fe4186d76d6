"""Hidden Markov models that add and take away what they have learnt: expected counts obey + and -."""

import numpy as np
import pytest

from latently.sequence import GMMHMM, CategoricalHMM, GaussianHMM, HiddenMarkovModel, PoissonHMM

RNG = np.random.default_rng(0)
STATES = np.arange(400) // 20 % 2
NUMBERS = RNG.normal(size=(400, 2)) + 30 * STATES[:, None]
COUNTS = RNG.poisson(1 + 40 * STATES)[:, None].astype(float)
CODES = (RNG.integers(0, 2, size=400) + 2 * STATES)[:, None].astype(float)
LENGTHS = [40] * 10
CASES = [
    (GaussianHMM, NUMBERS, {"covariance_type": "diag"}),
    (GaussianHMM, NUMBERS, {"covariance_type": "full"}),
    (GaussianHMM, NUMBERS, {"covariance_type": "tied"}),
    (GaussianHMM, NUMBERS, {"covariance_type": "spherical"}),
    (PoissonHMM, COUNTS, {}),
    (CategoricalHMM, CODES, {}),
    (HiddenMarkovModel, NUMBERS, {}),
    (GMMHMM, NUMBERS, {"n_mix": 1}),
]
pytestmark = pytest.mark.filterwarnings("ignore:.*did not converge")


def parameters(model):
    """Transitions, and what the emissions say about rows."""
    return np.concatenate([model.transmat_.ravel(), model.predict_proba(PROBE[type(model).__name__], LENGTHS).ravel()])


PROBE = {"GaussianHMM": NUMBERS, "PoissonHMM": COUNTS, "CategoricalHMM": CODES, "HiddenMarkovModel": NUMBERS}
PROBE["GMMHMM"] = NUMBERS


@pytest.mark.parametrize(("kind", "X", "params"), CASES)
def test_batches_are_the_fit_where_the_states_are_certain(kind, X, params):
    """The states are far apart, so the expected counts are counts, and do not depend on the parameters."""
    whole = kind(2, random_state=0, n_iter=20, **params).fit(X, LENGTHS, labels=STATES)
    model = kind(2, random_state=0, n_iter=20, **params).fit(X[:200], LENGTHS[:5], labels=STATES[:200])
    model.partial_fit(X[200:], LENGTHS[5:])
    np.testing.assert_allclose(parameters(model), parameters(whole), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.score(X, LENGTHS), whole.score(X, LENGTHS), rtol=1e-7)


@pytest.mark.parametrize(("kind", "X", "params"), CASES)
def test_forget_is_the_fit_of_the_others(kind, X, params):
    whole = kind(2, random_state=0, n_iter=20, **params).fit(X, LENGTHS, labels=STATES)
    part = kind(2, random_state=0, n_iter=20, **params).fit(X[:200], LENGTHS[:5], labels=STATES[:200])
    whole.forget(X[200:], LENGTHS[5:])
    np.testing.assert_allclose(parameters(whole), parameters(part), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("kind", "X", "params"), [case for case in CASES if case[0] is not GMMHMM])
def test_merge_is_the_fit_of_both_whatever_the_order_of_states(kind, X, params):
    whole = kind(2, random_state=0, n_iter=20, **params).fit(X, LENGTHS, labels=STATES)
    first = kind(2, random_state=0, n_iter=20, **params).fit(X[:200], LENGTHS[:5], labels=STATES[:200])
    turned = kind(2, random_state=0, n_iter=20, **params)
    turned.fit(X[200:], LENGTHS[5:], labels=1 - STATES[200:])  # the same states by other numbers
    merged = first.merge(turned)
    np.testing.assert_allclose(parameters(merged), parameters(whole), rtol=1e-6, atol=1e-9)


def test_weights_of_sequences_count_like_repeats():
    once = GaussianHMM(2, random_state=0, n_iter=5).fit(NUMBERS, LENGTHS)
    weighted = once.partial_fit(NUMBERS[:40], [40], sample_weight=[2.0]).statistics_.visits
    other = GaussianHMM(2, random_state=0, n_iter=5).fit(NUMBERS, LENGTHS)
    repeated = other.partial_fit(np.concatenate([NUMBERS[:40]] * 2), [40, 40]).statistics_.visits
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9)


def test_what_was_never_learnt_is_refused_and_changes_nothing():
    model = GaussianHMM(2, random_state=0, n_iter=10).fit(NUMBERS[:120], [40] * 3)
    before = model.means_.copy()
    ones = NUMBERS[:200][STATES[:200] == 1][:80]
    with pytest.raises(ValueError, match=r"would leave state [01] with a weight of -"):
        model.forget(ones)
    with pytest.raises(ValueError, match="leaves nothing of the"):
        model.forget(NUMBERS)
    np.testing.assert_array_equal(model.means_, before)


def test_models_that_keep_no_statistics_say_so():
    model = GaussianHMM(1)
    model.startprob_, model.transmat_ = np.ones(1), np.ones((1, 1))
    model.means_, model.covars_ = np.zeros((1, 2)), np.ones((1, 2))
    with pytest.raises(ValueError, match="keeps no statistics"):
        model.forget(NUMBERS)
    other = GaussianHMM(3, random_state=0).fit(NUMBERS)
    with pytest.raises(ValueError, match="cannot be merged"):
        GaussianHMM(2, random_state=0).fit(NUMBERS).merge(other)


@pytest.mark.parametrize(("kind", "X", "params"), CASES)
def test_rows_that_were_never_learnt_are_refused_and_change_nothing(kind, X, params):
    model = kind(2, random_state=0, n_iter=20, **params).fit(X, LENGTHS, labels=STATES)
    before = parameters(model)
    strangers = np.full((len(CODES) - 1, 1), CODES[0, 0]) if X is CODES else np.full((6, X.shape[1]), 90_000)
    with pytest.raises(ValueError, match=r"cannot forget these rows|would leave state"):
        model.forget(strangers)
    np.testing.assert_array_equal(parameters(model), before)
