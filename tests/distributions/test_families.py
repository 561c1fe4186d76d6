"""What is particular to single families: edges, errors, missing values in rows of counts."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import special, stats

from latently.distributions import (
    Bernoulli,
    Categorical,
    ColumnError,
    Exponential,
    Gamma,
    Gaussian,
    Multinomial,
    NegativeBinomial,
    Poisson,
    Sums,
    VonMises,
    family_named,
    kl_divergence,
)
from latently.distributions.inputs import generator, patterns
from latently.distributions.iterate import until_still

NAN = np.nan


# bernoulli, categorical


def test_certain_columns_are_exact():
    p = Bernoulli([0.0, 1.0])
    np.testing.assert_array_equal(p.log_prob([[0, 1], [1, 1], [NAN, 1], [NAN, 0]]), [0, -np.inf, 0, -np.inf])
    assert p.entropy() == 0


def test_a_template_learns_its_categories():
    assert Categorical().fit([0, 2, 2, NAN]).n_categories == 3
    assert Categorical(n_categories=5).fit([0, 2, 2]).probabilities.shape == (5,)
    assert Categorical([0.5, 0.5]).n_categories == 2
    with pytest.raises(ColumnError, match=r"column 0 has 2 in row 1.*codes 0\.\.1"):
        Categorical(n_categories=2).fit([0, 2])
    with pytest.raises(ValueError, match="categories"):
        Categorical(n_categories=2).from_statistics(Sums(np.ones(3)))


@pytest.mark.parametrize("family", [Categorical, Multinomial])
@pytest.mark.parametrize("p", [[0.5, 0.6], [-0.5, 1.5], [NAN, 1.0], [], [[0.5, 0.5]]])
def test_probabilities_are_checked(family, p):
    with pytest.raises(ValueError, match="probabilities"):
        family(p)


def test_probabilities_that_sum_to_one_by_rounding_are_taken():
    assert Categorical([0.1] * 10).probabilities.sum() == pytest.approx(1, abs=1e-16)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bernoulli(1.5), "between 0 and 1"),
        (lambda: Poisson(-1.0), "not be negative"),
        (lambda: Exponential(0.0), "positive"),
        (lambda: Gamma([1.0, 0.0], 1.0), "positive"),
        (lambda: Gamma(1.0), "template"),
        (lambda: VonMises(0.0, -1.0), "not be negative"),
        (lambda: NegativeBinomial(-1.0, 1.0), "not be negative"),
        (lambda: NegativeBinomial(1.0, 0.0), "positive"),
        (lambda: Poisson([[1.0]]), "shape"),
        (lambda: Poisson(np.inf), "finite"),
        (lambda: Multinomial([0.5, 0.5], n_trials=-1), "n_trials"),
        (lambda: Categorical([0.5, 0.5], n_categories=3), "n_categories"),
    ],
)
def test_bad_parameters(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_fitted_families_refuse_statistics_of_another_width():
    with pytest.raises(ValueError, match="features"):
        Poisson([1.0, 2.0]).from_statistics(Poisson().statistics([1, 2]))


# counts and waiting times


def test_all_zero_counts_are_a_rate_of_zero():
    found = Poisson().fit([0, 0, 0])
    np.testing.assert_array_equal(found.log_prob([0, 1]), [0, -np.inf])
    assert found.entropy() == 0
    assert found.quantile(0.99)[0] == 0


def test_waiting_times_of_zero_have_no_rate():
    with pytest.raises(ColumnError, match=r"column 1 is all zeros.*Gamma prior"):
        Exponential().fit([[1.0, 0.0], [2.0, 0.0]])
    assert Exponential().fit([0.0, 0.0], prior=Gamma(2, 1)).rate[0] == 3


def test_quantiles_at_the_ends():
    np.testing.assert_array_equal(Exponential(1.0).quantile([0, 1])[:, 0], [0, np.inf])
    np.testing.assert_array_equal(Poisson(3.0).quantile([0, 1])[:, 0], [0, np.inf])
    with pytest.raises(ValueError, match="between 0 and 1"):
        Exponential(1.0).quantile(1.5)


# gamma


@pytest.mark.parametrize("shape", [1e-3, 0.1, 1.0, 50.0, 1e4, 1e8])
def test_gamma_shape_solves_its_equation(shape):
    gap = np.log(shape) - special.digamma(shape)
    if shape > 1e6:
        gap = 0.5 / shape  # its series; the difference above has lost its digits
    # one observation's worth of statistics with mean one and mean log -gap
    found = Gamma().from_statistics(Sums(np.array([-gap, 1.0, 1.0])))
    assert found.shape[0] == pytest.approx(shape, rel=1e-6)
    assert found.mean[0] == pytest.approx(1.0)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_gamma_fit_follows_the_units(scale):
    X = stats.gamma(2.0).rvs(500, random_state=0)
    found, plain = Gamma().fit(X * scale), Gamma().fit(X)
    assert found.shape[0] == pytest.approx(plain.shape[0], rel=1e-8)
    assert found.rate[0] * scale == pytest.approx(plain.rate[0], rel=1e-8)


def test_gamma_of_a_constant_column():
    for X in ([2.0, 2.0, 2.0], [2.0], [1e300, 1e300]):
        with pytest.raises(ColumnError, match="column 0 is constant"):
            Gamma().fit(X)


# von mises


@pytest.mark.parametrize("k", [1e-9, 1e-3, 0.5, 2.0, 60.0, 499.0, 501.0, 1e5])
def test_concentration_solves_its_equation(k):
    length = 1 - stats.vonmises(k).expect(lambda t: 2 * np.sin(t / 2) ** 2) if 1e-3 <= k < 100 else None
    if length is None:  # k / 2, and the first terms of the asymptotic series
        length = k / 2 if k < 1 else 1 - 1 / (2 * k) - 1 / (8 * k**2) - 1 / (8 * k**3) - 25 / (128 * k**4)
    found = VonMises().from_statistics(Sums(np.array([0.0, length, 1.0])))
    assert found.concentration[0] == pytest.approx(k, rel=1e-8)
    assert found.direction[0] == pytest.approx(np.pi / 2)


def test_angles_do_not_mind_full_turns():
    X = stats.vonmises(3.0, loc=3.0).rvs(50, random_state=0)
    turned = VonMises().fit(X + 2 * np.pi * np.arange(-25, 25))
    np.testing.assert_allclose(turned.concentration, VonMises().fit(X).concentration, rtol=1e-12)
    np.testing.assert_allclose(VonMises(3.0, 2.0).log_prob(X), VonMises(3.0, 2.0).log_prob(X - 2 * np.pi), rtol=1e-10)
    assert VonMises(3.0, 2.0).sample(500, random_state=0).min() >= 3.0 - np.pi


def test_angles_that_cancel_are_uniform():
    found = VonMises().fit([0.0, np.pi / 2, np.pi, -np.pi / 2])
    assert found.concentration[0] < 1e-15
    np.testing.assert_allclose(found.prob([0.3, 2.0]), 1 / (2 * np.pi))


def test_one_angle_has_no_concentration():
    for X in ([1.0], [1.0, 1.0 + 2 * np.pi]):
        with pytest.raises(ColumnError, match="column 0 is one angle only"):
            VonMises().fit(X)


@pytest.mark.parametrize("other", [VonMises(1.0, 2.0), VonMises(-2.0, 30.0), VonMises(0.0, 0.0)], ids=str)
def test_divergence_of_directions(other):
    p, x = VonMises(0.4, 5.0), np.linspace(0.4 - np.pi, 0.4 + np.pi, 2001)[:-1]
    by_sum = (p.prob(x) * (p.log_prob(x) - other.log_prob(x))).mean() * 2 * np.pi  # exact for periodic functions
    assert kl_divergence(p, other) == pytest.approx(by_sum, rel=1e-10)


# negative binomial


def test_counts_that_vary_no_more_than_poisson_have_its_likelihood():
    for X in ([1, 2, 2, 3], [4], [0, 1, 0, 1]):
        found = NegativeBinomial().fit(X)
        np.testing.assert_allclose(found.log_prob(X), Poisson().fit(X).log_prob(X), atol=1e-7)
    nothing = NegativeBinomial().fit([0, 0, NAN])
    np.testing.assert_array_equal(nothing.log_prob([0, 1]), [0, -np.inf])
    assert (nothing.entropy(), nothing.variance[0], nothing.mode[0], nothing.quantile(1.0)[0]) == (0, 0, 0, 0)


@pytest.mark.parametrize("d", [10_001, 10_500, 14_000])
def test_size_of_nearly_poisson_counts(d):
    # of two large counts the variance is d^2, and the size tends to mean^2 / (variance - mean)
    mean = 1e8
    found = NegativeBinomial().fit([mean - d, mean + d])
    assert found.size[0] == pytest.approx(mean**2 / (d**2 - mean), rel=1e-3)


def test_histograms_add_and_know_their_columns():
    one = NegativeBinomial().statistics([[0, 3], [NAN, 3]])
    np.testing.assert_array_equal(one.values, [0, 3])
    np.testing.assert_array_equal(one.weight, [[1, 0], [0, 2]])
    with pytest.raises(ValueError, match="columns do not add"):
        one + NegativeBinomial().statistics([1, 2])
    with pytest.raises(ValueError, match="2 columns"):
        NegativeBinomial(1.0, 1.0).from_statistics(one)
    with pytest.raises(ValueError, match="more rows were removed"):
        NegativeBinomial().from_statistics(one - one - one)


# names


def test_families_by_name():
    assert family_named("von_mises") == VonMises()
    assert family_named("negative_binomial") == NegativeBinomial()
    assert family_named("counts") == family_named("poisson") == Poisson()
    assert family_named("gaussian") == Gaussian()
    with pytest.raises(ValueError, match="no family 'vonmises': known are bernoulli"):
        family_named("vonmises")


# multinomial


def test_rows_of_any_total_without_n_trials():
    p = Multinomial([0.2, 0.8])
    np.testing.assert_allclose(p.prob([[1, 0], [1, 1], [0, 0]]), [0.2, 0.32, 1.0])
    for ask in ("mean", "variance", "mode"):
        with pytest.raises(ValueError, match="n_trials"):
            getattr(p, ask)
    for ask in (p.sample, p.entropy):
        with pytest.raises(ValueError, match="n_trials"):
            ask()


def test_a_wrong_total_has_no_probability():
    p = Multinomial([0.2, 0.8], n_trials=3)
    np.testing.assert_array_equal(p.log_prob([[1, 1], [4, NAN]]), [-np.inf, -np.inf])
    with pytest.raises(ColumnError, match="n_trials"):
        p.statistics([[1, 1]])


def test_missing_counts_given_the_total_of_those_seen():
    p = Multinomial([0.2, 0.3, 0.5])
    expected = stats.binom(5, 0.4).pmf(2)
    assert p.prob([[2, 3, NAN]])[0] == pytest.approx(expected)
    with pytest.raises(ValueError, match="row 1 is partly missing"):
        p.statistics([[1, 1, 1], [2, 3, NAN]])


@pytest.mark.parametrize("n_trials", [None, 20])
def test_fit_with_missing_counts_maximises_the_likelihood(n_trials):
    rng = np.random.default_rng(0)
    X = rng.multinomial(20, [0.2, 0.3, 0.5], size=30).astype(float)
    X[rng.random(X.shape) < 0.25] = NAN
    found = Multinomial(n_trials=n_trials).fit(X)
    best = found.log_prob(X).sum()
    for _ in range(30):
        near = rng.dirichlet(found.probabilities * 3000)
        assert Multinomial(near, n_trials=n_trials).log_prob(X).sum() <= best + 1e-9


def test_mode_of_counts_by_enumeration():
    X = np.array([[i, j, 7 - i - j] for i in range(8) for j in range(8 - i)])
    for p in ([0.2, 0.3, 0.5], [0.01, 0.01, 0.98], [1 / 3, 1 / 3, 1 / 3], [0.0, 0.5, 0.5]):
        one = Multinomial(p, n_trials=7)
        assert one.mode.sum() == 7
        assert one.log_prob([one.mode])[0] == pytest.approx(one.log_prob(X).max())


# helpers


def test_patterns_cover_every_row_once():
    X = np.where(np.random.default_rng(0).random((200, 11)) < 0.3, NAN, 1.0)
    seen = []
    for observed, rows in patterns(X):
        assert (~np.isnan(X[rows]) == observed).all()
        seen.extend(rows)
    assert sorted(seen) == list(range(200))
    assert list(patterns(X[:0])) == []


def test_generators_pass_through():
    rng = np.random.default_rng(0)
    assert generator(rng) is rng


def test_marginals_that_leave_the_family():
    with pytest.raises(TypeError, match="Multinomial has no marginal"):
        Multinomial([0.2, 0.3, 0.5], n_trials=3).marginal([0, 1])
    with pytest.raises(TypeError, match="no cdf"):
        Multinomial([0.2, 0.8], n_trials=3).cdf([[1, 2]])


def test_the_room_loads_without_heavy_company():
    heavy = ("sklearn", "numba", "pandas", "scipy.stats")
    code = f"import sys, latently.distributions; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_lists_and_single_columns_are_taken():
    assert Gaussian(0.0, 1.0).log_prob([0.0, 1.0]).shape == (2,)
    assert Gaussian(0.0, 1.0).log_prob([[0.0], [1.0]]).shape == (2,)
    assert Bernoulli().fit([True, False]).probabilities[0] == 0.5


def test_a_fit_that_never_rests_says_so():
    with pytest.warns(RuntimeWarning, match="still moves after 3 steps"):
        until_still(Poisson(1.0), lambda p: Poisson(p.rate + 1), lambda a, b: float(b.rate[0] - a.rate[0]), max_iter=3)
