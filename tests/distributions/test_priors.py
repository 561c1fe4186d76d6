"""Priors: posteriors, modes and marginal likelihoods against textbook formulas and quadrature."""

import numpy as np
import pytest
from scipy import integrate, stats

from latently.distributions import (
    Bernoulli,
    Beta,
    Categorical,
    ColumnError,
    Dirichlet,
    Exponential,
    Gamma,
    Gaussian,
    Multinomial,
    NormalInverseWishart,
    Poisson,
    Sums,
)

COIN = np.array([1.0, 1, 0, 1, 1, 0, 1])
COUNTS = np.array([0.0, 3, 1, 2, 7])
TIMES = np.array([0.2, 1.5, 0.7])
NAN = np.nan


def integral(f, low, high):
    return integrate.quad(f, low, high, epsabs=0, epsrel=1e-10, limit=200)[0]


# maximum a posteriori, by the formulas of the books


def test_bernoulli_map():
    found = Bernoulli().fit(COIN, prior=Beta(3, 2))
    np.testing.assert_allclose(found.probabilities, (5 + 3 - 1) / (7 + 3 + 2 - 2))


def test_one_prior_serves_every_column():
    X = np.array([[1, 0], [1, NAN], [0, 0]])
    np.testing.assert_allclose(Bernoulli().fit(X, prior=Beta(2, 2)).probabilities, [3 / 5, 1 / 4])
    np.testing.assert_allclose(Poisson().fit(X, prior=Gamma(2, 1)).rate, [3 / 4, 1 / 3])


@pytest.mark.parametrize("m", [0.5, 3.0])
def test_the_m_estimate(m):
    codes, p = [0, 0, 1, 0], np.array([0.2, 0.3, 0.5])
    counts = np.array([3, 1, 0])
    found = Categorical(n_categories=3).fit(codes, prior=Dirichlet(1 + m * p))
    np.testing.assert_allclose(found.probabilities, (counts + m * p) / (4 + m))


def test_laplace_is_a_dirichlet_of_two():
    np.testing.assert_allclose(
        Categorical(n_categories=3).fit([0, 0, 1, 0], prior=Dirichlet(2.0)).probabilities,
        [4 / 7, 2 / 7, 1 / 7],
    )
    np.testing.assert_allclose(
        Multinomial().fit([[3, 1, 0]], prior=Dirichlet(2.0)).probabilities, [4 / 7, 2 / 7, 1 / 7]
    )


def test_rates_map():
    np.testing.assert_allclose(Poisson().fit(COUNTS, prior=Gamma(3, 2)).rate, (13 + 3 - 1) / (5 + 2))
    np.testing.assert_allclose(Exponential().fit(TIMES, prior=Gamma(3, 2)).rate, (3 + 3 - 1) / (2.4 + 2))


def test_gaussian_map_is_the_joint_mode():
    X = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, 6.0], [0.0, 1.0]])
    m, kappa, scatter, dof = np.array([0.5, 0.5]), 2.0, np.array([[1.0, 0.2], [0.2, 2.0]]), 5.0
    mean = X.mean(axis=0)
    S = (X - mean).T @ (X - mean)
    found = Gaussian().fit(X, prior=NormalInverseWishart(m, kappa, scatter, dof))
    np.testing.assert_allclose(found.mean, (2 * m + 4 * mean) / 6)
    expected = (scatter + S + 2 * 4 / 6 * np.outer(mean - m, mean - m)) / (5 + 4 + 2 + 2)
    np.testing.assert_allclose(found.covariance, expected)


def test_gaussian_map_of_the_other_kinds():
    X = np.array([[1.0, 2.0], [3.0, NAN], [2.0, 6.0], [0.0, 1.0]])
    n, mean = np.array([4, 3]), np.nanmean(X, axis=0)
    S = np.nansum((X - mean) ** 2, axis=0)
    gain = S + 2 * n / (2 + n) * (mean - 0.5) ** 2
    diag = Gaussian(kind="diag").fit(X, prior=NormalInverseWishart([0.5, 0.5], 2.0, [1.0, 2.0], 5.0, kind="diag"))
    np.testing.assert_allclose(diag.covariance, (np.array([1.0, 2.0]) + gain) / (5 + n + 3))
    np.testing.assert_allclose(diag.mean, (2 * 0.5 + n * mean) / (2 + n))
    spherical = Gaussian(kind="spherical").fit(
        X, prior=NormalInverseWishart([0.5, 0.5], 2.0, 1.0, 5.0, kind="spherical")
    )
    np.testing.assert_allclose(spherical.covariance, (1.0 + gain.sum()) / (5 + 7 + 2 + 2))


@pytest.mark.parametrize(
    ("family", "prior", "X"),
    [
        (Bernoulli(), Beta(2, 3), COIN),
        (Poisson(), Gamma(2, 3), COUNTS),
        (Exponential(), Gamma(2, 3), TIMES),
    ],
    ids=str,
)
def test_map_maximises_likelihood_times_prior(family, prior, X):
    found = family.fit(X, prior=prior).mean[0]

    def log_posterior(mean):
        theta = 1 / mean if isinstance(family, Exponential) else mean
        return type(family)(theta).log_prob(X).sum() + prior.log_prob([theta])[0]

    assert log_posterior(found) > max(log_posterior(found * 1.01), log_posterior(found * 0.99))


def test_flat_priors_give_maximum_likelihood():
    assert Bernoulli().fit(COIN, prior=Beta(1, 1)) == Bernoulli().fit(COIN)
    assert Categorical().fit(COIN, prior=Dirichlet(1.0)) == Categorical().fit(COIN)
    np.testing.assert_allclose(Poisson().fit(COUNTS, prior=Gamma(1, 1e-12)).rate, Poisson().fit(COUNTS).rate)


# where there is no mode


@pytest.mark.parametrize(
    ("family", "prior", "X"),
    [
        (Bernoulli(), Beta(0.5, 0.5), []),
        (Bernoulli(), Beta(1, 1), []),
        (Bernoulli(), Beta(0.5, 0.5), [1, 1]),
        (Categorical(n_categories=2), Dirichlet(0.5), [0, 0]),
        (Categorical(n_categories=2), Dirichlet(1.0), []),
        (Poisson(), Gamma(0.5, 1), [0, 0]),
        (Exponential(), Gamma(0.5, 1), []),
        (Exponential(), Gamma(1, 1), []),
    ],
    ids=str,
)
def test_no_mode_is_an_error(family, prior, X):
    with pytest.raises(ValueError, match="mode"):
        family.fit(X, prior=prior)


def test_the_column_without_a_mode_is_named():
    with pytest.raises(ColumnError, match=r"column 1 has no mode under Beta\(2.5, 0.5\)"):
        Bernoulli().fit([[1, 1], [0, 1]], prior=Beta(0.5, 0.5))


def test_zero_where_the_mode_is_on_the_boundary():
    assert Bernoulli().fit([0, 0], prior=Beta(1, 2)).probabilities[0] == 0
    assert Poisson().fit([0, 0], prior=Gamma(1, 2)).rate[0] == 0


# marginal likelihood


def test_beta_bernoulli_marginal():
    prior = Beta(2.5, 1.5)
    value = integral(lambda t: np.prod(stats.bernoulli(t).pmf(COIN)) * stats.beta(2.5, 1.5).pdf(t), 0, 1)
    assert prior.log_marginal(Bernoulli().statistics(COIN)) == pytest.approx(np.log(value), rel=1e-8)


@pytest.mark.parametrize(
    ("family", "X", "likelihood"),
    [
        (Poisson(), COUNTS, lambda t: np.prod(stats.poisson(t).pmf(COUNTS))),
        (Exponential(), TIMES, lambda t: np.prod(stats.expon(scale=1 / t).pdf(TIMES))),
    ],
    ids=["poisson", "exponential"],
)
def test_gamma_marginals(family, X, likelihood):
    value = integral(lambda t: likelihood(t) * stats.gamma(2.5, scale=1 / 1.5).pdf(t), 0, 60)
    assert Gamma(2.5, 1.5).log_marginal(family.statistics(X)) == pytest.approx(np.log(value), rel=1e-8)


def test_dirichlet_multinomial_marginal():
    X = np.array([[2, 1, 0], [1, 1, 4]])
    alpha = np.array([1.5, 0.7, 2.0])
    theirs = stats.dirichlet_multinomial(alpha, 3).logpmf(X[0]) + stats.dirichlet_multinomial(alpha + X[0], 6).logpmf(
        X[1]
    )
    assert Dirichlet(alpha).log_marginal(Multinomial().statistics(X)) == pytest.approx(theirs, rel=1e-10)
    codes = Categorical(n_categories=3).statistics([0, 2, 2])
    expected = np.log(1.5 / 4.2 * 2.0 / 5.2 * 3.0 / 6.2)
    assert Dirichlet(alpha).log_marginal(codes) == pytest.approx(expected)


def student_chain(X, m, kappa, scatter, dof):
    """Log marginal by predicting each row from those before it: multivariate t by t."""
    total, d = 0.0, len(m)
    for x in X:
        shape = scatter * (kappa + 1) / (kappa * (dof - d + 1))
        total += stats.multivariate_t(m, shape, df=dof - d + 1).logpdf(x)
        scatter = scatter + kappa / (kappa + 1) * np.outer(x - m, x - m)
        m, kappa, dof = m + (x - m) / (kappa + 1), kappa + 1, dof + 1
    return total


def test_gaussian_marginal_is_a_chain_of_student_predictions():
    X = np.random.default_rng(0).normal([1.0, 2.0], size=(6, 2))
    scatter = np.array([[1.0, 0.2], [0.2, 2.0]])
    prior = NormalInverseWishart([0.0, 1.0], 2.0, scatter, 4.5)
    expected = student_chain(X, np.array([0.0, 1.0]), 2.0, scatter, 4.5)
    assert prior.log_marginal(Gaussian().statistics(X)) == pytest.approx(expected, rel=1e-10)


def test_diag_marginal_is_one_per_column():
    X = np.array([[1.0, 2.0], [3.0, NAN], [2.0, 6.0], [0.0, 1.0]])
    prior = NormalInverseWishart([0.0, 1.0], [2.0, 1.0], [1.0, 3.0], [4.0, 2.0], kind="diag")
    expected = student_chain(X[:, :1], np.array([0.0]), 2.0, np.eye(1), 4.0)
    expected += student_chain(X[[0, 2, 3], 1:], np.array([1.0]), 1.0, 3 * np.eye(1), 2.0)
    assert prior.log_marginal(Gaussian(kind="diag").statistics(X)) == pytest.approx(expected, rel=1e-10)


def test_spherical_marginal_by_quadrature():
    X = np.array([[1.0, 2.0], [3.0, 0.5], [2.0, 6.0]])
    prior = NormalInverseWishart([0.0, 1.0], 2.0, 1.5, 4.0, kind="spherical")

    def given(v):  # the mean integrated out: rows of a column are jointly normal
        column = stats.multivariate_normal(np.zeros(3), v * (np.eye(3) + 1 / 2))
        return np.exp(column.logpdf(X[:, 0]) + column.logpdf(X[:, 1] - 1)) * stats.invgamma(2.0, scale=0.75).pdf(v)

    value = integral(given, 0.01, 20) + integral(given, 20, 2000)
    assert prior.log_marginal(Gaussian(kind="spherical").statistics(X)) == pytest.approx(np.log(value), rel=1e-6)


@pytest.mark.parametrize(
    ("prior", "family", "X"),
    [
        (Beta(2, 3), Bernoulli(), COIN),
        (Gamma(2, 3), Poisson(), COUNTS),
        (Dirichlet([1.0, 2.0]), Categorical(n_categories=2), COIN),
        (NormalInverseWishart([0.0], 1.0, [[1.0]], 3.0), Gaussian(), COUNTS),
        (NormalInverseWishart([0.0], 1.0, 1.0, 3.0, kind="spherical"), Gaussian(kind="spherical"), COUNTS),
    ],
    ids=str,
)
def test_updating_twice_equals_updating_once(prior, family, X):
    first, second = family.statistics(X[:2]), family.statistics(X[2:])
    twice, once = prior.posterior(first).posterior(second), prior.posterior(first + second)
    for name in prior.PARAMETERS:
        np.testing.assert_allclose(getattr(twice, name), getattr(once, name), rtol=1e-12)
    chain = prior.log_marginal(first) + prior.posterior(first).log_marginal(second)
    assert chain == pytest.approx(prior.log_marginal(first + second), rel=1e-10)


# bad input


@pytest.mark.parametrize(
    "make",
    [
        lambda: Beta(0, 1),
        lambda: Beta([1, 2], [1, 2, 3]),
        lambda: Gamma(1, -1),
        lambda: Dirichlet([1.0, 0.0]),
        lambda: Dirichlet([]),
        lambda: NormalInverseWishart([0, 0], 0.0, np.eye(2), 4.0),
        lambda: NormalInverseWishart([0, 0], 1.0, np.eye(2), 1.0),
        lambda: NormalInverseWishart([0, 0], 1.0, 1.0, 4.0),
        lambda: NormalInverseWishart([0, 0], 1.0, -np.eye(2), 4.0),
        lambda: NormalInverseWishart([0, 0], 1.0, np.eye(2), [4.0, 5.0]),
        lambda: NormalInverseWishart([0, 0], 1.0, [1.0, 1.0], 4.0, kind="other"),
    ],
)
def test_bad_parameters(make):
    with pytest.raises(ValueError, match=r"must|has variance|broadcast"):
        make()


def test_priors_of_the_wrong_width():
    with pytest.raises(ValueError, match="column"):
        Beta([1, 1, 1], [1, 1, 1]).posterior(Bernoulli().statistics([[1, 0]]))
    with pytest.raises(ValueError, match="categories"):
        Dirichlet([1, 1, 1]).posterior(Categorical(n_categories=2).statistics([0]))
    with pytest.raises(TypeError, match="Moments"):
        NormalInverseWishart([0.0], 1.0, [[1.0]], 3.0).posterior(Sums(np.ones(3)))


def test_moments_of_a_heavy_tailed_prior():
    prior = NormalInverseWishart([0.0], 1.0, [[1.0]], 1.5)
    for ask in ("mean", "variance"):
        with pytest.raises(ValueError, match="dof"):
            getattr(prior, ask)
    np.testing.assert_allclose(prior.mode, [0.0, 1 / 4.5])


def test_rows_of_a_prior_must_be_complete():
    with pytest.raises(ValueError, match="complete"):
        NormalInverseWishart([0.0], 1.0, [[1.0]], 3.0).log_prob([[NAN, 1.0]])
    with pytest.raises(ValueError, match="complete"):
        Dirichlet([1.0, 2.0]).log_prob([[0.5, NAN]])
    assert Dirichlet([1.0, 2.0]).log_prob([[NAN, NAN]])[0] == 0


def test_corners_of_the_simplex():
    corner = [[1.0, 0.0, 0.0]]
    assert Dirichlet([1.0, 2.0, 0.5]).log_prob(corner)[0] == -np.inf
    assert Dirichlet([1.0, 1.0, 0.5]).log_prob(corner)[0] == np.inf
    assert Dirichlet([1.0, 1.0, 1.0]).log_prob(corner)[0] == pytest.approx(np.log(2))


def test_drawn_parameters_make_gaussians():
    for prior in (
        NormalInverseWishart([0.0, 1.0], 1.0, np.eye(2), 4.0),
        NormalInverseWishart([0.0, 1.0], 1.0, [1.0, 2.0], 4.0, kind="diag"),
        NormalInverseWishart([0.0, 1.0], 1.0, 1.0, 4.0, kind="spherical"),
    ):
        means, covariances = prior.parameters_of(prior.sample(3, random_state=0))
        for mean, covariance in zip(means, covariances, strict=True):
            assert Gaussian(mean, covariance, kind=prior.kind).n_columns == 2
