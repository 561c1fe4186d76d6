"""BernoulliMixture: hand computations, scikit-learn's digits, both ways to the optimum, bad input."""

import numpy as np
import pandas as pd
import pytest
from scipy import optimize
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from latently.cluster.bernoulli_mixture import BernoulliMixture
from latently.distributions import Beta, Dirichlet

TINY = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [np.nan, 1.0], [np.nan, np.nan]])
WEIGHTS = [0.25, 0.75]
CHANCES = [[0.9, 0.2], [0.4, 0.5]]


def as_given(**more):
    return BernoulliMixture(
        2, weights_init=WEIGHTS, probabilities_init=CHANCES, binarize=None, **{"max_iter": 0, "prior": "ml"} | more
    )


def two_groups(n=600, d=12, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    chances = np.where(np.arange(d) < d // 2, 0.9, 0.2)
    group = (np.arange(n) % 3 == 0).astype(int)
    X = (rng.random((n, d)) < np.array([chances, 1 - chances])[group]).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    return X, group


def test_densities_and_responsibilities_are_those_computed_by_hand():
    mixture = as_given().fit(TINY)
    # rows: (1, 0), (1, 1), (0, 1), (?, 1), (?, ?)
    joint = np.array(
        [
            [0.25 * 0.9 * 0.8, 0.75 * 0.4 * 0.5],
            [0.25 * 0.9 * 0.2, 0.75 * 0.4 * 0.5],
            [0.25 * 0.1 * 0.2, 0.75 * 0.6 * 0.5],
            [0.25 * 0.2, 0.75 * 0.5],
            [0.25, 0.75],
        ]
    )
    assert np.allclose(mixture.score_samples(TINY), np.log(joint.sum(axis=1)), atol=1e-14)
    assert np.allclose(mixture.predict_proba(TINY), joint / joint.sum(axis=1, keepdims=True), atol=1e-14)


def test_one_step_of_em_is_the_one_done_by_hand():
    rows = TINY[:4]
    before = as_given().fit(rows)
    r = before.predict_proba(rows)
    with pytest.warns(ConvergenceWarning):
        after = as_given(max_iter=1).fit(rows)
    assert np.allclose(after.weights_, r.mean(axis=0), atol=1e-14)
    first = r[:3].T @ [1, 1, 0] / r[:3].sum(axis=0)  # the fourth row says nothing about the first column
    second = r.T @ [0, 1, 1, 1] / r.sum(axis=0)
    assert np.allclose(after.probabilities_, np.column_stack([first, second]), atol=1e-14)


def test_the_map_step_adds_the_counts_of_the_priors():
    rows = TINY[:3]
    r = as_given().fit(rows).predict_proba(rows)
    with pytest.warns(ConvergenceWarning):
        found = as_given(max_iter=1, prior=Beta(3.0, 2.0), weight_prior=Dirichlet([2.0, 4.0])).fit(rows)
    ones, whole = r.T @ rows, r.sum(axis=0)[:, None]
    assert np.allclose(found.probabilities_, (ones + 2) / (whole + 3), atol=1e-14)
    assert np.allclose(found.weights_, (r.sum(axis=0) + np.array([1, 3])) / (3 + 4), atol=1e-14)


@pytest.fixture(scope="module")
def digits():
    return (load_digits().data > 8).astype(float)


def test_gradient_and_em_reach_the_same_likelihood_on_binarised_digits(digits):
    settings = {"random_state": 1, "tol": 1e-12, "max_iter": 5000}
    by_em = BernoulliMixture(4, **settings).fit(digits)
    by_slope = BernoulliMixture(4, method="gradient", **settings).fit(digits)
    assert by_em.converged_
    assert by_slope.converged_
    assert abs(by_em.lower_bound_ - by_slope.lower_bound_) * len(digits) < 1e-6
    assert abs(by_em.score_samples(digits).sum() - by_slope.score_samples(digits).sum()) < 1e-4
    assert by_slope.n_iter_ < 4 * by_em.n_iter_
    assert (np.diff(by_slope.lower_bounds_) >= -1e-12).all()


def test_the_gradient_is_that_of_finite_differences():
    from functools import partial

    from latently.cluster.mixture.gradient import UnconstrainedMixture
    from latently.data.sources.chunks import Chunk

    X, _ = two_groups(60, 5, missing=0.2)
    found, params = BernoulliMixture(3, random_state=0, max_iter=3, tol=10.0).fit(X)._engine()
    model = UnconstrainedMixture(found, params, found.expect(params, Chunk(X)))

    def objective(free):
        at = model.unpack(params, free)
        return partial(model.expect, at)(Chunk(X)).bound + model.log_prior(at)

    free = model.pack(params) + np.random.default_rng(0).normal(size=18) * 0.3
    at = model.unpack(params, free)
    gradient = model.gradient(at, model.expect(at, Chunk(X)))
    assert np.allclose(gradient, optimize.approx_fprime(free, objective, 1e-6), atol=2e-4)


def test_groups_are_found_with_a_third_of_the_table_missing():
    X, group = two_groups(missing=0.33)
    mixture = BernoulliMixture(2, random_state=0).fit(X)
    assert (mixture.predict(X) == group).mean() > 0.93  # the larger group comes first
    assert mixture.weights_[0] > mixture.weights_[1]
    assert np.abs(mixture.probabilities_[0, 0] - 0.9) < 0.05


@pytest.mark.parametrize("prior", [None, "ml", 3.0, Beta(2.0, 2.0)])
@pytest.mark.parametrize("method", ["em", "gradient"])
def test_the_objective_never_falls(prior, method):
    X, _ = two_groups(200, 8, seed=3, missing=0.2)
    mixture = BernoulliMixture(4, prior=prior, method=method, random_state=0, tol=1e-7, max_iter=1000).fit(X)
    trace = np.array(mixture.lower_bounds_)
    assert (np.diff(trace) >= -1e-9 * np.abs(trace[1:])).all()
    assert np.isfinite(mixture.probabilities_).all()


def test_parameters_are_counted():
    X, _ = two_groups(100, 7)
    mixture = BernoulliMixture(3, random_state=0).fit(X)
    likelihood = mixture.score_samples(X).sum()
    assert mixture.bic(X) == pytest.approx(-2 * likelihood + (2 + 21) * np.log(100))
    assert mixture.aic(X) == pytest.approx(-2 * likelihood + 2 * 23)


def test_a_dead_component_is_put_where_the_data_are_worst_explained():
    X, group = two_groups(300, 12)
    # the second component starts at a pattern that no row comes near
    chances = np.array([np.where(np.arange(12) < 6, 0.9, 0.2), np.where(np.arange(12) % 2, 1e-12, 1 - 1e-12)])
    mixture = BernoulliMixture(
        2, weights_init=[1 - 1e-6, 1e-6], probabilities_init=chances, prior="ml", tol=1e-8, max_iter=1000
    ).fit(X)
    assert mixture.n_reseeds_ == 1
    assert (mixture.predict(X) == group).mean() > 0.97
    assert (np.diff(mixture.lower_bounds_) >= -1e-9).all()


def test_numbers_are_cut_at_the_threshold_and_nan_stays_missing():
    X, _ = two_groups(80, 6, missing=0.1)
    scaled = X * 9 - 4
    plain = BernoulliMixture(2, random_state=0).fit(X)
    cut = BernoulliMixture(2, binarize=0.5, random_state=0).fit(scaled)
    assert np.allclose(plain.probabilities_, cut.probabilities_)


def test_drawn_rows_have_the_probabilities_of_the_model():
    X, _ = two_groups()
    mixture = BernoulliMixture(2, random_state=0).fit(X)
    rows, labels = mixture.sample(40_000, random_state=1)
    for k in (0, 1):
        assert np.abs(rows[labels == k].mean(axis=0) - mixture.probabilities_[k]).max() < 0.02


def test_labelled_rows_stay_where_they_are_put():
    X, group = two_groups(200, 4, seed=5)
    labels = np.where(np.arange(200) < 40, 1 - group, -1)
    mixture = BernoulliMixture(2, random_state=0).fit(X, labels=labels)
    # the labels say which component is which, against the order of weights
    assert mixture.weights_[0] < mixture.weights_[1]
    full = BernoulliMixture(2, prior="ml").fit(X, labels=group)
    assert np.allclose(full.weights_, np.bincount(group) / 200)
    assert np.allclose(full.probabilities_[1], X[group == 1].mean(axis=0))


def test_forget_is_exact_where_labels_say_where_rows_belong():
    X, group = two_groups(200, 6, missing=0.1)
    both = BernoulliMixture(2).fit(X[:120], labels=group[:120]).partial_fit(X[120:], labels=group[120:])
    left = both.forget(X[120:], labels=group[120:])
    alone = BernoulliMixture(2).fit(X[:120], labels=group[:120])
    assert np.allclose(left.probabilities_, alone.probabilities_, atol=1e-12)
    assert np.allclose(left.weights_, alone.weights_, atol=1e-12)


def test_merge_matches_components_and_adds_what_was_seen():
    X, group = two_groups(400, 10)
    light = X[:200], X[200:][np.concatenate([np.flatnonzero(group[200:] == 1), np.flatnonzero(group[200:] == 0)[:30]])]
    one, other = (BernoulliMixture(2, random_state=0, tol=1e-8).fit(part) for part in light)
    assert one.predict(X)[0] != other.predict(X)[0]  # by weight, the two name the groups the other way round
    merged = one.merge(other)
    assert merged.statistics_.rows == sum(len(part) for part in light)
    assert (merged.predict(X) == np.where(merged.predict(X)[:1] == group[:1], group, 1 - group)).mean() > 0.98


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prior": Beta([2.0, 2.0, 2.0], 2.0)}, "prior has 3 columns, but the table has 2"),
        ({"prior": Beta(0.5, 2.0)}, "'x0' needs a Beta prior"),
        ({"prior": -1.0}, "prior must be"),
        ({"weight_prior": [2.0, 2.0, 2.0]}, "weight_prior must be"),
        ({"weights_init": [0.5, 0.6]}, "weights_init must sum to 1"),
        ({"probabilities_init": [[0.5]]}, r"probabilities_init must be probabilities of shape \(2, 2\)"),
        ({"n_components": 9}, "n_components = 9, but X has only n_samples = 5 rows"),
    ],
)
def test_settings_that_do_not_fit_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        BernoulliMixture(**{"n_components": 2, **settings}).fit(TINY)


def test_tables_that_do_not_fit_are_named():
    with pytest.raises(ValueError, match="column 'b' has no observed values"):
        BernoulliMixture(1).fit(pd.DataFrame({"a": [1.0, 0.0], "b": [np.nan, np.nan]}))
    with pytest.raises(ValueError, match="column 'b' has 2 in row 1"):
        BernoulliMixture(1, binarize=None).fit(pd.DataFrame({"a": [1, 0], "b": [0, 2]}))
    with pytest.raises(ValueError, match="column 'a' of X holds strings"):
        BernoulliMixture(1).fit(pd.DataFrame({"a": ["x", "y"]}))
    with pytest.raises(ValueError, match=r"labels must be whole numbers from 0 to 1"):
        BernoulliMixture(2).fit(TINY, labels=[0, 1, 2, -1, -1])


def test_clone_keeps_the_prior_and_the_start():
    mixture = as_given(prior=Beta(2.0, 3.0))
    twin = clone(mixture)
    assert twin.prior == mixture.prior
    assert twin.probabilities_init == CHANCES
