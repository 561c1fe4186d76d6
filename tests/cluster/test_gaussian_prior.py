"""Conjugate priors: against closed forms and against scipy's densities."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_iris

from latently.cluster import GaussianMixture
from latently.distributions import Dirichlet, NormalInverseWishart
from latently.distributions.components.gaussian.params import KINDS

IRIS = load_iris().data
D = 4


def components(kind, dof=9.0, kappa=3.0):
    location, spread = np.array([5.0, 3.0, 4.0, 1.0]), np.array([2.0, 1.0, 3.0, 0.5])
    if kind in ("full", "tied"):
        return NormalInverseWishart(location, kappa, np.diag(spread) + 0.2, dof)
    if kind == "diag":
        return NormalInverseWishart(location, kappa, spread, dof, kind="diag")
    return NormalInverseWishart(location, kappa, 2.0, dof, kind="spherical")


def fitted(kind="full", k=2, X=IRIS, **options):
    options = {"random_state": 0, "tol": 1e-7, "max_iter": 1000, **options}
    return GaussianMixture(k, covariance_type=kind, **options).fit(X)


def incomplete(share=0.2):
    X = IRIS.copy()
    X[np.random.default_rng(0).uniform(size=X.shape) < share] = np.nan
    return X


def test_one_full_component_is_at_the_mode_of_its_posterior():
    prior = components("full")
    mixture = fitted("full", 1, prior={"components": prior})
    n, mean = len(IRIS), IRIS.mean(axis=0)
    gap = mean - prior.location
    scatter = prior.scatter + (IRIS - mean).T @ (IRIS - mean) + 3 * n / (n + 3) * np.outer(gap, gap)
    np.testing.assert_allclose(mixture.means_[0], (3 * prior.location + n * mean) / (n + 3))
    np.testing.assert_allclose(mixture.covariances_[0], scatter / (9 + n + D + 2))


def test_one_diagonal_and_one_spherical_component_are_at_the_mode():
    n, mean = len(IRIS), IRIS.mean(axis=0)
    gap, squares = mean - components("diag").location, ((IRIS - mean) ** 2).sum(axis=0)
    spread = squares + 3 * n / (n + 3) * gap**2
    diagonal = fitted("diag", 1, prior={"components": components("diag")})
    np.testing.assert_allclose(diagonal.covariances_[0], (components("diag").scatter + spread) / (9 + n + 3))
    ball = fitted("spherical", 1, prior={"components": components("spherical")})
    np.testing.assert_allclose(ball.covariances_[0], (2 + spread.sum()) / (9 + n * D + D + 2))
    np.testing.assert_allclose(ball.means_, diagonal.means_)


def log_prior(mixture, prior):
    """By scipy: the covariances inverse Wishart, the means normal given them, the weights Dirichlet."""
    kind, (k, d) = mixture.covariance_type, mixture.means_.shape
    value = stats.dirichlet(np.full(k, 2.5)).logpdf(mixture.weights_ / mixture.weights_.sum())
    own = prior["components"]
    for j in range(k):
        if kind in ("full", "tied"):
            C = mixture.covariances_ if kind == "tied" else mixture.covariances_[j]
            value += stats.multivariate_normal(own.location, C / 3).logpdf(mixture.means_[j])
            if kind == "full" or j == 0:
                value += stats.invwishart(9, own.scatter).logpdf(C)
        else:
            v = np.broadcast_to(mixture.covariances_[j], d)
            value += stats.norm(own.location, np.sqrt(v / 3)).logpdf(mixture.means_[j]).sum()
            each = stats.invgamma(4.5, scale=own.scatter / 2).logpdf(mixture.covariances_[j])
            value += each.sum()
    return value


@pytest.mark.parametrize("kind", KINDS)
def test_the_objective_is_the_likelihood_and_scipys_prior(kind):
    prior = {"weights": 2.5, "components": components(kind)}
    mixture = fitted(kind, 3, prior=prior, tol=1e-13, max_iter=5000)
    expected = mixture.score_samples(IRIS).sum() + log_prior(mixture, prior)
    assert mixture.lower_bound_ * len(IRIS) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("X", [IRIS, incomplete()], ids=["whole", "holed"])
def test_the_objective_never_falls_and_the_gradient_finds_the_same_top(kind, X):
    prior = {"weights": Dirichlet([3.0, 2.0]), "components": components(kind)}
    start = {"means_init": IRIS[[0, 120]]}
    climbed = fitted(kind, 2, X, prior=prior, tol=1e-11, max_iter=5000, **start)
    assert (np.diff(climbed.lower_bounds_) > -1e-10).all()
    other = fitted(kind, 2, X, prior=prior, tol=1e-11, max_iter=5000, method="gradient", **start)
    assert other.lower_bound_ * len(X) == pytest.approx(climbed.lower_bound_ * len(X), abs=1e-6)


def test_concentrations_act_like_rows_seen_before():
    X = np.concatenate([np.zeros((30, 1)), np.full((10, 1), 50.0)]) + np.linspace(-1, 1, 40)[:, None]
    mixture = fitted("full", 2, X, prior={"weights": Dirichlet([1.0, 11.0])}, means_init=[[0.0], [50.0]])
    assert mixture.weights_ == pytest.approx([30 / 50, 20 / 50])
    assert fitted("full", 2, X, prior={"weights": 6.0}).weights_ == pytest.approx([35 / 50, 15 / 50])


def test_a_strong_prior_wins_and_a_weak_one_hardly_matters():
    strong = components("full", dof=1e9, kappa=1e9)
    sure = fitted("full", 1, prior={"components": strong})
    np.testing.assert_allclose(sure.means_[0], strong.location, atol=1e-5)
    np.testing.assert_allclose(sure.covariances_[0], strong.scatter / 1e9, atol=1e-5)
    weak = NormalInverseWishart(np.zeros(D), 1e-6, 1e-6 * np.eye(D), D)
    np.testing.assert_allclose(fitted("full", 1, prior={"components": weak}).means_[0], IRIS.mean(axis=0), rtol=1e-6)


def test_units_of_the_data_and_the_prior_go_together():
    scale = np.array([10.0, 0.1, 1000.0, 1.0])
    own = components("full")
    there = NormalInverseWishart(own.location * scale, 3.0, own.scatter * np.outer(scale, scale), 9.0)
    plain = fitted("full", 2, prior={"components": own}, means_init=IRIS[[0, 120]])
    moved = fitted("full", 2, IRIS * scale, prior={"components": there}, means_init=IRIS[[0, 120]] * scale)
    np.testing.assert_allclose(moved.means_, plain.means_ * scale, rtol=1e-8)
    np.testing.assert_allclose(moved.covariances_, plain.covariances_ * np.outer(scale, scale), rtol=1e-7, atol=1e-9)


def test_a_component_on_one_point_stays_finite_without_reg_covar():
    X = np.concatenate([np.full((50, 2), 3.0), np.random.default_rng(0).normal(size=(50, 2))])
    prior = {"components": NormalInverseWishart(np.zeros(2), 0.01, np.eye(2), 3.0)}
    mixture = fitted("full", 2, X, reg_covar=0.0, prior=prior)
    assert np.linalg.eigvalsh(mixture.covariances_).min() > 1e-3


def test_nothing_known_beforehand_is_plain_maximum_likelihood():
    mixture = fitted("full", 2, reg_covar=0.0, tol=1e-12, max_iter=5000)
    assert mixture.lower_bound_ * len(IRIS) == pytest.approx(mixture.score_samples(IRIS).sum(), abs=1e-6)
    flat = fitted("full", 2, reg_covar=0.0, tol=1e-12, max_iter=5000, prior={"weights": 1.0})
    np.testing.assert_allclose(flat.means_, mixture.means_, rtol=1e-10)


def test_the_prior_survives_cloning_and_partial_fit():
    mixture = GaussianMixture(1, prior={"components": components("full", dof=50.0, kappa=20.0)})
    once = clone(mixture).fit(IRIS)
    batches = clone(mixture).partial_fit(IRIS[:70]).partial_fit(IRIS[70:])
    np.testing.assert_allclose(batches.means_, once.means_)
    np.testing.assert_allclose(batches.covariances_, once.covariances_)


@pytest.mark.parametrize(
    ("kind", "prior", "error", "message"),
    [
        ("full", {"weight": 2.0}, ValueError, "the key 'weight'"),
        ("full", {"weights": Dirichlet([1.0, 2.0, 3.0])}, ValueError, '"weights".* 3 entries.* 2 components'),
        ("full", {"weights": 0.5}, ValueError, '"weights".*at least 1'),
        ("full", {"weights": "flat"}, TypeError, '"weights".*Dirichlet'),
        ("full", {"components": Dirichlet(1.0)}, TypeError, '"components".*NormalInverseWishart'),
        ("diag", {"components": components("full")}, ValueError, "kind 'full'.*diag covariances needs 'diag'"),
        ("tied", {"components": components("diag")}, ValueError, "kind 'diag'.*tied covariances needs 'full'"),
        (
            "full",
            {"components": NormalInverseWishart([0.0], 1.0, [[1.0]], 3.0)},
            ValueError,
            "1 columns, but the table has 4",
        ),
        ("full", 3.0, ValueError, "prior"),
    ],
)
def test_wrong_priors_are_named(kind, prior, error, message):
    with pytest.raises(error, match=message):
        fitted(kind, 2, prior=prior)
