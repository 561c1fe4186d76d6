"""Starts: the same for the same rows however they come; components that die start again elsewhere."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris

from latently.cluster import GaussianMixture
from latently.cluster.gaussian.model import GaussianMixtureModel
from latently.cluster.gaussian.reseed import revived, worst_rows
from latently.data.open import as_source
from latently.distributions.components.gaussian.params import KINDS
from latently.learn import em, reducing

IRIS = load_iris().data


def three(n=300, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) + 8.0 * (np.arange(n) % 3)[:, None]


def deadly(kind, far=1e3):
    """A start whose third component is far from all rows and too narrow to reach any."""
    tiny = {
        "full": np.tile(np.eye(2), (3, 1, 1)) * np.array([1, 1, 1e8])[:, None, None],
        "tied": np.eye(2),
        "diag": np.outer([1, 1, 1e8], [1, 1]),
        "spherical": np.array([1, 1, 1e8]),
    }[kind]
    return {
        "weights_init": [0.4, 0.4, 0.2],
        "means_init": [[0.0, 0.0], [12.0, 12.0], [far, -far]],
        "precisions_init": tiny,
        "covariance_type": kind,
        "random_state": 0,
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["em", "gradient"])
def test_a_dead_component_is_put_to_work(kind, method):
    X = three()
    mixture = GaussianMixture(3, method=method, tol=1e-6, max_iter=500, **deadly(kind)).fit(X)
    assert mixture.weights_ == pytest.approx(np.full(3, 1 / 3), abs=0.02)
    np.testing.assert_allclose(np.sort(mixture.means_[:, 0]), [0.0, 8.0, 16.0], atol=0.3)
    assert (np.diff(mixture.lower_bounds_) > -1e-10).all()
    best = GaussianMixture(3, covariance_type=kind, random_state=0, tol=1e-6, max_iter=500).fit(X)
    assert mixture.lower_bound_ == pytest.approx(best.lower_bound_, abs=1e-3)


def test_with_values_missing_too():
    X = three()
    X[np.random.default_rng(0).uniform(size=X.shape) < 0.1] = np.nan
    mixture = GaussianMixture(3, tol=1e-6, max_iter=500, **deadly("full")).fit(X)
    assert mixture.weights_.min() > 0.3


def test_two_dead_components():
    start = deadly("full")
    start["means_init"] = [[8.0, 8.0], [-1e3, 1e3], [1e3, -1e3]]
    start["precisions_init"] = np.tile(np.eye(2), (3, 1, 1)) * np.array([0.01, 1e8, 1e8])[:, None, None]
    mixture = GaussianMixture(3, tol=1e-6, max_iter=500, **start).fit(three())
    assert mixture.weights_ == pytest.approx(np.full(3, 1 / 3), abs=0.02)


def test_maximum_likelihood_that_would_collapse_keeps_the_fit():
    # the worst row is alone: a component there has no covariance, so the dead one stays dead
    X = np.concatenate([three()[::3], [[40.0, -40.0]]])
    start = {
        "weights_init": [0.5, 0.5],
        "means_init": [[0.0, 0.0], [1e3, 1e3]],
        "precisions_init": [np.eye(2), 1e8 * np.eye(2)],
    }
    mixture = GaussianMixture(2, reg_covar=0.0, **start).fit(X)
    assert mixture.weights_ == pytest.approx([1.0, 0.0])
    np.testing.assert_allclose(mixture.means_[0], X.mean(axis=0))


def test_components_that_are_told_where_to_be_stay_there():
    fixed = {"means": [[np.nan] * 2, [np.nan] * 2, [1e3, -1e3]]}
    mixture = GaussianMixture(3, fixed=fixed, max_iter=500, **deadly("diag")).fit(three())
    assert mixture.means_[2].tolist() == pytest.approx([1e3, -1e3])
    assert mixture.weights_[2] < 1e-6


def test_fits_without_dead_components_are_left_alone():
    calls = []
    mixture = GaussianMixture(3, random_state=0, tol=1e-4)
    mixture.fit(IRIS, on_iteration=lambda step: calls.append(step) or False)
    assert [step.iteration for step in calls] == list(range(1, mixture.n_iter_ + 1))
    assert len(mixture.lower_bounds_) == mixture.n_iter_


def test_the_worst_row_is_the_one_of_lowest_density():
    mixture = GaussianMixture(2, random_state=0).fit(IRIS)
    model, params = mixture._engine()
    found = worst_rows(model, params, as_source(IRIS, chunk_rows=40), 3)
    expected = IRIS[np.argsort(mixture.score_samples(IRIS))[:3]]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("how", ["kmeans", "k-means++", "random_from_data"])
def test_neither_order_nor_repeats_nor_empty_rows_change_the_start(how):
    rng = np.random.default_rng(0)
    times = rng.integers(0, 4, size=150)
    options = {"init_params": how, "random_state": 3, "tol": 1e-9, "max_iter": 2000}
    weighted = GaussianMixture(3, **options).fit(IRIS, sample_weight=times)
    repeated = GaussianMixture(3, **options).fit(rng.permutation(np.repeat(IRIS, times, axis=0)))
    np.testing.assert_allclose(weighted.means_, repeated.means_, atol=1e-4)


def dead_fit(X):
    """A fit of three components, the last of which has no rows, and its model."""
    params = GaussianMixture(2, random_state=0, tol=1e-8).fit(X)._engine()[1]
    order = np.array([0, 1, 1])
    dead = replace(params.permuted(order), weights=np.append(params.weights * (1 - 1e-12), 1e-12))
    model = GaussianMixtureModel("full", 1e-4)
    with reducing(as_source(X)) as reduce:
        return em(model, dead, reduce, max_iter=0), model


@pytest.mark.parametrize(("gain", "kept"), [(-50.0, "old"), (0.0, "old"), (1e-8, "old"), (1.0, "new")])
def test_only_a_new_place_that_is_better_is_kept(gain, kept):
    X = three()
    fit, model = dead_fit(X)
    calls = []

    def again(start):
        calls.append(start)
        return replace(fit, params=replace(start, weights=np.full(3, 1 / 3)), trace=(fit.trace[-1] + gain,))

    found = revived(fit, model, as_source(X), again, np.ones(3, bool))
    assert len(calls) == 1
    np.testing.assert_array_equal(calls[0].means[2], model_frame_row(fit, model, X))
    assert found.params.weights.tolist() == (fit.params.weights.tolist() if kept == "old" else [1 / 3] * 3)
    assert found.trace[-1] == pytest.approx(fit.trace[-1] + (gain if kept == "new" else 0.0))


def model_frame_row(fit, model, X):
    """The row that is explained worst, in the frame."""
    return fit.params.frame.inward(X[np.argmin(np.logaddexp.reduce(model.log_joint(fit.params, X), axis=1))])


def test_what_may_not_move_is_not_put_elsewhere():
    fit, model = dead_fit(three())
    movable = np.array([True, True, False])
    assert revived(fit, model, as_source(three()), pytest.fail, movable) is fit
