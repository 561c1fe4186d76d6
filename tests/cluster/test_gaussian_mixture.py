import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import trapezoid
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as Peer

from latently.cluster import GaussianMixture
from latently.cluster.gaussian.model import GaussianMixtureModel
from latently.data.open import as_source
from latently.distributions.components.gaussian import params as gaussian_params
from latently.distributions.components.gaussian.params import KINDS
from latently.learn import free_energy, reducing, threads

IRIS = load_iris().data


def two_blobs(n=300, d=2, gap=6.0, seed=0):
    rng = np.random.default_rng(seed)
    side = rng.uniform(size=n) < 0.3
    return rng.normal(size=(n, d)) + gap * side[:, None], side


def fitted(kind="full", k=2, X=IRIS, **options):
    return GaussianMixture(k, covariance_type=kind, random_state=0, **options).fit(X)


def matrices(mixture):
    """(k, d, d) covariances, whatever the kind."""
    k, d = mixture.means_.shape
    kind, c = mixture.covariance_type, mixture.covariances_
    return {
        "full": lambda: c,
        "tied": lambda: np.tile(c, (k, 1, 1)),
        "diag": lambda: np.stack([np.diag(row) for row in c]),
        "spherical": lambda: c[:, None, None] * np.eye(d),
    }[kind]()


@pytest.mark.parametrize("kind", KINDS)
def test_densities_are_those_of_scipy(kind):
    mixture = fitted(kind, 3)
    parts = [stats.multivariate_normal(m, c).pdf(IRIS) for m, c in zip(mixture.means_, matrices(mixture), strict=True)]
    np.testing.assert_allclose(np.exp(mixture.score_samples(IRIS)), mixture.weights_ @ parts, rtol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_both_ways_of_computing_agree(kind, monkeypatch):
    by_features = fitted(kind, 3, tol=1e-8, max_iter=300)
    monkeypatch.setattr(gaussian_params, "_FAR", 0.0)
    centred = fitted(kind, 3, tol=1e-8, max_iter=300)
    assert by_features.lower_bounds_ == pytest.approx(centred.lower_bounds_, abs=1e-9)
    np.testing.assert_allclose(by_features.covariances_, centred.covariances_, atol=1e-9)
    np.testing.assert_allclose(by_features.predict_proba(IRIS), centred.predict_proba(IRIS), atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_far_and_narrow_clusters_keep_their_variance(kind):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1e-3, size=(200, 2)), rng.normal(1e6, 1e-3, size=(200, 2))])
    mixture = fitted(kind, 2, X, reg_covar=0.0)
    expected = {"full": 1e-6 * np.eye(2), "tied": 1e-6 * np.eye(2)}.get(kind, 1e-6)
    np.testing.assert_allclose(
        mixture.covariances_, np.broadcast_to(expected, mixture.covariances_.shape), rtol=0.3, atol=2e-7
    )


@pytest.mark.parametrize("kind", KINDS)
def test_wide_tables_agree_with_scipy(kind):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 130)) + 3 * (rng.uniform(size=(400, 1)) < 0.5)
    mixture = fitted(kind, 2, X, reg_covar=0.01)
    parts = [stats.multivariate_normal(m, c).logpdf(X) for m, c in zip(mixture.means_, matrices(mixture), strict=True)]
    expected = np.logaddexp.reduce(np.log(mixture.weights_)[:, None] + parts, axis=0)
    np.testing.assert_allclose(mixture.score_samples(X), expected, rtol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_equal_repeats(kind):
    times = np.random.default_rng(0).integers(1, 4, size=150)
    start = {"means_init": IRIS[[0, 100]], "tol": 1e-9, "max_iter": 500}
    weighted = GaussianMixture(2, covariance_type=kind, random_state=0, **start).fit(IRIS, sample_weight=times)
    repeated = GaussianMixture(2, covariance_type=kind, random_state=0, **start).fit(np.repeat(IRIS, times, axis=0))
    np.testing.assert_allclose(weighted.means_, repeated.means_, atol=1e-4)
    np.testing.assert_allclose(weighted.covariances_, repeated.covariances_, atol=1e-4)


def test_threads_change_nothing():
    X, _ = two_blobs(40000)
    results = []
    for n in (1, 2, 5):
        with threads(n):
            results.append(fitted("full", 3, X, max_iter=5, tol=0.1))
    for other in results[1:]:
        assert (other.means_ == results[0].means_).all()
        assert (other.covariances_ == results[0].covariances_).all()
        assert other.lower_bounds_ == results[0].lower_bounds_


@pytest.mark.parametrize("kind", KINDS)
def test_statistics_add_and_subtract(kind):
    mixture = fitted(kind, 2)
    model, params = mixture._engine()

    def moments(X):
        with reducing(as_source(X)) as reduce:
            return reduce(lambda chunk: model.expect(params, chunk))

    whole, parts = moments(IRIS), moments(IRIS[:60]) + moments(IRIS[60:])
    rest = whole - moments(IRIS[:60])
    for name in ("rows", "bound", "weight", "first", "second"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(getattr(rest, name), getattr(moments(IRIS[60:]), name), rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_moments_move_between_centres_and_frames(kind):
    stats_ = fitted(kind, 2).statistics_
    centre = np.random.default_rng(0).normal(size=stats_.centre.shape)
    moved = stats_.about(centre)
    np.testing.assert_allclose(moved.scatter(), stats_.scatter(), atol=1e-8)
    np.testing.assert_allclose(moved.centre + moved.offsets(), stats_.centre + stats_.offsets())
    scale = np.full(4, 3.0) if kind == "spherical" else np.array([1.0, 2.0, 0.5, 4.0])
    frame = gaussian_params.Frame(np.array([1.0, 2.0, 3.0, 4.0]), scale)
    there = stats_.in_frame(frame)
    back = there.in_frame(stats_.frame)
    np.testing.assert_allclose(back.scatter(), stats_.scatter(), atol=1e-8)
    np.testing.assert_allclose(
        frame.outward(there.centre + there.offsets()), stats_.frame.outward(stats_.centre + stats_.offsets())
    )


@pytest.mark.parametrize("kind", KINDS)
def test_merged_halves_are_as_good_as_the_whole(kind):
    X, side = two_blobs()
    first, second = fitted(kind, 2, X[::2]), fitted(kind, 2, X[1::2])
    alone = first.score(X)
    first.merge(second)
    assert first.statistics_.rows == len(X)
    assert first.score(X) >= alone
    assert first.score(X) == pytest.approx(fitted(kind, 2, X).score(X), abs=1e-3)
    assert first.weights_.tolist() == pytest.approx([1 - side.mean(), side.mean()], abs=0.01)


def test_merge_refuses_another_shape():
    with pytest.raises(ValueError, match="cannot be merged"):
        fitted("full", 2).merge(fitted("diag", 2))


def test_partial_fit_learns_from_each_batch():
    X, _ = two_blobs(600)
    mixture = GaussianMixture(2, random_state=0)
    for batch in np.split(X, 6):
        mixture.partial_fit(batch)
    assert mixture.statistics_.rows == 600
    assert mixture.score(X) == pytest.approx(fitted("full", 2, X).score(X), abs=0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_is_the_free_energy(kind):
    mixture = fitted(kind, 2)
    model, params = mixture._engine()
    posterior = mixture.predict_proba(IRIS)
    likelihood = mixture.score_samples(IRIS).sum()
    assert free_energy(model, params, posterior, IRIS) == pytest.approx(likelihood)
    hard = np.eye(2)[mixture.predict(IRIS)]
    divergence = -np.log(posterior[hard == 1]).sum()
    assert free_energy(model, params, hard, IRIS) == pytest.approx(likelihood - divergence)


def test_the_prior_is_part_of_the_objective():
    model = GaussianMixtureModel("full", strength=2.0)
    _, params = fitted("full", 2)._engine()
    covariances = params.covariances
    unit = params.frame.within
    shapes = covariances / np.sqrt(np.outer(unit, unit))
    expected = sum(-(np.trace(np.linalg.inv(c)) + np.linalg.slogdet(c)[1] - 4) for c in shapes)
    assert model.log_prior(params) == pytest.approx(expected)


@pytest.mark.parametrize("kind", KINDS)
def test_a_component_on_one_repeated_point_stays_finite(kind):
    rng = np.random.default_rng(0)
    X = np.concatenate([np.full((50, 2), 3.0), rng.normal(size=(50, 2))])
    mixture = fitted(kind, 2, X)
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_", "lower_bound_"):
        assert np.isfinite(getattr(mixture, name)).all()
    assert mixture.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(100))


@pytest.mark.parametrize("kind", KINDS)
def test_more_components_than_distinct_rows_is_defined(kind):
    X = np.repeat([[0.0, 1.0], [2.0, 3.0]], 5, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # K-means says that it found fewer clusters
        mixture = fitted(kind, 3, X)
    assert np.isfinite(mixture.covariances_).all()
    assert np.isfinite(mixture.score_samples(X)).all()
    assert np.isfinite(mixture.means_).all()


def test_maximum_likelihood_on_request_says_when_there_is_none():
    X = np.repeat([[0.0, 1.0], [2.0, 3.0]], 5, axis=0)
    with pytest.raises(ValueError, match="ill-defined empirical covariance.*reg_covar"):
        fitted("full", 2, X, reg_covar=0.0)


@given(st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_one_dimensional_densities_integrate_to_one(seed):
    rng = np.random.default_rng(seed)
    mixture = fitted("full", 2, rng.normal(size=(30, 1)) * rng.uniform(0.1, 10))
    reach = 12 * np.sqrt(mixture.covariances_.max()) + np.abs(mixture.means_).max()
    grid = np.linspace(-reach, reach, 200_001)[:, None]
    assert trapezoid(np.exp(mixture.score_samples(grid)), grid[:, 0]) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_samples_follow_the_mixture(kind):
    mixture = fitted(kind, 2, two_blobs()[0])
    X, labels = mixture.sample(20000)
    assert np.bincount(labels) / 20000 == pytest.approx(mixture.weights_, abs=0.02)
    for k, covariance in enumerate(matrices(mixture)):
        np.testing.assert_allclose(X[labels == k].mean(axis=0), mixture.means_[k], atol=0.1)
        np.testing.assert_allclose(np.cov(X[labels == k].T), covariance, atol=0.1)
    with pytest.raises(ValueError, match="at least one sample"):
        mixture.sample(0)


def test_icl_adds_the_doubt_to_the_bic():
    apart, torn = fitted("full", 2, two_blobs(gap=20)[0]), fitted("full", 2, two_blobs(gap=1)[0])
    X = two_blobs(gap=20)[0]
    assert apart.icl(X) == pytest.approx(apart.bic(X), abs=1e-6)
    Y = two_blobs(gap=1)[0]
    p = torn.predict_proba(Y)
    assert torn.icl(Y) - torn.bic(Y) == pytest.approx(-2 * np.sum(p * np.log(p)))


def test_components_come_heaviest_first_unless_the_start_was_given():
    X, side = two_blobs()
    for seed in range(4):
        weights = GaussianMixture(2, random_state=seed).fit(X).weights_
        assert weights == pytest.approx([1 - side.mean(), side.mean()], abs=0.01)
    given_start = GaussianMixture(2, means_init=[[6.0, 6.0], [0.0, 0.0]], random_state=0).fit(X)
    assert given_start.weights_[0] < given_start.weights_[1]


@pytest.mark.parametrize("how", ["kmeans", "k-means++", "random", "random_from_data"])
def test_every_start_leads_somewhere(how):
    mixture = GaussianMixture(2, init_params=how, n_init=3, random_state=0, max_iter=500).fit(two_blobs()[0])
    assert mixture.converged_
    assert mixture.score(two_blobs()[0]) == pytest.approx(
        fitted("full", 2, two_blobs()[0]).score(two_blobs()[0]), abs=1e-2
    )


def test_a_callback_stops_the_fit_without_a_warning():
    mixture = GaussianMixture(2, tol=0.0, random_state=0).fit(IRIS, on_iteration=lambda step: step.iteration == 2)
    assert (mixture.reason_, mixture.converged_, mixture.n_iter_) == ("stopped", False, 2)


def test_running_out_of_iterations_is_said():
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        mixture = GaussianMixture(3, max_iter=1, random_state=0).fit(IRIS)
    assert not mixture.converged_
    assert mixture.reason_ == "max_iter"


def test_float32_columns_order_and_frames_are_welcome():
    import pandas as pd
    import polars as pl

    reference = fitted().predict(IRIS)
    names = list("abcd")
    for X in (np.asfortranarray(IRIS), pd.DataFrame(IRIS, columns=names), pl.DataFrame(IRIS, schema=names)):
        assert (fitted(X=X).predict(X) == reference).all()
    assert (fitted(X=IRIS.astype(np.float32)).predict(IRIS.astype(np.float32)) == reference).all()


def test_one_row_and_constant_columns_are_defined():
    one = GaussianMixture(1).fit([[1.0, 2.0]])
    assert np.isfinite(one.covariances_).all()
    X = np.column_stack([two_blobs()[0], np.full(300, 7.0), np.full(300, 1e12)])
    mixture = fitted("full", 2, X)
    assert np.isfinite(mixture.covariances_).all()
    assert (mixture.predict(X) == fitted("full", 2, X[:, :2]).predict(X[:, :2])).all()


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.empty((0, 2)), "0 sample"),
        (np.empty((3, 0)), "0 feature"),
        ([[1.0, 2.0], [3.0, np.inf]], "column 'x1'.*inf"),
        ([[1.0, "a"], [2.0, "b"]], "column 'x1'"),
        ([1.0, 2.0, 3.0], "Reshape your data"),
    ],
)
def test_bad_tables_are_named(X, message):
    with pytest.raises(ValueError, match=message):
        GaussianMixture(2).fit(X)


def test_other_bad_input_is_named():
    with pytest.raises(ValueError, match="n_components = 5, n_samples = 3"):
        GaussianMixture(5).fit(np.eye(3))
    with pytest.raises(ValueError, match="4 features"):
        fitted().predict(IRIS[:, :3])
    with pytest.raises(ValueError, match="sample_weight must not be negative"):
        GaussianMixture(2).fit(IRIS, sample_weight=np.r_[-1, np.ones(149)])
    with pytest.raises(ValueError, match="'means' should have the shape of"):
        GaussianMixture(2, means_init=[[1.0]]).fit(IRIS)
    with pytest.raises(ValueError, match="positive-definite"):
        GaussianMixture(1, precisions_init=-np.eye(4)[None]).fit(IRIS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_start_at_given_responsibilities_is_the_peers(kind):
    rng = np.random.default_rng(0)
    X, shares = rng.random((100, 3)), rng.random((100, 4))
    shares /= shares.sum(axis=1, keepdims=True)
    ours, peer = GaussianMixture(4, covariance_type=kind), Peer(4, covariance_type=kind, reg_covar=0.0)
    ours._initialize(X, shares)
    peer._initialize(X, shares)
    np.testing.assert_allclose(ours.means_, peer.means_)
    np.testing.assert_allclose(ours.weights_, peer.weights_)
    np.testing.assert_allclose(ours.precisions_cholesky_, peer.precisions_cholesky_, rtol=1e-4, atol=1e-6)
