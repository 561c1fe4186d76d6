"""Bayesian linear regression on sums that add."""

from dataclasses import KW_ONLY
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from latently.data.sources.chunks import Chunk, ChunkSource
from latently.data.tables.matrix import check_weights
from latently.distributions.inputs import ColumnError
from latently.learn.estimator.parameters import stores_parameters
from latently.learn.estimator.table import OutOfCoreMixin
from latently.learn.estimator.unconverged import warn_unconverged
from latently.predict.linear.answers import RegressionAnswers
from latently.predict.linear.evidence import Array, Hyper, Problem, State
from latently.predict.linear.incomplete import completed
from latently.predict.linear.posterior import bayes, least_squares
from latently.predict.linear.sums import RegressionStatistics, read_targets
from latently.predict.rows import part, total
from latently.predict.scores import RegressorScore
from latently.predict.tables import brings_targets, read_named

Method = Literal["evidence", "map", "ml"]


@stores_parameters
class BayesianLinearRegression(RegressionAnswers, OutOfCoreMixin, RegressorScore, BaseEstimator):
    """Linear regression with a distribution over its weights.

    y = w x + b + noise, with w ~ N(prior_mean, (lambda weight_precision)^-1), noise ~ N(0, 1 / alpha) and a
    flat prior on b. One pass sums up second moments, and everything else follows from these sums: rows can be
    added, forgotten and merged exactly, and their number does not matter for memory.

    Parameters
    ----------
    method
        "evidence": alpha and lambda maximise the evidence of the data. "map": the prior is as given (lambda
        is 1), alpha is `1 / noise_variance`, or maximises the evidence. "ml": least squares, no prior.
    prior_mean
        Prior mean of the weights: a number or (d,).
    weight_precision
        Prior precision of the weights: a number, (d,) or (d, d). With "evidence" it gives the shape only.
    noise_variance
        Variance of the noise for "map"; found from the data if None.
    fit_intercept
        Whether there is a b.
    alpha_1, alpha_2, lambda_1, lambda_2
        Shape and rate of the Gamma priors on alpha and on lambda.
    max_iter
        Most steps of the search for alpha and lambda.
    tol
        Converged when alpha and lambda change by less than this share.
    missing
        "error", or "marginalise": missing inputs are integrated out under a Gaussian model of the inputs, at
        fit (by EM on inputs and target together) and at predict (which makes the answer less sure).

    Attributes
    ----------
    coef_ : (d,) posterior mean of the weights
    intercept_ : posterior mean of b
    sigma_ : (d, d) posterior covariance of the weights
    alpha_, lambda_ : precisions of noise and weights (``lambda_`` is 0 for "ml")
    trace_ : log evidence after each step; never falls
    n_iter_ : number of steps of the search
    converged_, reason_ : whether the search converged, and how it ended: "converged" or "max_iter"
    freedom_ : degrees of freedom of the answers (Student's t); 0 if the rows are too few to estimate the noise
    statistics_ : the sums that the model has learnt

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 50)[:, None]
    >>> y = 2 * x[:, 0] + 1 + 0.1 * np.sin(40 * x[:, 0])
    >>> model = BayesianLinearRegression().fit(x, y)
    >>> mean, std = model.predict([[0.5], [10.0]], return_std=True)
    >>> mean.round(1)
    array([ 2., 21.])
    >>> bool(std[1] > std[0])
    True
    """

    _tags: ClassVar[dict[str, Any]] = {"allow_nan": lambda model: model.missing == "marginalise"}

    _: KW_ONLY
    method: Method = "evidence"
    prior_mean: float | ArrayLike = 0.0
    weight_precision: float | ArrayLike = 1.0
    noise_variance: float | None = None
    fit_intercept: bool = True
    alpha_1: float = 1e-6
    alpha_2: float = 1e-6
    lambda_1: float = 1e-6
    lambda_2: float = 1e-6
    max_iter: int = 300
    tol: float = 1e-6
    missing: Literal["error", "marginalise"] = "error"

    # learning

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from rows and their targets, forgetting what was learnt before.

        Parameters
        ----------
        X
            Table of (rows, columns), or a source of chunks.
        y
            Target of each row.
        sample_weight
            Weight of each row.
        """
        rows, targets, weights = self._read(X, y, sample_weight, reset=True)
        if not isinstance(rows, ChunkSource) and np.isnan(rows).any():
            return self._settle(self._completed(rows, targets, weights))
        return self._settle(self._sums(rows, targets, weights))

    def partial_fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from more rows, which must be complete."""
        first = not hasattr(self, "statistics_")
        new = self._sums(*self._read(X, y, sample_weight, reset=first))
        return self._settle(new if first else self.statistics_ + new)

    def forget(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Undo the learning of complete rows; rows never learnt are an error, and change nothing."""
        check_is_fitted(self)
        less = self.statistics_ - self._sums(*self._read(X, y, sample_weight, reset=False))
        return self._settle(less.settled(self.statistics_))

    def merge(self, other: Self) -> Self:
        """Take in what another model has learnt, as if its rows had been learnt here."""
        check_is_fitted(self)
        if type(other) is not type(self):
            raise TypeError(f"cannot merge a {type(other).__name__} into a {type(self).__name__}")
        check_is_fitted(other)
        names = [list(getattr(model, "feature_names_in_", range(model.n_features_in_))) for model in (self, other)]
        if names[0] != names[1]:
            raise ValueError(f"the two models have different columns: {names[0]} and {names[1]}")
        return self._settle(self.statistics_ + other.statistics_)

    def _read(self, X: Any, y: Any, sample_weight: ArrayLike | None, *, reset: bool) -> tuple[Any, Any, Any]:
        if brings_targets(X, y):
            return read_named(self, X, reset=reset, allow_nan=False), None, None
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        rows = read_named(self, X, reset=reset, allow_nan=self._marginalises())
        targets = read_targets(y)
        if not isinstance(rows, ChunkSource):
            check_consistent_length(rows, targets)
        return rows, targets, check_weights(sample_weight, len(targets))

    def _marginalises(self) -> bool:
        if self.missing not in ("error", "marginalise"):
            raise ValueError(f"missing must be 'error' or 'marginalise', got {self.missing!r}")
        return self.missing == "marginalise"

    def _sums(self, rows: Any, targets: Array | None, weights: Array | None) -> RegressionStatistics:
        """Sums over the rows; targets are None where they come with the chunks."""

        def of_chunk(chunk: Chunk) -> RegressionStatistics:
            y = read_targets(chunk.y) if targets is None else part(targets, chunk)
            if len(y) != chunk.n_rows:
                raise ValueError(
                    f"y has {len(y if targets is None else targets)} targets, but X has at least {chunk.stop} rows"
                )
            w = part(weights, chunk) if chunk.weights is None else chunk.weights
            return RegressionStatistics.of(chunk.X, y, w)

        return total(rows, of_chunk)

    def _completed(self, rows: Array, targets: Array, weights: Array | None) -> RegressionStatistics:
        """Sum up incomplete rows; an error names the column."""
        try:
            return completed(np.column_stack([rows, targets]).astype(np.float64), weights)
        except ColumnError as problem:
            names = [*getattr(self, "feature_names_in_", [f"x{j}" for j in range(rows.shape[1])]), "y"]
            raise problem.named(names[int(problem.column)]) from None

    # from sums to the posterior

    def _settle(self, stats: RegressionStatistics) -> Self:
        with np.errstate(over="ignore", invalid="ignore"):
            found = self._posterior(stats)
        if not (np.isfinite(found["coef_"]).all() and np.isfinite(found["sigma_"]).all()):
            raise ValueError("the weights cannot be represented: the columns are too small or too large; rescale them")
        self.reason_ = "converged" if found["converged_"] else "max_iter"
        warn_unconverged(self.reason_, "max_iter", self.max_iter)
        n_iter = max(1, len(found["trace_"]) - 1)
        self.__dict__.update(found, statistics_=stats, n_rows_=float(stats.moments.weight), n_iter_=n_iter)
        return self

    def _posterior(self, stats: RegressionStatistics) -> dict[str, Any]:
        n, informative = float(stats.moments.weight), stats.informative()
        centre = informative.mean() if self.fit_intercept else np.zeros(len(informative.centre))
        sums = informative.scatter() if self.fit_intercept else informative.about(centre).second
        problem = Problem(n, sums[:-1, :-1], sums[:-1, -1], max(float(sums[-1, -1]), 0.0)).worth(
            float(informative.weight)
        )
        found = least_squares(problem, self.fit_intercept) if self.method == "ml" else self._bayes(problem)
        return found | {
            "intercept_": float(centre[-1] - centre[:-1] @ found["coef_"]),
            "_centre": centre[:-1],
            "_told": float(informative.weight),
            "_inputs": (stats.moments.mean()[:-1], stats.moments.scatter()[:-1, :-1] / n),
        }

    def _bayes(self, problem: Problem) -> dict[str, Any]:
        shape, mean, learn = self._prior(len(problem.xy))
        noise = self.noise_variance or problem.yy / problem.n + np.finfo(float).eps
        hyper = Hyper(self.alpha_1, self.alpha_2, self.lambda_1, self.lambda_2)
        start = State(1 / noise, 1.0)
        return bayes(problem, shape, mean, start, hyper, learn, self.tol, self.max_iter, self.fit_intercept)

    def _prior(self, d: int) -> tuple[Array, Array, tuple[bool, bool]]:
        """Shape of the prior precision (d, d), prior mean (d,), and whether to find alpha and lambda."""
        if self.method not in ("evidence", "map"):
            raise ValueError(f"method must be 'evidence', 'map' or 'ml', got {self.method!r}")
        shape = np.asarray(self.weight_precision, dtype=np.float64)
        shape = shape if shape.ndim == 2 else np.diag(np.broadcast_to(shape, (d,)))
        if shape.shape != (d, d) or not (np.linalg.eigvalsh((shape + shape.T) / 2) > 0).all():
            raise ValueError(f"weight_precision must be positive: a number, ({d},) or a matrix ({d}, {d})")
        mean = np.broadcast_to(np.asarray(self.prior_mean, dtype=np.float64), (d,))
        if self.noise_variance is not None and not self.noise_variance > 0:
            raise ValueError(f"noise_variance must be positive, got {self.noise_variance}")
        evidence = self.method == "evidence"
        return shape, mean, (evidence or self.noise_variance is None, evidence)
