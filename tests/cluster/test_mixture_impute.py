"""What a mixture says about missing entries, and about surprising ones."""

import numpy as np
import pytest
from scipy import stats

from latently.cluster.bernoulli_mixture import BernoulliMixture
from latently.cluster.mixture.mixture import Mixture
from latently.distributions import Categorical, Gaussian, Poisson, Product
from latently.distributions.families.mixture import MixtureDistribution

WEIGHTS = np.array([0.4, 0.6])
MEANS = np.array([[0.0, 0.0], [3.0, 1.0]])
COVS = np.array([[[1.0, 0.8], [0.8, 2.0]], [[2.0, -0.5], [-0.5, 0.5]]])
SHARES = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
RATES = np.array([1.0, 6.0])
FAMILIES = {(0, 1): Gaussian(), 2: Categorical(), 3: Poisson()}


def known(n=400, seed=0):
    """The mixture with these parameters, whatever the rows, and rows drawn from it."""
    rng = np.random.default_rng(seed)
    parts = [
        Product([(Gaussian(m, c), [0, 1]), (Categorical(p), 2), (Poisson(r), 3)])
        for m, c, p, r in zip(MEANS, COVS, SHARES, RATES, strict=True)
    ]
    X = MixtureDistribution(WEIGHTS, parts).sample(n, rng)
    X[:3, 2] = [0, 1, 2]
    settings = {"families": FAMILIES, "components_init": parts, "weights_init": WEIGHTS, "max_iter": 0}
    return Mixture(2, **settings).fit(X), X


def with_missing(X, share=0.3, seed=1):
    absent = np.random.default_rng(seed).random(X.shape) < share
    return np.where(absent, np.nan, X), absent


def shares_of(row):
    """Responsibilities of a row of which the first column and the count are missing, by scipy."""
    joint = WEIGHTS * [stats.norm(m[1], c[1, 1] ** 0.5).pdf(row[1]) for m, c in zip(MEANS, COVS, strict=True)]
    joint = joint * SHARES[:, int(row[2])]
    return joint / joint.sum()


def test_conditional_means_and_modes_are_those_computed_by_hand():
    mixture, _ = known()
    row = np.array([np.nan, 1.5, 2.0, np.nan])
    r = shares_of(row)
    gradient = COVS[:, 0, 1] / COVS[:, 1, 1]
    expected = r @ (MEANS[:, 0] + gradient * (1.5 - MEANS[:, 1]))
    assert np.allclose(mixture.impute_mean(row[None]), [[expected, 1.5, 2.0, r @ RATES]])
    nothing = np.full((1, 4), np.nan)
    assert np.allclose(mixture.impute_mean(nothing)[0], [1.8, 0.6, np.argmax(WEIGHTS @ SHARES), WEIGHTS @ RATES])


def test_ends_of_intervals_have_the_right_tails():
    mixture, _ = known()
    row = np.array([np.nan, 1.5, 2.0, np.nan])
    low, high = mixture.impute_interval(row[None], level=0.8)
    r = shares_of(row)
    mean = MEANS[:, 0] + COVS[:, 0, 1] / COVS[:, 1, 1] * (1.5 - MEANS[:, 1])
    sd = np.sqrt(COVS[:, 0, 0] - COVS[:, 0, 1] ** 2 / COVS[:, 1, 1])
    for end, tail in ((low[0, 0], 0.1), (high[0, 0], 0.9)):
        assert r @ stats.norm(mean, sd).cdf(end) == pytest.approx(tail, abs=1e-9)
    for end, tail in ((low[0, 3], 0.1), (high[0, 3], 0.9)):
        assert r @ stats.poisson(RATES).cdf(end) >= tail
        assert r @ stats.poisson(RATES).cdf(end - 1) < tail
    assert (low[0, 1:3] == row[1:3]).all()


def test_intervals_cover_what_they_say():
    mixture, X = known(4000)
    incomplete, absent = with_missing(X)
    low, high = mixture.impute_interval(incomplete, level=0.9)
    inside = ((low <= X) & (high >= X))[:, :2][absent[:, :2]]
    assert 0.88 < inside.mean() < 0.92
    counts = ((low <= X) & (high >= X))[:, 3][absent[:, 3]]
    assert counts.mean() > 0.89  # whole numbers: at least as many


def test_draws_follow_the_conditional_distribution():
    mixture, _ = known()
    row = np.array([[np.nan, 1.5, 2.0, np.nan]])
    drawn = mixture.impute_draws(row.repeat(5000, axis=0), n_draws=4, random_state=0).reshape(-1, 4)
    assert (drawn[:, 1:3] == row[0, 1:3]).all()
    r = shares_of(row[0])
    mean = MEANS[:, 0] + COVS[:, 0, 1] / COVS[:, 1, 1] * (1.5 - MEANS[:, 1])
    sd = np.sqrt(COVS[:, 0, 0] - COVS[:, 0, 1] ** 2 / COVS[:, 1, 1])
    test = stats.kstest(drawn[:, 0], lambda x: stats.norm(mean, sd).cdf(np.asarray(x)[:, None]) @ r)
    assert test.pvalue > 1e-3
    assert drawn[:, 3].mean() == pytest.approx(r @ RATES, abs=0.1)
    # joint: number and count come from one component
    expected = r @ (mean * RATES) - (r @ mean) * (r @ RATES)
    assert np.cov(drawn[:, 0], drawn[:, 3])[0, 1] == pytest.approx(expected, abs=0.15)


def test_draws_can_be_repeated_and_fill_everything():
    mixture, X = known()
    incomplete, absent = with_missing(X)
    one, other = (mixture.impute_draws(incomplete, 3, random_state=5) for _ in range(2))
    assert np.array_equal(one, other)
    assert np.isfinite(one).all()
    assert (one[:, ~absent] == X[~absent]).all()


def test_surprise_is_the_density_given_the_rest_of_the_row():
    mixture, _ = known()
    row = np.array([[2.0, 1.5, 2.0, np.nan]])
    found = mixture.surprise(row)[0]
    r = shares_of(row[0])
    mean = MEANS[:, 0] + COVS[:, 0, 1] / COVS[:, 1, 1] * (1.5 - MEANS[:, 1])
    sd = np.sqrt(COVS[:, 0, 0] - COVS[:, 0, 1] ** 2 / COVS[:, 1, 1])
    assert found[0] == pytest.approx(-np.log(r @ stats.norm(mean, sd).pdf(2.0)), abs=1e-10)
    density = np.array([stats.multivariate_normal(m, c).pdf([2.0, 1.5]) for m, c in zip(MEANS, COVS, strict=True)])
    given = WEIGHTS * density / (WEIGHTS @ density)
    assert found[2] == pytest.approx(-np.log(given @ SHARES[:, 2]), abs=1e-10)
    assert found[3] == 0.0


def test_an_entry_that_does_not_belong_is_the_most_surprising():
    mixture, X = known()
    odd = X[:50].copy()
    odd[:, 3] = 60
    assert (mixture.surprise(odd).argmax(axis=1) == 3).all()


def test_binary_tables():
    X = (np.random.default_rng(0).random((300, 6)) < np.where(np.arange(300) % 2, 0.9, 0.1)[:, None]).astype(float)
    incomplete, absent = with_missing(X)
    mixture = BernoulliMixture(2, random_state=0).fit(incomplete)
    filled = mixture.impute_mean(incomplete)
    assert (filled[absent] == X[absent]).mean() > 0.8
    low, high = mixture.impute_interval(incomplete)
    assert (low == high).all()
    assert set(np.unique(mixture.impute_draws(incomplete, 2, random_state=0))) == {0.0, 1.0}
    assert (mixture.surprise(incomplete)[absent] == 0).all()


def test_many_chunks_give_the_same_as_one():
    mixture, X = known(40_000)
    incomplete, _ = with_missing(X)
    assert np.array_equal(mixture.impute_mean(incomplete)[-50:], mixture.impute_mean(incomplete[-50:]))
    assert np.array_equal(mixture.surprise(incomplete)[:50], mixture.surprise(incomplete[:50]))


def test_whole_row_distributions_fill_holes_too():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=200), rng.integers(0, 3, 200)])
    part = Product([(Gaussian(0.0, 1.0), 0), (Categorical([0.2, 0.5, 0.3]), 1)])
    mixture = Mixture(components=[part, part], max_iter=0).fit(X)
    assert np.allclose(mixture.impute_mean([[np.nan, 1.0], [0.5, np.nan]]), [[0.0, 1.0], [0.5, 1.0]], atol=1e-9)
    low, high = mixture.impute_interval([[np.nan, 1.0]], level=0.9)
    assert low[0, 0] == pytest.approx(stats.norm.ppf(0.05), abs=1e-9)
    assert high[0, 0] == pytest.approx(stats.norm.ppf(0.95), abs=1e-9)


@pytest.mark.parametrize("level", [0.0, 1.0, 1.5])
def test_levels_outside_are_refused(level):
    mixture, X = known()
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        mixture.impute_interval(X, level=level)
