"""Densities, moments, entropies and distribution functions against scipy.stats."""

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from latently.distributions import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Exponential,
    Gamma,
    Gaussian,
    Multinomial,
    NegativeBinomial,
    NormalInverseWishart,
    Poisson,
    VonMises,
)

REAL, POSITIVE = np.array([-3.0, -0.1, 0.0, 0.7, 5.0, 40.0]), np.array([-1.0, 0.01, 0.7, 5.0, 40.0])
COUNTS, UNIT = np.array([-1.0, 0.0, 1.0, 2.0, 7.0, 30.0]), np.array([-0.5, 0.01, 0.3, 0.99, 1.5])
ANGLES = np.array([-1.1, -0.1, 0.0, 0.8, 2.0, 3.9])  # within a turn of 0.8, where scipy's cdf is ours
UNIVARIATE = [
    (Gaussian(1.5, 4.0), stats.norm(1.5, 2.0), REAL),
    (Gaussian(1.5, 4.0, kind="diag"), stats.norm(1.5, 2.0), REAL),
    (Gaussian(1.5, 4.0, kind="spherical"), stats.norm(1.5, 2.0), REAL),
    (Exponential(0.4), stats.expon(scale=2.5), POSITIVE),
    (Gamma(2.5, 0.4), stats.gamma(2.5, scale=2.5), POSITIVE),
    (Gamma(0.3, 7.0), stats.gamma(0.3, scale=1 / 7), POSITIVE),
    (Beta(2.5, 0.4), stats.beta(2.5, 0.4), UNIT),
    (Bernoulli(0.3), stats.bernoulli(0.3), COUNTS),
    (Poisson(3.7), stats.poisson(3.7), COUNTS),
    (Poisson(0.01), stats.poisson(0.01), COUNTS),
    (NegativeBinomial(3.7, 2.5), stats.nbinom(2.5, 2.5 / 6.2), COUNTS),
    (NegativeBinomial(3.7, 0.4), stats.nbinom(0.4, 0.4 / 4.1), COUNTS),
    (NegativeBinomial(20.0, 60.0), stats.nbinom(60.0, 0.75), COUNTS),
    (VonMises(0.8, 0.3), stats.vonmises(0.3, loc=0.8), ANGLES),
    (VonMises(0.8, 2.5), stats.vonmises(2.5, loc=0.8), ANGLES),
    (Categorical([0.2, 0.5, 0.3]), stats.rv_discrete(values=([0, 1, 2], [0.2, 0.5, 0.3])), COUNTS),
]


@pytest.mark.parametrize(("ours", "theirs", "x"), UNIVARIATE, ids=[str(case[0]) for case in UNIVARIATE])
def test_one_column(ours, theirs, x):
    log_density = theirs.logpmf(x) if ours.discrete[0] else theirs.logpdf(x)
    np.testing.assert_allclose(ours.log_prob(x), log_density, rtol=1e-10)
    np.testing.assert_allclose(ours.cdf(x), theirs.cdf(x), rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(ours.mean, theirs.mean(), rtol=1e-12)
    np.testing.assert_allclose(ours.variance, theirs.var(), rtol=1e-10)
    np.testing.assert_allclose(ours.entropy(), theirs.entropy(), rtol=1e-8)
    levels = np.array([0.001, 0.05, 0.41, 0.9, 0.999])
    np.testing.assert_allclose(ours.quantile(levels)[:, 0], theirs.ppf(levels), rtol=1e-9)
    np.testing.assert_allclose(ours.interval(0.8)[:, 0], theirs.interval(0.8), rtol=1e-9)


@pytest.mark.parametrize("rate", [200.0, 9999.0, 10001.0, 1e6])
def test_entropy_of_large_poisson_counts(rate):
    x = np.arange(max(0, rate - 60 * np.sqrt(rate)), rate + 60 * np.sqrt(rate)).astype(int)
    log_p = stats.poisson(rate).logpmf(x)
    assert Poisson(rate).entropy() == pytest.approx(-np.sum(np.exp(log_p) * log_p), rel=1e-8)


@pytest.mark.parametrize("k", [0.05, 0.3, 7.0, 49.0, 100.0, 1e4, 1e8])
def test_von_mises_by_quadrature(k):
    # scipy's own cdf is a series below a concentration of 50 (absolute errors of 1e-15), an approximation above
    ours, unit = VonMises(0.0, k), min(1.0, 3 / np.sqrt(k + 1e-300))
    edges = -np.pi, -min(np.pi, 14 * unit)

    def integral(what, low, high):
        return integrate.quad(what, low, high, epsabs=0, epsrel=1e-12, limit=500)[0]

    for x in (-2.9 * unit, -unit, -0.1 * unit):
        lower = integral(lambda t: np.exp(stats.vonmises(k).logpdf(t)), edges[1], x)
        np.testing.assert_allclose(ours.cdf([x, -x]), [lower, 1 - lower], rtol=1e-10)
        np.testing.assert_allclose(ours.quantile(lower), x, rtol=1e-10)
    second = integral(lambda t: 2 * t**2 * np.exp(stats.vonmises(k).logpdf(t)), edges[1], 0.0)
    np.testing.assert_allclose(ours.variance, second, rtol=1e-10)


@pytest.mark.parametrize(
    ("mean", "size"), [(1e-3, 0.01), (2.0, 1e-3), (3.0, 49.0), (3.0, 51.0), (1e3, 0.2), (5.0, 5e8)]
)
def test_negative_binomial_over_all_counts(mean, size):
    p = NegativeBinomial(mean, size)
    x = np.arange(min(p.quantile(1 - 1e-12)[0] * 2 + 50, 3e5))
    theirs = stats.nbinom(size, size / (size + mean)) if size < 1e6 else stats.poisson(mean)  # its limit
    tolerance = 1e-10 if size < 1e6 else 1e-6
    np.testing.assert_allclose(p.log_prob(x[:200]), theirs.logpmf(x[:200]), rtol=tolerance)
    log_p = p.log_prob(x)
    assert np.exp(log_p).sum() == pytest.approx(1, abs=1e-11)
    assert p.entropy() == pytest.approx(-(np.exp(log_p) * log_p).sum(), rel=1e-8)
    # scipy's incomplete beta function has eight digits for arguments of 1e8
    np.testing.assert_allclose(p.cdf(x[:200]), np.cumsum(np.exp(log_p))[:200], rtol=1e-10 if size < 1e6 else 1e-7)


def test_entropy_of_large_negative_binomial_counts():
    # beyond a million counts it is an integral: as for a Gamma, whose rates it draws, if those are large
    assert NegativeBinomial(1e9, 3.0).entropy() == pytest.approx(stats.gamma(3.0, scale=1e9 / 3).entropy(), rel=1e-8)
    near, far = NegativeBinomial(8e3, 1.0).entropy(), NegativeBinomial(4e4, 1.0).entropy()  # by sum, and by integral
    theirs = [-(np.log(p) + (1 - p) / p * np.log1p(-p)) for p in (1 / 8001, 1 / 40001)]
    np.testing.assert_allclose([near, far], theirs, rtol=1e-11)


def test_columns_multiply():
    X = np.array([[0.5, 2.0], [1.5, 0.1]])
    expected = stats.expon(scale=0.5).logpdf(X[:, 0]) + stats.expon(scale=2.0).logpdf(X[:, 1])
    np.testing.assert_allclose(Exponential([2.0, 0.5]).log_prob(X), expected)
    np.testing.assert_allclose(Exponential([2.0, 0.5]).cdf(X)[:, 1], stats.expon(scale=2.0).cdf(X[:, 1]))


def test_full_gaussian():
    A = np.random.default_rng(0).normal(size=(5, 5))
    covariance, mean = A @ A.T + np.eye(5), np.arange(5.0)
    X = np.random.default_rng(1).normal(size=(20, 5)) * 3
    theirs = stats.multivariate_normal(mean, covariance)
    np.testing.assert_allclose(Gaussian(mean, covariance).log_prob(X), theirs.logpdf(X), rtol=1e-10)
    assert Gaussian(mean, covariance).entropy() == pytest.approx(theirs.entropy(), rel=1e-12)
    np.testing.assert_allclose(Gaussian(mean, covariance).variance, np.diag(covariance))


def test_multinomial():
    p, X = [0.2, 0.5, 0.3], np.array([[1, 2, 3], [6, 0, 0], [0, 1, 5]])
    theirs = stats.multinomial(6, p)
    for ours in (Multinomial(p), Multinomial(p, n_trials=6)):
        np.testing.assert_allclose(ours.log_prob(X), theirs.logpmf(X), rtol=1e-12)
    ours = Multinomial(p, n_trials=6)
    assert ours.entropy() == pytest.approx(float(theirs.entropy()), rel=1e-10)
    np.testing.assert_allclose(ours.mean, theirs.mean())
    np.testing.assert_allclose(ours.variance, np.diag(theirs.cov()))


def test_dirichlet():
    a = [2.0, 0.7, 4.0]
    theirs = stats.dirichlet(a)
    X = np.array([[0.2, 0.3, 0.5], [0.01, 0.9, 0.09]])
    np.testing.assert_allclose(Dirichlet(a).log_prob(X), [theirs.logpdf(x) for x in X], rtol=1e-12)
    assert Dirichlet(a).entropy() == pytest.approx(theirs.entropy(), rel=1e-12)
    np.testing.assert_allclose(Dirichlet(a).mean, theirs.mean())
    np.testing.assert_allclose(Dirichlet(a).variance, theirs.var())


def test_normal_inverse_wishart():
    m, kappa, scatter, dof = np.array([1.0, -1.0]), 2.0, np.array([[3.0, 0.5], [0.5, 2.0]]), 6.0
    ours = NormalInverseWishart(m, kappa, scatter, dof)
    sigma, mean = np.array([[1.0, 0.2], [0.2, 0.7]]), np.array([0.4, 0.1])
    theirs = stats.invwishart(dof, scatter).logpdf(sigma) + stats.multivariate_normal(m, sigma / kappa).logpdf(mean)
    assert ours.log_prob([[0.4, 0.1, 1.0, 0.2, 0.7]])[0] == pytest.approx(theirs, rel=1e-12)
    assert ours.log_prob([[0.4, 0.1, 1.0, 2.0, 0.7]])[0] == -np.inf  # not positive definite
    np.testing.assert_allclose(ours.mean[2:], stats.invwishart(dof, scatter).mean()[np.triu_indices(2)])
    np.testing.assert_allclose(ours.variance[2:], stats.invwishart(dof, scatter).var()[np.triu_indices(2)])


def test_normal_inverse_gamma_kinds():
    means, variances = np.array([0.4, 0.1]), np.array([0.9, 0.7])
    diag = NormalInverseWishart([1.0, -1.0], [2.0, 3.0], [3.0, 2.0], [6.0, 5.0], kind="diag")
    theirs = stats.invgamma([3.0, 2.5], scale=[1.5, 1.0]).logpdf(variances).sum()
    theirs += stats.norm([1.0, -1.0], np.sqrt(variances / [2.0, 3.0])).logpdf(means).sum()
    assert diag.log_prob([[*means, *variances]])[0] == pytest.approx(theirs, rel=1e-12)
    spherical = NormalInverseWishart([1.0, -1.0], [2.0, 3.0], 3.0, 6.0, kind="spherical")
    theirs = (
        stats.invgamma(3.0, scale=1.5).logpdf(0.9)
        + stats.norm([1.0, -1.0], np.sqrt(0.9 / np.array([2.0, 3.0]))).logpdf(means).sum()
    )
    assert spherical.log_prob([[*means, 0.9]])[0] == pytest.approx(theirs, rel=1e-12)


def test_maximum_likelihood_gamma_equals_scipys():
    X = np.array([0.2, 0.7, 1.1, 2.5, 0.05, 3.0, 1.7])
    shape, _, scale = stats.gamma.fit(X, floc=0)
    found = Gamma().fit(X)
    np.testing.assert_allclose([found.shape[0], found.rate[0]], [shape, 1 / scale], rtol=1e-6)


@pytest.mark.parametrize("k", [0.05, 0.9, 2.0, 20.0, 3000.0])
def test_maximum_likelihood_von_mises(k):
    X = stats.vonmises(k, loc=2.9).rvs(400, random_state=1)
    found = VonMises().fit(X)
    kappa, location, _ = stats.vonmises.fit(X, fscale=1)
    np.testing.assert_allclose(found.concentration, kappa, rtol=1e-6)
    np.testing.assert_allclose(np.exp(1j * found.direction), np.exp(1j * location), rtol=1e-10)


def _negative_log_likelihood(X, log_mean, log_size):
    mean, size = np.exp(log_mean), np.exp(log_size)
    return -stats.nbinom(size, size / (size + mean)).logpmf(X).sum()


@pytest.mark.parametrize(("mean", "size"), [(0.5, 0.02), (3.0, 2.0), (4.0, 30.0), (5000.0, 0.3), (5000.0, 200.0)])
def test_maximum_likelihood_negative_binomial(mean, size):
    X = stats.nbinom(size, size / (size + mean)).rvs(600, random_state=3)
    found = NegativeBinomial().fit(X)
    start = np.log([X.mean(), 0.7 * found.size[0]])
    best = optimize.minimize(lambda t: _negative_log_likelihood(X, *t), start, method="Nelder-Mead", tol=1e-9)
    np.testing.assert_allclose([found.mean[0], found.size[0]], np.exp(best.x), rtol=1e-5)  # it stops at 1e-6 or so
    assert _negative_log_likelihood(X, *np.log([found.mean[0], found.size[0]])) <= best.fun + 1e-8
