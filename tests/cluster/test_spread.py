"""Default priors are relative to the spread inside clusters, so clusters far apart are not widened."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.mixture import GaussianMixture as Peer

from latently.cluster import GaussianMixture, Mixture
from latently.distributions import Gaussian
from latently.distributions.components.spread import within_deviation

KINDS = ("full", "tied", "diag", "spherical")
NEAR = 0.02  # nats per row


def apart(n, gap, d=1, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d))
    X[: n // 2] += gap
    return X


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gap", [1e4, 1e6])
@pytest.mark.parametrize("d", [1, 3])
def test_clusters_far_apart_score_as_the_peer_does_on_rows_held_out(kind, gap, d):
    X, held_out = apart(100, gap, d), apart(2000, gap, d, seed=1)
    ours = GaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
    peer = Peer(2, covariance_type=kind, random_state=0).fit(X)
    assert ours.score(held_out) == pytest.approx(peer.score(held_out), abs=NEAR)


@pytest.mark.parametrize("gap", [1e4, 1e6])
def test_columns_of_a_table_score_as_the_peer_does(gap):
    X, held_out = apart(100, gap, 3), apart(2000, gap, 3, seed=1)
    peer = Peer(2, covariance_type="diag", random_state=0).fit(X)
    assert Mixture(2, random_state=0).fit(X).score(held_out) == pytest.approx(peer.score(held_out), abs=NEAR)
    peer = Peer(2, random_state=0).fit(X)
    group = Mixture(2, families={(0, 1, 2): Gaussian()}, random_state=0).fit(X)
    assert group.score(held_out) == pytest.approx(peer.score(held_out), abs=NEAR)


def test_two_clusters_of_deviation_one_are_told_so():
    X = apart(100, 1e4)
    expected = np.sort([X[:50].std(), X[50:].std()])
    ours = GaussianMixture(2, random_state=0).fit(X)
    assert_allclose(np.sort(np.sqrt(ours.covariances_.ravel())), expected, rtol=1e-4)
    table = Mixture(2, random_state=0).fit(X)
    assert_allclose(np.sort([np.sqrt(part.variance[0]) for part in table.components_]), expected, rtol=1e-3)


@pytest.mark.parametrize("make", [lambda: GaussianMixture(2, random_state=0), lambda: Mixture(2, random_state=0)])
def test_missing_values_change_nothing_of_that(make):
    X, held_out = apart(300, 1e4, 3), apart(2000, 1e4, 3, seed=1)
    X[np.random.default_rng(2).random(X.shape) < 0.2] = np.nan
    whole = make().fit(apart(300, 1e4, 3))
    assert make().fit(X).score(held_out) == pytest.approx(whole.score(held_out), abs=0.05)


def test_one_outlier_does_not_widen_the_others():
    X = np.append(np.random.default_rng(0).normal(size=200), 1e7)[:, None]
    variances = GaussianMixture(2, random_state=0).fit(X).covariances_.ravel()
    assert variances[0] == pytest.approx(X[:200].var(), rel=1e-4)
    table = Mixture(2, random_state=0).fit(X)
    assert table.components_[0].variance[0] == pytest.approx(X[:200].var(), rel=1e-3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("factor", "offset"), [(1e-12, 0.0), (1e12, 0.0), (1.0, 1e8)])
def test_units_and_offsets_give_the_same_clusters(kind, factor, offset):
    X = apart(200, 1e3, 2)
    here = GaussianMixture(2, covariance_type=kind, random_state=0, tol=1e-9, max_iter=500).fit(X)
    there = GaussianMixture(2, covariance_type=kind, random_state=0, tol=1e-9, max_iter=500).fit(X * factor + offset)
    assert_allclose(there.covariances_ / factor**2, here.covariances_, rtol=1e-5, atol=1e-6)
    assert_allclose(there.predict(X * factor + offset), here.predict(X))


@pytest.mark.parametrize("kind", KINDS)
def test_the_objective_does_not_fall_for_clusters_far_apart(kind):
    X = np.concatenate([apart(150, 1e5, 3), np.full((10, 3), 7.0)])
    bounds = GaussianMixture(4, covariance_type=kind, random_state=0, tol=0.0, max_iter=50, n_init=3)
    with pytest.warns(UserWarning, match="did not converge"):
        bounds.fit(X)
    assert np.isfinite(bounds.covariances_).all()
    assert (np.diff(bounds.lower_bounds_) > -1e-8).all()


def test_further_rows_are_learnt_under_the_same_prior():
    X = apart(400, 1e4)
    X = X[np.random.default_rng(0).permutation(400)]
    for make in (GaussianMixture(2, random_state=0), Mixture(2, random_state=0)):
        whole = make.fit(X).score(X)
        parts = type(make)(2, random_state=0).fit(X[:200]).partial_fit(X[200:])
        assert parts.score(X) == pytest.approx(whole, abs=NEAR)


def test_a_table_on_disk_gives_the_same_as_in_memory(tmp_path):
    pd = pytest.importorskip("pandas")
    X = apart(5000, 1e4, 2)[np.random.default_rng(0).permutation(5000)]
    X[::7, 0] = np.nan
    table = pd.DataFrame(X, columns=["a", "b"])
    table.to_parquet(tmp_path / "t.parquet", row_group_size=700)
    for make in (GaussianMixture, Mixture):
        here, there = make(2, random_state=0).fit(table), make(2, random_state=0).fit(tmp_path / "t.parquet")
        assert there.score(table) == pytest.approx(here.score(table), abs=1e-9)


# the measure


def test_a_normal_column_has_its_own_deviation():
    X = np.random.default_rng(0).normal(3, 2, size=(100_000, 1))
    for k in (1, 3, 10):
        assert within_deviation(X, np.ones(len(X)), np.array([np.inf]), k)[0] == pytest.approx(2.0, rel=0.03)


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.98, 0.02], [0.1, 0.6, 0.3], [0.25] * 4, [0.01, 0.01, 0.97, 0.01]])
def test_gaps_between_clusters_do_not_count(shares):
    rng, k = np.random.default_rng(0), len(shares)
    sizes = (np.array(shares) * 2000).astype(int)
    X = np.concatenate([rng.normal(1e9 * j, 1.0, n) for j, n in enumerate(sizes)])[:, None]
    assert 0.1 < within_deviation(X, np.ones(len(X)), X.std(axis=0), k)[0] < 4 * k


def test_weights_count_as_repeats():
    rng = np.random.default_rng(0)
    X, times = rng.normal(size=(60, 2)), rng.integers(0, 4, 60)
    X[rng.random(X.shape) < 0.2] = np.nan
    wide = np.full(2, np.inf)
    repeated = within_deviation(np.repeat(X, times, axis=0), np.ones(times.sum()), wide, 2)
    assert_allclose(within_deviation(X, times.astype(float), wide, 2), repeated, rtol=1e-12)


def test_equal_values_have_no_width_of_their_own():
    X = np.zeros((1000, 3))
    X[:100, 0] = np.random.default_rng(0).normal(5, 1, 100)  # the windows with a width tell it
    X[:, 1] = 1e8 + np.random.default_rng(0).integers(0, 2, 1000) * 1e-8  # rounding
    X[500:, 2] = np.random.default_rng(1).normal(0, 1e-17, 500)  # what is left of zeros after arithmetic
    X[:200, 2] = np.random.default_rng(2).normal(9, 1, 200)
    own = np.array([2.0, 3.0, 4.0])
    assert_allclose(within_deviation(X, np.ones(1000), own, 2), own)


def test_missing_values_do_not_count():
    x = np.random.default_rng(0).normal(size=(200, 1))
    incomplete = np.concatenate([x, np.full((300, 1), np.nan)])
    wide = np.array([np.inf])
    assert_allclose(within_deviation(incomplete, np.ones(500), wide, 2), within_deviation(x, np.ones(200), wide, 2))


@pytest.mark.parametrize("kind", KINDS)
def test_constant_columns_keep_their_own_unit(kind):
    constant = np.full((30, 2), 5.0)
    found = GaussianMixture(1, covariance_type=kind).fit(constant)
    assert np.isfinite(found.score_samples(constant)).all()
    beside = np.column_stack([np.random.default_rng(0).normal(size=30), np.full(30, 5.0)])
    assert np.isfinite(GaussianMixture(2, covariance_type=kind, random_state=0).fit(beside).covariances_).all()
