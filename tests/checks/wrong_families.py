"""Families that are wrong in one way each."""

import numpy as np

from latently.distributions import Exponential, Gaussian, Sums
from latently.distributions.inputs import as_rows


class TooHigh(Exponential):
    def _column_log_prob(self, X):
        return super()._column_log_prob(X) + 0.01


class ForgetsWhatIsGiven(Gaussian):
    def _conditional(self, columns, values, rest):
        return self._marginal(rest)


class NoEdge(Exponential):
    def _outside(self, X):
        return np.isnan(X) & False


class MissingIsZero(Exponential):
    def _log_prob(self, X):
        return super()._log_prob(np.nan_to_num(X, posinf=np.inf))


class CdfTooLow(Exponential):
    def _cdf(self, X):
        return super()._cdf(X) ** 1.01


class QuantileTooLow(Exponential):
    def _quantile(self, q, upper=False):
        return super()._quantile(q, upper) * 0.999


class DrawsTooFar(Exponential):
    def _sample(self, n, rng):
        return super()._sample(n, rng) * 1.3


class VarianceOfTheScale(Exponential):
    def _variance(self):
        return 1.5 / self.rate**2


class NoEntropyOfTheScale(Exponential):
    def _column_entropy(self):
        return np.full(self.n_columns, 0.9)


class ModeIsMean(Exponential):
    def _mode(self):
        return 1 / self.rate


class FarFromItself(Exponential):
    def _kl(self, other):
        return 0.1


class MeansInsteadOfSums(Exponential):
    def statistics(self, X, weights=None):
        found = super().statistics(X, weights)
        return Sums(found.total / max(found.total[0], 1.0), found.base)


class NoWeights(Exponential):
    def statistics(self, X, weights=None):
        return super().statistics(X)


class EmptyRowsCount(Exponential):
    def statistics(self, X, weights=None):
        return super().statistics(np.nan_to_num(as_rows(X, self._width())), weights)


class OffByALittle(Exponential):
    def from_statistics(self, stats, prior=None):
        return type(self)(super().from_statistics(stats, prior).rate * 1.01)


class LosesItsKind(Exponential):
    def from_statistics(self, stats, prior=None):
        return Exponential(super().from_statistics(stats, prior).rate)


class InfinityIsZero(Exponential):
    def statistics(self, X, weights=None):
        rows = as_rows(X, self._width())
        return super().statistics(np.where(np.isinf(rows), 0.0, rows), weights)


class OtherNatural(Exponential):
    def _natural(self, origin):
        return super()._natural(origin) + 0.01


class LosesABit(Exponential):
    def __reduce__(self):
        return type(self), (self.rate * (1 + 1e-15),)
