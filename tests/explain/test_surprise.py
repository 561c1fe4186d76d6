"""Surprise: shares sum to -log p, equal the closed form where there is one, and point at what is odd."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal, norm

from latently.cluster import GaussianMixture, Mixture
from latently.explain import surprise_shares, surprises

COVARIANCE = np.array([[1.0, 0.9], [0.9, 1.0]])


@pytest.fixture(scope="module")
def pair():
    X = np.random.default_rng(0).multivariate_normal([0, 0], COVARIANCE, size=500)
    return GaussianMixture(1, reg_covar=0.0).fit(X), X


def test_two_columns_as_scipy_has_them(pair):
    model, X = pair
    m, C = model.means_[0], model.covariances_[0]
    whole = -multivariate_normal(m, C).logpdf(X)
    alone = -norm(m, np.sqrt(np.diag(C))).logpdf(X)
    # half the time a column is told first, half the time after the other
    expected = (alone + whole[:, None] - alone[:, ::-1]) / 2
    assert_allclose(surprise_shares(model, X), expected, rtol=1e-8, atol=1e-8)


def test_given_the_rest_as_the_conditional_normal_has_it(pair):
    model, _ = pair
    m, C = model.means_[0], model.covariances_[0]
    told = surprises(model, [[1.0, -2.0]])[0]
    entry = next(e for e in told["columns"] if e["column"] == "x1")
    slope = C[0, 1] / C[0, 0]
    centre, sd = m[1] + slope * (1.0 - m[0]), np.sqrt(C[1, 1] - slope * C[0, 1])
    assert_allclose(entry["given_rest"], -norm(centre, sd).logpdf(-2.0))
    assert_allclose(entry["expected"], centre)
    assert_allclose([entry["low"], entry["high"]], norm(centre, sd).ppf([0.05, 0.95]), rtol=1e-6)


@pytest.mark.parametrize("n_orders", [1, 3, 8])
def test_shares_sum_to_the_whole(n_orders):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 5)) @ rng.normal(size=(5, 5))
    X[rng.uniform(size=X.shape) < 0.2] = np.nan
    model = GaussianMixture(2, random_state=0).fit(X)
    shares = surprise_shares(model, X, n_orders=n_orders)
    assert_allclose(shares.sum(axis=1), -model.score_samples(X), rtol=1e-8, atol=1e-8)
    assert (shares[np.isnan(X)] == 0).all()


def test_the_odd_entry_is_found(pair):
    model, X = pair
    told = surprises(model, np.array([[2.0, -2.0], [0.0, 0.0]]), reference=X)
    assert told[0]["rank"] > 0.99 > told[1]["rank"]
    wide = np.column_stack([X, np.random.default_rng(3).normal(size=(500, 2))])
    odd = np.array([[0.1, 0.1, 9.0, 0.0]])
    first = surprises(GaussianMixture(1).fit(wide), odd, reference=wide)[0]["columns"][0]
    assert first["column"] == "x2"
    assert first["high"] < 9.0
    assert first["excess"] > 10


def test_mixed_tables_and_missing_entries():
    rng = np.random.default_rng(0)
    young = rng.uniform(size=300) < 0.5
    table = pd.DataFrame({"age": np.where(young, 20, 60) + rng.normal(size=300), "job": np.where(young, "s", "r")})
    model = Mixture(2, random_state=0).fit(table)
    rows = pd.DataFrame({"age": [20.0, 60.0, 20.0], "job": ["s", "s", None]})
    told = surprises(model, rows, reference=table)
    assert told[1]["surprise"] > told[0]["surprise"] + 2
    jobs = [next(e for e in row["columns"] if e["column"] == "job") for row in told]
    assert [entry["expected"] for entry in jobs] == ["s", "r", "s"]
    assert [entry["value"] for entry in jobs] == ["s", "s", None]
    assert jobs[2]["surprise"] == jobs[2]["excess"] == 0
    assert_allclose([sum(e["surprise"] for e in row["columns"]) for row in told], -model.score_samples(rows))
    json.dumps(told)


def test_wrong_orders_and_widths(pair):
    model, X = pair
    with pytest.raises(ValueError, match="n_orders"):
        surprise_shares(model, X, n_orders=0)
    with pytest.raises(ValueError, match="features"):
        surprise_shares(model, X[:, :1])


def test_rows_that_are_as_surprising_do_not_count_as_less(pair):
    model, X = pair
    order = np.argsort(-model.score_samples(X[:5]))
    told = surprises(model, X[:5][order], reference=np.repeat(X[:5], 3, axis=0))
    assert_allclose([row["rank"] for row in told], [0.0, 0.2, 0.4, 0.6, 0.8])


def test_each_order_comes_with_its_reverse():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 3)) @ rng.normal(size=(3, 3))
    model = GaussianMixture(1, reg_covar=0.0).fit(X)
    normal = multivariate_normal(model.means_[0], model.covariances_[0])
    # with one order asked for, a column is told given what comes before it, and given what comes after it
    one, *_ = np.random.RandomState(5).permutation(3)[None]
    expected = np.zeros_like(X)
    for order in (one, one[::-1]):
        for at, j in enumerate(order):
            after, before = sorted(order[: at + 1]), sorted(order[:at])
            expected[:, j] -= (part(normal, X, after) - part(normal, X, before)) / 2
    assert_allclose(surprise_shares(model, X, n_orders=1, random_state=5), expected, rtol=1e-7, atol=1e-7)


def part(normal, X, columns):
    """Log density of some columns."""
    if not columns:
        return np.zeros(len(X))
    return multivariate_normal(normal.mean[columns], normal.cov[np.ix_(columns, columns)]).logpdf(X[:, columns])


def test_excess_is_over_the_mean_of_what_is_there(pair):
    model, X = pair
    reference = X[:50].copy()
    reference[:30, 1] = np.nan
    shares = surprise_shares(model, reference)
    told = {e["column"]: e for e in surprises(model, X[:1], reference=reference)[0]["columns"]}
    assert_allclose(told["x1"]["surprise"] - told["x1"]["excess"], shares[30:, 1].mean())
