"""Product: columns of different families side by side."""

import numpy as np
import pytest
from scipy import stats

from latently.distributions import (
    Bernoulli,
    Beta,
    Categorical,
    ColumnError,
    Dirichlet,
    Gaussian,
    Moments,
    Poisson,
    Product,
    Sums,
)

NAN = np.nan
TABLE = np.array([[31.0, 2, 0, 1.5], [45.0, 0, 1, 2.5], [28.0, 5, NAN, 3.0], [NAN, 1, 2, 0.5], [39.0, NAN, 0, 1.0]])
TEMPLATE = Product([(Gaussian(kind="diag"), [0, 3]), (Poisson(), 1), (Categorical(n_categories=3), 2)])


def test_log_prob_is_the_sum_over_parts():
    p = Product([(Categorical([0.4, 0.6]), 1), (Gaussian([0.0, 1.0], [[1.0, 0.5], [0.5, 2.0]]), [2, 0])])
    X = np.array([[1.0, 0, 0.5], [2.0, 1, -1.0]])
    normal = stats.multivariate_normal([0.0, 1.0], [[1.0, 0.5], [0.5, 2.0]]).logpdf(X[:, [2, 0]])
    np.testing.assert_allclose(p.log_prob(X), normal + np.log([0.4, 0.6]))


def test_moments_stand_in_the_order_of_the_columns():
    p = Product([(Categorical([0.4, 0.6]), 1), (Gaussian([0.0, 10.0], [1.0, 4.0], "diag"), [2, 0])])
    np.testing.assert_allclose(p.mean, [10.0, 0.6, 0.0])
    np.testing.assert_allclose(p.variance, [4.0, 0.24, 1.0])
    np.testing.assert_allclose(p.mode, [10.0, 1.0, 0.0])
    np.testing.assert_allclose(p.quantile(0.5), [10.0, 1.0, 0.0])
    np.testing.assert_allclose(p.cdf([[10.0, 0.0, 0.0]]), [[0.5, 0.4, 0.5]])
    assert p.discrete == (False, True, False)
    assert p.blocks == ((1,), (2,), (0,))
    np.testing.assert_allclose(p.sample(2000, random_state=0).mean(axis=0), p.mean, atol=0.2)


def test_each_column_is_fitted_on_what_is_observed():
    found = TEMPLATE.fit(TABLE)
    np.testing.assert_allclose(found.mean, [np.nanmean(TABLE[:, 0]), 2.0, 0.75, 1.7])
    np.testing.assert_allclose(found.marginal(2).probabilities, [0.5, 0.25, 0.25])
    assert found.n_parameters == 4 + 1 + 2


def test_priors_go_part_by_part():
    prior = [None, None, Dirichlet(2.0)]
    found = TEMPLATE.fit(TABLE, prior=prior)
    np.testing.assert_allclose(found.marginal(2).probabilities, [3 / 7, 2 / 7, 2 / 7])
    assert found.marginal([0, 1, 3]) == TEMPLATE.fit(TABLE).marginal([0, 1, 3])
    for wrong in (Dirichlet(2.0), [None], [Beta(1, 1), None, None]):
        with pytest.raises(TypeError, match="prior"):
            TEMPLATE.fit(TABLE, prior=wrong)


def test_statistics_come_side_by_side():
    parts = TEMPLATE.statistics(TABLE).parts
    assert [type(s) for s in parts] == [Moments, Sums, Sums]
    again = TEMPLATE.from_statistics(TEMPLATE.statistics(TABLE[:2]) + TEMPLATE.statistics(TABLE[2:]))
    np.testing.assert_allclose(again.variance, TEMPLATE.fit(TABLE).variance)


def test_full_parts_with_holes_are_fitted_by_em():
    X = np.column_stack([np.random.default_rng(0).normal(size=(60, 2)) @ [[1, 0.8], [0, 1]], np.arange(60) % 3])
    X[::4, 1] = NAN
    found = Product([(Gaussian(), [0, 1]), (Categorical(), 2)]).fit(X)
    np.testing.assert_allclose(found.marginal([0, 1]).covariance, Gaussian().fit(X[:, :2]).covariance)
    step = found.from_statistics(found.expected_statistics(X))
    np.testing.assert_allclose(step.mean, found.mean, atol=1e-9)


def test_marginal_and_conditional():
    joint = Gaussian([0.0, 1.0], [[1.0, 0.5], [0.5, 2.0]])
    p = Product([(Categorical([0.4, 0.6]), 1), (joint, [2, 0])])
    assert p.marginal([2, 0]) == joint
    assert p.marginal([0, 1]) == Product([(Categorical([0.4, 0.6]), 1), (joint.marginal(1), 0)])
    assert p.conditional([0, 1], [3.0, 1.0]) == joint.conditional(1, 3.0)
    assert p.conditional(2, 0.7) == Product([(Categorical([0.4, 0.6]), 1), (joint.conditional(0, 0.7), 0)])


def test_errors_name_the_column_of_the_table():
    for column, value in [(1, -2.0), (2, 7.0), (3, np.inf)]:
        X = TABLE.copy()
        X[1, column] = value
        with pytest.raises(ColumnError, match=f"column {column} ") as caught:
            TEMPLATE.fit(X)
        assert str(caught.value.named("wages")).startswith("column 'wages' ")
    X = TABLE.copy()
    X[:, 3] = 5.0
    with pytest.raises(ColumnError, match="column 3 is constant"):
        TEMPLATE.fit(X)


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [(Poisson(), 0), (Poisson(), 0)],
        [(Poisson(), 0), (Poisson(), 2)],
        [(Poisson([1.0, 2.0]), 0)],
        [(Categorical(), [0, 1])],
    ],
)
def test_parts_must_cover_the_table(parts):
    with pytest.raises(ValueError, match=r"cover|columns"):
        Product(parts)


def test_parts_that_cannot_learn_or_have_no_features():
    fixed = Product([(Beta(1, 2), 0), (Bernoulli(), 1)])
    assert not fixed.has_features
    assert TEMPLATE.has_features
    with pytest.raises(TypeError, match="Beta"):
        fixed.fit([[0.5, 1.0]])
    with pytest.raises(TypeError, match="features"):
        fixed.features([[0.5, 1.0]])
    assert np.isfinite(Product([(Beta(1, 2), 0), (Bernoulli(0.5), 1)]).log_prob([[0.5, 1.0]])).all()


def test_products_nest():
    inner = Product([(Poisson(1.0), 0), (Bernoulli(0.3), 1)])
    nested = Product([(inner, [2, 0]), (Gaussian(0.0, 1.0), 1)])
    flat = Product([(Poisson(1.0), 2), (Bernoulli(0.3), 0), (Gaussian(0.0, 1.0), 1)])
    X = flat.sample(20, random_state=0)
    np.testing.assert_allclose(nested.log_prob(X), flat.log_prob(X))
    np.testing.assert_allclose(nested.fit(X).mean, flat.fit(X).mean)
    np.testing.assert_allclose(nested.features(X) @ nested.natural() + nested.log_base(X), flat.log_prob(X))
