"""Maximum likelihood (`reg_covar=0`) on tables that are nearly, or wholly, degenerate."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from latently.cluster import GaussianMixture
from latently.distributions.components.gaussian.collapse import lost_nats, remainders
from latently.distributions.components.gaussian.frame import Frame
from latently.distributions.components.gaussian.params import GaussianParams

KINDS = ("full", "tied", "diag", "spherical")
ILL = "ill-defined empirical covariance"


def nearly_collinear(seed, missing):
    """A table whose last column is the sum of the others, but for noise of 1e-4 to 1e-9."""
    rng = np.random.default_rng(seed)
    n, d, k = rng.integers(30, 300), rng.integers(2, 6), rng.integers(1, 4)
    X = rng.normal(size=(n, d))
    X[:, -1] = X[:, :-1].sum(axis=1) + 10.0 ** -rng.integers(4, 10) * rng.normal(size=n)
    X[rng.random(X.shape) < missing] = np.nan
    return X[~np.isnan(X).all(axis=1)], int(k)


def ending(kind, X, k):
    """How a fit ends; anything but these two is raised."""
    try:
        mixture = GaussianMixture(k, covariance_type=kind, reg_covar=0, random_state=0).fit(X)
    except ValueError as problem:
        return "ill-defined" if ILL in str(problem) else str(problem)
    return "fitted" if np.isfinite(mixture.score_samples(X)).all() else "not finite"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("kind", ["full", "tied"])
def test_rounding_on_collinear_columns_is_no_falling_objective(kind, missing):
    outcomes = [ending(kind, *nearly_collinear(seed, missing)) for seed in range(50)]
    assert set(outcomes) <= {"fitted", "ill-defined"}
    assert outcomes.count("fitted") > 10


@pytest.mark.parametrize("noise", [1e-4, 1e-5, 1e-6])
def test_the_density_of_nearly_collinear_columns_is_exact(noise):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    errors = noise * rng.normal(size=400)
    ours = GaussianMixture(1, reg_covar=0, random_state=0).fit(np.column_stack([X, X.sum(axis=1) + errors]))
    # the last column given the others is a regression: its density needs no matrix that is nearly singular
    first = multivariate_normal(X.mean(axis=0), np.cov(X.T, bias=True)).logpdf(X)
    design = np.column_stack([np.ones(400), X])
    left = errors - design @ np.linalg.lstsq(design, errors, rcond=None)[0]
    rest = -0.5 * (np.log(2 * np.pi * left.var()) + left**2 / left.var())
    assert ours.lower_bound_ == pytest.approx((first + rest).mean(), abs=1e-7 + (1e-15 / noise**2))


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("kind", KINDS)
def test_a_collapse_is_the_error_that_is_promised(kind, missing):
    rng = np.random.default_rng(0)
    points = np.repeat([[3.0, 0.0, 5.0]], 30, axis=0)
    X = np.concatenate([rng.normal(size=(40, 3)), points])
    if kind == "tied":  # one covariance collapses only if all components do
        X = np.repeat([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [5.0, 1.0, 2.0]], 20, axis=0)
    X[rng.random(X.shape) < missing] = np.nan
    X = X[~np.isnan(X).all(axis=1)]
    with pytest.raises(ValueError, match=ILL):
        GaussianMixture(3, covariance_type=kind, reg_covar=0, random_state=0, tol=1e-12, max_iter=3000).fit(X)
    kept = GaussianMixture(3, covariance_type=kind, random_state=0, max_iter=3000).fit(X)
    assert np.isfinite(kept.score_samples(X)).all()


def test_the_error_names_the_components():
    X = np.concatenate([np.random.default_rng(0).normal(size=(40, 2)), np.full((30, 2), 9.0)])
    start = {"means_init": [[0.0, 0.0], [9.0, 9.0]]}
    with pytest.raises(ValueError, match=r"\(components \[\d\]\)$"):
        GaussianMixture(2, covariance_type="diag", reg_covar=0, **start).fit(X)


def test_small_components_are_not_collapsed_ones():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(100, 2)), 1e5 + 1e-6 * rng.normal(size=(100, 2))])
    for kind in ("full", "diag", "spherical"):
        mixture = GaussianMixture(2, covariance_type=kind, reg_covar=0, random_state=0).fit(X)
        least = np.min(mixture.covariances_) if kind != "full" else np.linalg.eigvalsh(mixture.covariances_).min()
        assert least == pytest.approx(1e-12, rel=0.5)


def test_what_is_left_of_a_column_is_one_minus_its_explained_share():
    C = np.array([[2.0, 1.5], [1.5, 1.2]])
    params = GaussianParams("full", Frame(np.zeros(2), np.ones(2)), np.ones(1), np.zeros((1, 2)), C[None])
    assert_allclose(remainders(params), [[1.0, 1 - 1.5**2 / (2.0 * 1.2)]])
    assert 0 < lost_nats(params) < 1e-24
