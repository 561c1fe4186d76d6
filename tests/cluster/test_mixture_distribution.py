"""A mixture as a distribution: scipy's numbers, nesting, learning, and a place as an emission."""

import numpy as np
import pytest
from scipy import integrate, stats

from latently.distributions import Categorical, Gaussian, NormalInverseWishart, Poisson, Product
from latently.distributions.families.mixture import MixtureDistribution
from latently.distributions.priors.dirichlet import Dirichlet

TWO = MixtureDistribution([0.3, 0.7], [Gaussian(-1.0, 0.5), Gaussian(2.0, 4.0)])
PAIR = MixtureDistribution(
    [0.4, 0.6], [Gaussian([0.0, 0.0], [[1.0, 0.6], [0.6, 1.0]]), Gaussian([3.0, 1.0], [[2.0, 0.0], [0.0, 1.0]])]
)
FIRST, SECOND = stats.norm(-1.0, 0.5**0.5), stats.norm(2.0, 2.0)


def test_density_cdf_and_moments_are_those_of_scipy():
    x = np.linspace(-5, 8, 40)
    assert np.allclose(TWO.prob(x), 0.3 * FIRST.pdf(x) + 0.7 * SECOND.pdf(x))
    assert np.allclose(TWO.cdf(x), 0.3 * FIRST.cdf(x) + 0.7 * SECOND.cdf(x))
    mean = integrate.quad(lambda t: t * TWO.prob([t])[0], -30, 40, limit=200)[0]
    square = integrate.quad(lambda t: t * t * TWO.prob([t])[0], -30, 40, limit=200)[0]
    assert TWO.mean[0] == pytest.approx(mean)
    assert TWO.variance[0] == pytest.approx(square - mean**2)


@pytest.mark.parametrize("q", [0.001, 0.1, 0.5, 0.9, 0.999])
def test_quantiles_invert_the_cdf(q):
    assert TWO.cdf(TWO.quantile(q))[0] == pytest.approx(q, abs=1e-12)
    counts = MixtureDistribution([0.5, 0.5], [Poisson(1.0), Poisson(20.0)])
    at = counts.quantile(q)[0]
    assert counts.cdf([at])[0] >= q
    assert at == 0 or counts.cdf([at - 1])[0] < q


def test_conditional_and_marginal_by_hand():
    given = PAIR.conditional(1, 0.5)
    r = np.array([0.4 * stats.norm(0, 1).pdf(0.5), 0.6 * stats.norm(1, 1).pdf(0.5)])
    assert np.allclose(given.weights, r / r.sum())
    joint, alone = PAIR.prob([[1.0, 0.5]])[0], PAIR.marginal(1).prob([0.5])[0]
    assert given.prob([1.0])[0] == pytest.approx(joint / alone)
    assert np.allclose(PAIR.log_prob([[np.nan, 0.5]]), np.log(alone))


def test_drawn_rows_have_its_distribution():
    rows = TWO.sample(20_000, random_state=0)[:, 0]
    assert stats.kstest(rows, lambda x: TWO.cdf(x)).pvalue > 1e-3


def test_statistics_add_and_a_step_never_lowers_the_likelihood():
    X = PAIR.sample(300, random_state=1)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    whole, parts = PAIR.statistics(X), PAIR.statistics(X[:100]) + PAIR.statistics(X[100:])
    assert np.allclose(whole.weight, parts.weight)
    current = MixtureDistribution([0.5, 0.5], [Gaussian([0.0, 1.0], np.eye(2)), Gaussian([1.0, 0.0], np.eye(2))])
    before = current.log_prob(X).sum()
    for _ in range(20):
        current = current.from_statistics(current.expected_statistics(X))
        after = current.log_prob(X).sum()
        assert after >= before - 1e-9
        before = after


def test_fit_recovers_and_takes_priors():
    X = np.concatenate([np.random.default_rng(0).normal(0, 1, 400), np.random.default_rng(1).normal(9, 1, 200)])
    found = MixtureDistribution(components=[Gaussian(), Gaussian()]).fit(X)
    assert np.sort(found.weights) == pytest.approx([1 / 3, 2 / 3], abs=0.01)
    own = NormalInverseWishart([0.0], 1.0, [[1.0]], 3.0)
    drawn = MixtureDistribution(components=[Gaussian(), Gaussian()]).fit(X, prior=(Dirichlet(1000.0), [own, own]))
    assert drawn.weights == pytest.approx([0.5, 0.5], abs=0.1)
    with pytest.raises(TypeError, match="the prior of a mixture is a pair"):
        TWO.fit(X, prior=own)


def test_mixtures_nest_and_are_equal_by_value():
    nested = MixtureDistribution([0.5, 0.5], [TWO, Gaussian(10.0, 1.0)])
    flat = MixtureDistribution([0.15, 0.35, 0.5], [*TWO.components, Gaussian(10.0, 1.0)])
    x = np.linspace(-3, 12, 20)
    assert np.allclose(nested.log_prob(x), flat.log_prob(x))
    assert nested.n_parameters == flat.n_parameters
    assert MixtureDistribution([0.3, 0.7], list(TWO.components)) == TWO
    assert Product([(TWO, 0), (Poisson(1.0), 1)]).log_prob([[0.0, 1.0]])[0] == pytest.approx(
        TWO.log_prob([0.0])[0] - 1.0
    )


def test_a_mixture_can_be_an_emission():
    from latently.sequence import HiddenMarkovModel

    rng = np.random.default_rng(0)
    states = np.repeat([0, 1, 0, 1], 100)
    centre = np.where(states == 0, rng.choice([-4.0, 4.0], 400), 20.0)
    X = rng.normal(centre, 1.0)[:, None]
    two_humps = MixtureDistribution([0.5, 0.5], [Gaussian(-3.0, 2.0), Gaussian(3.0, 2.0)])
    other = MixtureDistribution([0.5, 0.5], [Gaussian(17.0, 2.0), Gaussian(22.0, 2.0)])
    model = HiddenMarkovModel(2, emission=[two_humps, other], n_iter=2000, random_state=0).fit(X)
    found = model.predict(X)
    assert (found == states).mean() > 0.99 or (found != states).mean() > 0.99


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MixtureDistribution([0.5, 0.6], [TWO, TWO]), "must sum to 1"),
        (lambda: MixtureDistribution([1.0], [TWO, TWO]), "1 weights given for 2 components"),
        (lambda: MixtureDistribution([0.5, 0.5], [TWO, PAIR]), "same columns"),
        (lambda: MixtureDistribution(components=[Gaussian()]).log_prob([1.0]), "template without weights"),
    ],
)
def test_what_does_not_fit_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_codes_of_categories():
    mixed = MixtureDistribution([0.5, 0.5], [Categorical([0.9, 0.1]), Categorical([0.2, 0.8])])
    assert np.allclose(mixed.prob([0.0, 1.0]), [0.55, 0.45])
    assert mixed.discrete == (True,)
    assert mixed._atoms().ravel().tolist() == [0.0, 1.0]
