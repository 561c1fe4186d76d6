"""Kernel density, against scikit-learn's class and integrals."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KernelDensity as Peer

from latently.detect import KernelDensity
from latently.detect.density.boxes import KINDS
from latently.learn import threads

IRIS = load_iris().data
RNG = np.random.default_rng(0)
MANY, ASKED = RNG.normal(size=(3000, 3)), RNG.normal(size=(500, 3)) * 1.5


PROFILES = {
    "gaussian": lambda r: np.exp(-0.5 * r * r), "tophat": lambda r: (r < 1.0) * 1.0,
    "epanechnikov": lambda r: np.maximum(1 - r * r, 0), "exponential": lambda r: np.exp(-r),
    "linear": lambda r: np.maximum(1 - r, 0), "cosine": lambda r: np.where(r < 1, np.cos(0.5 * np.pi * r), 0),
}  # fmt: skip


@pytest.mark.parametrize("kernel", KINDS)
@pytest.mark.parametrize("bandwidth", [0.3, 2.0])
def test_every_kernel_is_scikit_learns_and_right_where_that_is_not(kernel, bandwidth):
    """Far out scikit-learn's sums are rounding (log densities of -38 where -52 is right); ours are the plain sums."""
    ours = KernelDensity(kernel=kernel, bandwidth=bandwidth).fit(MANY).score_samples(ASKED)
    theirs = Peer(kernel=kernel, bandwidth=bandwidth).fit(MANY).score_samples(ASKED)
    near = theirs > -15
    assert near.sum() > 100
    assert np.allclose(ours[near], theirs[near], rtol=1e-6, atol=1e-6)
    r = np.sqrt(((ASKED[:, None] - MANY[None]) ** 2).sum(axis=2)) / bandwidth
    plain = PROFILES[kernel](r).sum(axis=1)
    seen = plain > 1e-250
    scale = ours[near][0] - np.log(plain[near][0])
    assert np.allclose(ours[seen], np.log(plain[seen]) + scale, atol=1e-9)
    assert kernel in ("gaussian", "exponential") or np.array_equal(np.isfinite(ours), plain > 0)


@pytest.mark.parametrize("kernel", ["gaussian", "exponential"])
def test_the_error_is_within_rtol(kernel):
    exact = KernelDensity(kernel=kernel, bandwidth=0.2).fit(MANY).score_samples(MANY[:500])
    for rtol in (1e-4, 1e-2, 0.3):
        near = KernelDensity(kernel=kernel, bandwidth=0.2, rtol=rtol).fit(MANY).score_samples(MANY[:500])
        assert np.abs(np.expm1(near - exact)).max() <= rtol
    assert np.abs(near - exact).max() > 0  # some boxes were left out


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev"])
def test_other_metrics_are_scikit_learns(metric):
    ours = KernelDensity(metric=metric, kernel="gaussian").fit(IRIS).score_samples(IRIS)
    assert np.allclose(ours, Peer(metric=metric).fit(IRIS).score_samples(IRIS))


def test_weights_are_scikit_learns():
    weights = np.linspace(0.1, 3, len(IRIS))
    ours = KernelDensity(bandwidth=0.4).fit(IRIS, sample_weight=weights).score_samples(IRIS)
    assert np.allclose(ours, Peer(bandwidth=0.4).fit(IRIS, sample_weight=weights).score_samples(IRIS))


def test_far_away_the_logarithm_is_still_right():
    far = np.array([[1e3, 0.0, 0.0]])
    nearest = ((far - MANY) ** 2).sum(axis=1).min()
    found = KernelDensity(bandwidth=0.5).fit(MANY).score_samples(far)[0]
    norm = 1.5 * np.log(2 * np.pi) + 3 * np.log(0.5) + np.log(3000)
    assert np.isclose(found, -0.5 * nearest / 0.25 - norm, rtol=1e-6)


def test_an_offset_and_threads_change_nothing():
    near = KernelDensity(bandwidth=0.5).fit(MANY).score_samples(ASKED)
    assert np.allclose(KernelDensity(bandwidth=0.5).fit(MANY + 1e8).score_samples(ASKED + 1e8), near, atol=1e-5)
    model = KernelDensity(bandwidth=0.5).fit(MANY)
    with threads(1):
        alone = model.score_samples(ASKED)
    with threads(3):
        assert np.array_equal(model.score_samples(ASKED), alone)


def test_the_held_out_bandwidth_is_near_the_best_of_a_grid():
    X = np.concatenate([RNG.normal(0, 1, (200, 1)), RNG.normal(8, 0.2, (200, 1))])
    new = np.concatenate([RNG.normal(0, 1, (2000, 1)), RNG.normal(8, 0.2, (2000, 1))])
    grid = max(Peer(bandwidth=h).fit(X).score(new) for h in np.geomspace(0.02, 2, 40)) / len(new)
    chosen = KernelDensity(bandwidth="held-out").fit(X)
    assert chosen.score(new) / len(new) > grid - 0.03
    ruled = KernelDensity(bandwidth="rule").fit(X)
    assert ruled.score(new) < chosen.score(new)  # one width for all is too wide here
    assert np.isclose(KernelDensity(bandwidth="rule").fit(X * 1e3).bandwidth_, 1e3 * ruled.bandwidth_)


def test_the_view_in_feature_space():
    model = KernelDensity(bandwidth=0.5).fit(IRIS)
    values = model.mean_in_feature_space()(IRIS)
    norm = (2 * np.pi * 0.25) ** 2
    assert np.allclose(values / norm, np.exp(model.score_samples(IRIS)))
    with pytest.raises(ValueError, match="Gaussian kernel"):
        KernelDensity(kernel="tophat").fit(IRIS).mean_in_feature_space()


def test_the_threshold_follows_contamination():
    found = KernelDensity(bandwidth="rule", contamination=0.2).fit(MANY[:500])
    assert abs((found.predict(MANY[:500]) == -1).mean() - 0.2) < 0.01


@pytest.mark.parametrize("kernel", ["gaussian", "tophat"])
def test_samples_have_the_spread_of_the_density(kernel):
    model = KernelDensity(bandwidth=1.0, kernel=kernel).fit(IRIS)
    drawn = model.sample(20_000, random_state=0)
    own = 1.0 if kernel == "gaussian" else 1.0 / 6  # variance of a column of the kernel; of a ball, 1 / (d + 2)
    assert np.allclose(drawn.var(axis=0), IRIS.var(axis=0) + own, rtol=0.06)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"'x0'.*NaN.*ModelDetector"):
        KernelDensity().fit([[np.nan], [1.0]])
    with pytest.raises(ValueError, match="bandwidth"):
        KernelDensity(bandwidth=-1.0).fit(IRIS)
    with pytest.raises(NotImplementedError, match="cosine"):
        KernelDensity(kernel="cosine").fit(IRIS).sample()
    assert np.isfinite(KernelDensity(bandwidth="held-out").fit([[1.0, 2.0]]).score_samples([[1.0, 2.0]])).all()
    assert np.isfinite(KernelDensity(bandwidth="rule").fit(np.ones((5, 2))).score_samples(np.ones((1, 2)))).all()
