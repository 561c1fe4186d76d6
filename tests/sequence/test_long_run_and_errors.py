"""Gradients, standard errors, missing values, little memory."""

import numpy as np
import pytest

from latently.distributions import (
    Bernoulli,
    Categorical,
    Exponential,
    Family,
    Gamma,
    Gaussian,
    Poisson,
    Product,
    VonMises,
)
from latently.sequence import GMMHMM, CategoricalHMM, GaussianHMM, HiddenMarkovModel, MixtureOf, PoissonHMM
from latently.sequence.hmm import scores

RNG = np.random.RandomState(0)
X = np.r_[RNG.standard_normal((30, 2)), RNG.standard_normal((30, 2)) + 3]
COUNTS = np.r_[RNG.poisson(2, (30, 1)), RNG.poisson(9, (30, 1))]
MIXED = np.column_stack([X[:, 0], (X[:, 1] > 1).astype(float)])
WITH_MISSING = np.where(RNG.uniform(size=X.shape) < 0.2, np.nan, X)
BINARY = np.r_[RNG.uniform(size=(30, 2)) < 0.3, RNG.uniform(size=(30, 2)) < 0.7].astype(float)
LENGTHS = [20, 40]
MODELS = {
    "diag": (GaussianHMM(2, "diag"), X),
    "spherical": (GaussianHMM(2, "spherical"), X),
    "full": (GaussianHMM(2, "full"), X),
    "tied": (GaussianHMM(2, "tied"), X),
    "left-right": (GaussianHMM(2, transmat=[[np.nan, np.nan], [0, 1]], startprob=[1, 0]), X),
    "stationary": (GaussianHMM(2, startprob="stationary"), X),
    "mixture": (GMMHMM(2, n_mix=2), X),
    "categorical": (CategoricalHMM(2), MIXED[:, 1:]),
    "poisson": (PoissonHMM(2), COUNTS),
    "any": (HiddenMarkovModel(2, Product([(Gaussian(), 0), (Categorical(), 1)]), n_iter=5), MIXED),
    "blend": (HiddenMarkovModel(2, MixtureOf((Gaussian(kind="diag"), Gaussian(kind="diag"))), n_iter=5), X),
    "counts": (HiddenMarkovModel(2, Poisson(), n_iter=5), COUNTS),
    "waiting": (HiddenMarkovModel(2, Exponential(), n_iter=5), np.abs(X)),
    "binary": (HiddenMarkovModel(2, Bernoulli(), n_iter=5), BINARY),
    "round": (HiddenMarkovModel(2, Gaussian(kind="spherical"), n_iter=5), X),
    "shared": (HiddenMarkovModel(3, Gaussian(), tied=[0, 0, 1], n_iter=5), X),
    "diag with missing values": (GaussianHMM(2, "diag"), WITH_MISSING),
    "full with missing values": (GaussianHMM(2, "full"), WITH_MISSING),
    "tied with missing values": (GaussianHMM(2, "tied"), WITH_MISSING),
    "any with missing values": (HiddenMarkovModel(2, n_iter=5), WITH_MISSING),
    "gamma": (HiddenMarkovModel(2, Gamma(), n_iter=5), COUNTS + 1.0),
    "angles": (HiddenMarkovModel(2, VonMises(), n_iter=5), X[:, :1] / 3),
}
BY_DIFFERENCES = ("angles",)


@pytest.fixture(params=MODELS, ids=list(MODELS))
def fitted(request):
    model, rows = MODELS[request.param]
    return model.set_params(random_state=0).fit(rows, LENGTHS), rows


def test_scores_are_the_slopes_of_the_log_likelihood(fitted):
    model, rows = fitted
    found = model.fisher_scores(rows, LENGTHS)
    frame = scores.Coordinates(model._model(), model._params())
    vector = frame.pack()
    assert found.shape == (2, len(vector))
    for p in range(len(vector)):
        step = np.zeros(len(vector))
        step[p] = 1e-5
        values = []
        for sign in (1, -1):
            params = frame.unpack(vector + sign * step)
            model._store(startprob_=params.chain.start, transmat_=params.chain.transition)
            model._store_theta(params.theta)
            values.append(model.score_sequences(rows, LENGTHS))
        np.testing.assert_allclose(found[:, p], (values[0] - values[1]) / 2e-5, atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_slopes_of_the_usual_families_need_no_differences(name, monkeypatch):
    def refused(*_):
        raise RuntimeError("a small step was taken")

    model, rows = MODELS[name]
    model.set_params(random_state=0).fit(rows, LENGTHS)
    monkeypatch.setattr(Family, "gradient", refused)
    if name in BY_DIFFERENCES:
        with pytest.raises(RuntimeError, match="small step"):
            model.fisher_scores(rows, LENGTHS)
    elif name != "stationary":
        assert np.isfinite(model.fisher_scores(rows, LENGTHS)).all()


def test_unpacking_undoes_packing(fitted):
    model, _ = fitted
    frame = scores.Coordinates(model._model(), model._params())
    again = scores.Coordinates(model._model(), frame.unpack(frame.pack()))
    np.testing.assert_allclose(again.pack(), frame.pack(), atol=1e-9)


def test_standard_errors_of_one_state_are_those_of_the_textbook():
    rows = RNG.standard_normal((400, 1)) * 2 + 1
    model = GaussianHMM(1, covars_prior=0, n_iter=5).fit(rows)
    errors = model.standard_errors(rows)
    variance = rows.var()
    np.testing.assert_allclose(errors["means_"], [[np.sqrt(variance / 400)]], rtol=1e-4)
    np.testing.assert_allclose(errors["variances_"], [[variance * np.sqrt(2 / 400)]], rtol=1e-3)
    counts = RNG.poisson(3, (500, 1))
    rate = PoissonHMM(1).fit(counts).standard_errors(counts)["means_"]
    np.testing.assert_allclose(rate, [[np.sqrt(counts.mean() / 500)]], rtol=1e-3)


def test_standard_errors_of_a_chain_that_is_seen():
    """With emissions that give the state away, those of a transition are the binomial ones."""
    states = MIXED[:, 1:]
    codes = np.tile([0, 0, 1, 1, 1, 0, 1, 0, 0, 0], 20)[:, None]
    model = CategoricalHMM(2, init_params="", n_iter=20)
    model.startprob_, model.transmat_ = [0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]]
    model.emissionprob_ = [[1.0, 0.0], [0.0, 1.0]]
    model.fit(codes)
    errors = model.standard_errors(codes)["transmat_"]
    n = np.bincount(codes[:-1, 0])
    p = model.transmat_[:, 0]
    np.testing.assert_allclose(errors[:, 0], np.sqrt(p * (1 - p) / n), rtol=1e-3)
    assert states.shape[1] == 1


def test_a_missing_row_is_filled_with_what_its_neighbours_say():
    model = GaussianHMM(2, random_state=0, n_iter=50).fit(X)
    absent = X.copy()
    absent[10], absent[50], absent[5, 0] = np.nan, np.nan, np.nan
    filled = model.conditional_mean(absent)
    assert not np.isnan(filled).any()
    np.testing.assert_array_equal(filled[~np.isnan(absent)], absent[~np.isnan(absent)])
    posterior = model.predict_proba(absent)
    np.testing.assert_allclose(filled[10], posterior[10] @ model.means_)
    np.testing.assert_allclose(filled[5, 0], posterior[5] @ model.means_[:, 0])
    draws = model.conditional_draws(absent, n_draws=4000, random_state=0)
    np.testing.assert_allclose(draws[:, 10].mean(axis=0), filled[10], atol=0.1)
    assert (draws[:, ~np.isnan(absent)] == absent[~np.isnan(absent)]).all()


def test_correlated_columns_fill_each_other():
    rows = RNG.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], size=200)
    model = GaussianHMM(1, "full").fit(rows)
    filled = model.conditional_mean([[2.0, np.nan]])
    gradient = model.covars_[0, 0, 1] / model.covars_[0, 0, 0]
    np.testing.assert_allclose(filled[0, 1], model.means_[0, 1] + gradient * (2.0 - model.means_[0, 0]))
    mixture = GMMHMM(1, n_mix=2, covariance_type="full", random_state=0).fit(rows)
    assert 1.4 < mixture.conditional_mean([[2.0, np.nan]])[0, 1] < 2.2


def test_a_missing_category_is_the_most_probable_one():
    model = CategoricalHMM(1).fit([[0], [2], [2], [1], [2]])
    assert model.conditional_mean([[0], [np.nan]])[1, 0] == 2.0


@pytest.mark.parametrize("name", ["diag", "full", "left-right", "categorical", "mixture"])
def test_little_memory_gives_the_same_fit(name):
    model, rows = MODELS[name]
    weights = [2.0, 0.5]
    plain = model.set_params(random_state=0, low_memory=False, n_iter=5).fit(rows, LENGTHS, sample_weight=weights)
    expected = plain.transmat_, plain.startprob_, plain.history_
    small = model.set_params(low_memory=True).fit(rows, LENGTHS, sample_weight=weights)
    model.set_params(low_memory=False)
    np.testing.assert_allclose(small.transmat_, expected[0], rtol=1e-8)
    np.testing.assert_allclose(small.startprob_, expected[1], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(small.history_, expected[2], rtol=1e-10)


def test_little_memory_is_little():
    import tracemalloc

    rows = RNG.standard_normal((200_000, 1))
    peaks = []
    for low_memory in (False, True):
        model = GaussianHMM(4, init_params="", n_iter=1, low_memory=low_memory)
        model.startprob_, model.transmat_ = np.full(4, 0.25), np.full((4, 4), 0.25)
        model.means_, model.covars_ = np.arange(4.0)[:, None], np.ones((4, 1))
        model.fit(rows[:100])
        tracemalloc.start()
        model.fit(rows)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[0] > 3 * 200_000 * 4 * 8
    assert peaks[1] < peaks[0] / 2
