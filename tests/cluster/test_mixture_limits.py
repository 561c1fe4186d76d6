"""Fixed, bounded and tied parameters of mixtures over tables: optima by other programs, laws, and errors."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, stats
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.mixture import GaussianMixture as Peer

import latently
from latently.cluster import Mixture
from latently.distributions import Categorical, Exponential, Gaussian, Poisson

IRIS = load_iris().data
CLOSELY = {"tol": 1e-13, "max_iter": 5000, "prior": "ml", "random_state": 0}


def two_bumps(n=400, seed=0):
    rng = np.random.default_rng(seed)
    return np.where(rng.uniform(size=n) < 0.4, rng.normal(0.0, 1.0, n), rng.normal(3.0, 2.0, n))[:, None]


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.uniform(size=n) < 0.5
    return pd.DataFrame(
        {
            "age": np.where(group, 30.0, 55.0) + 4 * rng.normal(size=n),
            "pay": np.where(group, 1.0, 3.0) + rng.normal(size=n),
            "job": np.where(rng.uniform(size=n) < np.where(group, 0.8, 0.3), "smith", "judge"),
            "visits": rng.poisson(np.where(group, 2.0, 7.0)),
        }
    )


FAMILIES = {"visits": Poisson()}


def best_by_scipy(X, weight, means, deviations, start):
    """Highest log-likelihood of a mixture of two normals, its parameters read off a vector by three functions."""

    def cost(v):
        w, m, s = weight(v), means(v), deviations(v)
        parts = [np.log(p) + stats.norm.logpdf(X[:, 0], a, b) for p, a, b in zip((w, 1 - w), m, s, strict=True)]
        return -np.logaddexp(*parts).sum()

    options = {"xatol": 1e-10, "fatol": 1e-10, "maxiter": 20000, "maxfev": 20000}
    return -optimize.minimize(cost, start, method="Nelder-Mead", options=options).fun


def logistic(x):
    return 1 / (1 + np.exp(-x))


def test_known_variances_with_only_means_learnt():
    X = two_bumps()
    fixed = {0: {0: {"variance": 1.0}}, 1: {0: {"variance": 4.0}}}
    mixture = clone(Mixture(2, fixed=fixed, **CLOSELY)).fit(X)
    best = best_by_scipy(X, lambda v: logistic(v[0]), lambda v: v[1:], lambda v: (1.0, 2.0), [0.0, 0.0, 3.0])
    assert mixture.score(X) * len(X) == pytest.approx(best, abs=1e-5)
    assert_array_equal([part.variance[0] for part in mixture.components_], [1.0, 4.0])
    assert mixture._n_parameters() == 1 + 2


def test_known_means_with_only_variances_learnt():
    X = two_bumps()
    fixed = {0: {0: {"mean": 0.0}}, 1: {0: {"mean": 3.0}}}
    mixture = clone(Mixture(2, fixed=fixed, **CLOSELY)).fit(X)
    best = best_by_scipy(X, lambda v: logistic(v[0]), lambda v: (0.0, 3.0), lambda v: np.exp(v[1:]), [0.0, 0.0, 0.5])
    assert mixture.score(X) * len(X) == pytest.approx(best, abs=1e-5)
    assert_array_equal([part.mean[0] for part in mixture.components_], [0.0, 3.0])


def test_a_fixed_variance_holds_for_gradients_too():
    X = two_bumps()
    options = {"fixed": {1: {0: {"variance": 4.0}}}, **CLOSELY}
    by_em, by_slope = (Mixture(2, method=m, **options).fit(X) for m in ("em", "gradient"))
    assert by_slope.components_[1].variance[0] == 4.0
    assert by_em.lower_bound_ * len(X) == pytest.approx(by_slope.lower_bound_ * len(X), abs=1e-6)


def test_one_variance_for_all_is_that_of_scikit_learn():
    X = two_bumps()
    start = np.array([[0.0], [3.0]])
    peer = Peer(
        2, covariance_type="tied", means_init=start, weights_init=[0.5, 0.5], precisions_init=np.eye(1), reg_covar=0,
        tol=1e-13, max_iter=5000,
    ).fit(X)  # fmt: skip
    parts = [Gaussian(m, np.ones(1), "diag") for m in start]
    ours = Mixture(2, tied={0: {"variance": True}}, components_init=parts, **CLOSELY).fit(X)
    assert ours.score(X) == pytest.approx(peer.score(X), abs=1e-9)
    assert ours.bic(X) == pytest.approx(peer.bic(X), abs=1e-5)
    assert_allclose(ours.components_[0].variance, peer.covariances_[0], rtol=1e-5)


def test_one_covariance_for_all_is_that_of_scikit_learn():
    start = IRIS[[0, 60, 120]]
    peer = Peer(
        3, covariance_type="tied", means_init=start, weights_init=np.full(3, 1 / 3), precisions_init=np.eye(4),
        reg_covar=0, tol=1e-13, max_iter=5000,
    ).fit(IRIS)  # fmt: skip
    group = (0, 1, 2, 3)
    parts = [Gaussian(m, np.eye(4)) for m in start]
    ours = Mixture(
        3, families={group: Gaussian()}, tied={group: {"covariance": True}}, components_init=parts, **CLOSELY
    ).fit(IRIS)
    assert ours.score(IRIS) == pytest.approx(peer.score(IRIS), abs=1e-8)
    assert ours.bic(IRIS) == pytest.approx(peer.bic(IRIS), abs=1e-4)


def test_a_group_may_have_its_mean_or_its_covariance_fixed():
    group = (0, 1, 2, 3)
    families, C = {group: Gaussian()}, np.cov(IRIS[:50].T)
    mixture = clone(Mixture(2, families=families, fixed={0: {group: {"covariance": C}}}, random_state=0)).fit(IRIS)
    assert_allclose(mixture.components_[0].covariance_matrix, C, rtol=1e-12)
    assert_allclose(mixture.components_[0].mean, IRIS[:50].mean(axis=0), atol=0.05)
    m = IRIS[:50].mean(axis=0)
    other = Mixture(2, families=families, fixed={0: {group: {"mean": m}}}, random_state=0).fit(IRIS)
    assert_allclose(other.components_[0].mean, m, rtol=1e-12)
    assert_allclose(other.components_[0].covariance_matrix, np.cov(IRIS[:50].T, bias=True), atol=0.02)
    free = Mixture(2, families=families, random_state=0).fit(IRIS)
    assert mixture._n_parameters() == free._n_parameters() - 10
    assert other._n_parameters() == free._n_parameters() - 4


def test_bounds_of_one_component_are_where_the_optimum_is_cut_off():
    frame = table()
    bounds = {"age": {"mean": (50.0, None), "variance": (None, 100.0)}, "visits": {"rate": (0.0, 3.5)}}
    part = clone(Mixture(1, families=FAMILIES, bounds=bounds, prior="ml")).fit(frame).components_[0]
    assert part.mean[0] == 50.0
    assert part.variance[0] == 100.0
    assert part.marginal(3).rate[0] == 3.5
    assert part.mean[1] == pytest.approx(frame["pay"].mean())


def test_bounds_of_a_group_hold():
    group = (0, 1, 2, 3)
    bounds = {group: {"mean": ([5.0, 3.0, 1.0, 0.2], None), "variance": (0.05, 0.3)}}
    mixture = Mixture(3, families={group: Gaussian()}, bounds=bounds, random_state=0).fit(IRIS)
    for part in mixture.components_:
        assert (part.mean >= np.array([5.0, 3.0, 1.0, 0.2]) - 1e-12).all()
        axes = np.linalg.eigvalsh(part.covariance_matrix)
        assert axes[0] >= 0.05 * (1 - 1e-9)
        assert axes[-1] <= 0.3 * (1 + 1e-9)
    assert (np.diff(mixture.lower_bounds_) >= -1e-9).all()


def test_weights_may_be_bounded_tied_and_fixed_in_part():
    frame = table()
    bounded = clone(Mixture(3, families=FAMILIES, bounds={"weights": (0.3, None)}, random_state=0)).fit(frame)
    assert (bounded.weights_ >= 0.3 - 1e-12).all()
    tied = Mixture(3, families=FAMILIES, tied={"weights": [[0, 1]]}, random_state=0).fit(frame)
    assert tied.weights_[0] == tied.weights_[1]
    assert tied._n_parameters() == Mixture(3, families=FAMILIES, random_state=0).fit(frame)._n_parameters() - 1
    partly = Mixture(3, families=FAMILIES, fixed_weights=[0.25, np.nan, np.nan], random_state=0).fit(frame)
    assert partly.weights_[0] == pytest.approx(0.25, abs=1e-15)
    assert partly.weights_.sum() == pytest.approx(1.0)


def test_tied_categories_and_counts_are_those_of_all_rows_together():
    frame = table()
    tied = {"job": {"probabilities": True}, "visits": {"rate": True}, "pay": {"mean": True, "variance": True}}
    mixture = clone(Mixture(2, families=FAMILIES, tied=tied, prior="ml", random_state=0)).fit(frame)
    for part in mixture.components_:
        assert part.marginal(2).probabilities[1] == pytest.approx((frame["job"] == "smith").mean(), abs=1e-9)
        assert part.marginal(3).rate[0] == pytest.approx(frame["visits"].mean(), abs=1e-9)
        assert part.mean[1] == pytest.approx(frame["pay"].mean(), abs=1e-9)
    assert mixture._n_parameters() == 1 + 4 + 1 + 1 + 2


LIMITS = st.fixed_dictionaries(
    {},
    optional={
        "fixed": st.sampled_from([{0: {"age": {"mean": 40}}}, {1: {"visits": {"rate": 4.0}, "pay": {"variance": 2}}}]),
        "bounds": st.sampled_from([{"age": {"mean": (35, 50)}}, {"weights": (0.3, 1)}, {"pay": {"variance": (2, 3)}}]),
        "tied": st.sampled_from([{"age": {"mean": [[0, 1]]}}, {"job": {"probabilities": True}}, {"weights": True}]),
    },
)  # fmt: skip


@settings(max_examples=15, deadline=None)
@given(LIMITS, st.integers(0, 100))
def test_the_objective_never_falls_and_limits_hold(limits, seed):
    frame = table(120, seed)
    frame = frame.mask(np.random.default_rng(seed).uniform(size=frame.shape) < 0.1)
    mixture = Mixture(2, families=FAMILIES, random_state=seed, tol=1e-7, max_iter=500, **limits).fit(frame)
    assert (np.diff(mixture.lower_bounds_) >= -1e-9).all()
    means = [part.mean[0] for part in mixture.components_]
    if "age" in limits.get("bounds", {}):
        assert all(35.0 <= m <= 50.0 for m in means)
    if "age" in limits.get("tied", {}):
        assert means[0] == means[1]
    if 0 in limits.get("fixed", {}):
        assert means[0] == 40.0


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"fixed": {0: {"age": {"mean": 80.0}}}, "bounds": {"age": {"mean": (0, 70)}}}, "column 'age' .* no value"),
        ({"fixed": {0: {"age": {"mode": 80.0}}}}, "column 'age' has no 'mode'"),
        ({"fixed": {0: {"age": {"variance": -1.0}}}}, "lower bound"),
        ({"fixed": {0: {"age": {"variance": [1.0, 2.0]}}}}, "must be numbers of shape"),
        ({"bounds": {"age": {"mean": (3, 2)}}}, "the lower bound 3 is above"),
        ({"bounds": {"age": (3, 2)}}, "column 'age' needs a dict of mean, variance"),
        ({"bounds": {"job": {"probabilities": (0.1, 0.9)}}}, "column 'job' holds categories"),
        ({"bounds": {"wages": {"mean": (0, 1)}}}, "column 'wages' is not in the table"),
        ({"bounds": {"weights": (0.6, None)}}, "weights cannot exceed one"),
        ({"bounds": {("age", "job"): {"mean": (0, 1)}}}, "must be columns of one kind"),
        ({"tied": {"age": {"mean": [[0, 5]]}}}, "component numbers from 0 to 1"),
        ({"fixed": {0: {"age": {"mean": 1}}, 1: {"age": {"mean": 2}}}, "tied": {"age": {"mean": True}}}, "no value"),
        ({"families": {"pay": Exponential()}, "bounds": {"pay": {"mean": (0, 1)}}}, "'pay' has no 'mean' for bounds"),
        ({"families": {"pay": Exponential()}, "tied": {"pay": {"rate": True}}}, "'pay' is of a family that cannot be"),
        ({"families": {"pay": Exponential()}, "fixed": {0: {"pay": {"rate": -1.0}}}}, "fixed: rate of column 'pay'"),
        ({"fixed": {0: {"job": {"probabilities": [0.2, 0.2, 0.6]}}}}, "column 'job' has 2 categories"),
        ({"method": "gradient", "tied": {"age": {"mean": True}}}, "takes no bounds or tied"),
        ({"method": "gradient", "bounds": {"age": {"mean": (None, 99)}}}, "takes no bounds or tied"),
        ({"method": "gradient", "bounds": {"weights": (0.1, None)}}, "weights that are all fixed or all free"),
        ({"fixed_weights": [0.5, 0.6]}, "fixed_weights must sum to 1"),
        ({"fixed_weights": [1.5, np.nan]}, "no value|cannot exceed one"),
    ],
)  # fmt: skip
def test_limits_that_cannot_be_are_named(settings_, message):
    frame = table(60).assign(pay=lambda t: np.abs(t["pay"]))
    with pytest.raises(ValueError, match=message):
        Mixture(2, random_state=0, **settings_).fit(frame)


def test_groups_refuse_what_cannot_be():
    group = (0, 1, 2, 3)
    for settings_, message in (
        ({"fixed": {0: {(0, 1): {"mean": [0.0, 1.0]}}}}, "fixed applies to the whole group"),
        ({"fixed": {0: {group: {"covariance": -np.eye(4)}}}}, "positive definite"),
        ({"fixed": {0: {group: {"covariance": np.eye(4)}}}, "bounds": {group: {"variance": (2, 3)}}}, "outside bounds"),
    ):
        with pytest.raises(ValueError, match=message):
            Mixture(2, families={group: Gaussian()}, random_state=0, **settings_).fit(IRIS)
    with pytest.raises(TypeError, match="bounds must be a dict"):
        Mixture(2, bounds=[1, 2]).fit(IRIS)


def test_categories_fixed_by_name():
    part = Mixture(2, fixed={0: {"job": {"probabilities": [0.5, 0.5]}}}, random_state=0).fit(table()).components_[0]
    assert isinstance(part.marginal(2), Categorical)
    assert_array_equal(part.marginal(2).probabilities, [0.5, 0.5])


def test_limits_are_saved_and_loaded(tmp_path):
    group = (0, 1)
    mixture = Mixture(
        2,
        families={group: Gaussian()},
        fixed={0: {group: {"mean": [5.0, 3.4]}}},
        bounds={2: {"mean": (1, 5)}, "weights": (0.3, None)},
        tied={3: {"variance": True}},
        random_state=0,
    ).fit(IRIS)
    latently.save(mixture, tmp_path / "mixture.latently")
    back = latently.load(tmp_path / "mixture.latently").partial_fit(IRIS[:20])
    assert_allclose(back.score_samples(IRIS), mixture.partial_fit(IRIS[:20]).score_samples(IRIS))
    assert_array_equal(back.components_[0].mean[:2], [5.0, 3.4])
