"""Models that are wrong, each in one way; the law that finds it out is in `test_laws.WRONG`."""

import warnings
from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from tests.checks.models import BallMixture, Balls, RunningMean

from latently.data.sources.chunks import ChunkSource
from latently.learn.estimator.table import OutOfCoreMixin
from latently.persist import register


class SumTooHigh(BallMixture):
    def predict_proba(self, X):
        return super().predict_proba(X) * (1 + 1e-6)


class LeastProbable(BallMixture):
    def predict(self, X):
        return self._joint(X).argmin(axis=1)


class ScoreIsTotal(BallMixture):
    def score(self, X, y=None):
        return float(self.score_samples(X).sum())


class NoConstant(BallMixture):
    def score_samples(self, X):
        return super().score_samples(X) + 0.5


class SampleOfTheWrongShape(BallMixture):
    def sample(self, n_samples=1):
        X, labels = super().sample(n_samples)
        return X.T, labels


class ImpossibleSample(BallMixture):
    def sample(self, n_samples=1):
        X, labels = super().sample(n_samples)
        return np.full_like(X, np.inf), labels

    def score_samples(self, X):
        with np.errstate(over="ignore"):
            return super().score_samples(X)


class SeesOnePart(OutOfCoreMixin, BallMixture):
    def fit(self, X, y=None, sample_weight=None):
        return super().fit(next(iter(X)).X if isinstance(X, ChunkSource) else X, sample_weight=sample_weight)


class IgnoresWeights(BallMixture):
    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X)


class DoublesWeights(BallMixture):
    def fit(self, X, y=None, sample_weight=None):
        # right for whole numbers from outside, but a weight of one is not no weight
        weights = None if sample_weight is None else np.asarray(sample_weight) ** 2 + np.arange(len(X)) % 2
        return super().fit(X, sample_weight=weights)


class FirstRowCounts(BallMixture):
    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, sample_weight=sample_weight)
        self.first_ = np.asarray(X, dtype=float)[0] + 0.0
        return self


class ThreadsMatter(BallMixture):
    def fit(self, X, y=None, sample_weight=None):
        from latently.learn import n_threads

        super().fit(X, sample_weight=sample_weight)
        self.means_ = self.means_ + 1e-12 * n_threads()
        return self


class OffsetStatistics(Balls):
    def expect(self, params, chunk):
        stats = super().expect(params, chunk)
        return replace(stats, first=stats.first + 1.0)


class NotAdditive(BallMixture):
    def _engine(self):
        model, params = super()._engine()
        return OffsetStatistics(model.origin, model.floor), params


class HighBound(Balls):
    def expect(self, params, chunk):
        stats = super().expect(params, chunk)
        return replace(stats, bound=stats.bound + chunk.total_weight)


class BoundTooHigh(BallMixture):
    def _engine(self):
        model, params = super()._engine()
        return HighBound(model.origin, model.floor), params


class TraceFalls(BallMixture):
    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, sample_weight=sample_weight)
        self.trace_ = self.trace_[::-1]
        return self


class NeverWarns(BallMixture):
    def fit(self, X, y=None, sample_weight=None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return super().fit(X, sample_weight=sample_weight)


class AlwaysConverged(BallMixture):
    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, sample_weight=sample_weight)
        self.converged_ = True
        return self


class NeverConverged(BallMixture):
    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, sample_weight=sample_weight)
        self.converged_ = False
        return self


class WritesToX(BallMixture):
    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, sample_weight=sample_weight)
        if isinstance(X, np.ndarray):
            X[0, 0] = 0.0
        return self


class ReplacesItsSeed(BallMixture):
    def fit(self, X, y=None, sample_weight=None):
        self.random_state = np.random.RandomState(self.random_state)
        return super().fit(X, sample_weight=sample_weight)


class IgnoresItsSeed(BallMixture):
    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, sample_weight=sample_weight)
        self.noise_ = np.random.default_rng().normal(size=3)
        return self


class Remembers(BallMixture):
    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, sample_weight=sample_weight)
        self.visits_ = getattr(self, "visits_", 0.0) + 1.0
        return self


class CloneRemembers(BallMixture):
    def __sklearn_clone__(self):
        twin = type(self)(**self.get_params())
        vars(twin).update(vars(self))
        return twin


class HasNan(BallMixture):
    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, sample_weight=sample_weight)
        self.spread_ = {"inside": [np.array([1.0, np.nan])]}
        return self


@register
class LosesABit(BallMixture):
    """Keeps something in a place that no file can know of."""

    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, sample_weight=sample_weight)
        _SHIFTS[id(self)] = 1.0
        return self

    def score_samples(self, X):
        return super().score_samples(X) + _SHIFTS.get(id(self), 0.0)


_SHIFTS: dict[int, float] = {}


class Silent(BallMixture):
    """Does not say which column is at fault."""

    def fit(self, X, y=None, sample_weight=None):
        try:
            return super().fit(X, sample_weight=sample_weight)
        except ValueError:
            raise ValueError("bad input") from None


class TakesInf(BallMixture):
    def fit(self, X, y=None, sample_weight=None):
        return super().fit(np.where(np.isinf(X), 0.0, X), sample_weight=sample_weight)


class TakesNothing(BallMixture):
    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X if len(X) else np.ones((3, 2)), sample_weight=sample_weight)


class NanForConstants(BallMixture):
    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, sample_weight=sample_weight)
        with np.errstate(all="ignore"):
            self.ratio_ = np.std(X, axis=0) / np.std(X, axis=0)
        return self


class NanForMissing(BallMixture):
    def fit(self, X, y=None, sample_weight=None):
        return super().fit(np.nan_to_num(X, posinf=np.inf, neginf=-np.inf), sample_weight=sample_weight)

    def _joint(self, X):
        return super()._joint(np.nan_to_num(X)) + np.asarray(X).sum(axis=1)[:, None]


class HalfPrecision(BallMixture):
    def predict(self, X):
        rows, means = np.asarray(X).astype(np.float16), self.means_.astype(np.float16)
        return ((rows[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)


class NoNames(BallMixture):
    def fit(self, X, y=None, sample_weight=None):
        return super().fit(np.asarray(X), sample_weight=sample_weight)


class FramesDiffer(BallMixture):
    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, sample_weight=sample_weight)
        self.bias_ = 0.0 if isinstance(X, np.ndarray) else 1e-3
        return self

    def score_samples(self, X):
        return super().score_samples(X) + self.bias_


class ForgetsStrangers(RunningMean):
    def forget(self, X, sample_weight=None):
        self.count_ = self.count_ - len(X)
        self.sum_ = self.sum_ - np.sum(X, axis=0)
        self.mean_ = self.sum_ / self.count_
        return self


class LossyForget(RunningMean):
    def forget(self, X, sample_weight=None):
        super().forget(X, sample_weight)
        self.mean_ = self.mean_ * (1 + 1e-4)
        return self


class MeanOfMeans(RunningMean):
    def merge(self, other):
        count = self.count_
        super().merge(other)
        self.mean_ = (self.sum_ - other.sum_) / count / 2 + other.mean_ / 2 + 1e-3
        return self


class NanForUnseen(ClassifierMixin, BaseEstimator):
    """The share of a value in the second column; nothing known of values never seen."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.shares_ = dict(zip(*np.unique(np.asarray(X)[:, 1], return_counts=True), strict=True))
        return self

    def predict(self, X):
        return np.array([float(self.shares_.get(x, np.nan)) for x in np.asarray(X)[:, 1]])
