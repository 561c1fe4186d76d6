"""What a stream tells of its batches, with scores that are given: means, deviations and drift by formula."""

import numpy as np
import pytest

from latently.distributions.statistics import Moments
from latently.learn import stream


class Told:
    """A model of whose batches the scores are given."""

    def __init__(self):
        self.statistics_ = Moments(np.ones(1), np.zeros(1), np.zeros(1), np.zeros(1))

    def partial_fit(self, X):
        return self

    def score_samples(self, X):
        return np.asarray(X)


def test_what_is_rare_does_not_hide_what_comes_after_it():
    usual = [np.array([value]) for value in np.random.default_rng(0).uniform(-2, 2, size=40)]
    disaster, fall = np.array([-1e6]), np.array([-12.0])
    records = list(stream(Told(), [*usual, disaster, *usual[:5], fall]))
    assert [record.batch for record in records if record.drift] == [40, 46]
    # the disaster counted as three of the usual deviations, the others as they were
    before = records[40]
    mean = before.expected - 3 * before.spread / 41
    assert records[41].expected == pytest.approx(mean)
    assert records[41].spread ** 2 == pytest.approx(40 / 41 * (before.spread**2 + (3 * before.spread) ** 2 / 41))
    assert before.expected == pytest.approx(np.mean(usual))
    assert before.spread == pytest.approx(np.std(usual))


def test_before_ten_batches_nothing_is_strange_and_nothing_is_clipped():
    scores = [0.0, 1.0, 0.5, -1e3, 0.2, 0.3, 0.1, -0.5, 0.4, 0.7, 0.6]
    records = list(stream(Told(), [np.array([value]) for value in scores]))
    assert not any(record.drift for record in records)
    assert records[-1].expected == pytest.approx(np.mean(scores[:-1]))
    assert records[-1].spread == pytest.approx(np.std(scores[:-1]))


def test_old_batches_fade_in_what_is_expected():
    scores = np.array([0.0, 1.0, 0.5, -2.0, 3.0, 0.3])
    records = list(stream(Told(), [np.array([value]) for value in scores], forgetting=0.5))
    weights = 0.5 ** np.arange(5)[::-1]
    mean = weights @ scores[:-1] / weights.sum()
    assert records[-1].expected == pytest.approx(mean)
    assert records[-1].spread ** 2 == pytest.approx(weights @ (scores[:-1] - mean) ** 2 / weights.sum())
