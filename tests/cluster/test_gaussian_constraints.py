"""Fixed, bounded and tied parameters: kept to the last digit, best among what is allowed, and named when impossible."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_iris

from latently.cluster import GaussianMixture
from latently.distributions.components.gaussian.limits.bounded import Box, _filled, boxed
from latently.distributions.components.gaussian.params import KINDS

IRIS = load_iris().data
NAN = np.nan
CLOSELY = {"tol": 1e-11, "max_iter": 20000, "random_state": 0, "reg_covar": 0.0}


def fitted(k=2, X=IRIS, kind="full", **options):
    return GaussianMixture(k, covariance_type=kind, **{**CLOSELY, **options}).fit(X)


def line(n=300, seed=0):
    rng = np.random.default_rng(seed)
    return np.where(rng.uniform(size=n) < 0.4, rng.normal(-2, 1.5, n), rng.normal(2, 1.5, n))[:, None]


def incomplete(share=0.2):
    X = IRIS.copy()
    X[np.random.default_rng(0).uniform(size=X.shape) < share] = NAN
    return X


def shaped(kind, k, d, value):
    unit = {"full": np.tile(np.eye(d), (k, 1, 1)), "tied": np.eye(d), "diag": np.ones((k, d)), "spherical": np.ones(k)}
    return value * unit[kind]


# the notes' simplest case, and other things fixed


def test_known_variance_and_weights_with_only_the_means_learnt():
    X = line()
    mixture = fitted(2, X, fixed={"covariances": [[[2.25]], [[2.25]]], "weights": [0.4, 0.6]})

    def loss(means):
        parts = [w * stats.norm(m, 1.5).pdf(X[:, 0]) for w, m in zip((0.4, 0.6), means, strict=True)]
        return -np.log(np.sum(parts, axis=0)).sum()

    best = minimize(loss, [-1.0, 1.0], tol=1e-12)
    assert mixture.score_samples(X).sum() == pytest.approx(-best.fun, abs=1e-7)
    np.testing.assert_allclose(mixture.means_[:, 0], best.x, atol=1e-4)
    assert (mixture.weights_ == [0.4, 0.6]).all()
    np.testing.assert_allclose(mixture.covariances_, 2.25, rtol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("X", [IRIS, incomplete()], ids=["whole", "holed"])
def test_what_is_fixed_stays_and_the_objective_rises(kind, X):
    means = np.full((2, 4), NAN)
    means[0, 1], means[1] = 3.3, [6.0, 3.0, 4.5, 1.5]
    mixture = fitted(2, X, kind, fixed={"means": means, "weights": [NAN, 0.6]}, tol=1e-6)
    given = ~np.isnan(means)
    np.testing.assert_allclose(mixture.means_[given], means[given], rtol=1e-13)
    assert mixture.weights_ == pytest.approx([0.4, 0.6], abs=1e-14)
    assert (np.diff(mixture.lower_bounds_) > -1e-10).all()
    plain = fitted(2, X, kind, tol=1e-6)
    assert mixture.lower_bound_ < plain.lower_bound_


def test_a_full_covariance_with_half_of_its_mean_fixed_is_the_conditional_regression():
    # with some entries of the mean known, the others follow by regression on the known ones' gaps
    mixture = fitted(1, IRIS, fixed={"means": [[5.5, NAN, NAN, 1.0]]})

    def loss(v):
        mean = np.array([5.5, v[0], v[1], 1.0])
        return 0.5 * len(IRIS) * np.linalg.slogdet((IRIS - mean).T @ (IRIS - mean) / len(IRIS))[1]

    best = minimize(loss, IRIS.mean(axis=0)[1:3], tol=1e-12)
    np.testing.assert_allclose(mixture.means_[0, 1:3], best.x, atol=1e-4)
    expected = -best.fun - len(IRIS) * 2 * (np.log(2 * np.pi) + 1)
    assert mixture.score_samples(IRIS).sum() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_covariances_can_be_fixed_for_some_components(kind):
    known = shaped(kind, 2, 4, 0.3)
    if kind != "tied":
        known[1] = NAN
    mixture = fitted(2, IRIS, kind, fixed={"covariances": known}, tol=1e-7)
    first = mixture.covariances_ if kind == "tied" else mixture.covariances_[0]
    np.testing.assert_allclose(first, known if kind == "tied" else known[0], rtol=1e-12)
    if kind != "tied":
        assert not np.isnan(mixture.covariances_[1]).any()


# bounds


def test_water_filling_agrees_with_a_general_solver():
    rng = np.random.default_rng(0)
    for _ in range(20):
        n, low = rng.uniform(0.1, 5, size=4), rng.uniform(0, 0.2, size=4)
        high = low + rng.uniform(0.2, 0.5, size=4)
        ours = _filled(n, np.ones(4), Box(low, high))
        theirs = minimize(
            lambda w, n=n: -n @ np.log(w),
            np.clip(np.full(4, 0.25), low + 1e-6, high),
            bounds=list(zip(np.maximum(low, 1e-9), high, strict=True)),
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
            options={"ftol": 1e-14},
        )
        assert ours.sum() == pytest.approx(1.0, abs=1e-12)
        assert n @ np.log(ours) >= -theirs.fun - 1e-9
        np.testing.assert_allclose(ours, theirs.x, atol=1e-4)


def test_coordinate_descent_agrees_with_a_general_solver():
    from scipy.optimize import lsq_linear

    rng = np.random.default_rng(1)
    for _ in range(20):
        root = rng.normal(size=(5, 5))
        A, b = root.T @ root + 0.1 * np.eye(5), rng.normal(size=5)
        low = rng.uniform(-0.5, 0, size=5)
        high = low + rng.uniform(0.1, 1, size=5)
        factor = np.linalg.cholesky(A).T
        theirs = lsq_linear(factor, np.linalg.solve(factor.T, b), (low, high), tol=1e-14).x
        np.testing.assert_allclose(boxed(A, b, Box(low, high), (low + high) / 2), theirs, atol=1e-6)


def test_bounded_weights_stay_inside_and_are_best_there():
    free = fitted(2, line()).weights_
    mixture = fitted(2, line(), bounds={"weights": (0.47, None)})
    assert min(free) < 0.47
    assert mixture.weights_.min() == pytest.approx(0.47, abs=1e-12)
    assert mixture.weights_.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_bounded_means_stay_inside(kind):
    low, high = np.array([4.0, 3.1, 1.0, 0.0]), np.array([5.8, 4.0, 7.0, 2.0])
    mixture = fitted(2, IRIS, kind, bounds={"means": (low, high)}, tol=1e-7)
    assert (mixture.means_ >= low - 1e-12).all()
    assert (mixture.means_ <= high + 1e-12).all()
    assert (np.diff(mixture.lower_bounds_) > -1e-10).all()


def test_one_gaussian_in_a_box_is_where_a_general_solver_finds_it():
    low, high = np.array([5.0, 3.2, 3.0, 1.4]), np.array([5.6, 4.0, 5.0, 2.0])
    mixture = fitted(1, IRIS, bounds={"means": (low, high)})

    def loss(m):
        return 0.5 * np.linalg.slogdet((IRIS - m).T @ (IRIS - m) / len(IRIS))[1]

    best = minimize(loss, (low + high) / 2, bounds=list(zip(low, high, strict=True)), tol=1e-14)
    np.testing.assert_allclose(mixture.means_[0], best.x, atol=1e-4)
    assert loss(mixture.means_[0]) <= best.fun + 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_bounded_variances_stay_inside(kind):
    mixture = fitted(3, IRIS, kind, bounds={"variances": (0.05, 0.2)}, tol=1e-7)
    C = mixture.covariances_
    variances = np.linalg.eigvalsh(C) if kind in ("full", "tied") else C
    assert variances.min() >= 0.05 - 1e-12
    assert variances.max() <= 0.2 + 1e-12
    assert (np.diff(mixture.lower_bounds_) > -1e-10).all()


def test_clipped_eigenvalues_are_the_best_covariance():
    mixture = fitted(1, IRIS, bounds={"variances": (0.1, 1.0)})
    best, mean = mixture.score(IRIS), mixture.means_[0]
    rng = np.random.default_rng(0)
    for size in np.repeat([0.001, 0.01, 0.1, 0.3], 20):
        bent = mixture.covariances_[0] + size * (E := rng.normal(size=(4, 4))) + size * E.T
        values, vectors = np.linalg.eigh(bent)
        other = (vectors * np.clip(values, 0.1, 1.0)) @ vectors.T
        assert stats.multivariate_normal(mean, other).logpdf(IRIS).mean() <= best + 1e-12


def test_bounds_on_each_column_of_a_diagonal():
    low = np.array([0.01, 0.5, 0.01, 0.01])
    mixture = fitted(2, IRIS, "diag", bounds={"variances": (low, None)}, tol=1e-7)
    np.testing.assert_allclose(mixture.covariances_[:, 1], 0.5)


def test_a_lower_bound_on_variances_keeps_a_component_from_collapsing():
    X = np.concatenate([np.full((50, 2), 3.0), np.random.default_rng(0).normal(size=(50, 2))])
    mixture = fitted(2, X, bounds={"variances": (1e-2, None)}, tol=1e-6)
    assert np.linalg.eigvalsh(mixture.covariances_).min() == pytest.approx(1e-2)


# tied


@pytest.mark.parametrize("kind", KINDS)
def test_tied_means_are_one(kind):
    mixture = fitted(3, IRIS, kind, tied={"means": [[0, 2]]}, tol=1e-7)
    assert (mixture.means_[0] == mixture.means_[2]).all()
    assert (mixture.means_[0] != mixture.means_[1]).all()
    assert (np.diff(mixture.lower_bounds_) > -1e-10).all()


def test_tied_means_with_known_covariances_weigh_by_precision():
    # two sources of one mean, of known precision and known rows: the inverse-variance average
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0.2, 1.0, 50), rng.normal(-0.1, 3.0, 80)])[:, None]
    labels = np.repeat([0, 1], [50, 80])
    mixture = GaussianMixture(2, fixed={"covariances": [[[1.0]], [[9.0]]]}, tied={"means": [[0, 1]]}, tol=1e-12)
    mixture.fit(X, labels=labels)
    expected = (X[:50].sum() + X[50:].sum() / 9) / (50 + 80 / 9)
    assert mixture.means_[:, 0] == pytest.approx([expected, expected])


@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
def test_all_covariances_tied_is_the_tied_kind(kind):
    start = {"means_init": IRIS[[0, 60, 120]], "weights_init": np.full(3, 1 / 3)}
    tied = fitted(3, IRIS, kind, tied={"covariances": [[0, 1, 2]]}, **start)
    np.testing.assert_allclose(tied.covariances_[1:], tied.covariances_[:-1])
    if kind == "full":
        peer = fitted(3, IRIS, "tied", **start)
        np.testing.assert_allclose(tied.covariances_[0], peer.covariances_, atol=1e-5)
        assert tied.lower_bound_ == pytest.approx(peer.lower_bound_, abs=1e-9)
        assert tied._n_parameters() == peer._n_parameters() == 24


def test_tied_weights_are_equal():
    mixture = fitted(3, IRIS, tied={"weights": [[0, 1]]}, tol=1e-7)
    assert mixture.weights_[0] == pytest.approx(mixture.weights_[1], abs=1e-14)
    assert mixture.weights_.sum() == pytest.approx(1.0)


# all of it together


@given(seed=st.integers(0, 10_000), kind=st.sampled_from(KINDS), hole=st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_objective_never_falls_whatever_is_constrained(seed, kind, hole):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 2)) * [1.0, 10.0] + rng.integers(0, 3, size=(40, 1))
    if hole:
        X[rng.uniform(size=X.shape) < 0.2] = NAN
        X[0] = 0.5
    means = np.where(rng.uniform(size=(3, 2)) < 0.3, rng.uniform(-2, 2.5, size=(3, 2)), NAN)
    means[1:] = NAN  # what is tied below must not contradict
    options = {
        "fixed": {"means": means, "weights": [0.2, NAN, NAN]},
        "bounds": {"weights": (0.1, 0.6), "means": (-2.0, 2.5), "variances": (0.3, 40.0)},
        "tied": {"means": [[1, 2]]} if rng.uniform() < 0.5 else {"weights": [[1, 2]]},
    }
    mixture = GaussianMixture(3, covariance_type=kind, tol=0, max_iter=30, random_state=seed, **options)
    with pytest.warns(UserWarning, match="did not converge"):  # em itself raises if the objective falls
        mixture.fit(np.clip(X, -2.4, 2.4) if rng.uniform() < 0.2 else X)
    assert (mixture.means_ >= -2 - 1e-9).all()
    assert (mixture.means_ <= 2.5 + 1e-9).all()
    assert mixture.weights_.sum() == pytest.approx(1.0, abs=1e-9)
    assert mixture.weights_[0] == 0.2


def test_constraints_survive_cloning_and_keep_their_components():
    fixed = {"means": [[6.5, 3.0, 5.5, 2.0], [NAN] * 4]}
    mixture = GaussianMixture(2, fixed=fixed, random_state=0, tol=1e-6)
    once, twin = mixture.fit(IRIS), clone(mixture).fit(IRIS)
    assert (twin.means_ == once.means_).all()
    np.testing.assert_allclose(once.means_[0], fixed["means"][0])
    # the lighter component may stand first: its number means something
    light = fitted(2, line(), fixed={"weights": [0.3, NAN]})
    assert light.weights_ == pytest.approx([0.3, 0.7])


def test_the_start_suits_the_constraints():
    # whichever cluster k-means calls 0, the component that is fixed to setosa's mean must get setosa
    setosa = IRIS[:50].mean(axis=0)
    for place in (0, 1, 2):
        means = np.full((3, 4), NAN)
        means[place] = setosa
        mixture = fitted(3, IRIS, fixed={"means": means}, tol=1e-6, reg_covar=1e-6)
        assert (mixture.predict(IRIS[:50]) == place).all()
        assert mixture.weights_[place] == pytest.approx(1 / 3, abs=0.01)


def test_partial_fit_keeps_what_is_fixed():
    mixture = GaussianMixture(2, fixed={"weights": [0.5, 0.5]}, bounds={"means": (None, 6.0)}, random_state=0)
    mixture.partial_fit(IRIS[::2]).partial_fit(IRIS[1::2])
    assert mixture.weights_.tolist() == [0.5, 0.5]
    assert mixture.means_.max() <= 6.0 + 1e-12
