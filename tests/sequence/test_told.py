"""What a fitted model says of itself: criteria, forecasts, and how the fit ended."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.sequence.series import NILE

from latently.checks import estimator_checks
from latently.distributions import Gaussian
from latently.sequence import GMMHMM, CategoricalHMM, GaussianHMM, HiddenMarkovModel, MarkovChain, PoissonHMM

NAN = np.nan


def fixed(means=(0.0, 4.0), variances=(1.0, 2.0)):
    model = HiddenMarkovModel(2)
    model.startprob_, model.transmat_ = [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]]
    model.emissions_ = [Gaussian(m, v) for m, v in zip(means, variances, strict=True)]
    return model


# rows with nothing observed


def test_rows_with_nothing_observed_do_not_count_in_the_criteria():
    model, X = fixed(), np.array([[0.1], [NAN], [3.0], [4.1], [NAN], [NAN]])
    # a start, two rows of transitions, two means and two variances
    log_likelihood, k = model.score(X), 1 + 2 + 4
    assert model.bic(X) == pytest.approx(-2 * log_likelihood + k * np.log(3))
    assert model.icl(X) == pytest.approx(-2 * model.decode(X, algorithm="viterbi")[0] + k * np.log(3))
    assert model.aic(X) == pytest.approx(-2 * log_likelihood + 2 * k)
    behind = np.vstack([X[:4], np.full((50, 1), NAN)])
    assert model.bic(behind) == pytest.approx(model.bic(X[:4]))


def test_a_row_of_which_something_is_observed_counts():
    rows = np.column_stack([NILE[:, 0], np.where(np.arange(100) % 2, NAN, NILE[:, 0] ** 0.5)])
    rows[:10] = NAN
    model = HiddenMarkovModel(2, Gaussian(kind="diag"), random_state=0).fit(rows)
    assert model.bic(rows) == pytest.approx(-2 * model.score(rows) + model.n_parameters_ * np.log(90))


def test_missing_symbols_of_a_chain_do_not_count():
    symbols = [0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, NAN, NAN]
    chain = MarkovChain().fit(symbols)
    expected = -2 * chain.score(symbols) + chain.n_parameters_ * np.log(7)
    assert chain.bic(symbols) == pytest.approx(expected)
    assert chain.bic(symbols) == pytest.approx(chain.bic(symbols[:7]))


# forecasts


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_the_variance_of_a_forecast_is_within_and_between_states(offset):
    model = fixed((offset, offset + 4.0))
    found = model.predict_next(np.array([[offset], [offset + 4.0]]), steps=3)
    for p, mean, variance in zip(found.state, found.mean[:, 0], found.variance[:, 0], strict=True):
        middle = p[1] * 4.0
        assert mean - offset == pytest.approx(middle, abs=1e-7)
        # E[(x - m)^2], state by state
        expected = p[0] * (1.0 + middle**2) + p[1] * (2.0 + (4.0 - middle) ** 2)
        assert variance == pytest.approx(expected, rel=1e-6)


# how a fit ended


ENDLESS = {
    "Gaussian": (GaussianHMM, NILE),
    "mixture": (GMMHMM, NILE),
    "counts": (PoissonHMM, NILE.round()),
    "symbols": (CategoricalHMM, (NILE > 900).astype(int)),
    "any": (HiddenMarkovModel, NILE),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_fit_that_runs_out_of_iterations_says_so(name):
    make, X = ENDLESS[name]
    with pytest.warns(ConvergenceWarning, match="did not converge in 2 iterations: raise n_iter"):
        model = make(2, n_iter=2, tol=1e-9, random_state=0).fit(X)
    assert not model.converged_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = make(2, n_iter=5000, tol=1e-3, random_state=0).fit(X)
        make(2, n_iter=0, random_state=0).fit(X)
    assert model.converged_


def test_the_warning_points_at_the_line_that_called_fit():
    with pytest.warns(ConvergenceWarning) as caught:
        HiddenMarkovModel(2, n_iter=2, random_state=0).fit(NILE)
    assert caught[0].filename == __file__


def test_with_inputs_a_fit_that_runs_out_of_iterations_says_so():
    with pytest.warns(ConvergenceWarning, match="raise n_iter"):
        HiddenMarkovModel(2, n_iter=2, random_state=0).fit(NILE, inputs=np.arange(100.0))


def test_the_trace_has_the_name_that_other_estimators_have():
    model = HiddenMarkovModel(2, random_state=0)
    with pytest.raises(AttributeError, match="not been fitted"):
        model.trace_  # noqa: B018
    model.fit(NILE)
    assert model.trace_ is model.history_
    assert model.monitor_.iter == len(model.trace_) == model.n_iter_


class AlwaysConverged(GaussianHMM):
    def fit(self, X, lengths=None, **given):
        super().fit(X, lengths, **given)
        self.converged_ = True
        return self


class TraceFalls(GaussianHMM):
    def fit(self, X, lengths=None, **given):
        super().fit(X, lengths, **given)
        self.history_ = self.history_[::-1]
        return self


@pytest.mark.parametrize(
    ("model", "law"),
    [(AlwaysConverged(2), "law_converged_is_honest"), (TraceFalls(2), "law_trace_never_falls")],
)
def test_laws_bind_hidden_markov_models(model, law):
    dict(estimator_checks(GaussianHMM(2)))[law]()
    with pytest.raises(AssertionError):
        dict(estimator_checks(model))[law]()
