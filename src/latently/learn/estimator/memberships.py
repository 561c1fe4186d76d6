"""What an estimator of components can answer once it can say log p(x, component): memberships, densities, criteria."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
from scipy.special import entr

from latently import compiled
from latently.data.sources.bounds import CHUNK_ROWS
from latently.data.sources.chunks import ArraySource
from latently.data.tables.matrix import has_values
from latently.learn.engine.em import Fit
from latently.learn.engine.protocol import Array
from latently.learn.engine.reduce import mapping
from latently.learn.estimator.sums import summing
from latently.learn.estimator.table import check_fitted, read_rows
from latently.learn.estimator.tags import DeclaredTags

# Multiplications that are not worth waking a thread for, and rows that a thread should have at least.
_ONE_CALL, _LEAST_ROWS = 1 << 18, 256
_BLOCK = 256


class MembershipMixin(DeclaredTags):
    """Memberships, densities and criteria.

    A subclass gives `_joint(X)`, log p(x_i, component k) (n, k) of rows (n, d), and `_n_parameters()`, how many
    parameters are free. It may say what a row costs (`_row_work`), and that NaN is a missing value (`_takes_missing`).
    """

    fit: Callable[..., Any]
    _takes_missing = False
    _tags: ClassVar[dict[str, Any]] = {"allow_nan": attrgetter("_takes_missing")}

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, then give the most probable component of each row."""
        found: Array = self.fit(X, y, sample_weight).predict(X)
        return found

    def predict(self, X: Any) -> Array:
        """Most probable component of each row."""
        rows = self._read(X)
        return np.concatenate(self._over_chunks(rows, lambda joint: np.asarray(joint.argmax(axis=1))))

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
        check_fitted(self)
        rows: Any = read_rows(self, X, reset=False, allow_nan=self._takes_missing)
        return rows  # type: ignore[no-any-return]

    def _memberships(self, rows: Array) -> Array:
        return np.concatenate(self._over_chunks(rows, lambda joint: posterior(joint)[0]))

    def _scores(self, rows: Array) -> Array:
        """What `score_samples` says of rows that are read."""
        return self._log_densities(rows)

    def _log_densities(self, rows: Array) -> Array:
        return np.concatenate(self._over_chunks(rows, lambda joint: posterior(joint)[1]))

    def _over_chunks(self, rows: Array, summary: Callable[[Array], Array]) -> list[Array]:
        if rows.size * self._row_work() <= _ONE_CALL:
            return [summary(self._joint(rows))]
        # two threads share what is worth sharing
        most = min(CHUNK_ROWS, max(_LEAST_ROWS, -(-len(rows) // 2)))
        with mapping(ArraySource(rows, None, most)) as over_chunks:
            return list(over_chunks(lambda chunk: summary(self._joint(chunk.X))))  # type: ignore[arg-type]

    def _take_trace(self, fit: Fit[Any, Any]) -> None:
        """Say how a fit went: the objective at every iteration, as a sum and for each row, and why it ended."""
        self.converged_, self.n_iter_, self.reason_ = fit.converged, fit.n_iter, fit.reason
        self.trace_, self.lower_bounds_ = list(fit.trace), [value / fit.rows for value in fit.trace]
        self.lower_bound_ = self.lower_bounds_[-1]

    def _row_work(self) -> int:
        """Multiplications for each value of a row, more or less."""
        return 1

    def _joint(self, X: Array) -> Array:
        """(n, k) log p(x_i, component k)."""
        raise NotImplementedError(f"{type(self).__name__} does not say log p(x, component)")  # pragma: no cover

    def _n_parameters(self) -> int:
        """How many parameters are free."""
        raise NotImplementedError(f"{type(self).__name__} does not count its parameters")  # pragma: no cover


def posterior(joint: Array) -> tuple[Array, Array]:
    """Memberships (n, k) and log densities (n,) of log p(x_i, component k) (n, k).

    Examples
    --------
    >>> shares, densities = posterior(np.log([[0.1, 0.3]]))
    >>> shares.round(9), np.exp(densities).round(9)
    (array([[0.25, 0.75]]), array([0.4]))
    """
    joint = np.ascontiguousarray(joint, dtype=np.float64)
    n, k = joint.shape
    width = min(_BLOCK, -(-max(n, 1) // 8) * 8)
    scales, shares, norms = np.empty(width), np.empty((n, k)), np.empty(n)
    scratch = (np.zeros((k, width)), *np.empty((2, width)))
    compiled.components.memberships.share(joint, (scales.view(np.int64), scales), scratch, shares, norms)
    return shares, norms
