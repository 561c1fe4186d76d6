"""Missing entries of sequences: brute force over all paths, coverage, draws, and the imputer."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.exceptions import NotFittedError

from latently.cluster import GaussianMixture
from latently.data.sources.sequences import as_sequences
from latently.distributions import Categorical, Gaussian, Poisson, Product
from latently.impute import Imputer
from latently.sequence import GMMHMM, CategoricalHMM, GaussianHMM, HiddenMarkovModel, PoissonHMM

START, A = np.array([0.6, 0.4]), np.array([[0.8, 0.2], [0.3, 0.7]])
MEANS = np.array([[0.0, 1.0], [3.0, -1.0]])
COVARS = np.array([[[1.0, 0.5], [0.5, 1.0]], [[2.0, -0.6], [-0.6, 1.0]]])


def known_model(**params):
    model = GaussianHMM(2, "full", **params)
    model.startprob_, model.transmat_, model.means_, model.covars_ = START, A, MEANS, COVARS
    return model


def simulated(n, seed=0, gap=0.15):
    """A series of the known model with entries hidden at random, and with gaps of whole rows."""
    X, _ = known_model().sample(n, random_state=seed)
    rng = np.random.default_rng(seed)
    absent = rng.uniform(size=X.shape) < gap
    absent[:: n // 10] = True
    return X, np.where(absent, np.nan, X), absent


def weights_by_enumeration(X, row):
    """Probability of each state of a row, given everything observed: by summing over all paths."""
    total = np.zeros(2)
    for path in itertools.product(range(2), repeat=len(X)):
        p = START[path[0]] * np.prod([A[i, j] for i, j in itertools.pairwise(path)])
        for x, k in zip(X, path, strict=True):
            seen = ~np.isnan(x)
            if seen.any():
                p *= stats.multivariate_normal(MEANS[k][seen], COVARS[k][np.ix_(seen, seen)]).pdf(x[seen])
        total[path[row]] += p
    return total / total.sum()


def test_means_and_intervals_are_those_of_all_paths():
    X = np.array([[0.2, 1.0], [np.nan, -0.5], [2.5, np.nan], [np.nan, np.nan], [2.0, -1.5]])
    filled = known_model().conditional_mean(X)
    low, high = known_model().conditional_interval(X, level=0.8)
    w = weights_by_enumeration(X, 1)
    gradients = COVARS[:, 0, 1] / COVARS[:, 1, 1]
    centres = MEANS[:, 0] + gradients * (-0.5 - MEANS[:, 1])
    sds = np.sqrt(COVARS[:, 0, 0] - gradients * COVARS[:, 0, 1])
    assert filled[1, 0] == pytest.approx(w @ centres)
    assert w @ stats.norm(centres, sds).cdf(low[1, 0]) == pytest.approx(0.1)
    assert w @ stats.norm(centres, sds).cdf(high[1, 0]) == pytest.approx(0.9)
    w = weights_by_enumeration(X, 3)
    np.testing.assert_allclose(filled[3], w @ MEANS)
    assert w @ stats.norm(MEANS[:, 1], 1.0).cdf(high[3, 1]) == pytest.approx(0.9)
    seen = ~np.isnan(X)
    for table in (filled, low, high):
        np.testing.assert_array_equal(table[seen], X[seen])


def test_intervals_cover_and_draws_spread_like_the_truth():
    X, Y, absent = simulated(4000)
    model = known_model()
    low, high = model.conditional_interval(Y, level=0.8)
    inside = (low[absent] <= X[absent]) & (X[absent] <= high[absent])
    assert inside.mean() == pytest.approx(0.8, abs=0.03)
    draws = model.conditional_draws(Y, n_draws=200, random_state=0)
    between = (low <= draws) & (draws <= high)
    assert between[:, absent].mean() == pytest.approx(0.8, abs=0.01)
    np.testing.assert_allclose(draws.mean(axis=0)[absent], model.conditional_mean(Y)[absent], atol=0.6)


def test_the_imputer_takes_sequences():
    X, Y, absent = simulated(600)
    lengths = [200, 400]
    imputer = Imputer(GaussianHMM(2, "full", random_state=0, n_iter=50)).fit(Y, lengths)
    filled = imputer.transform(Y, lengths)
    np.testing.assert_array_equal(filled, imputer.model_.conditional_mean(Y, lengths))
    again = Imputer(GaussianHMM(2, "full", random_state=0, n_iter=50))
    np.testing.assert_array_equal(again.fit_transform(Y, lengths=lengths), filled)
    assert (filled != imputer.transform(Y)).any()
    low, high = imputer.interval(Y, 0.5, lengths=lengths)
    assert (low <= high).all()
    first, second = imputer.draws(Y, 2, random_state=0, lengths=lengths)
    assert (first[absent] != second[absent]).all()
    np.testing.assert_array_equal(first[~absent], X[~absent])


def test_memory_helps_in_gaps():
    rng = np.random.default_rng(0)
    states = np.repeat(rng.permutation(np.arange(60) % 2), 20)
    X = 5.0 * states[:, None] + rng.normal(size=(1200, 1))
    Y = np.where(rng.uniform(size=X.shape) < 0.3, np.nan, X)
    absent = np.isnan(Y)

    def error(model):
        return np.abs(Imputer(model).fit(Y).transform(Y) - X)[absent].mean()

    assert error(GaussianHMM(2, random_state=0, n_iter=50)) < 0.5 * error(GaussianMixture(2, random_state=0))


def test_frames_come_back_as_frames():
    _, Y, _ = simulated(100)
    frame = pd.DataFrame(Y, columns=["width", "height"], index=[f"t{i}" for i in range(100)])
    out = Imputer(GaussianHMM(2, random_state=0)).fit(frame, [50, 50]).transform(frame, [50, 50])
    assert isinstance(out, pd.DataFrame)
    assert list(out.columns) == ["width", "height"]
    assert out.index.equals(frame.index)
    assert not out.isna().any().any()


def test_every_kind_of_emission_fills_holes():
    rng = np.random.default_rng(0)
    codes = np.where(rng.uniform(size=(80, 1)) < 0.2, np.nan, rng.integers(0, 3, size=(80, 1)))
    filled = Imputer(CategoricalHMM(2, random_state=0)).fit(codes).transform(codes)
    assert set(np.unique(filled)) <= {0.0, 1.0, 2.0}
    counts = np.where(rng.uniform(size=(80, 2)) < 0.2, np.nan, rng.poisson(4.0, size=(80, 2)))
    low, high = Imputer(PoissonHMM(2, random_state=0)).fit(counts).interval(counts)
    assert (low == np.round(low)).all()
    assert ((low <= high).all(), (low < high).any()) == (True, True)
    numbers = np.where(rng.uniform(size=(80, 2)) < 0.2, np.nan, rng.normal(size=(80, 2)))
    low, high = Imputer(GMMHMM(2, 2, random_state=0)).fit(numbers).interval(numbers)
    assert (low[np.isnan(numbers)] < high[np.isnan(numbers)]).all()


def test_columns_of_several_types_and_durations():
    rng = np.random.default_rng(1)
    states = np.repeat(np.arange(20) % 2, 6)
    X = np.column_stack(
        [5.0 * states + rng.normal(size=120), np.where(rng.uniform(size=120) < 0.9, states, 1 - states)]
    )
    Y = np.where(rng.uniform(size=X.shape) < 0.1, np.nan, X)
    parts = Product([(Gaussian(), [0]), (Categorical(n_categories=2), [1])])
    for more in ({}, {"duration": Poisson(), "max_duration": 12}):
        model = HiddenMarkovModel(2, parts, random_state=0, **more).fit(Y)
        filled = model.conditional_mean(Y)
        assert np.isin(filled[:, 1], [0.0, 1.0]).all()
        assert (filled == X)[np.isnan(Y[:, 1]), 1].mean() > 0.7
        low, high = model.conditional_interval(Y)
        np.testing.assert_array_equal(low[:, 1], filled[:, 1])
        assert (high[:, 0] >= low[:, 0]).all()


def test_bad_input():
    _, Y, _ = simulated(50)
    with pytest.raises(ValueError, match="lengths are for a model of sequences"):
        Imputer(GaussianMixture(2)).fit(Y, lengths=[25, 25])
    with pytest.raises(ValueError, match="lengths sum to 40"):
        Imputer(GaussianHMM(2)).fit(Y, [20, 20])
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        known_model().conditional_interval(Y, level=1.0)
    with pytest.raises(ValueError, match="n_draws must be at least 1"):
        known_model().conditional_draws(Y, n_draws=0)
    with pytest.raises(NotFittedError):
        GaussianHMM(2).conditional_mean(Y)


def test_a_model_of_a_frame_fills_a_frame_without_a_warning():
    _, X, absent = simulated(200)
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = GaussianHMM(2, "full", random_state=0).fit(frame)
    np.testing.assert_array_equal(model.conditional_mean(frame)[~absent], X[~absent])
    low, high = model.conditional_interval(frame)
    assert (low[absent] < high[absent]).all()
    assert not np.isnan(model.conditional_draws(frame, random_state=0)).any()
    with pytest.raises(ValueError, match="features"):
        model.predict_proba(as_sequences(X[:, :1]))
