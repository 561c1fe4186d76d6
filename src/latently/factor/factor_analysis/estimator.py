"""Factor analysis as an estimator."""

from dataclasses import KW_ONLY
from numbers import Integral
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from latently.data.open import as_source
from latently.data.sources.chunks import ChunkSource
from latently.data.tables.matrix import check_weights
from latently.distributions.inputs import ColumnError
from latently.distributions.statistics import Moments
from latently.factor.answers import GaussianAnswers
from latently.factor.by_sums import LearnsBySums
from latently.factor.factor_analysis.rotation import ORTHOMAX, orthomax, promax
from latently.factor.factor_analysis.solve import Factors, fit_covariance
from latently.factor.incomplete import fit_incomplete
from latently.factor.linear_gaussian import LinearGaussian
from latently.factor.moments import moments_of
from latently.factor.rows import each_row, read_table, verified
from latently.factor.signs import flipped
from latently.learn.estimator.parameters import (
    CHOICES,
    NON_NEGATIVE,
    Count,
    Flag,
    Seed,
    Whole,
    checked,
    stores_parameters,
)
from latently.learn.estimator.table import OutOfCoreMixin
from latently.learn.estimator.unconverged import warn_unconverged

Array = NDArray[Any]
Rotation = Literal["varimax", "quartimax", "promax"]


@stores_parameters
class FactorAnalysis(
    GaussianAnswers, LearnsBySums, OutOfCoreMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Factor analysis: columns are sums of a few Gaussian factors, each with noise of its own.

    Drop-in replacement for scikit-learn's class of the same name. Complete rows are summed in one pass, and the
    iterations need the sums alone. Rows may have missing values (NaN): EM then counts every row with what is observed.

    Parameters
    ----------
    n_components
        How many factors; None for as many as columns.
    tol
        Converged when the log-likelihood of all rows rises by less.
    copy
        Accepted for scikit-learn's sake: X is never changed.
    max_iter
        Iterations at most.
    noise_variance_init
        (d,) noise variances to begin with; None for half of each variance.
    svd_method, iterated_power, random_state
        Accepted for scikit-learn's sake: the eigenvectors are exact.
    rotation
        "varimax" or "quartimax" turn the factors, "promax" lets them be correlated (`factor_correlation_`).

    Attributes
    ----------
    components_
        (k, d) loadings.
    noise_variance_
        (d,)
    mean_
        (d,)
    factor_correlation_
        (k, k) correlations of the factors; one unless the rotation is "promax".
    loglike_, trace_
        Log-likelihood at each iteration; it never falls.
    n_iter_, converged_, reason_
        How the fit ended: "converged" or "max_iter".
    statistics_
        The sums that the model has learnt, if all rows were complete.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> skill = rng.normal(size=(500, 1))
    >>> marks = skill @ [[1.0, 0.8, 0.5]] + rng.normal(size=(500, 3)) * [0.1, 0.5, 1.0]
    >>> model = FactorAnalysis(n_components=1, tol=1e-8).fit(marks)
    >>> model.components_.round(1), np.sqrt(model.noise_variance_).round(1)
    (array([[1. , 0.8, 0.5]]), array([0.2, 0.5, 0.9]))
    """

    _tags: ClassVar[dict[str, Any]] = {"allow_nan": True}

    n_components: Annotated[int | None, Interval(Integral, 0, None, closed="left"), None] = None
    _: KW_ONLY
    tol: Annotated[float, NON_NEGATIVE] = 1e-2
    copy: Flag = True
    max_iter: Count = 1000
    noise_variance_init: Annotated[ArrayLike | None, "array-like", None] = None
    svd_method: Annotated[Literal["randomized", "lapack"], CHOICES] = "randomized"
    iterated_power: Whole = 3
    rotation: Annotated[Rotation | None, CHOICES, None] = None
    random_state: Seed = 0

    # learning

    @checked
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the factors of the rows.

        Parameters
        ----------
        X
            Rows; NaN is missing.
        y
            Not used.
        sample_weight
            How often each row counts.
        """
        rows = read_table(self, X, reset=True)
        self.__dict__.pop("statistics_", None)
        weights = None if isinstance(rows, ChunkSource) else check_weights(sample_weight, len(rows))
        moments = moments_of(rows, weights)
        if np.isfinite(np.diagonal(moments.second)).all():
            return self._settle(moments)
        return self._fit_missing(as_source(verified(rows), weights))

    def _without_sums(self) -> str:
        return "this model was fitted to rows with missing values, which leave no sums: fit it anew"

    def _settle(self, moments: Moments) -> Self:
        weight = float(moments.weight)
        S = moments.scatter() / weight
        found = fit_covariance(S, weight, self._count(), self._start(np.diagonal(S)), self.tol, self.max_iter)
        self._remember(moments.mean(), found)
        self.statistics_ = moments
        return self

    def _fit_missing(self, source: ChunkSource) -> Self:
        q = min(self._count(), source.n_columns)
        n = float(source.totals()[0])
        try:
            found, run = fit_incomplete(source, q, isotropic=False, tol=self.tol / n, max_iter=self.max_iter)
        except ColumnError as problem:
            raise self._named(problem) from None
        left, singular, _ = np.linalg.svd(found.loadings / np.sqrt(found.noise)[:, None], full_matrices=False)
        components = (left * singular).T * np.sqrt(found.noise)
        return self._remember(found.mean, Factors(components, found.noise, list(run.trace), run.converged))

    def _count(self) -> int:
        if self.n_components is None:
            return int(self.n_features_in_)
        if self.n_components > self.n_features_in_:
            raise ValueError(
                f"n_components={self.n_components} is more than the {self.n_features_in_} columns (n_features) of X: "
                "ask for fewer factors"
            )
        return int(self.n_components)

    def _start(self, variance: Array) -> Array:
        if self.noise_variance_init is None:
            return np.asarray(variance / 2)
        given = np.asarray(self.noise_variance_init, dtype=np.float64)
        if given.shape != variance.shape:
            raise ValueError(
                f"noise_variance_init dimension does not match the number of columns: {given.shape} and {len(variance)}"
            )
        return given

    def _remember(self, mean: Array, found: Factors) -> Self:
        self.mean_, self.noise_variance_ = mean, found.noise
        self.trace_ = self.loglike_ = found.trace
        self.n_iter_, self.converged_ = len(found.trace), found.converged
        self.reason_ = "converged" if found.converged else "max_iter"
        warn_unconverged(self.reason_, "max_iter", self.max_iter)
        self.components_, self.factor_correlation_ = rotated(flipped(found.components), self.rotation)
        return self

    # answers

    def density(self) -> LinearGaussian:
        """The Gaussian of the rows."""
        check_is_fitted(self)
        return LinearGaussian(self.mean_, self.components_.T @ self._root(), self.noise_variance_)

    def _root(self) -> Array:
        return np.asarray(np.linalg.cholesky(self.factor_correlation_))

    def transform(self, X: Any) -> Array:
        """(n, k) posterior mean of the factors, given what is observed of each row."""
        check_is_fitted(self)
        density, root = self.density(), self._root()

        def fill(part: Array, out: Array) -> None:
            np.matmul(density.factors(part), root.T, out=out)

        return each_row(self._rows(X), fill, len(root))

    def inverse_transform(self, X: Any) -> Array:
        """(n, d) rows that factors with these values lead to expect."""
        check_is_fitted(self)
        return np.asarray(np.asarray(X) @ self.components_ + self.mean_)

    def score_samples(self, X: Any) -> Array:
        """(n,) log density of what is observed of each row."""
        check_is_fitted(self)
        return self._densities(self._rows(X))

    def get_covariance(self) -> Array:
        """(d, d) covariance of the model."""
        return self.density().covariance()

    def get_precision(self) -> Array:
        """(d, d) inverse of the covariance."""
        return self.density().precision()

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def rotated(components: Array, rotation: str | None) -> tuple[Array, Array]:
    """Loadings (q, d) after a rotation, and the correlations (q, q) of the factors."""
    q = len(components)
    if rotation is None or q < 2:
        return components, np.eye(q)
    if rotation == "promax":
        turn, correlation = promax(components.T)
        turned = (components.T @ turn).T
        signs = np.where(flipped(turned) @ turned.T > 0, 1.0, -1.0).diagonal()
        return turned * signs[:, None], correlation * signs * signs[:, None]
    return flipped((components.T @ orthomax(components.T, ORTHOMAX[rotation])).T), np.eye(q)
