"""What a Gaussian mixture knows of the missing entries of a row, given the observed ones."""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtr
from sklearn.utils.validation import check_is_fitted, check_random_state

from latently.cluster.gaussian.augmentation import drawn_components, drawn_parameters, shares_of
from latently.cluster.gaussian.given import stored_params
from latently.cluster.gaussian.uncertainty import likelihood_covariances, observed_rows, widened
from latently.distributions.components.gaussian.frame import Kind
from latently.distributions.components.gaussian.incomplete.conditional import (
    IncompleteRows,
    coloured,
    describe_incomplete,
    incomplete_rows,
)
from latently.distributions.components.gaussian.params import GaussianParams
from latently.learn.engine.augmentation import sample_factor
from latently.learn.engine.protocol import Array
from latently.learn.engine.reduce import single_threaded_blas
from latently.learn.estimator.table import read_rows

# Halvings of a bracket of some twenty standard deviations: what is left is below rounding.
_HALVINGS = 60
# Numbers that are held at a time of what all components say of all entries.
_ENTRIES = 2**21
# Degrees of freedom from which on Student's t is taken for normal: its tails differ by less than a part in a hundred.
_NORMAL = 300.0


@dataclass(frozen=True, eq=False)
class Incomplete:
    """Rows with missing values, and what each component says of them in the frame of its parameters."""

    params: GaussianParams
    rows: IncompleteRows
    places: NDArray[np.intp]  # (n,) where they stand in the table
    shares: Array  # (n, k) responsibilities given what was observed
    completed: Array  # (k, n, d) missing values at their conditional means
    spread: Array  # (k, n, d) variances of the missing values

    def mean(self) -> Array:
        """(n, d) conditional means."""
        return np.asarray(np.einsum("nk,knd->nd", self.shares, self.completed))

    def draw(self, rng: np.random.RandomState) -> Array:
        """(n, d) one joint draw for each row."""
        chosen = drawn_components(self.shares, rng)
        noise = coloured(self.params, self.rows, chosen, rng.standard_normal(self.rows.Z.shape))
        return self.completed[chosen, np.arange(len(chosen))] + noise

    def tails(self, observed: Array | None) -> tuple[Array, Array]:
        """(k, h) standard deviation or scale, and degrees of freedom, of each missing value in each component."""
        absent = self.rows.absent
        if observed is None:
            return np.sqrt(self.spread[:, absent]), np.full((len(self.spread), int(absent.sum())), np.inf)
        found = [
            widened(np.diagonal(seen), self.rows.counts, (((filled - mean) @ root) ** 2).sum(axis=1))
            for seen, filled, mean, root in zip(
                observed, self.completed, self.params.means, self._whitening(), strict=True
            )
        ]
        scales = [np.sqrt((spread * more)[absent]) for spread, (more, _) in zip(self.spread, found, strict=True)]
        return np.array(scales), np.array([freedom[absent] for _, freedom in found])

    def _whitening(self) -> Array:
        k, d = self.params.means.shape
        roots = self.params.roots
        full = roots if roots.shape[1] == d else roots.transpose(0, 2, 1) * np.eye(d)
        return np.broadcast_to(full, (k, d, d))

    def quantile(self, level: float, observed: Array | None = None) -> Array:
        """(n, d) quantile of each missing value's own mixture, by bisection."""
        absent = self.rows.absent
        shares, means = self.shares[absent.nonzero()[0]].T, self.completed[:, absent]  # (k, h)
        deviations, freedom = self.tails(observed)
        reach = deviations * np.where(freedom < 30, 1e4, 10.0)
        low, high = (means - reach).min(axis=0, initial=np.inf), (means + reach).max(axis=0, initial=-np.inf)
        normal = not (freedom < _NORMAL).any()
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            away = (middle - means) / deviations
            below = (shares * (ndtr(away) if normal else stdtr(freedom, away))).sum(axis=0)
            low, high = np.where(below < level, middle, low), np.where(below < level, high, middle)
        out = self.rows.Z.copy()
        out[absent] = (low + high) / 2
        return out

    def put(self, table: Array, values: Array) -> None:
        """Write values of the frame into the missing values of a table."""
        table[self.places] = np.where(self.rows.absent, self.params.frame.outward(values), table[self.places])


class GaussianImputation:
    """Conditional means, intervals and draws of missing entries."""

    covariance_type: Kind
    precisions_cholesky_: Array

    def impute_mean(self, X: Any) -> Array:
        """The rows with each missing entry at its mean given the observed ones."""
        filled, parts = self._incomplete(X)
        for part in parts:
            part.put(filled, part.mean())
        return filled

    def impute_interval(self, X: Any, level: float = 0.9, *, rows: Any = None) -> tuple[Array, Array]:
        """Lower and upper end of an equal-tailed interval for each missing entry; observed ones stand twice.

        Parameters
        ----------
        X
            (n, d) rows.
        level
            Probability of the interval.
        rows
            (m, d) the rows that the mixture was fitted to, or a random sample of them: what they leave open of the
            parameters makes the interval wider. None takes the parameters as known.
        """
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, got {level}")
        check_is_fitted(self)
        observed = None if rows is None else self._observed(rows)
        widens = observed is not None and self._is_joint()
        lower, parts = (self._with(likelihood_covariances(self)) if widens else self)._incomplete(X)
        upper = lower.copy()
        for part in parts:
            part.put(lower, part.quantile((1 - level) / 2, observed))
            part.put(upper, part.quantile((1 + level) / 2, observed))
        return lower, upper

    def _is_joint(self) -> bool:
        """Whether columns of a component may depend on one another."""
        return self.covariance_type in ("full", "tied")

    def _observed(self, rows: Any) -> Array:
        """(k, d, d) rows in which each pair of columns is observed in each component, of all that were fitted to."""
        mixture: Any = self
        known = read_rows(mixture, rows, reset=False, allow_nan=True).astype(np.float64)
        shares = mixture.predict_proba(rows) if mixture.n_components > 1 else np.ones((len(known), 1))
        return observed_rows(shares, known) / sample_factor(len(known), mixture.statistics_.rows) ** 2

    def impute_draws(self, X: Any, n_draws: int = 1, random_state: Any = None, *, rows: Any = None) -> Array:
        """(n_draws, n, d) rows with the missing entries drawn jointly given the observed ones.

        Parameters
        ----------
        X
            (n, d) rows.
        n_draws
            How many completed tables.
        random_state
            Seed.
        rows
            (m, d) the rows that the mixture was fitted to, or a random sample of them: each table then has parameters
            of its own, drawn from their posterior by data augmentation. None takes the parameters as known.
        """
        rng = check_random_state(random_state)
        filled, parts = self._incomplete(X)
        draws = np.tile(filled, (n_draws, 1, 1))
        if rows is not None:
            known = read_rows(self, rows, reset=False, allow_nan=True).astype(np.float64)
            for draw, params in zip(draws, drawn_parameters(self, known, n_draws, rng), strict=True):
                for part in _described(params, filled):
                    part.put(draw, part.draw(rng))
            return draws
        for part in parts:
            for draw in draws:
                part.put(draw, part.draw(rng))
        return draws

    def _with(self, covariances: Array) -> Self:
        """The same mixture with other covariances."""
        other = copy(self)
        other.precisions_cholesky_ = np.swapaxes(np.linalg.inv(np.linalg.cholesky(covariances)), -1, -2)
        return other

    def _incomplete(self, X: Any) -> tuple[Array, Iterator[Incomplete]]:
        check_is_fitted(self)
        rows = read_rows(self, X, reset=False, allow_nan=True).astype(np.float64)
        return rows, _described(stored_params(self), rows)


def _described(params: GaussianParams, table: Array) -> Iterator[Incomplete]:
    """What is known of the rows with missing values, some at a time."""
    incomplete = np.flatnonzero(np.isnan(table).any(axis=1))
    size = max(64, _ENTRIES // params.means.size)
    for start in range(0, len(incomplete), size):
        places = incomplete[start : start + size]
        rows = incomplete_rows(table[places], params.frame)
        with single_threaded_blas():
            joint, completed, spread = describe_incomplete(params, rows)
        yield Incomplete(params, rows, places[rows.order], shares_of(joint), completed, spread)
