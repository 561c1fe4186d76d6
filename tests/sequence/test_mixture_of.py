"""A mixture as an emission says the same as the mixture among the distributions."""

import numpy as np
import pytest

from latently.distributions import Categorical, Exponential, Gaussian, MixtureDistribution, Poisson
from latently.sequence import HiddenMarkovModel, MixtureOf

WEIGHTS = np.array([0.3, 0.7])
PAIRS = {
    "numbers": (Gaussian([0.0, 1.0], np.eye(2)), Gaussian([4.0, -1.0], 2 * np.eye(2))),
    "counts": (Poisson(2.0), Poisson(9.0)),
    "waits": (Exponential(1.0), Exponential(0.2)),
}


@pytest.fixture(params=PAIRS.values(), ids=PAIRS)
def both(request):
    return MixtureOf(request.param, WEIGHTS), MixtureDistribution(WEIGHTS, request.param)


def test_it_says_the_same(both):
    own, other = both
    X = other.sample(50, 0)
    X[3, 0] = np.nan
    np.testing.assert_array_equal(own.log_prob(X), other.log_prob(X))
    np.testing.assert_array_equal(own.responsibilities(X), other.responsibilities(X))
    np.testing.assert_array_equal(own.sample(50, 0), other.sample(50, 0))
    assert own.discrete == other.discrete
    assert own.n_parameters == other.n_parameters
    for name in ("mean", "variance", "support"):
        np.testing.assert_array_equal(getattr(own, name), getattr(other, name))
    np.testing.assert_array_equal(own.interval(0.9), other.interval(0.9))
    np.testing.assert_array_equal(own.cdf(X[:3]), other.cdf(X[:3]))


def test_the_parts_of_a_mixture_stay_of_its_kind():
    own, other = MixtureOf(PAIRS["numbers"], WEIGHTS), MixtureDistribution(WEIGHTS, PAIRS["numbers"])
    assert isinstance(own.marginal([1]), MixtureOf)
    given = own.conditional([0], [1.0])
    assert isinstance(given, MixtureOf)
    np.testing.assert_allclose(given.weights, other.conditional([0], [1.0]).weights)
    np.testing.assert_allclose(given.mean, other.conditional([0], [1.0]).mean)


def test_variances_far_from_zero():
    far = MixtureOf((Gaussian(1e9, 1.0), Gaussian(1e9 + 2, 1.0)), [0.5, 0.5])
    np.testing.assert_allclose(far.variance, [2.0])


def test_rows_that_no_part_can_emit_do_not_spoil_a_fit():
    pair = MixtureOf((Categorical([0.5, 0.5, 0.0]), Categorical([0.9, 0.1, 0.0])), WEIGHTS)
    stats = pair.expected_statistics([[0.0], [2.0], [1.0]], [1.0, 0.0, 1.0])
    assert stats.parts[0].total.sum() == pytest.approx(2.0)
    assert pair.from_statistics(stats).prob([[0.0], [1.0], [2.0]]).sum() == pytest.approx(1.0)


def test_parts_must_fit_together():
    with pytest.raises(ValueError, match="same columns"):
        MixtureOf((Gaussian([0.0], [[1.0]]), Gaussian([0.0, 1.0], np.eye(2))), WEIGHTS)
    with pytest.raises(TypeError, match="at least one"):
        MixtureOf(())
    with pytest.raises(ValueError, match="3 weights given for 2 components"):
        MixtureOf(PAIRS["counts"], [0.2, 0.3, 0.5])


def test_a_model_of_mixtures_and_one_of_mixtures_among_the_distributions_are_the_same():
    rng = np.random.default_rng(0)
    X = rng.normal(np.repeat([0.0, 8.0, 1.5, 9.5], 50), 0.3)[:, None]
    own = HiddenMarkovModel(2, [MixtureOf(pair, [0.5, 0.5]) for pair in pairs()], n_iter=5, random_state=0).fit(X)
    other = HiddenMarkovModel(2, [MixtureDistribution([0.5, 0.5], p) for p in pairs()], n_iter=5, random_state=0).fit(X)
    np.testing.assert_allclose(own.history_, other.history_)


def pairs():
    return [(Gaussian(0.0, 1.0), Gaussian(2.0, 1.0)), (Gaussian(8.0, 1.0), Gaussian(10.0, 1.0))]
