"""What a fitted linear regression answers: means, intervals, densities, draws."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit
from scipy.stats import norm, t
from sklearn.utils.validation import check_is_fitted

from latently.distributions import Gaussian
from latently.distributions.inputs import generator
from latently.predict.linear.evidence import Array
from latently.predict.linear.incomplete import marginalised
from latently.predict.linear.sums import read_targets
from latently.predict.rows import row_by_row
from latently.predict.tables import read_named


class RegressionAnswers:
    """The predictive distribution of a target is a Student's t about the mean."""

    coef_: Array
    sigma_: Array
    intercept_: float
    freedom_: float
    n_rows_: float
    fit_intercept: bool
    _noise: float
    _spread: Array
    _centre: Array
    _told: float
    _inputs: tuple[Array, Array]
    _marginalises: Callable[[], bool]

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predictive mean of the target of each row, (n,); with `return_std` also its standard deviation.

        That is infinite where two degrees of freedom or fewer are left: the intervals are finite there.
        """
        if not return_std:
            check_is_fitted(self)
            return row_by_row(self._rows(X), lambda chunk: self._answer(np.asarray(chunk.X, dtype=np.float64), False))[
                :, 0
            ]
        mean, scale, freedom = self._student(X)
        heavy = freedom <= 2
        # sqrt(f / (f - 2)), also where f is infinite
        return mean, np.where(heavy, np.inf, scale / np.sqrt(1 - 2 / np.where(heavy, 3.0, freedom)))

    def interval(self, X: Any, level: float = 0.9) -> Array:
        """Interval of each row's target that holds it with the given probability: (n, 2)."""
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, got {level}")
        mean, scale, freedom = self._student(X)
        reach = _quantile((1 + level) / 2, freedom) * scale
        return np.column_stack([mean - reach, mean + reach])

    def log_predictive(self, X: Any, y: Any) -> Array:
        """Log density of each target given its row, (n,)."""
        mean, scale, freedom = self._student(X)
        gap = (read_targets(y) - mean) / scale
        known = np.isinf(freedom)
        student = t.logpdf(gap, np.where(known, 1.0, freedom))
        return np.asarray(np.where(known, norm.logpdf(gap), student) - np.log(scale))

    def posterior(self) -> Gaussian:
        """Posterior distribution of the weights, alpha and lambda as found."""
        check_is_fitted(self)
        return Gaussian(self.coef_, self.sigma_)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Array, Array]:
        """Draw functions from the posterior.

        Parameters
        ----------
        n_samples
            How many functions.
        random_state
            A seed or a generator.

        Returns
        -------
        tuple
            Weights (n_samples, d) and intercepts (n_samples,) of the functions.
        """
        check_is_fitted(self)
        self._check_freedom()
        rng = generator(random_state)
        values, vectors = np.linalg.eigh(self._spread)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        noise = rng.standard_normal((n_samples, len(values) + 1))
        if np.isfinite(self.freedom_):
            noise *= np.sqrt(self.freedom_ / rng.chisquare(self.freedom_, size=(n_samples, 1)))
        weights = self.coef_ + noise[:, 1:] @ root.T
        # The line turns about the centre of the data, so steep draws start low.
        level = np.sqrt(self._level_variance()) * noise[:, 0]
        return weights, self.intercept_ - (weights - self.coef_) @ self._centre + level

    def sample_functions(self, X: Any, n_samples: int = 1, random_state: Any = None) -> Array:
        """Values (without noise) of functions drawn from the posterior, at complete rows: (n, n_samples)."""
        check_is_fitted(self)
        rows = read_named(self, X, reset=False, allow_nan=False)
        weights, intercepts = self.sample(n_samples, random_state)
        return np.asarray(rows @ weights.T + intercepts)

    def _student(self, X: Any) -> tuple[Array, Array, Array]:
        """Mean, scale and degrees of freedom of each answer."""
        check_is_fitted(self)
        rows = self._rows(X)
        self._check_freedom()
        found = row_by_row(rows, lambda chunk: self._answer(np.asarray(chunk.X, dtype=np.float64), True))
        if not np.isfinite(found[:, 1]).all():
            raise ValueError(
                f"predictions for rows with missing inputs have no interval: {self.n_rows_:g} rows are "
                "too few to predict the missing inputs from the others; impute them, or drop columns"
            )
        return found[:, 0], np.sqrt(found[:, 1]), found[:, 2]

    def _rows(self, X: Any) -> Any:
        return read_named(self, X, reset=False, allow_nan=self._marginalises())

    def _check_freedom(self) -> None:
        if not self.freedom_ > 0:
            raise ValueError(
                f"{self.n_rows_:g} rows are too few to estimate the noise beside {len(self.coef_)} coefficients, so "
                "there are no intervals: give more rows, drop columns, or use method='evidence'"
            )

    def _level_variance(self) -> float:
        return self._noise / self._told if self.fit_intercept else 0.0

    def _answer(self, X: Array, with_variance: bool) -> Array:
        """(n, 3) mean, squared scale and degrees of freedom."""
        extra, free = np.zeros(len(X)), np.full(len(X), np.inf)
        if np.isnan(X).any():
            X, extra, free = marginalised(X, self._inputs, self.n_rows_, self.coef_, self._spread)
        out = np.zeros((len(X), 3))
        out[:, 0] = X @ self.coef_ + self.intercept_
        if with_variance:
            gap = X - self._centre
            spread = np.maximum(np.einsum("ij,ij->i", gap @ self._spread, gap), 0.0)
            own = spread + self._noise + self._level_variance()
            out[:, 1] = own + extra
            out[:, 2] = _joined(own, self.freedom_, extra, free)
        return out


def _joined(a: Array, a_freedom: float, b: Array, b_freedom: Array) -> Array:
    """Degrees of freedom of a sum of two variances, as Welch and Satterthwaite have it."""
    b = np.where(np.isfinite(b), b, 0.0)  # answers that will be refused
    share = b / (a + b)
    inverse = (1 - share) ** 2 / a_freedom + np.divide(share**2, b_freedom, out=np.zeros(len(b)), where=b_freedom > 0)
    return np.asarray(np.divide(1.0, inverse, out=np.full(len(b), np.inf), where=inverse > 0))


def _quantile(level: float, freedom: ArrayLike) -> Array:
    known = np.isinf(freedom)
    return np.asarray(np.where(known, norm.ppf(level), stdtrit(np.where(known, 1.0, freedom), level)))
