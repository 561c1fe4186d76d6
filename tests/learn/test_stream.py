"""Streams: old rows fade, memory stays, and what was not expected is told."""

import gc
import itertools
import tracemalloc

import numpy as np
import pytest

from latently.cluster import BernoulliMixture, GaussianMixture, KMeans, Mixture
from latently.learn import stream
from latently.learn.estimator.stream import faded
from latently.predict import BayesianLinearRegression, GaussianNB, NaiveBayes


def two_groups(rng, n, shift=0.0):
    z = rng.integers(2, size=n)
    return rng.normal(size=(n, 2)) + 6.0 * z[:, None] + shift, z


def test_without_forgetting_it_is_partial_fit():
    rng = np.random.default_rng(0)
    batches = [two_groups(rng, 80)[0] for _ in range(20)]
    streamed, plain = (GaussianMixture(2, random_state=0) for _ in range(2))
    assert [record.rows for record in stream(streamed, batches)] == [80] * 20
    for batch in batches:
        plain.partial_fit(batch)
    np.testing.assert_array_equal(streamed.means_, plain.means_)


def test_forgetting_is_an_exponential_weight():
    """One Gaussian: mean and variance are those of all rows, with weights that fall by a factor per batch."""
    rng = np.random.default_rng(1)
    batches = [rng.normal(t / 10, 1 + t / 40, size=(30, 2)) for t in range(40)]
    model = GaussianMixture(1, reg_covar=0)
    list(stream(model, batches, forgetting=0.8))
    weights = np.repeat(0.8 ** np.arange(39, -1, -1.0), 30)
    rows = np.concatenate(batches)
    np.testing.assert_allclose(model.means_[0], np.average(rows, axis=0, weights=weights), rtol=1e-10)
    covariance = np.cov(rows.T, aweights=weights, ddof=0)
    np.testing.assert_allclose(model.covariances_[0], covariance, rtol=1e-9)
    assert model.statistics_.rows == pytest.approx(weights.sum())


def test_forgetting_of_naive_bayes_and_regression():
    rng = np.random.default_rng(2)
    batches = [(rng.normal(t / 10, 1, size=(40, 2)), rng.integers(2, size=40)) for t in range(20)]
    weights = np.repeat(0.7 ** np.arange(19, -1, -1.0), 40)
    X, y = (np.concatenate(part) for part in zip(*batches, strict=True))
    bayes = GaussianNB()
    list(stream(bayes, batches, forgetting=0.7, classes=[0, 1]))
    whole = GaussianNB().fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(bayes.theta_, whole.theta_, rtol=1e-10)
    np.testing.assert_allclose(bayes.var_, whole.var_, rtol=1e-9)
    line = BayesianLinearRegression()
    list(stream(line, ((rows, rows @ [1.0, 2.0] + 3 + codes) for rows, codes in batches), forgetting=0.7))
    whole = BayesianLinearRegression().fit(X, X @ [1.0, 2.0] + 3 + y, sample_weight=weights)
    np.testing.assert_allclose(line.coef_, whole.coef_, rtol=1e-9)


def test_k_means_follows_what_is_new():
    rng = np.random.default_rng(3)
    moving = lambda: (two_groups(rng, 100, shift=t / 50)[0] for t in range(300))  # noqa: E731
    follows, stays = (KMeans(2, random_state=0) for _ in range(2))
    list(stream(follows, moving(), forgetting=0.9))
    list(stream(stays, moving()))
    end = np.sort(follows.cluster_centers_[:, 0])
    np.testing.assert_allclose(end, [6.0, 12.0], atol=0.5)
    assert (np.sort(stays.cluster_centers_[:, 0]) < end - 1.5).all()


@pytest.mark.parametrize("model", [GaussianMixture(2, random_state=0), KMeans(2, random_state=0)])
def test_drift_is_told_when_it_comes(model):
    rng = np.random.default_rng(4)
    batches = (two_groups(rng, 100, shift=0.0 if t < 150 else 4.0)[0] for t in range(200))
    records = list(stream(model, batches, forgetting=0.95))
    drifts = [record.batch for record in records if record.drift]
    assert drifts
    assert drifts[0] == 150
    at = records[150]
    assert at.log_likelihood < at.expected - 6 * at.spread
    # the model follows: after a while the new rows are expected again
    assert drifts[-1] < 190
    assert np.isnan(records[0].log_likelihood)


def test_drift_of_a_classifier_shows_in_the_labels():
    rng = np.random.default_rng(5)
    batches = ((X, z if t < 60 else 1 - z) for t in range(80) for X, z in [two_groups(rng, 200)])
    records = stream(GaussianNB(), batches, forgetting=0.9, classes=[0, 1])
    assert next(record.batch for record in records if record.drift) == 60


def held_by_latently():
    """Bytes allocated in the package's own lines: other threads of the process allocate too."""
    own = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, "*/latently/*")])
    return sum(trace.size for trace in own.traces)


def test_memory_stays_over_three_thousand_batches():
    rng = np.random.default_rng(6)
    table = two_groups(rng, 4096)[0]
    endless = (table[i % 4000 : i % 4000 + 8] for i in itertools.count())
    model = GaussianNB()
    pairs = ((X, (X[:, 0] > 3).astype(int)) for X in endless)
    records = stream(model, pairs, forgetting=0.99, classes=[0, 1])
    sizes = []
    tracemalloc.start()
    for record in itertools.islice(records, 3000):
        if record.batch in (1000, 2999):
            gc.collect()  # lists of free objects are no growth
            sizes.append(held_by_latently())
    tracemalloc.stop()
    assert record.batch == 2999
    assert 0 < sizes[1] < sizes[0] + 5_000
    assert np.isfinite(model.var_).all()
    assert model.class_count_.sum() == pytest.approx(8 / (1 - 0.99), rel=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        GaussianMixture(2, random_state=0),
        GaussianMixture(2, covariance_type="tied", random_state=0),
        BernoulliMixture(2, random_state=0),
        Mixture(2, random_state=0),
    ],
)
def test_half_and_half_is_the_whole(model):
    stats = model.fit(two_groups(np.random.default_rng(7), 60)[0]).statistics_
    half = faded(stats, 0.5)
    whole = half + half
    assert whole.rows == pytest.approx(stats.rows)
    np.testing.assert_allclose(whole.weight, stats.weight)
    np.testing.assert_allclose(half.weight, stats.weight / 2)
    again = model._learn_from(*((whole,) if not isinstance(model, GaussianMixture) else (model._engine()[1], whole)))
    assert np.isfinite(again.weights_).all()


def test_mixed_tables_stream_too():
    import pandas as pd

    rng = np.random.default_rng(8)
    batches = [
        (pd.DataFrame({"x": rng.normal(size=30), "c": rng.choice(["u", "v"], size=30)}), rng.integers(2, size=30))
        for _ in range(15)
    ]
    records = list(stream(NaiveBayes(), batches, forgetting=0.5, classes=[0, 1]))
    assert len(records) == 15
    assert np.isfinite([record.log_likelihood for record in records[1:]]).all()


def test_bad_settings():
    with pytest.raises(ValueError, match="forgetting must be above 0"):
        next(stream(GaussianNB(), [], forgetting=0.0))
    with pytest.raises(ValueError, match="alarm must be positive"):
        next(stream(GaussianNB(), [], alarm=0.0))
