"""Divergence and entropy: laws, quadrature, sums, sampling."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

from latently.distributions import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Exponential,
    Gamma,
    Gaussian,
    Multinomial,
    NormalInverseWishart,
    Poisson,
    Product,
    entropy,
    kl_divergence,
)
from latently.distributions.divergence import _divergence

positive = st.floats(0.5, 20)
unit = st.floats(0.01, 0.99)
real = st.floats(-5, 5)


def pair(strategy):
    return st.tuples(strategy, strategy)


def simplex(C):
    return st.lists(st.floats(0.01, 1), min_size=C, max_size=C).map(lambda v: np.array(v) / sum(v))


def gaussian(kind):
    def build(values):
        mean, (a, b, c) = values[:2], values[2:]
        L = np.array([[a, 0.0], [c, b]])
        return Gaussian(mean, {"full": L @ L.T, "diag": [a, b], "spherical": a}[kind], kind=kind)

    return st.tuples(real, real, positive, positive, st.floats(-2, 2)).map(build)


def wishart(values):
    m, kappa, a, b, dof = values
    return NormalInverseWishart([m, 1.0], kappa, np.array([[a, 0.01], [0.01, b]]), 1.5 + dof)


any_gaussian = st.one_of(gaussian("full"), gaussian("diag"), gaussian("spherical"))
FAMILIES = {
    "bernoulli": st.lists(unit, min_size=2, max_size=2).map(Bernoulli),
    "categorical": simplex(3).map(Categorical),
    "multinomial": simplex(3).map(lambda p: Multinomial(p, n_trials=4)),
    "poisson": pair(positive).map(lambda r: Poisson(list(r))),
    "exponential": positive.map(Exponential),
    "gamma": pair(positive).map(lambda v: Gamma(*v)),
    "gaussian": any_gaussian,
    "beta": pair(positive).map(lambda v: Beta(*v)),
    "dirichlet": st.lists(positive, min_size=3, max_size=3).map(Dirichlet),
    "wishart": st.tuples(real, positive, positive, positive, positive).map(wishart),
    "product": st.tuples(any_gaussian, positive, simplex(2)).map(
        lambda v: Product([(v[0], [0, 2]), (Poisson(v[1]), 1), (Categorical(v[2]), 3)])
    ),
}


def far_apart(p, q):
    """Whether parameters differ by more than rounding can hide in a squared difference."""
    if type(p) is Product:
        return any(far_apart(a, b) for (a, _), (b, _) in zip(p.parts, q.parts, strict=True))
    values = [[np.ravel(getattr(d, name)) for name in d.PARAMETERS] for d in (p, q)]
    if type(p) is Gaussian:
        values = [[np.ravel(d.mean), np.ravel(d.covariance_matrix)] for d in (p, q)]
    return any(not np.allclose(a, b, rtol=1e-3, atol=1e-3) for a, b in zip(*values, strict=True))


@pytest.mark.parametrize("family", FAMILIES)
def test_never_negative_and_zero_only_for_equals(family):
    @settings(max_examples=40, deadline=None, derandomize=True)
    @given(pair(FAMILIES[family]))
    def law(both):
        p, q = both
        assert kl_divergence(p, p) == pytest.approx(0, abs=1e-9)
        raw = _divergence(p, q, np.random.default_rng(0)).value  # before it is cut off at zero
        assert np.isfinite(raw)
        assert raw > -1e-9
        assert kl_divergence(p, q) >= 0
        if far_apart(p, q):
            assert kl_divergence(p, q) > 0

    law()


@pytest.mark.parametrize("family", FAMILIES)
def test_agrees_with_the_mean_over_draws(family):
    @settings(max_examples=5, deadline=None, derandomize=True)
    @given(pair(FAMILIES[family]))
    def law(both):
        p, q = both
        X = p.sample(20_000, random_state=0)
        gaps = p.log_prob(X) - q.log_prob(X)
        allowed = 6 * gaps.std() / np.sqrt(len(gaps)) + 1e-9
        assert abs(kl_divergence(p, q) - gaps.mean()) < allowed

    law()


def test_not_symmetric():
    p, q = Bernoulli(0.5), Bernoulli(0.1)
    assert kl_divergence(p, q) == pytest.approx(0.5 * np.log(0.5 / 0.1) + 0.5 * np.log(0.5 / 0.9))
    assert kl_divergence(q, p) == pytest.approx(0.1 * np.log(0.1 / 0.5) + 0.9 * np.log(0.9 / 0.5))
    assert kl_divergence(p, q) != pytest.approx(kl_divergence(q, p), rel=0.01)


def test_close_neighbours_keep_their_distance():
    assert kl_divergence(Gaussian(0.0, 1.0), Gaussian(1e-6, 1.0)) == pytest.approx(5e-13, rel=1e-6)
    assert kl_divergence(Poisson(1.0), Poisson(1.0 + 1e-6)) == pytest.approx(5e-13, rel=1e-3)
    assert kl_divergence(Gaussian(1e8, 1.0), Gaussian(1e8 + 1, 1.0)) == pytest.approx(0.5)


CONTINUOUS = [
    (Gaussian(0.5, 2.0), Gaussian(-1.0, 1.0)),
    (Exponential(2.0), Exponential(0.5)),
    (Gamma(2.0, 3.0), Gamma(1.5, 0.5)),
    (Beta(2.0, 3.0), Beta(4.0, 1.5)),
    (Exponential(2.0), Gaussian(1.0, 4.0)),
    (Gamma(2.5, 3.0), Gaussian(1.0, 4.0)),
    (Gamma(2.5, 3.0), Exponential(1.0)),
    (Exponential(1.0), Gamma(2.5, 3.0)),
    (Beta(2.0, 3.0), Gaussian(0.3, 0.2)),
    (Beta(2.0, 3.0), Exponential(1.0)),
    (Beta(2.0, 3.0), Gamma(2.0, 5.0)),
]


@pytest.mark.parametrize(("p", "q"), CONTINUOUS, ids=str)
def test_one_column_by_quadrature(p, q):
    def integrand(x):
        density = p.prob([x])[0]
        return density * (p.log_prob([x])[0] - q.log_prob([x])[0]) if density > 0 else 0.0

    low, mid, high = p.quantile([1e-14, 0.5, 1 - 1e-14])[:, 0]
    expected = sum(integrate.quad(integrand, a, b, epsabs=1e-12)[0] for a, b in [(low, mid), (mid, high)])
    value, error = kl_divergence(p, q, return_error=True)
    assert value == pytest.approx(expected, rel=1e-6)
    assert error < 1e-6


DISCRETE = [
    (Bernoulli(0.3), Categorical([0.4, 0.6])),
    (Categorical([0.7, 0.3]), Bernoulli(0.6)),
    (Categorical([0.2, 0.5, 0.3]), Poisson(1.0)),
    (Bernoulli(0.3), Poisson(0.5)),
]


@pytest.mark.parametrize(("p", "q"), DISCRETE, ids=str)
def test_discrete_by_sums(p, q):
    x = np.arange(4.0)
    mass = p.prob(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.nansum(mass * np.log(mass / q.prob(x)))
    value, error = kl_divergence(p, q, return_error=True)
    assert value == pytest.approx(expected, rel=1e-12)
    assert error < 1e-12


def test_multinomial_against_counts():
    p = Multinomial([0.2, 0.5, 0.3], n_trials=3)
    X = np.array([[i, j, 3 - i - j] for i in range(4) for j in range(4 - i)], dtype=float)
    q = Poisson([0.6, 1.5, 0.9])
    expected = (p.prob(X) * (p.log_prob(X) - q.log_prob(X))).sum()
    assert kl_divergence(p, q) == pytest.approx(expected, rel=1e-12)


INFINITE = [
    (Bernoulli(0.5), Bernoulli(0.0)),
    (Bernoulli(0.5), Bernoulli(1.0)),
    (Categorical([0.5, 0.5]), Categorical([1.0])),
    (Categorical([0.5, 0.3, 0.2]), Bernoulli(0.5)),
    (Poisson(1.0), Poisson(0.0)),
    (Poisson(1e-30), Bernoulli(0.5)),
    (Poisson(1.0), Categorical([0.5, 0.5])),
    (Gaussian(0.0, 1.0), Exponential(1.0)),
    (Gaussian(100.0, 1.0), Gamma(1.0, 1.0)),
    (Exponential(1.0), Beta(1.0, 1.0)),
    (Exponential(1e9), Beta(1.0, 1.0)),
    (Gaussian(0.0, 1.0), Poisson(1.0)),
    (Poisson(1.0), Gaussian(0.0, 1.0)),
    (Multinomial([0.5, 0.5], n_trials=2), Multinomial([0.5, 0.5], n_trials=3)),
    (Gaussian([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]]), Exponential([1.0, 1.0])),
]


@pytest.mark.parametrize(("p", "q"), INFINITE, ids=str)
def test_infinite_where_support_is_not_covered(p, q):
    assert kl_divergence(p, q) == np.inf


def test_zero_probabilities_that_both_share():
    assert kl_divergence(Categorical([0.5, 0.5, 0.0]), Categorical([0.25, 0.75, 0.0])) == pytest.approx(
        0.5 * np.log(4 / 3)
    )
    assert kl_divergence(Bernoulli(0.0), Bernoulli(0.5)) == pytest.approx(np.log(2))


def test_gaussians_of_different_kinds():
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    full, diag, spherical = (
        Gaussian([0, 1], covariance),
        Gaussian([1, 1], [2, 1], "diag"),
        Gaussian([1, 0], 1.5, "spherical"),
    )
    for p in (full, diag, spherical):
        for q in (full, diag, spherical):
            P, Q, step = p.covariance_matrix, q.covariance_matrix, p.mean - q.mean
            expected = np.trace(np.linalg.solve(Q, P)) + step @ np.linalg.solve(Q, step) - 2
            expected += np.log(np.linalg.det(Q) / np.linalg.det(P))
            assert kl_divergence(p, q) == pytest.approx(expected / 2, abs=1e-12)


def test_products_are_split_into_what_is_independent():
    left = Product([(Gaussian([0.0, 1.0], [1.0, 2.0], "diag"), [0, 1]), (Bernoulli(0.3), 2)])
    right = Product([(Exponential(1.0), 0), (Categorical([0.5, 0.5]), 2), (Gaussian(0.0, 1.0), 1)])
    swapped = Product([(Gaussian(0.5, 1.5), 0), (Categorical([0.5, 0.5]), 2), (Gaussian(0.0, 1.0), 1)])
    assert kl_divergence(left, right) == np.inf
    expected = kl_divergence(Gaussian(0.0, 1.0), Gaussian(0.5, 1.5)) + kl_divergence(
        Gaussian(1.0, 2.0), Gaussian(0.0, 1.0)
    )
    expected += kl_divergence(Bernoulli(0.3), Bernoulli(0.5))
    value, error = kl_divergence(left, swapped, return_error=True)
    assert value == pytest.approx(expected)
    assert error < 1e-12


def test_sampling_states_its_error():
    p = Product([(Exponential(1.0), 0), (Gamma(2.0, 1.0), 1)])
    q = Gaussian([1.0, 2.0], [[2.0, 0.5], [0.5, 3.0]])
    cross = 0.5 * (
        np.log(np.linalg.det(2 * np.pi * q.covariance)) + np.trace(np.linalg.solve(q.covariance, np.diag([1.0, 2.0])))
    )
    expected = cross - p.entropy()  # the means agree, and -log q is quadratic
    value, error = kl_divergence(p, q, return_error=True, random_state=0)
    assert 0 < error < 0.05
    assert abs(value - expected) < 5 * error
    assert kl_divergence(p, q, random_state=0) == value


def test_counts_too_many_to_list_are_sampled():
    p, q = Poisson(1e12), Product([(Poisson(1e12 + 1e6), 0)])
    value, error = kl_divergence(p, q, return_error=True, random_state=0)
    assert abs(value - kl_divergence(p, Poisson(1e12 + 1e6))) < 5 * error + 1e-3
    assert kl_divergence(Poisson(1e12), Categorical([0.5, 0.5])) == np.inf


def test_bad_input():
    with pytest.raises(ValueError, match="columns"):
        kl_divergence(Gaussian(0.0, 1.0), Gaussian([0, 0], np.eye(2)))
    with pytest.raises(ValueError, match="template"):
        kl_divergence(Gaussian(0.0, 1.0), Gaussian())
    with pytest.raises(ValueError, match="n_trials"):
        kl_divergence(Multinomial([0.5, 0.5]), Multinomial([0.4, 0.6]))


def test_entropy_of_a_product_is_the_sum():
    p = Product([(Poisson(2.0), 1), (Gaussian(0.0, 1.0), 0)])
    assert entropy(p) == pytest.approx(entropy(Poisson(2.0)) + entropy(Gaussian(0.0, 1.0)))
