"""Posteriors against closed forms of scipy.stats and against quadrature by scipy.integrate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import integrate, optimize, stats
from scipy.special import betaln

from latently.decide import decide
from latently.distributions import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Exponential,
    Gamma,
    Gaussian,
    NormalInverseWishart,
    Poisson,
)
from latently.infer import Posterior, PosteriorWarning

SEEN = np.array([1.5, 2.0, 3.0, 4.0, 5.0, 12.0])


def decay(length, x):
    """MacKay, chapter 3: distances seen in a window from 1 to 20 cm."""
    window = length * (np.exp(-1 / length) - np.exp(-20 / length))
    return np.sum(-x / length) - len(x) * np.log(window)


def coin(p, heads, n):
    with np.errstate(divide="ignore"):
        return heads * np.log(p) + (n - heads) * np.log1p(-p)


# -- exact


def test_bent_coin_is_exact():
    # MacKay, section 3.2: 3 heads and 1 tail under a flat prior
    post = Posterior(Beta(1, 1), Bernoulli, [1, 1, 0, 1])
    truth = stats.beta(4, 2)
    assert post.method == "exact"
    assert post.names == ("probabilities",)
    assert_allclose([post.mean[0], post.sd[0]], [truth.mean(), truth.std()])
    assert_allclose(post.map, 0.75)
    assert_allclose(post.maximum_likelihood(), 0.75)
    assert_allclose(post.interval(0.9)[0], truth.interval(0.9))
    assert_allclose(post.log_evidence, betaln(4, 2))
    assert_allclose(post.log_prob([0.3, 0.6]), truth.logpdf([0.3, 0.6]))
    assert_allclose(post.log_likelihood([0.3]), coin(0.3, 3, 4))


def test_bayes_factor_of_the_bent_coin():
    # MacKay, section 3.3: a fair coin against a bent one; F_a! F_b! / (F + 1)! over 2^-F
    bent = Posterior(Beta(1, 1), Bernoulli(), [1] * 3 + [0] * 9)
    fair = Posterior(Beta(5e7, 5e7), Bernoulli(), [1] * 3 + [0] * 9)
    assert bent.bayes_factor(fair) == pytest.approx(np.exp(betaln(4, 10)) * 2**12, rel=1e-5)


@pytest.mark.parametrize(
    ("prior", "family", "data", "truth"),
    [
        (Gamma(2, 1), Poisson(), [3, 5, 4], stats.gamma(14, scale=1 / 4)),
        (Gamma(2, 1), Exponential(), [0.5, 2.0], stats.gamma(4, scale=1 / 3.5)),
        (Dirichlet([1.0, 1, 1]), Categorical(), [0, 2, 2, 1], stats.beta(2, 5)),
    ],
)
def test_conjugate_marginals(prior, family, data, truth):
    post = Posterior(prior, family, data)
    assert_allclose(post.mean[0], truth.mean())
    assert_allclose(post.sd[0], truth.std())
    assert_allclose(post.interval(0.8)[0], truth.interval(0.8))
    bars = post.error_bars()[0]
    top = optimize.minimize_scalar(lambda x: -truth.pdf(x), bounds=truth.interval(0.999), method="bounded")
    assert_allclose(truth.pdf(bars), -top.fun / 2, rtol=1e-6)


@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
def test_gaussian_marginals_against_draws(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2)) @ [[1, 0.5], [0, 1]] + [3, -1]
    scatter = {"full": np.eye(2), "diag": np.ones(2), "spherical": 1.0}[kind]
    post = Posterior(NormalInverseWishart([0.0, 0.0], 1.0, scatter, 4.0, kind=kind), Gaussian(kind=kind), X)
    draws = post.sample(100_000, random_state=0)
    assert draws.shape[1] == len(post.names)
    for j in range(len(post.names)):
        drawn = np.quantile(draws[:, j], [0.1, 0.5, 0.9])
        assert_allclose(post.quantile([0.1, 0.5, 0.9])[j], drawn, rtol=0.03, atol=0.01)
    assert_allclose(post.maximum_likelihood()[:2], X.mean(axis=0))


# -- grid


def test_grid_agrees_with_the_conjugate_posterior():
    truth = stats.beta(3.5 + 3, 2 + 9)
    post = Posterior({"p": stats.beta(3.5, 2)}, lambda p: coin(p, 3, 12))
    assert post.method == "grid"
    assert_allclose([post.mean[0], post.sd[0]], [truth.mean(), truth.std()], rtol=1e-10)
    assert_allclose(post.map[0], 5.5 / 15.5, rtol=1e-6)
    q = [0.001, 0.025, 0.5, 0.975, 0.999]
    assert_allclose(post.quantile(q)[0], truth.ppf(q), rtol=1e-9)
    assert_allclose(post.log_evidence, betaln(6.5, 11) - betaln(3.5, 2), atol=1e-10)
    assert_allclose(post.expect(lambda p: p**2), truth.moment(2), rtol=1e-10)
    x = np.linspace(0.1, 0.9, 7)
    assert_allclose(post.marginal("p").pdf(x), truth.pdf(x), rtol=1e-8)
    assert_allclose(np.exp(post.log_prob(x)), truth.pdf(x), rtol=1e-8)
    assert post.diagnostics["relative_error"] < 1e-10


def test_decay_length_against_quadrature():
    post = Posterior({"length": (0.1, 100.0)}, decay, SEEN)
    density = lambda s: np.exp(decay(s, SEEN)) / 99.9  # noqa: E731
    options = {"points": [1, 3, 5, 10, 30], "epsabs": 0, "epsrel": 1e-12, "limit": 500}
    total = integrate.quad(density, 0.1, 100, **options)[0]
    mean = integrate.quad(lambda s: s * density(s), 0.1, 100, **options)[0] / total
    assert_allclose(post.log_evidence, np.log(total), rtol=1e-10)
    assert_allclose(post.mean[0], mean, rtol=1e-9)
    best = optimize.minimize_scalar(lambda s: -decay(s, SEEN), bracket=(1, 4, 20), tol=1e-10)
    assert_allclose(post.map[0], best.x, rtol=1e-6)
    # maximum likelihood is the limit of a flat prior
    assert_allclose(post.maximum_likelihood(), post.map, rtol=1e-5)
    low, high = post.error_bars()[0]
    for end in (low, high):
        assert decay(end, SEEN) == pytest.approx(-best.fun - np.log(2), abs=1e-8)
    below = integrate.quad(density, 0.1, post.quantile(0.3)[0], epsabs=0, epsrel=1e-11)[0] / total
    assert below == pytest.approx(0.3, abs=1e-9)
    draws = post.sample(50_000, random_state=0)[:, 0]
    assert draws.mean() == pytest.approx(mean, abs=5 * post.sd[0] / np.sqrt(50_000))


def test_map_tends_to_maximum_likelihood_as_the_prior_widens():
    data = np.array([2.0, 3.0, 7.0])
    log_likelihood = lambda m: -0.5 * ((data[:, None] - m) ** 2).sum(axis=0)  # noqa: E731
    gaps = []
    for width in (1, 10, 100, 1000):
        post = Posterior({"m": stats.norm(0, width)}, log_likelihood)
        gaps.append(abs(post.map[0] - post.maximum_likelihood()[0]))
        assert_allclose(post.map[0], 12 / (3 + width**-2), rtol=1e-5)
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 2e-5
    flat = Posterior({"m": "flat"}, log_likelihood)
    assert_allclose(flat.map, 4.0, atol=1e-6)
    assert_allclose(flat.sd, 1 / np.sqrt(3), rtol=1e-8)
    with pytest.raises(ValueError, match="no marginal likelihood"):
        _ = flat.log_evidence


@settings(max_examples=15, deadline=None)
@given(st.floats(-8, 8), st.floats(-6, 3), st.floats(0.1, 50))
def test_grid_finds_gaussians_anywhere(where, log_width, prior_width):
    width = 10**log_width
    post = Posterior({"x": stats.norm(0, prior_width)}, lambda x: -0.5 * ((x - where) / width) ** 2)
    precision = width**-2 + prior_width**-2
    assert_allclose(post.mean[0], where / width**2 / precision, rtol=1e-7, atol=1e-9)
    assert_allclose(post.sd[0], precision**-0.5, rtol=1e-6)
    expected = stats.norm(0, np.hypot(width, prior_width)).logpdf(where) + np.log(width * np.sqrt(2 * np.pi))
    assert_allclose(post.log_evidence, expected, rtol=1e-6, atol=1e-6)


def test_two_parameters_by_grid():
    # mean and log variance of a Gaussian, against the normal-inverse-Wishart posterior
    data = np.array([1.2, 0.4, 2.2, 3.1, 1.9])
    conjugate = Posterior(NormalInverseWishart([0.0], 1.0, [[1.0]], 3.0), Gaussian(), data)
    prior = lambda m, v: stats.invgamma(1.5, scale=0.5).logpdf(v) + stats.norm(0, np.sqrt(v)).logpdf(m)  # noqa: E731
    like = lambda m, v: stats.norm(m, np.sqrt(v)).logpdf(data[:, None]).sum(axis=0)  # noqa: E731
    post = Posterior(prior, like, names=["m", "v"], bounds={"m": (-20, 20), "v": (1e-3, 200)})
    assert post.method == "grid"
    assert_allclose(post.log_evidence, conjugate.log_evidence, atol=1e-4)
    assert_allclose(post.mean, conjugate.mean, rtol=1e-3)
    assert_allclose(post.map, conjugate.map, rtol=1e-4)
    assert_allclose(post.interval(0.9), conjugate.interval(0.9), rtol=2e-3)
    draws = post.sample(40_000, random_state=0)
    assert_allclose(draws.mean(axis=0), post.mean, atol=0.02)


def test_two_correlated_gaussian_parameters():
    truth = np.array([[2.0, 1.2], [1.2, 1.0]])
    inverse = np.linalg.inv(truth)
    like = lambda a, b: -0.5 * (inverse[0, 0] * a**2 + 2 * inverse[0, 1] * a * b + inverse[1, 1] * b**2)  # noqa: E731
    post = Posterior({"a": (-50, 50), "b": (-50, 50)}, like)
    assert_allclose(post.covariance, truth, rtol=1e-7)
    expected = np.log(2 * np.pi) + np.linalg.slogdet(truth)[1] / 2 - 2 * np.log(100)
    assert_allclose(post.log_evidence, expected, rtol=1e-8)
    assert_allclose(post.fwhm(), 2 * np.sqrt(2 * np.log(2)) * np.sqrt(np.diag(truth)), rtol=1e-6)
    laplace = post.gaussian("mode")
    assert_allclose(laplace.covariance, truth, rtol=1e-5)
    assert_allclose(post.gaussian().covariance, truth, rtol=1e-7)


# -- Laplace


def test_laplace_of_a_gaussian_is_exact_and_of_a_gamma_is_stirling():
    like = lambda a, b, c: -0.5 * ((a - 1) ** 2 + (b - 2) ** 2 / 4 + (c - a) ** 2)  # noqa: E731
    post = Posterior(dict.fromkeys("abc", (-30, 30)), like, method="laplace")
    assert_allclose(post.mean, [1, 2, 1], atol=1e-4)
    assert_allclose(post.covariance, [[1, 0, 1], [0, 4, 0], [1, 0, 2]], atol=1e-4)
    assert_allclose(post.log_evidence, 1.5 * np.log(2 * np.pi) + np.log(2) - 3 * np.log(60), atol=1e-5)
    assert_allclose(post.interval(0.95)[0], stats.norm(1, 1).interval(0.95), atol=1e-3)
    # the integral of x^n e^-x over x > 0 by Laplace is Stirling's formula
    n, setting = 30.0, {"names": ["x"], "bounds": {"x": (1e-9, 1e4)}, "method": "laplace"}
    post = Posterior(lambda x: 0 * x, lambda x: n * np.log(x) - x, **setting)
    assert_allclose(post.log_evidence, n * np.log(n) - n + 0.5 * np.log(2 * np.pi * n), atol=1e-6)


# -- summaries


def test_highest_density_interval_is_the_shortest():
    truth = stats.gamma(3)
    post = Posterior({"x": truth}, lambda x: 0.0 * x)
    low, high = post.interval(0.9, "hdi")[0]
    assert truth.cdf(high) - truth.cdf(low) == pytest.approx(0.9, abs=1e-7)
    assert truth.pdf(low) == pytest.approx(truth.pdf(high), rel=1e-3)
    assert high - low < np.diff(truth.interval(0.9))[0]
    assert_allclose(post.interval(0.9)[0], truth.interval(0.9), rtol=1e-8)


def test_density_highest_at_the_edge():
    post = Posterior({"x": stats.expon()}, lambda x: 0.0 * x)
    assert post.map[0] == pytest.approx(0, abs=1e-6)
    assert post.error_bars()[0] == pytest.approx([0, np.log(2)], abs=1e-6)
    assert post.interval(0.9, "hdi")[0] == pytest.approx([0, np.log(10)], abs=1e-5)
    with pytest.raises(ValueError, match="edge"):
        post.gaussian("mode")


def test_summary_is_plain():
    told = Posterior(Gamma(2, 1), Poisson(), [3, 5, 4]).summary(0.9)
    assert told["rate"]["mean"] == pytest.approx(14 / 4)
    assert told["rate"]["interval"] == pytest.approx(stats.gamma(14, scale=0.25).interval(0.9))
    assert set(told["rate"]) == {"map", "half_maximum", "mean", "sd", "interval", "hdi"}


def test_family_with_a_prior_that_is_not_conjugate():
    data = [3, 5, 4]
    post = Posterior({"rate": stats.lognorm(1)}, Poisson(), data)
    density = lambda r: stats.lognorm(1).pdf(r) * stats.poisson(r).pmf(data).prod()  # noqa: E731
    total = integrate.quad(density, 0, 30, epsabs=0, epsrel=1e-11, limit=200)[0]
    assert_allclose(post.log_evidence, np.log(total), rtol=1e-9)
    wide = Posterior({"mean": (-10, 10), "covariance": (0.01, 30)}, Gaussian, [1.0, 2.0, 4.0], method="laplace")
    assert_allclose(wide.map, [7 / 3, np.var([1, 2, 4])], rtol=1e-4)


def test_functions_of_arrays_and_of_numbers_give_the_same():
    calls = []

    def one(m):
        calls.append(np.ndim(m))
        return float(-0.5 * (m - 1) ** 2)

    many = Posterior({"m": (-5, 5)}, lambda m: -0.5 * (m - 1) ** 2)
    single = Posterior({"m": (-5, 5)}, one)
    assert_allclose(single.mean, many.mean, rtol=1e-12)
    assert calls.count(0) > 100


def test_decisions_on_a_continuous_posterior():
    post = Posterior(Beta(1, 1), Bernoulli(), [1] * 7 + [0] * 3)
    chance = 8 / 12
    choice = decide(post, {"bet": lambda p: 10 * p - 6, "pass": lambda p: 0 * p})
    assert choice.action == "bet"
    assert choice.margin == pytest.approx(10 * chance - 6, rel=1e-9)
    assert post.expect(lambda p: p**3) == pytest.approx(stats.beta(8, 4).moment(3), rel=1e-9)
    grid = Posterior({"p": (0, 1)}, lambda p: coin(p, 7, 10))
    assert decide(grid, {"bet": lambda p: 10 * p - 6, "pass": lambda p: 0 * p}).margin == pytest.approx(10 * chance - 6)


# -- bad input


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Posterior({"a": (0, 1)}, lambda a: np.nan * a).mean, ValueError, "log likelihood is nan at a="),
        (lambda: Posterior({"a": (0, 1)}, lambda a: a - np.inf).mean, ValueError, "zero wherever"),
        (lambda: Posterior({"a": (1, 0)}, lambda a: a), TypeError, "prior of 'a'"),
        (lambda: Posterior({"a": "wide"}, lambda a: a), TypeError, "prior of 'a'"),
        (lambda: Posterior({}, lambda a: a), ValueError, "no parameters"),
        (lambda: Posterior({"a": (0, 1)}, "x"), TypeError, "likelihood must be"),
        (lambda: Posterior({"a": (0, 1)}, lambda a: a, method="magic"), ValueError, "method must be one of"),
        (lambda: Posterior({"a": (0, 1)}, lambda a: a, method="exact"), ValueError, "conjugate"),
        (lambda: Posterior(Beta(1, 1), Bernoulli()), ValueError, "needs data"),
        (lambda: Posterior(Beta(1, 1), Bernoulli(), [1], method="grid"), ValueError, "exact posterior"),
        (lambda: Posterior(lambda a: a, lambda a: a), ValueError, "names="),
        (lambda: Posterior({"r": (0, 1)}, Poisson(), [1]), ValueError, "has the parameters"),
        (lambda: Posterior(dict.fromkeys("abc", (0, 1)), len, method="grid").mean, ValueError, "one or two"),
        (lambda: Posterior(dict.fromkeys("abc", "flat"), lambda a, b, c: -a * a).mean, ValueError, "start="),
        (lambda: Posterior({"a": (0, 1)}, lambda a: a).marginal("z"), ValueError, "no parameter 'z'"),
        (lambda: Posterior({"a": (0, 1)}, lambda a: a).interval(1.2), ValueError, "level"),
        (lambda: Posterior({"a": (0, 1)}, lambda a: a).interval(kind="x"), ValueError, "kind"),
        (lambda: Posterior({"a": (0, 1)}, lambda a: [a, a]).mean, ValueError, "one number"),
    ],
)
def test_clear_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_ridge_too_narrow_for_a_grid_warns():
    ridge = lambda a, b: -0.5 * ((a - b) / 1e-5) ** 2 - 0.5 * (a + b) ** 2  # noqa: E731
    with pytest.warns(PosteriorWarning, match="accurate to"):
        _ = Posterior({"a": (-10, 10), "b": (-10, 10)}, ridge).mean
