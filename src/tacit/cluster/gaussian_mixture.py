"""Gaussian mixtures with scikit-learn's face."""

import warnings
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, check_random_state

from tacit.cluster.gaussian_given import Public, given_params, precisions_of, public_values, stored_params
from tacit.cluster.gaussian_impute import GaussianImputation
from tacit.cluster.gaussian_merge import aligned
from tacit.cluster.gaussian_missing import sorted_by_pattern
from tacit.cluster.gaussian_model import GaussianMixtureModel
from tacit.cluster.gaussian_params import KINDS, GaussianParams
from tacit.cluster.gaussian_start import column_moments, data_frame, start_params
from tacit.cluster.gaussian_stats import GaussianMoments
from tacit.cluster.mixture_skin import MixturePredictions
from tacit.data.chunks import ChunkSource, as_source
from tacit.data.matrix import check_weights
from tacit.learn.em import Fit, Hook, em
from tacit.learn.progress import both, progress
from tacit.learn.protocol import Array
from tacit.learn.reduce import reducing
from tacit.learn.restarts import best_of
from tacit.learn.skin import read_rows, seeds


class GaussianMixture(GaussianImputation, MixturePredictions, DensityMixin, BaseEstimator):
    """Mixture of Gaussians fitted by expectation and maximisation, missing values included.

    Takes the place of `sklearn.mixture.GaussianMixture`: same parameters, same fitted attributes. NaN is a missing
    value (at random): a row counts by the density of what was observed of it, at fit and everywhere else.

    Parameters
    ----------
    n_components
        Number of components.
    covariance_type
        "full": each component its own matrix; "tied": one for all; "diag": variances only; "spherical": one
        variance per component.
    tol
        Converged when the objective rises by less than this per row.
    reg_covar
        Share of the data's own variance, per column, that keeps a component from collapsing onto a point: the
        covariances are maximum a posteriori with a prior about the data's variances that weighs
        `reg_covar` times an average component. Zero for maximum likelihood. Unlike scikit-learn's, it has no unit.
    max_iter
        Iterations at most.
    n_init
        Number of starts; the best result is kept.
    init_params
        "kmeans", "k-means++", "random_from_data" or "random" (responsibilities).
    weights_init, means_init, precisions_init
        Where to start instead.
    random_state
        Seed of the starts.
    warm_start
        Start from the last fit.
    verbose
        1 shows a progress bar on a terminal.
    verbose_interval
        Accepted for scikit-learn's sake.

    Attributes
    ----------
    weights_, means_, covariances_, precisions_, precisions_cholesky_
        The fitted mixture, in the data's own units.
    converged_, n_iter_, reason_
        How the best start ended: "converged", "max_iter" or "stopped".
    lower_bound_, lower_bounds_
        The objective per row, at the end and at every iteration.
    statistics_
        The expected moments that the parameters were made from; `partial_fit` and `merge` add to them.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.concatenate([np.full(20, 0.0), np.full(60, 5.0)])[:, None] + np.linspace(-1, 1, 80)[:, None]
    >>> mixture = GaussianMixture(2, random_state=0).fit(X)
    >>> mixture.weights_.round(2)
    array([0.75, 0.25])
    >>> mixture.predict([[0.0], [5.0]])
    array([1, 0])
    """

    _parameter_constraints: dict = {  # noqa: RUF012
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "covariance_type": [StrOptions(set(KINDS))],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "reg_covar": [Interval(Real, 0.0, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "init_params": [StrOptions({"kmeans", "random", "random_from_data", "k-means++"})],
        "weights_init": ["array-like", None],
        "means_init": ["array-like", None],
        "precisions_init": ["array-like", None],
        "random_state": ["random_state"],
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
        "verbose_interval": [Interval(Integral, 1, None, closed="left")],
    }

    _takes_missing = True

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: Any = None,
        means_init: Any = None,
        precisions_init: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
    ):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, on_iteration: Hook | None = None) -> Self:
        """Fit the mixture to the rows.

        Parameters
        ----------
        X
            (n, d) rows.
        y
            Ignored.
        sample_weight
            (n,) weights; a weight of 2 counts as two rows.
        on_iteration
            Called with each step; a true return value stops the fit.
        """
        source = self._source(X, sample_weight, reset=True)
        best = self._best_fit(source, on_iteration)
        if best.reason == "max_iter" and self.max_iter > 0:
            warnings.warn(
                "Best performing initialization did not converge. Try different init parameters, or increase "
                "max_iter, tol, or check for degenerate data.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self._keep(*self._in_order(best))
        self.converged_, self.n_iter_, self.reason_ = best.converged, best.n_iter, best.reason
        self.lower_bounds_ = [value / best.rows for value in best.trace]
        self.lower_bound_ = self.lower_bounds_[-1]
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, then give the most probable component of each row."""
        return self.fit(X, y, sample_weight).predict(X)

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows: their expected moments under the current mixture are added to those so far.

        The first call is a `fit`. Earlier rows keep the responsibilities they were given when they were seen.
        """
        if not hasattr(self, "statistics_"):
            return self.fit(X, sample_weight=sample_weight)
        source = self._source(X, sample_weight, reset=False)
        before = stored_params(self, self.statistics_.frame)
        with reducing(source) as reduce:
            seen = reduce(lambda chunk: self._model(0.0).expect(before, chunk))
        return self._learn_from(before, self.statistics_ + seen)

    def merge(self, other: "GaussianMixture") -> Self:
        """Add what another fitted mixture of the same shape has seen; its components are matched to ours first."""
        check_is_fitted(self)
        check_is_fitted(other)
        mine, theirs = stored_params(self), stored_params(other)
        if (theirs.kind, theirs.means.shape) != (mine.kind, mine.means.shape):
            raise ValueError(
                f"a {theirs.kind} mixture of shape {theirs.means.shape} cannot be merged into a {mine.kind} "
                f"mixture of shape {mine.means.shape}: fit both with the same settings"
            )
        moved = aligned(mine, theirs, other.statistics_)
        return self._learn_from(stored_params(self, self.statistics_.frame), self.statistics_ + moved)

    def sample(self, n_samples: int = 1) -> tuple[Array, Array]:
        """Draw rows and the components they come from, component by component."""
        check_is_fitted(self)
        if n_samples < 1:
            raise ValueError(
                f"Invalid value for 'n_samples': {n_samples} . The sampling requires at least one sample."
            )
        rng = check_random_state(self.random_state)
        counts = rng.multinomial(n_samples, self.weights_)
        labels = np.repeat(np.arange(len(counts)), counts)
        noise = rng.standard_normal((n_samples, self.means_.shape[1]))
        return self.means_[labels] + self._colour(noise, labels), labels

    def _colour(self, noise: Array, labels: Array) -> Array:
        if self.covariance_type == "tied":
            return noise @ np.linalg.cholesky(self.covariances_).T
        if self.covariance_type == "full":
            factors = np.linalg.cholesky(self.covariances_)
            return np.concatenate([noise[labels == k] @ factors[k].T for k in range(len(factors))])
        deviations = np.sqrt(self.covariances_)[labels]
        return noise * (deviations if deviations.ndim == 2 else deviations[:, None])

    def _source(self, X: Any, sample_weight: Any, *, reset: bool) -> ChunkSource:
        rows = read_rows(self, X, reset=reset, allow_nan=True)
        if reset and len(rows) < self.n_components:
            raise ValueError(
                f"Expected n_samples >= n_components but got n_components = {self.n_components}, "
                f"n_samples = {len(rows)}: use fewer components"
            )
        weights = check_weights(sample_weight, len(rows))
        return sorted_by_pattern(as_source(rows, weights), rows, weights)

    def _best_fit(self, source: ChunkSource, on_iteration: Hook | None) -> Fit:
        with reducing(source) as reduce:
            moments = column_moments(reduce)
        self._refuse_empty_columns(source, moments.weight)
        frame = data_frame(moments, self.covariance_type)
        model = self._model(sum(chunk.total_weight for chunk in source))

        def run(rng: np.random.RandomState) -> Fit:
            own = source.fresh()
            with reducing(own) as reduce, progress("mixture", self.max_iter, self.verbose) as bar:
                params = self._start(model, frame, own, rng)
                return em(
                    model,
                    params,
                    reduce,
                    tol=self.tol,
                    max_iter=self.max_iter,
                    previous=self.lower_bound_ * self.statistics_.rows if self._goes_on else None,
                    on_iteration=both(bar, on_iteration),
                )

        starts = seeds(self.random_state, 1 if self._goes_on else self.n_init)
        small = source.n_rows is not None and source.n_rows <= 2 * 16384
        return best_of(run, starts, lambda fit: fit.trace[-1], side_by_side=small)

    def _refuse_empty_columns(self, source: ChunkSource, weight: Array) -> None:
        empty = [name for name, seen in zip(self._column_names(source), weight, strict=True) if seen <= 0]
        if empty:
            raise ValueError(f"column {empty[0]!r} has no observed value: drop it, or give it at least one")

    def _column_names(self, source: ChunkSource) -> Any:
        return getattr(self, "feature_names_in_", source.column_names)

    def _start(self, model: GaussianMixtureModel, frame: Any, source: ChunkSource, rng: Any) -> GaussianParams:
        if self._goes_on:
            return stored_params(self, frame)
        if all(part is not None for part in self._given):
            return given_params(self, frame, None)
        drawn = start_params(model, frame, source, self.n_components, self.init_params, rng)
        return given_params(self, frame, drawn)

    @property
    def _given(self) -> tuple[Any, Any, Any]:
        return self.weights_init, self.means_init, self.precisions_init

    @property
    def _goes_on(self) -> bool:
        return self.warm_start and hasattr(self, "statistics_")

    def _in_order(self, fit: Fit) -> tuple[GaussianParams, GaussianMoments]:
        """Heaviest component first, so that two runs agree; as given, where the user gave the start."""
        if self._goes_on or any(part is not None for part in self._given):
            return fit.params, fit.stats
        order = np.argsort(-fit.params.weights, kind="stable")
        return fit.params.permuted(order), fit.stats.permuted(order)

    def _model(self, rows: float) -> GaussianMixtureModel:
        return GaussianMixtureModel(self.covariance_type, self.reg_covar * rows / self.n_components)

    def _learn_from(self, before: GaussianParams, stats: GaussianMoments) -> Self:
        self._keep(self._model(stats.rows).update(before, stats), stats)
        return self

    def _keep(self, params: GaussianParams, stats: GaussianMoments) -> None:
        self.statistics_ = stats
        self._set_parameters(public_values(params))

    def _set_parameters(self, params: Public) -> None:
        self.weights_, self.means_, self.covariances_, self.precisions_cholesky_ = params
        self.precisions_ = precisions_of(self.precisions_cholesky_, self.covariance_type)

    def _joint(self, X: Array) -> Array:
        params = stored_params(self)
        return self._model(0.0).log_joint(params, X)

    def _n_parameters(self) -> int:
        k, d = self.means_.shape
        shape = {"full": k * d * (d + 1) // 2, "tied": d * (d + 1) // 2, "diag": k * d, "spherical": k}
        return shape[self.covariance_type] + k * d + k - 1

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @staticmethod
    def _expected_failed_checks() -> dict[str, str]:
        return {
            "check_sample_weight_equivalence_on_dense_data": "random starts draw rows, so repeats lead elsewhere; "
            "from a given start weights equal repeats"
        }

    def _engine(self) -> tuple[GaussianMixtureModel, GaussianParams]:
        check_is_fitted(self)
        return self._model(self.statistics_.rows), stored_params(self)
