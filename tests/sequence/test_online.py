"""Filtering, forecasting, streaming."""

import numpy as np
import pytest

from latently.sequence import CategoricalHMM, GaussianHMM, ImpossibleSequence

RNG = np.random.RandomState(0)
X = np.r_[RNG.standard_normal((25, 2)), RNG.standard_normal((25, 2)) + 2]


@pytest.fixture(scope="module")
def model():
    return GaussianHMM(3, random_state=0, n_iter=20).fit(X)


def test_a_filter_does_not_look_ahead(model):
    whole = model.filter(X)
    for t in (1, 10, 30):
        np.testing.assert_allclose(model.filter(X[:t]), whole[:t])
        np.testing.assert_allclose(whole[t - 1], model.predict_proba(X[:t])[-1])


def test_a_stream_is_the_filter_row_by_row(model):
    stream = model.stream()
    np.testing.assert_allclose(stream.belief, model.startprob_)
    pushed = np.array([stream.push(row) for row in X])
    np.testing.assert_allclose(pushed, model.filter(X), atol=1e-12)
    assert stream.log_likelihood == pytest.approx(model.score(X))
    assert stream.n_rows == len(X)
    np.testing.assert_allclose(stream.predict_next(3).state, model.predict_next(X, 3).state)


@pytest.mark.parametrize("lag", [0, 1, 4])
def test_fixed_lag_is_smoothing_of_the_rows_up_to_the_lag(model, lag):
    lagged = model.fixed_lag(X, lag=lag)
    stream = model.stream(lag)
    from_stream = [stream.push(row) for row in X]
    for t in range(len(X)):
        np.testing.assert_allclose(lagged[t], model.predict_proba(X[: t + lag + 1])[t], atol=1e-9)
        if t >= lag:
            np.testing.assert_allclose(from_stream[t], lagged[t - lag], atol=1e-9)
        else:
            assert from_stream[t] is None


def test_fixed_lag_stays_within_its_sequence(model):
    both = model.fixed_lag(np.r_[X[:10], X[:20]], [10, 20], lag=3)
    np.testing.assert_allclose(both[:10], model.fixed_lag(X[:10], lag=3))


def test_forecasts_are_powers_of_the_transitions(model):
    found = model.predict_next(X, 4)
    belief = model.filter(X)[-1]
    for h in range(4):
        expected = belief @ np.linalg.matrix_power(model.transmat_, h + 1)
        np.testing.assert_allclose(found.state[h], expected)
        np.testing.assert_allclose(found.mean[h], expected @ model.means_)
    draws = found.sample(20_000, random_state=0)
    assert draws.shape == (20_000, 4, 2)
    np.testing.assert_allclose(draws.mean(axis=0), found.mean, atol=0.05)
    np.testing.assert_allclose(draws.var(axis=0), found.variance, atol=0.1)


def test_the_forecast_is_the_likelihood_of_the_next_row(model):
    gain = model.score(X) - model.score(X[:-1])
    assert model.predict_next(X[:-1]).log_prob(X[-1:])[0] == pytest.approx(gain)
    assert model.stream().predict_next().log_prob(X[:1])[0] == pytest.approx(model.score(X[:1]))


def test_a_gap_grows_doubtful(model):
    rows = X.copy()
    rows[10:20] = np.nan
    doubt = -(model.predict_proba(rows) * np.log(model.predict_proba(rows) + 1e-300)).sum(axis=1)
    assert doubt[14] > doubt[9]
    stream = model.stream()
    for row in X[:10]:
        stream.push(row)
    before = stream.belief
    for _ in range(300):
        stream.push([np.nan, np.nan])
    np.testing.assert_allclose(stream.belief, before @ np.linalg.matrix_power(model.transmat_, 300))


def test_what_cannot_be_is_said():
    model = CategoricalHMM(1).fit([[0], [1]], [1, 1])
    model.emissionprob_ = [[1.0, 0.0]]
    stream = model.stream()
    stream.push([0])
    with pytest.raises(ImpossibleSequence, match="step 1"):
        stream.push([1])
    with pytest.raises(ValueError, match="lag must not be negative"):
        model.stream(-1)
    with pytest.raises(ValueError, match="steps must be at least 1"):
        model.predict_next([[0]], 0)


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_the_variance_of_a_forecast_is_that_of_the_mixture_of_states(offset):
    """Within the states and between them, by integration over the density of the forecast; far from zero, too."""
    model = GaussianHMM(3, "full", init_params="")
    model.startprob_, model.transmat_ = (
        np.array([0.2, 0.5, 0.3]),
        np.array([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.0, 0.5, 0.5]]),
    )
    model.means_ = offset + np.array([[0.0], [6.0], [-9.0]])
    model.covars_ = np.array([[[1.0]], [[4.0]], [[0.25]]])
    found = model.predict_next(offset + np.array([[1.0], [5.0]]), 3)
    grid = np.linspace(-30, 30, 1201)
    for h in range(3):
        density = np.exp([logs[h] for logs in (found.log_prob(np.repeat([[offset + x]], 3, axis=0)) for x in grid)])
        density /= density.sum()
        mean = density @ grid
        assert found.mean[h, 0] - offset == pytest.approx(mean, abs=1e-6)
        assert found.variance[h, 0] == pytest.approx(density @ (grid - mean) ** 2, rel=1e-6)
