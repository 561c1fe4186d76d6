"""What every mixture estimator shares once it can say log p(x, component)."""

from typing import Any

import numpy as np
from scipy.special import entr
from sklearn.utils.validation import check_is_fitted

from latently.data.open import as_source
from latently.data.sources.chunks import Chunk
from latently.data.tables.matrix import has_values
from latently.decide.mixin import DecideMixin
from latently.learn.engine.protocol import Array
from latently.learn.engine.reduce import mapping
from latently.learn.estimator.sums import summing
from latently.learn.estimator.table import read_rows


class MixturePredictions(DecideMixin):
    """Responsibilities, densities and criteria; a subclass gives `_joint(X)` and `_n_parameters()`."""

    _takes_missing = False

    def predict(self, X: Any) -> Array:
        """Most probable component of each row."""
        rows = self._read(X)
        return np.concatenate(self._over_chunks(rows, lambda joint: joint.argmax(axis=1)))

    def predict_proba(self, X: Any) -> Array:
        """(n, k) probability of each component for each row."""
        return self._memberships(self._read(X))

    def score_samples(self, X: Any) -> Array:
        """(n,) log density of what is observed of each row."""
        return self._scores(self._read(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log density of the rows."""
        total, n, _ = self._evidence(X)
        return float(total / n)

    def aic(self, X: Any) -> float:
        """Akaike's criterion on the rows: lower is better."""
        return float(-2 * self._evidence(X)[0] + 2 * self._n_parameters())

    def bic(self, X: Any) -> float:
        """Bayesian information criterion on the rows: lower is better. Rows with nothing observed do not count."""
        total, _, observed = self._evidence(X)
        return float(-2 * total + self._n_parameters() * np.log(max(observed, 1)))

    def icl(self, X: Any) -> float:
        """Integrated completed likelihood: the BIC plus twice the entropy of the memberships; lower is better.

        Rows with nothing observed do not count.
        """
        return float(self.bic(X) + 2 * self._doubt(X))

    @summing
    def _evidence(self, X: Any) -> Array:
        """(3,) log density of all rows, how many there are, and how many have anything observed."""
        rows = self._read(X)
        return np.array([self._scores(rows).sum(), len(rows), np.count_nonzero(has_values(rows))])

    @summing
    def _doubt(self, X: Any) -> Array:
        """() entropy of the memberships of all rows that have anything observed."""
        rows = self._read(X)
        return np.asarray(entr(self._memberships(rows))[has_values(rows)].sum())

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

    def _memberships(self, rows: Array) -> Array:
        return np.concatenate(self._over_chunks(rows, lambda joint: _posterior(joint)[0]))

    def _scores(self, rows: Array) -> Array:
        """What `score_samples` says of rows that are read."""
        return self._log_densities(rows)

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
