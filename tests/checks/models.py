"""Small estimators: one that keeps every law, and mutants of it that break one each."""

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, DensityMixin
from sklearn.utils.validation import check_is_fitted, check_random_state

from latently.data.open import as_source
from latently.data.tables.matrix import check_weights
from latently.learn import Statistics, em, reducing
from latently.learn.estimator.online import weight_left
from latently.learn.estimator.table import read_rows
from latently.learn.estimator.unconverged import warn_unconverged
from latently.persist import register


@register
@dataclass(frozen=True)
class Centres:
    weights: np.ndarray
    means: np.ndarray
    variance: float


@dataclass(frozen=True)
class Sums(Statistics):
    count: np.ndarray
    first: np.ndarray
    second: float


class Balls:
    """Mixture of round Gaussians with one common variance, about a fixed origin."""

    def __init__(self, origin, floor):
        self.origin, self.floor = origin, floor

    def log_joint(self, params, X):
        d = X.shape[1]
        gap = ((X[:, None] - params.means) ** 2).sum(axis=2)
        norm = -0.5 * d * np.log(2 * np.pi * params.variance)
        return np.log(params.weights) + norm - 0.5 * gap / params.variance

    def expect(self, params, chunk):
        X = np.asarray(chunk.X, dtype=float)
        w = np.ones(len(X)) if chunk.weights is None else chunk.weights
        joint = self.log_joint(params, X)
        evidence = np.logaddexp.reduce(joint, axis=1)
        r = np.exp(joint - evidence[:, None]) * w[:, None]
        Z = X - self.origin
        square = float(w @ (Z**2).sum(axis=1))
        return Sums(float(w.sum()), float(w @ evidence), r.sum(axis=0), r.T @ Z, square)

    def update(self, params, stats):
        count = np.maximum(stats.count, 1e-9)
        means = stats.first / count[:, None]
        spread = stats.second - (count[:, None] * means**2).sum()
        variance = max(spread / (stats.rows * means.shape[1]), self.floor)
        return Centres(count / count.sum(), means + self.origin, float(variance))

    def log_prior(self, params):
        return 0.0


@register
class BallMixture(ClusterMixin, DensityMixin, BaseEstimator):
    """A mixture of round Gaussians of one size: short, and it keeps every law."""

    def __init__(self, n_components=2, *, tol=1e-8, max_iter=500, means_init=None, random_state=None):
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter
        self.means_init = means_init
        self.random_state = random_state

    def fit(self, X, y=None, sample_weight=None):
        rows = read_rows(self, X, reset=True)
        if len(rows) < self.n_components:
            raise ValueError(f"n_samples={len(rows)} rows are too few for n_components={self.n_components}")
        weights = check_weights(sample_weight, len(rows))
        centre = np.average(rows, axis=0, weights=weights)
        spread = np.average((rows - centre) ** 2, axis=0, weights=weights).mean()
        model = Balls(centre, 1e-9 * float(spread) + 1e-300)
        with reducing(as_source(rows, weights)) as reduce:
            start = self._start(rows, weights, max(float(spread), 1e-300))
            fit = em(model, start, reduce, tol=self.tol, max_iter=self.max_iter)
        self.model_origin_, self.model_floor_ = model.origin, model.floor
        self.params_, self.trace_ = fit.params, fit.trace
        self.converged_, self.n_iter_, self.reason_ = fit.converged, fit.n_iter, fit.reason
        warn_unconverged(fit.reason, "max_iter", self.max_iter)
        self.means_ = fit.params.means
        self.labels_ = self.predict(X)
        return self

    def _start(self, rows, weights, variance):
        rng = check_random_state(self.random_state)
        p = None if weights is None else weights / weights.sum()
        picked = rng.choice(len(rows), self.n_components, replace=False, p=p)
        means = rows[picked] if self.means_init is None else np.asarray(self.means_init, dtype=float)
        k = self.n_components
        return Centres(np.full(k, 1 / k), means, variance)

    def _engine(self):
        return Balls(self.model_origin_, self.model_floor_), self.params_

    def _joint(self, X):
        check_is_fitted(self)
        rows = read_rows(self, X, reset=False)
        return self._engine()[0].log_joint(self.params_, rows)

    def score_samples(self, X):
        return np.logaddexp.reduce(self._joint(X), axis=1)

    def score(self, X, y=None):
        return float(self.score_samples(X).mean())

    def predict_proba(self, X):
        joint = self._joint(X)
        return np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])

    def predict(self, X):
        return self._joint(X).argmax(axis=1)

    def sample(self, n_samples=1):
        check_is_fitted(self)
        rng = check_random_state(self.random_state)
        labels = rng.choice(self.n_components, n_samples, p=self.params_.weights)
        noise = rng.normal(size=(n_samples, self.n_features_in_)) * np.sqrt(self.params_.variance)
        return self.params_.means[labels] + noise, labels


@register
class RunningMean(BaseEstimator):
    """Mean and scale of the columns from sums that add: exact partial_fit, forget and merge."""

    def fit(self, X, y=None, sample_weight=None):
        for name in ("count_", "sum_"):
            vars(self).pop(name, None)
        return self.partial_fit(X, sample_weight=sample_weight)

    def partial_fit(self, X, y=None, sample_weight=None):
        return self._add(X, sample_weight, 1, reset=not hasattr(self, "count_"))

    def forget(self, X, sample_weight=None):
        return self._add(X, sample_weight, -1, reset=False)

    def merge(self, other):
        self.count_ = self.count_ + other.count_
        self.sum_ = self.sum_ + other.sum_
        self.mean_ = self.sum_ / self.count_
        return self

    def _add(self, X, sample_weight, sign, reset):
        rows = read_rows(self, X, reset=reset)
        weights = check_weights(sample_weight, len(rows))
        w = np.ones(len(rows)) if weights is None else weights
        if sign < 0:
            weight_left(self.count_, w.sum(), np.zeros(1))
        self.count_ = getattr(self, "count_", 0.0) + sign * w.sum()
        self.sum_ = getattr(self, "sum_", 0.0) + sign * (w @ rows)
        self.mean_ = self.sum_ / self.count_
        return self

    def transform(self, X):
        check_is_fitted(self)
        return read_rows(self, X, reset=False) - self.mean_
