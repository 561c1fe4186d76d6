"""What is fixed stays, what is learnt is the best given that, and it is counted so."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from latently.distributions import Gaussian, Poisson
from latently.sequence import GMMHMM, CategoricalHMM, GaussianHMM, HiddenMarkovModel, PoissonHMM
from latently.sequence.hmm.fixed import matched

nan = np.nan
RNG = np.random.default_rng(0)
STATES = np.repeat([0, 1, 0, 1, 0], 30)
X = np.where(STATES[:, None], [6.0, 1.0], [0.0, -1.0]) + RNG.normal(size=(150, 2))
COUNTS = RNG.poisson(np.where(STATES[:, None], [9.0, 2.0], [1.0, 4.0])).astype(float)
LONG = {"n_iter": 500, "tol": 1e-8, "random_state": 0}


@pytest.mark.parametrize("kind", ["diag", "spherical", "full", "tied"])
@pytest.mark.parametrize("first", [0, 1])
def test_fixed_means_stay_and_the_rest_is_the_best_about_them(kind, first):
    means = np.full((2, 2), nan)
    means[first], means[1 - first, 0] = [0.5, -1.0], 5.5
    model = GaussianHMM(2, kind, covars_prior=0, covars_weight=0, fixed={"means": means}, **LONG).fit(X)
    assert_allclose(model.means_[~np.isnan(means)], means[~np.isnan(means)])
    assert model.converged_
    assert (np.diff(model.history_) >= -1e-9).all()
    free = GaussianHMM(2, kind, covars_prior=0, covars_weight=0, **LONG).fit(X)
    assert free.score(X) > model.score(X)
    # no other covariance about the fixed means is better: along any direction the likelihood falls
    best = model.score(X)
    for size in (0.97, 1.03):
        other = GaussianHMM(2, kind)
        other.startprob_, other.transmat_, other.means_ = model.startprob_, model.transmat_, model.means_
        other.covars_ = size * model._covars_
        assert other.score(X) < best
    n_free = model.aic(X) + 2 * best
    assert n_free == pytest.approx(free.aic(X) + 2 * free.score(X) - 2 * 3)  # three means fewer
    errors = model.standard_errors(X)
    assert (errors["means_"][~np.isnan(means)] == 0).all()
    assert (errors["means_"][np.isnan(means)] > 0).all()


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
def test_the_start_goes_to_the_states_whose_fixed_numbers_are_nearest(order):
    centres = np.array([[0.0, 5.0], [10.0, -5.0], [20.0, 0.0]])
    rows = np.repeat(centres, 40, axis=0) + np.random.default_rng(1).normal(size=(120, 2))
    fixed = np.column_stack([centres[order, 0], np.full(3, nan)])
    begun = GaussianHMM(3, fixed={"means": fixed}, n_iter=1, tol=np.inf, random_state=0).fit(rows)
    assert_allclose(begun.means_, centres[order], atol=0.6)  # after one step: a start by other states is far off


@pytest.mark.parametrize(("kind", "known"), [
    ("diag", [[1.0, nan], [nan, 2.0]]), ("spherical", [1.5, nan]), ("tied", [[1.0, 0.2], [0.2, 1.0]]),
    ("full", [[[1.0, 0.2], [0.2, 1.0]], [[nan, nan], [nan, nan]]]),
])  # fmt: skip
def test_fixed_covariances_stay(kind, known):
    model = GaussianHMM(2, kind, fixed={"covariances": known}, **LONG).fit(X)
    seen = ~np.isnan(known)
    assert_allclose(np.asarray(model._covars_)[seen], np.asarray(known)[seen])
    if kind != "tied":
        assert not np.isclose(np.asarray(model._covars_)[~seen], 1.0, atol=1e-6).any()


def test_the_chain_can_be_fixed_by_either_name():
    chain = {"startprob": [1.0, 0.0], "transmat": [[nan, nan], [0.0, 1.0]]}
    for make in (GaussianHMM, GMMHMM):
        one = make(2, fixed=chain, random_state=0).fit(X)
        two = make(2, **chain, random_state=0).fit(X)
        assert_allclose(one.transmat_, two.transmat_)
        assert one.transmat_[1].tolist() == [0.0, 1.0]
    with pytest.raises(ValueError, match="fix the same parameter"):
        GaussianHMM(2, fixed=chain, transmat=chain["transmat"]).fit(X)


def test_rates_and_probabilities():
    rates = [[nan, 4.0], [9.0, nan]]
    model = PoissonHMM(2, fixed={"lambdas": rates}, **LONG).fit(COUNTS)
    assert model.lambdas_[0, 1] == 4.0
    assert model.lambdas_[1, 0] == 9.0
    gamma = model.predict_proba(COUNTS)
    assert_allclose(model.lambdas_[0, 0], gamma[:, 0] @ COUNTS[:, 0] / gamma[:, 0].sum(), rtol=1e-4)
    assert model.standard_errors(COUNTS)["means_"][1, 0] == 0
    codes = (STATES + RNG.integers(0, 2, size=150))[:, None]
    table = [[nan] * 3, [0.0, 0.5, 0.5]]
    symbols = CategoricalHMM(2, fixed={"emissionprob": table}, **LONG).fit(codes)
    assert symbols.emissionprob_[1].tolist() == table[1]
    gamma = symbols.predict_proba(codes)[:, 0]
    assert_allclose(
        symbols.emissionprob_[0], [gamma[codes[:, 0] == c].sum() / gamma.sum() for c in range(3)], atol=1e-4
    )


def test_distributions_of_states():
    known = Gaussian([6.0, 1.0], [1.0, 1.0], "diag")
    for place in (0, 1):
        given = [None, None]
        given[place] = known
        model = HiddenMarkovModel(2, Gaussian(kind="diag"), fixed={"emissions": given}, **LONG).fit(X)
        assert model.emissions_[place] is known
        assert abs(model.emissions_[1 - place].mean[0]) < 1
        assert (model.standard_errors(X)["means_"][place] == 0).all()
    tied = HiddenMarkovModel(3, Gaussian(kind="diag"), tied=[0, 1, 1], fixed={"emissions": [None, known, None]})
    assert tied.set_params(random_state=0).fit(X).emissions_[2] is known


def test_the_likelihood_is_highest_given_what_is_fixed():
    # two states with known transitions and a known rate: the other rate, by a search on the likelihood
    chain = {"startprob": [0.5, 0.5], "transmat": [[0.9, 0.1], [0.1, 0.9]]}
    column = COUNTS[:, :1]
    model = PoissonHMM(2, fixed=chain | {"lambdas": [[1.0], [nan]]}, **LONG).fit(column)

    def loss(log_rate):
        other = PoissonHMM(2)
        other.startprob_, other.transmat_ = chain["startprob"], chain["transmat"]
        other.lambdas_ = [[1.0], [float(np.exp(log_rate[0]))]]
        return -other.score(column)

    assert_allclose(model.lambdas_[1, 0], np.exp(minimize(loss, [1.0]).x[0]), rtol=1e-4)


@pytest.mark.parametrize(("model", "fixed", "words"), [
    (GaussianHMM(2), {"mean": 1}, "unknown key 'mean': it may have startprob, transmat, means, covariances"),
    (GMMHMM(2), {"durations": 1}, "unknown key 'durations'"),
    (GMMHMM(2, 2), {"means": [[1.0, 2.0]]}, r"of shape \(2, 2, 2\)"),
    (GMMHMM(2, 2), {"weights": [0.5, 0.5]}, r'fixed\["weights"\] must have shape \(2, 2\)'),
    (GMMHMM(2, 2), {"weights": [[0.9, 0.9], [nan, nan]]}, "row 0 of .* sum to 1.8"),
    (GMMHMM(2, 2), {"covariances": np.ones((2, 2))}, r"of shape \(2, 2, 2\)"),
    (GMMHMM(1, 2, covariance_type="full"), {"covariances": [[[[1, 0], [0, nan]]] * 2]}, "must be given whole"),
    (GaussianHMM(2), {"means": [[1.0, 2.0]]}, r"of shape \(2, 2\)"),
    (GaussianHMM(2), {"covariances": [[-1.0, nan], [nan, nan]]}, "must be positive"),
    (HiddenMarkovModel(2), {"emissions": [Gaussian(), None]}, "needs a distribution with parameters"),
    (HiddenMarkovModel(2), {"emissions": [None]}, "must be a list of 2"),
    (HiddenMarkovModel(2), {"emissions": [Gaussian([0.0], [1.0], "diag"), None]}, "has 1 columns, X has 2"),
])  # fmt: skip
def test_what_cannot_be_fixed_is_an_error(model, fixed, words):
    with pytest.raises(ValueError, match=words):
        model.set_params(fixed=fixed).fit(X)
    with pytest.raises(TypeError, match="must be a mapping"):
        model.set_params(fixed=[1]).fit(X)


def test_starts_are_matched_to_what_is_fixed_by_the_best_of_all_orders():
    rng = np.random.default_rng(0)
    start, fixed = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    fixed[1], fixed[2, 0] = np.nan, np.nan
    orders = [np.array(order) for order in permutations(range(4))]
    best = min(orders, key=lambda order: np.nansum((start[order] - fixed) ** 2))
    assert np.array_equal(matched(start, fixed), np.where(np.isnan(fixed), start[best], fixed))


def test_fixed_durations_stay_and_are_not_counted():
    rows = X[::5]  # stays of 6 rows
    settings = {"emission": Gaussian(), "duration": Poisson(), "max_duration": 15, **LONG}
    model = HiddenMarkovModel(2, fixed={"durations": [Poisson(4.0), None]}, **settings).fit(rows)
    free = HiddenMarkovModel(2, **settings).fit(rows)
    assert model.durations_[0].rate.tolist() == [4.0]
    assert model.durations_[1].rate[0] != 4.0
    assert (np.diff(model.history_) >= -1e-9).all()
    assert model.score(rows) < free.score(rows)
    counts = [m.aic(rows) / 2 + m.score(rows) for m in (model, free)]
    assert counts[1] - counts[0] == pytest.approx(1.0)  # one rate fewer


@pytest.mark.parametrize(("settings", "problem"), [
    ({"duration": Poisson(), "fixed": {"durations": [Poisson(2.0)]}}, "must be a list of 2"),
    ({"duration": Poisson(), "fixed": {"durations": [Poisson(), None]}}, "needs a distribution with parameters"),
    ({"fixed": {"durations": [Poisson(2.0), None]}}, "is for states with durations"),
])  # fmt: skip
def test_fixed_durations_that_make_no_sense_are_named(settings, problem):
    with pytest.raises(ValueError, match=problem):
        HiddenMarkovModel(2, Gaussian(), random_state=0, **settings).fit(X)


# mixtures of Gaussians: states about 0 and 20, parts 6 apart


def mixture_rows():
    rng = np.random.default_rng(2)
    states = np.repeat([0, 1, 0, 1], 60)
    parts = (rng.random(240) < 0.4).astype(int)
    rows = 20.0 * states[:, None] + 6.0 * parts[:, None] * [1.0, -1.0] + rng.normal(size=(240, 2))
    return rows, [60, 60, 120]


COVARIANCES = {"diag": (2, 2, 2), "spherical": (2, 2), "full": (2, 2, 2, 2), "tied": (2, 2, 2)}


@pytest.mark.parametrize("kind", COVARIANCES)
@pytest.mark.parametrize("first", [0, 1])
def test_fixed_parts_of_mixtures_stay_and_the_rest_is_learnt(kind, first):
    rows, lengths = mixture_rows()
    means, covariances, weights = np.full((2, 2, 2), nan), np.full(COVARIANCES[kind], nan), np.full((2, 2), nan)
    means[first, 1], means[1 - first, 0, 0] = [20.3, 19.8], 5.7
    covariances[first] = np.array([[1.3, 0.1], [0.1, 1.1]]) if kind in ("full", "tied") else 1.3
    weights[first] = [0.3, 0.7]
    fixed = {"means": means, "covariances": covariances, "weights": weights}
    model = GMMHMM(2, 2, covariance_type=kind, fixed=fixed, **LONG).fit(rows, lengths)
    free = GMMHMM(2, 2, covariance_type=kind, **LONG).fit(rows, lengths)
    for name, given in (("means_", means), ("covars_", covariances), ("weights_", weights)):
        found = getattr(model, name)
        assert np.array_equal(found[~np.isnan(given)], given[~np.isnan(given)])
    assert_allclose(model.means_[1 - first, 0], [5.7, -6.0], atol=0.7)
    assert_allclose(model.means_[1 - first, 1], [0.0, 0.0], atol=0.7)
    assert_allclose(model.means_[first, 0], [26.0, 14.0], atol=0.7)
    assert_allclose(model.weights_.sum(axis=1), 1.0)
    assert (np.diff(model.history_) >= -1e-9).all()
    assert model.history_[-1] > model.history_[0]
    assert free.score(rows, lengths) > model.score(rows, lengths)
    counts = [m.aic(rows, lengths) / 2 + m.score(rows, lengths) for m in (free, model)]
    numbers = {"diag": 4, "spherical": 2, "full": 6, "tied": 3}[kind]
    assert counts[0] - counts[1] == pytest.approx(3 + 1 + numbers)  # means, a weight, covariances


def test_one_fixed_weight_leaves_the_rest_of_one_to_the_others():
    rows, lengths = mixture_rows()
    model = GMMHMM(2, 3, fixed={"weights": [[0.25, nan, nan], [nan] * 3]}, **LONG).fit(rows, lengths)
    assert model.weights_[0, 0] == 0.25
    assert model.weights_[0, 1:].sum() == pytest.approx(0.75)
    assert (np.diff(model.history_) >= -1e-9).all()
