"""Mixture: equal to scipy, scikit-learn and StepMix where they know the model; missing values; counts of parameters."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.mixture import GaussianMixture as Peer

from latently.cluster.mixture.mixture import Mixture
from latently.distributions import Bernoulli, Categorical, Exponential, Gamma, Gaussian, Poisson, Product

FAMILIES = {2: Categorical(), 3: Poisson()}
# means, variances, shares and rate of two components
TWO = [((0.0, 1.0), (1.0, 4.0), (0.2, 0.3, 0.5), 2.0), ((3.0, 2.0), (0.5, 9.0), (0.6, 0.3, 0.1), 7.0)]


def people(n=1500, missing=0.0, seed=0):
    """Three groups: two numeric columns, one of three categories, one of counts."""
    rng = np.random.default_rng(seed)
    group = rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
    means = np.array([[0.0, 0.0], [4.0, 1.0], [0.0, 6.0]])[group]
    shares = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])[group]
    job = (rng.random(n)[:, None] > np.cumsum(shares, axis=1)).sum(axis=1).clip(max=2)
    X = np.column_stack([rng.normal(means, [1.0, 0.7]), job, rng.poisson(np.array([1.0, 4.0, 9.0])[group])])
    X[rng.random(X.shape) < missing] = np.nan
    return X, group


def same_groups(found, group):
    table = pd.crosstab(found, group).to_numpy()
    return table.max(axis=0).sum() / len(group)


def test_densities_are_those_of_scipy():
    X, _ = people(50)
    parts = [
        Product([(Gaussian(m, v, "diag"), [0, 1]), (Categorical(p), 2), (Poisson(rate), 3)]) for m, v, p, rate in TWO
    ]
    mixture = Mixture(2, families=FAMILIES, components_init=parts, weights_init=[0.3, 0.7], max_iter=0).fit(X)
    one, other = _by_scipy(X)
    expected = np.logaddexp(np.log(0.3) + one, np.log(0.7) + other)
    assert np.allclose(mixture.score_samples(X), expected, atol=1e-11)
    assert np.allclose(mixture.distribution_.log_prob(X), expected, atol=1e-11)


def _by_scipy(X):
    found = []
    for m, v, p, rate in TWO:
        numeric = stats.norm(m, np.sqrt(v)).logpdf(X[:, :2]).sum(axis=1)
        found.append(numeric + np.log(p)[X[:, 2].astype(int)] + stats.poisson(rate).logpmf(X[:, 3]))
    return found


def test_missing_entries_of_a_full_group_are_integrated_out():
    cov = np.array([[2.0, 0.8, 0.1], [0.8, 1.0, -0.3], [0.1, -0.3, 0.5]])
    part = Gaussian([1.0, 2.0, 3.0], cov)
    rows = np.array([[0.0, 1.0, 2.0], [np.nan, 1.0, 2.0], [0.5, np.nan, np.nan], [np.nan] * 3])
    mixture = Mixture(1, families={(0, 1, 2): Gaussian()}, components_init=[part], max_iter=0).fit(rows)
    expected = [
        stats.multivariate_normal([1, 2, 3], cov).logpdf(rows[0]),
        stats.multivariate_normal([2, 3], cov[1:, 1:]).logpdf(rows[1, 1:]),
        stats.norm(1, np.sqrt(2)).logpdf(0.5),
        0.0,
    ]
    assert np.allclose(mixture.score_samples(rows), expected, atol=1e-12)


def test_stepmix_gives_the_same_likelihood_for_the_same_parameters():
    stepmix = pytest.importorskip("stepmix.stepmix")
    X, _ = people(400)
    columns = {"num": {"model": "gaussian_diag", "n_columns": 2}, "cat": {"model": "categorical", "n_columns": 1}}
    peer = stepmix.StepMix(n_components=3, measurement=columns, random_state=1, max_iter=30, progress_bar=0)
    with np.errstate(all="ignore"):
        peer.fit(pd.DataFrame(X[:, :3], columns=["a", "b", "c"]))
    found = peer.get_parameters()["measurement"]
    parts = [
        Product([(Gaussian(m, v, "diag"), [0, 1]), (Categorical(p / p.sum()), 2)])
        for m, v, p in zip(found["num"]["means"], found["num"]["covariances"], found["cat"]["pis"], strict=True)
    ]
    weights = peer.get_parameters()["weights"]
    mixture = Mixture(
        3, families={2: Categorical()}, components_init=parts, weights_init=weights, max_iter=0, prior="ml"
    ).fit(X[:, :3])
    theirs = peer.score(pd.DataFrame(X[:, :3], columns=["a", "b", "c"]))
    assert mixture.score(X[:, :3]) == pytest.approx(theirs, abs=1e-9)


def test_em_of_numeric_columns_is_that_of_scikit_learn():
    X = load_iris().data
    start = X[[0, 60, 120]]
    peer = Peer(
        3, covariance_type="diag", means_init=start, weights_init=[1 / 3] * 3, precisions_init=np.ones((3, 4)),
        reg_covar=0, tol=1e-13, max_iter=5000,
    ).fit(X)  # fmt: skip
    ours = Mixture(
        3, components_init=[Gaussian(m, np.ones(4), "diag") for m in start], prior="ml", tol=1e-13, max_iter=5000
    ).fit(X)
    assert np.allclose(ours.weights_, peer.weights_, atol=1e-5)
    assert ours.score(X) == pytest.approx(peer.score(X), abs=1e-8)
    assert ours.bic(X) == pytest.approx(peer.bic(X), abs=1e-5)
    assert ours.aic(X) == pytest.approx(peer.aic(X), abs=1e-5)


def test_em_of_a_full_group_is_that_of_scikit_learn():
    X = load_iris().data
    start = X[[0, 60, 120]]
    peer = Peer(
        3, means_init=start, weights_init=[1 / 3] * 3, precisions_init=np.tile(np.eye(4), (3, 1, 1)),
        reg_covar=0, tol=1e-13, max_iter=5000,
    ).fit(X)  # fmt: skip
    ours = Mixture(
        3, families={(0, 1, 2, 3): Gaussian()}, components_init=[Gaussian(m, np.eye(4)) for m in start], prior="ml",
        tol=1e-13, max_iter=5000,
    ).fit(X)  # fmt: skip
    assert ours.score(X) == pytest.approx(peer.score(X), abs=1e-8)
    assert ours.bic(X) == pytest.approx(peer.bic(X), abs=1e-5)


def test_a_single_full_group_with_holes_is_the_gaussian_fitted_by_itself():
    X = load_iris().data.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    alone = Gaussian().fit(X)
    mixture = Mixture(1, families={(0, 1, 2, 3): Gaussian()}, prior="ml", tol=1e-14, max_iter=5000).fit(X)
    part = mixture.components_[0]
    assert np.allclose(part.mean, alone.mean, atol=1e-5)
    assert np.allclose(part.covariance, alone.covariance, atol=1e-5)


@pytest.mark.parametrize("missing", [0.0, 0.1, 0.3])
def test_parameters_are_recovered_with_values_missing_at_random(missing):
    X, group = people(6000, missing)
    mixture = Mixture(3, families=FAMILIES, random_state=0, tol=1e-7).fit(X)
    assert same_groups(mixture.predict(X), group) > 0.97 - missing / 2
    assert np.allclose(mixture.weights_, [0.5, 0.3, 0.2], atol=0.03)
    first = mixture.components_[0]
    assert np.allclose(first.marginal([0, 1]).mean, 0.0, atol=0.1)
    assert np.allclose(first.marginal(2).probabilities, [0.8, 0.1, 0.1], atol=0.03)
    assert first.marginal(3).rate == pytest.approx(1.0, abs=0.1)


def test_a_row_with_nothing_observed_has_the_weights():
    X, _ = people(300, 0.1)
    mixture = Mixture(3, families={**FAMILIES, (0, 1): Gaussian()}, random_state=0).fit(X)
    nothing = np.full((1, 4), np.nan)
    assert np.allclose(mixture.predict_proba(nothing)[0], mixture.weights_)
    assert mixture.score_samples(nothing)[0] == pytest.approx(0.0, abs=1e-12)


def test_rows_with_nothing_observed_change_no_likelihood_but_are_allowed():
    X, _ = people(300)
    more = np.vstack([X, np.full((20, 4), np.nan)])
    mixture = Mixture(2, families=FAMILIES, random_state=0).fit(more)
    assert np.isfinite(mixture.score_samples(more)).all()


def test_frames_of_all_kinds_with_strings_and_unseen_categories():
    X, group = people(600, 0.1)
    jobs = np.array(["smith", "baker", "judge"], dtype=object)
    frame = pd.DataFrame(X, columns=["age", "income", "job", "visits"])
    frame["job"] = [None if np.isnan(c) else jobs[int(c)] for c in X[:, 2]]
    mixture = Mixture(3, families={"visits": Poisson()}, random_state=0).fit(frame)
    assert mixture.schema_["job"].categories == ("baker", "judge", "smith")
    assert same_groups(mixture.predict(frame), group) > 0.9
    strange, unknown = frame.head(3).copy(), frame.head(3).copy()
    strange["job"], unknown["job"] = "pilot", None
    assert np.allclose(mixture.predict_proba(strange), mixture.predict_proba(unknown))
    drawn, _ = mixture.sample(20, random_state=0, like=frame)
    assert set(drawn["job"]) <= set(jobs)
    with pytest.raises(ValueError, match="column 'job' has values that are not among its categories: 'pilot'"):
        mixture.partial_fit(strange)


def test_families_by_word_by_position_and_for_groups():
    X, _ = people(300)
    named = Mixture(2, families={"x2": "categorical", "x3": "counts"}, random_state=0).fit(X)
    placed = Mixture(2, families={2: Categorical(), 3: Poisson()}, random_state=0).fit(X)
    assert np.array_equal(named.score_samples(X), placed.score_samples(X))
    both = Mixture(2, families={(0, 1): Gaussian(kind="diag"), 2: "categorical", 3: "counts"}, random_state=0).fit(X)
    assert np.array_equal(both.score_samples(X), placed.score_samples(X))


def test_other_families_take_part():
    rng = np.random.default_rng(0)
    group = np.arange(600) % 2
    X = np.column_stack([rng.exponential(np.array([1.0, 20.0])[group]), rng.gamma([2.0, 30.0][0] + 28 * group)])
    X[rng.random(X.shape) < 0.1] = np.nan
    mixture = Mixture(2, families={0: Exponential(), 1: Gamma()}, random_state=0, tol=1e-8).fit(X)
    assert same_groups(mixture.predict(X), group) > 0.95
    low, high = mixture.impute_interval(X)
    assert (low <= high).all()
    assert (np.diff(mixture.lower_bounds_) >= -1e-9).all()


def test_binary_columns_are_bernoulli():
    X = np.column_stack([np.arange(40) % 2, np.arange(40) // 20]).astype(float)
    mixture = Mixture(1, families=Bernoulli(), prior="ml").fit(X)
    assert np.allclose(mixture.components_[0].marginal(0).probabilities, [0.5, 0.5])
    assert mixture._n_parameters() == 2


@pytest.mark.parametrize(
    ("families", "count"),
    [
        (None, 2 + 3 * 8),
        (FAMILIES, 2 + 3 * (4 + 2 + 1)),
        ({**FAMILIES, (0, 1): Gaussian()}, 2 + 3 * (5 + 2 + 1)),
    ],
)
def test_parameters_are_counted(families, count):
    X, _ = people(200)
    mixture = Mixture(3, families=families, random_state=0).fit(X)
    likelihood = mixture.score_samples(X).sum()
    assert mixture.bic(X) == pytest.approx(-2 * likelihood + count * np.log(200))
    p = mixture.predict_proba(X)
    entropy = -np.sum(np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0))
    assert mixture.icl(X) == pytest.approx(mixture.bic(X) + 2 * entropy)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([None, "ml", 4.0]), st.integers(1, 4), st.booleans())
def test_the_objective_never_falls(seed, prior, k, full):
    X, _ = people(40, 0.25, seed)
    families = {**FAMILIES, (0, 1): Gaussian()} if full else FAMILIES
    model = Mixture(k, families=families, prior=prior, random_state=seed, init_params="random", tol=1e-6, max_iter=400)
    mixture = model.fit(X)
    trace = np.array(mixture.lower_bounds_)
    assert (np.diff(trace) >= -1e-9 * (1 + np.abs(trace[1:]))).all()
    assert np.isfinite(mixture.score_samples(X)).all()
    assert np.allclose(mixture.predict_proba(X).sum(axis=1), 1)


def test_gradient_and_em_reach_the_same_optimum_on_a_mixed_table():
    X, _ = people(800, 0.1)
    found = [
        Mixture(3, families=FAMILIES, method=method, random_state=0, tol=1e-12, max_iter=3000).fit(X)
        for method in ("em", "gradient")
    ]
    assert abs(found[0].lower_bound_ - found[1].lower_bound_) * len(X) < 1e-6
    group = {"families": {(0, 1): Gaussian()}, "random_state": 0, "tol": 1e-12, "max_iter": 3000}
    joint = [Mixture(2, method=method, **group).fit(X) for method in ("em", "gradient")]
    assert abs(joint[0].lower_bound_ - joint[1].lower_bound_) * len(X) < 1e-6
    with pytest.raises(ValueError, match="method='gradient' takes no bounds or tied, such as those of column 'x0'"):
        Mixture(2, method="gradient", bounds={0: {"mean": (0, 1)}}).fit(X)


def test_an_offset_of_1e8_costs_nothing():
    X, _ = people(500)
    near = Mixture(3, families=FAMILIES, random_state=0).fit(X)
    shift = np.array([1e8, -1e8, 0.0, 0.0])
    far = Mixture(3, families=FAMILIES, random_state=0).fit(X + shift)
    assert np.array_equal(near.predict(X), far.predict(X + shift))
    assert far.score(X + shift) == pytest.approx(near.score(X), abs=1e-5)


def test_scales_do_not_matter():
    X, _ = people(500)
    factor = np.array([1e-9, 1e6, 1.0, 1.0])
    plain = Mixture(3, families=FAMILIES, random_state=0).fit(X)
    scaled = Mixture(3, families=FAMILIES, random_state=0).fit(X * factor)
    assert np.allclose(plain.predict_proba(X), scaled.predict_proba(X * factor), atol=1e-6)


def test_two_seeds_agree_on_the_order_of_components():
    X, _ = people(1500)
    model = Mixture(3, families=FAMILIES, n_init=4, tol=1e-9, max_iter=1000)
    one, other = (clone(model).set_params(random_state=seed).fit(X) for seed in (0, 1))
    assert np.allclose(one.weights_, other.weights_, atol=1e-3)
    assert (np.diff(one.weights_) <= 0).all()
