"""Each fault of hmmlearn that is known to us, and that we do not have."""

import numpy as np
import pytest
from sklearn.base import clone

from latently.distributions import Gaussian
from latently.sequence import CategoricalHMM, GaussianHMM, HiddenMarkovModel, ImpossibleSequence, PoissonHMM


def two_levels(n=200, gap=5.0, seed=0):
    rng = np.random.RandomState(seed)
    return (np.repeat([0.0, gap], n // 2) + rng.standard_normal(n))[:, None]


def test_running_out_of_iterations_is_not_convergence():
    model = GaussianHMM(2, n_iter=2, tol=1e-9, random_state=0).fit(two_levels())
    assert model.n_iter_ == 2
    assert not model.converged_
    assert not model.monitor_.converged
    assert GaussianHMM(2, n_iter=300, tol=1e-6, random_state=0).fit(two_levels()).converged_


def test_set_params_of_n_iter_counts():
    model = GaussianHMM(2, n_iter=2, tol=-1.0, random_state=0).set_params(n_iter=7).fit(two_levels())
    assert model.n_iter_ == 7


def test_clone_keeps_what_was_given():
    model = GaussianHMM(2, init_params="smc")
    model.transmat_ = [[0.9, 0.1], [0.0, 1.0]]
    twin = clone(model)
    np.testing.assert_array_equal(twin.transmat_, [[0.9, 0.1], [0.0, 1.0]])
    twin.fit(two_levels())
    assert twin.transmat_[1, 0] == 0.0
    assert clone(twin).transmat_[0, 0] == 0.9


def test_random_state_stays_as_it_was():
    for model, X in (
        (CategoricalHMM(2, random_state=3), np.tile([0, 1, 1, 0], 10)[:, None]),
        (PoissonHMM(2, random_state=3), np.tile([0, 1, 7, 9], 10)[:, None]),
    ):
        model.fit(X)
        assert model.random_state == 3


def test_the_same_seed_gives_the_same_fit():
    a, b = (GaussianHMM(3, random_state=1).fit(two_levels()) for _ in range(2))
    np.testing.assert_array_equal(a.transmat_, b.transmat_)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (GaussianHMM(3, "diag"), 2 + 6 + 3 * 4),
        (GaussianHMM(3, "spherical"), 2 + 6 + 3 * 3),
        (GaussianHMM(3, "full"), 2 + 6 + 3 * 2 + 3 * 3),
        (GaussianHMM(3, "tied"), 2 + 6 + 3 * 2 + 3),
        (GaussianHMM(3, "diag", params="mc"), 3 * 4),
        (GaussianHMM(3, transmat=[[np.nan, np.nan, 0], [0, np.nan, np.nan], [0, 0, 1]]), 2 + 2 + 3 * 4),
        (GaussianHMM(3, startprob="stationary"), 6 + 3 * 4),
        (HiddenMarkovModel(3, Gaussian(kind="diag"), tied=[0, 0, 1]), 2 + 6 + 2 * 4),
    ],
)
def test_parameters_are_counted_right(model, expected):
    X = np.random.RandomState(0).standard_normal((60, 2))
    model.fit(X)
    assert model.n_parameters_ == expected
    assert model.bic(X) == pytest.approx(-2 * model.score(X) + expected * np.log(60))
    assert model.aic(X) == pytest.approx(-2 * model.score(X) + 2 * expected)
    assert model.icl(X) >= model.bic(X)


def test_an_unseen_symbol_is_missing():
    model = CategoricalHMM(2, random_state=0).fit(np.tile([0, 1, 2, 1], 10)[:, None])
    with pytest.warns(RuntimeWarning, match="unknown to the model"):
        score = model.score([[0], [7], [1]])
    assert score == pytest.approx(model.score([[0], [np.nan], [1]]))


@pytest.mark.parametrize("outlier", [60.0, 1000.0, 1e6])
@pytest.mark.parametrize("kind", ["spherical", "diag", "full", "tied"])
def test_an_outlier_does_not_underflow(outlier, kind):
    X = two_levels()
    X[50] = outlier
    model = GaussianHMM(2, kind, init_params="")
    model.startprob_, model.transmat_ = [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]]
    model.means_ = [[0.0], [5.0]]
    model.covars_ = {"spherical": [1, 1], "diag": [[1], [1]], "full": [[[1]], [[1]]], "tied": [[1]]}[kind]
    assert np.isfinite(model.score(X))
    assert np.isfinite(model.predict_proba(X)).all()
    model.fit(X)
    assert np.isfinite(model.means_).all()
    assert np.isfinite(model.covars_).all()


def test_nan_is_welcome():
    X = two_levels()
    X[::7] = np.nan
    model = GaussianHMM(2, random_state=0, n_iter=100).fit(X)
    np.testing.assert_allclose(np.sort(model.means_.ravel()), [0, 5], atol=0.3)


def test_a_full_covariance_far_from_zero():
    rng = np.random.RandomState(0)
    X = rng.multivariate_normal([0, 0], [[1.0, 0.5], [0.5, 1.0]], size=400)
    X[200:] += 8
    near = GaussianHMM(2, "full", random_state=0, n_iter=30).fit(X)
    far = GaussianHMM(2, "full", random_state=0, n_iter=30).fit(X + 1e8)
    order = np.argsort(near.means_[:, 0]), np.argsort(far.means_[:, 0])
    np.testing.assert_allclose(near.covars_[order[0]], far.covars_[order[1]], rtol=1e-5, atol=1e-6)
    assert far.score(X + 1e8) == pytest.approx(near.score(X), abs=1e-3)


def test_units_do_not_matter_without_a_prior():
    X = two_levels()
    plain = GaussianHMM(2, covars_prior=0, min_covar=0, random_state=0, n_iter=50).fit(X)
    tiny = GaussianHMM(2, covars_prior=0, min_covar=0, random_state=0, n_iter=50).fit(X * 1e-12)
    np.testing.assert_allclose(np.sort(plain.means_.ravel()), np.sort(tiny.means_.ravel()) * 1e12, rtol=1e-6)
    np.testing.assert_allclose(np.sort(plain.transmat_.ravel()), np.sort(tiny.transmat_.ravel()), rtol=1e-6)


def test_a_dead_state_is_put_to_use_again():
    X = np.r_[two_levels(200), two_levels(200, gap=-6.0, seed=1)]
    model = GaussianHMM(3, init_params="", n_iter=200, tol=1e-6)
    model.startprob_, model.transmat_ = np.full(3, 1 / 3), np.full((3, 3), 1 / 3)
    model.means_, model.covars_ = [[-5.0], [3.0], [1e6]], [[1.0], [1.0], [1.0]]
    model.fit(X)
    np.testing.assert_allclose(np.sort(model.means_.ravel()), [-6, 0, 5], atol=0.5)


def test_states_that_are_never_visited_have_no_nan():
    model = GaussianHMM(3, init_params="", n_iter=3)
    model.startprob_, model.transmat_ = [1.0, 0.0, 0.0], np.eye(3)
    model.means_, model.covars_ = [[0.0], [3.0], [9.0]], [[1.0], [1.0], [1.0]]
    model.fit(two_levels())
    for values in (model.startprob_, model.transmat_, model.means_, model.covars_):
        assert np.isfinite(values).all()


def test_a_million_steps():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((1_000_000, 1)) + 3 * (rng.uniform(size=(1_000_000, 1)) < 0.5)
    model = GaussianHMM(2, init_params="", n_iter=1)
    model.startprob_, model.transmat_ = [0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]]
    model.means_, model.covars_ = [[0.0], [3.0]], [[1.0], [1.0]]
    from scipy.special import logsumexp
    from scipy.stats import norm

    plain = logsumexp(norm.logpdf(X, [[0.0, 3.0]]), axis=1).sum() - len(X) * np.log(2)
    assert model.score(X) == pytest.approx(plain, rel=1e-11)
    assert np.isfinite(model.fit(X).transmat_).all()


def test_states_that_cannot_be_reentered_are_not_lost():
    """The chain never changes state: early rows speak for one, by more than 1e-308; late rows for the other."""
    X = np.r_[np.zeros(200), np.full(300, 5.0)][:, None]
    model = GaussianHMM(2)
    model.startprob_, model.transmat_ = [0.5, 0.5], np.eye(2)
    model.means_, model.covars_ = [[0.0], [5.0]], [[1.0], [1.0]]
    assert (model.predict_proba(X).argmax(axis=1) == 1).all()
    assert model.score(X) == pytest.approx(np.log(0.5) - 500 / 2 * np.log(2 * np.pi) - 200 * 25 / 2)
    np.testing.assert_array_equal(model.filter(X)[199].round(6), [1, 0])
    np.testing.assert_array_equal(model.filter(X)[-1].round(6), [0, 1])


def test_an_impossible_symbol_is_said_with_its_position():
    model = CategoricalHMM(2)
    model.startprob_, model.transmat_ = [0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]]
    model.emissionprob_ = [[0.5, 0.5, 0.0], [0.2, 0.8, 0.0]]
    X = [[0], [1], [1], [2], [0]]
    with pytest.warns(RuntimeWarning, match="sequence 1 is impossible.*step 2"):
        scores = model.score_sequences(X, [1, 4])
    assert np.isfinite(scores[0])
    assert scores[1] == -np.inf
    for ask in (model.predict_proba, model.decode, model.filter):
        with pytest.raises(ImpossibleSequence, match="sequence 1 .*step 2"):
            ask(X, [1, 4])
    model.init_params = ""
    with pytest.raises(ImpossibleSequence, match="sequence 1 .*step 2"):
        model.fit(X, [1, 4])
