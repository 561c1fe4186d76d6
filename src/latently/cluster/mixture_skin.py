"""What every mixture estimator shares once it can say log p(x, component)."""

from typing import Any

import numpy as np
from scipy.special import entr
from sklearn.utils.validation import check_is_fitted

from latently.data.chunks import Chunk, as_source
from latently.data.sums import summing
from latently.decide.mixin import DecideMixin
from latently.learn.protocol import Array
from latently.learn.reduce import mapping
from latently.learn.skin import read_rows


class MixturePredictions(DecideMixin):
    """Responsibilities, densities and criteria; a subclass gives `_joint(X)` and `_n_parameters()`."""

    _takes_missing = False

    def predict(self, X: Any) -> Array:
        """Most probable component of each row."""
        rows = self._read(X)
        return np.concatenate(self._over_chunks(rows, lambda joint: joint.argmax(axis=1)))

    def predict_proba(self, X: Any) -> Array:
        """(n, k) probability of each component for each row."""
        rows = self._read(X)
        return np.concatenate(self._over_chunks(rows, lambda joint: _posterior(joint)[0]))

    def score_samples(self, X: Any) -> Array:
        """(n,) log density of each row."""
        return self._log_densities(self._read(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log density of the rows."""
        total, n = self._evidence(X)
        return float(total / n)

    def aic(self, X: Any) -> float:
        """Akaike's criterion on the rows: lower is better."""
        return float(-2 * self._evidence(X)[0] + 2 * self._n_parameters())

    def bic(self, X: Any) -> float:
        """Bayesian information criterion on the rows: lower is better."""
        total, n = self._evidence(X)
        return float(-2 * total + self._n_parameters() * np.log(n))

    def icl(self, X: Any) -> float:
        """Integrated completed likelihood: the BIC plus twice the entropy of the memberships; lower is better."""
        return float(self.bic(X) + 2 * self._doubt(X))

    @summing
    def _evidence(self, X: Any) -> Array:
        """(2,) log density of all rows, and how many there are."""
        log_densities = self.score_samples(X)
        return np.array([log_densities.sum(), len(log_densities)])

    @summing
    def _doubt(self, X: Any) -> Array:
        """() entropy of the memberships of all rows."""
        return np.asarray(entr(self.predict_proba(X)).sum())

    def surprise(self, X: Any) -> Array:
        """(n, d) how unexpected each entry is given the rest of its row: -log p(x_j | the other columns).

        Missing entries surprise nobody: theirs is zero.
        """
        rows = self._read(X).astype(np.float64)
        total, out = self._log_densities(rows), np.zeros(rows.shape)
        for j in range(rows.shape[1]):
            without = rows.copy()
            without[:, j] = np.nan
            out[:, j] = self._log_densities(without) - total
        return out

    def _read(self, X: Any) -> Array:
        check_is_fitted(self)
        return read_rows(self, X, reset=False, allow_nan=self._takes_missing)

    def _log_densities(self, rows: Array) -> Array:
        return np.concatenate(self._over_chunks(rows, lambda joint: _posterior(joint)[1]))

    def _over_chunks(self, rows: Array, summary: Any) -> list[Array]:
        def summarise(chunk: Chunk) -> Array:
            return summary(self._joint(chunk.X))

        with mapping(as_source(rows)) as over_chunks:
            return list(over_chunks(summarise))


def _posterior(joint: Array) -> tuple[Array, Array]:
    """Responsibilities (n, k) and log normalisers (n,)."""
    top = joint.max(axis=1, keepdims=True)
    shares = np.exp(joint - np.where(np.isfinite(top), top, 0.0))
    total = shares.sum(axis=1, keepdims=True)
    return shares / total, (top + np.log(total))[:, 0]
