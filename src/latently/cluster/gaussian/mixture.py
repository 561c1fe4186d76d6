"""Gaussian mixtures with scikit-learn's face."""

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Annotated, Any, Self

from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from latently.cluster.gaussian.fit import GaussianTask, start_from
from latently.cluster.gaussian.given import Public, kept_params, precisions_of, public_values, stored_params
from latently.cluster.gaussian.impute import GaussianImputation
from latently.cluster.gaussian.labels import labelled_source
from latently.cluster.gaussian.model import GaussianFit, GaussianMixtureModel
from latently.cluster.gaussian.online import GaussianOnline
from latently.cluster.gaussian.sample import GaussianSampling
from latently.cluster.gaussian.standard_errors import GaussianErrors
from latently.data.sources.chunks import ChunkSource
from latently.data.tables.matrix import FloatArray, check_weights
from latently.decide.mixin import DecideMixin
from latently.distributions.components.gaussian.frame import Kind
from latently.distributions.components.gaussian.incomplete.missing import sorted_by_pattern
from latently.distributions.components.gaussian.limits.constraints import read_constraints
from latently.distributions.components.gaussian.limits.free import count_free
from latently.distributions.components.gaussian.moments import GaussianMoments
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.gaussian.prior import names_components, read_prior
from latently.distributions.components.order import named_by
from latently.learn.engine.em import Hook
from latently.learn.engine.protocol import Array
from latently.learn.estimator.labels import Labels, read_labels
from latently.learn.estimator.memberships import MembershipMixin
from latently.learn.estimator.parameters import (
    CHOICES,
    NON_NEGATIVE,
    Count,
    Flag,
    Seed,
    Verbose,
    Whole,
    checked,
    stores_parameters,
)
from latently.learn.estimator.table import OutOfCoreMixin, read_rows, read_source
from latently.learn.estimator.unconverged import warn_unconverged

# The peer's wording, which its users' code may match.
NOT_CONVERGED = (
    "Best performing initialization did not converge. Try different init parameters, or increase max_iter, tol, or "
    "check for degenerate data."
)


@stores_parameters
class GaussianMixture(
    OutOfCoreMixin,
    GaussianOnline,
    GaussianErrors,
    GaussianImputation,
    GaussianSampling,
    DecideMixin,
    MembershipMixin,
    DensityMixin,
    BaseEstimator,
):
    """Mixture of Gaussians fitted by expectation and maximisation, missing values included.

    A drop-in replacement for `sklearn.mixture.GaussianMixture`: same parameters, same fitted attributes. NaN is a
    missing value (at random): a row counts by the density of what was observed of it, at fit and everywhere else.

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
        Share of the variance inside clusters, per column, that keeps a component from collapsing onto a point: the
        covariances are maximum a posteriori with a prior about those variances that weighs `reg_covar` times an average
        component. They are measured before the fit, by the width of windows that hold a quarter of an average
        component's rows, so clusters far apart are not widened. Zero for maximum likelihood. Unlike scikit-learn's,
        it has no unit.
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
    prior
        Mapping with "weights" (a `Dirichlet`, or one number for all its concentrations) or "components" (a
        `NormalInverseWishart` of every component's mean and covariance, in the data's units, in place of the
        one of `reg_covar`) or both. The fit is then maximum a posteriori.
    fixed
        Mapping with "weights" (k,), "means" (k, d) or "covariances" (shaped as the fitted ones): numbers that are not
        learnt, NaN for those that are. A matrix is fixed as a whole or not at all.
    bounds
        Mapping from "weights", "means" or "variances" to a pair (low, high) of numbers or arrays, None for no
        bound. Of a matrix the variances along its main axes are meant.
    tied
        Mapping from "weights", "means" or "covariances" to groups of components that share one value, as in
        `tied={"means": [[0, 1]]}`.
    method
        "em", or "gradient": L-BFGS on the objective in parameters without constraints.

    Attributes
    ----------
    weights_, means_, covariances_, precisions_, precisions_cholesky_
        The fitted mixture, in the data's own units; heaviest component first, unless a prior, a constraint, a label or
        a start knows components by place.
    converged_, n_iter_, reason_
        How the best start ended: "converged", "max_iter", "stopped", "interrupted" (Ctrl-C), or "stalled" (a gradient
        that leads nowhere).
    trace_
        The objective at every iteration.
    lower_bound_, lower_bounds_
        The objective per row, at the end and at every iteration.
    statistics_
        The expected moments that the parameters were made from; `partial_fit` and `merge` add to them,
        `forget` takes from them.

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

    _takes_missing = True
    _is_iterative = True

    n_components: Count = 1
    _: KW_ONLY
    covariance_type: Annotated[Kind, CHOICES] = "full"
    tol: Annotated[float, NON_NEGATIVE] = 1e-3
    reg_covar: Annotated[float, NON_NEGATIVE] = 1e-6
    max_iter: Whole = 100
    n_init: Count = 1
    init_params: Annotated[str, StrOptions({"kmeans", "random", "random_from_data", "k-means++"})] = "kmeans"
    weights_init: Annotated[Any, "array-like", None] = None
    means_init: Annotated[Any, "array-like", None] = None
    precisions_init: Annotated[Any, "array-like", None] = None
    random_state: Seed = None
    warm_start: Flag = False
    verbose: Verbose = 0
    verbose_interval: Count = 10
    prior: Annotated[Mapping[str, Any] | None, Mapping, None] = None
    fixed: Annotated[Mapping[str, Any] | None, Mapping, None] = None
    bounds: Annotated[Mapping[str, Any] | None, Mapping, None] = None
    tied: Annotated[Mapping[str, Any] | None, Mapping, None] = None
    method: Annotated[str, StrOptions({"em", "gradient"})] = "em"

    @checked
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, labels: Any = None, on_iteration: Hook | None = None
    ) -> Self:
        """Fit the mixture to the rows.

        Parameters
        ----------
        X
            (n, d) rows.
        y
            Ignored.
        sample_weight
            (n,) weights; a weight of 2 counts as two rows.
        labels
            (n,) the component that each row is known to belong to, -1 or NaN where it is not known.
        on_iteration
            Called with each step; a true return value stops the fit.
        """
        source, known = self._known_source(X, sample_weight, labels, reset=True)
        task = GaussianTask(self, source, known, on_iteration)
        best = task.best()
        warn_unconverged(best.reason, "max_iter", self.max_iter, NOT_CONVERGED)
        self._labelled = named_by(known, self.n_components)
        return self._adopt(best, *task.in_order(best))

    def _rows(self, X: Any, sample_weight: Any, *, reset: bool) -> tuple[FloatArray, Array | None]:
        rows = read_rows(self, X, reset=reset, allow_nan=True)
        if reset:
            self._check_size(len(rows))
        return rows, check_weights(sample_weight, len(rows))

    def _check_size(self, n_rows: int) -> None:
        if n_rows < self.n_components:
            raise ValueError(
                f"Expected n_samples >= n_components but got n_components = {self.n_components}, "
                f"n_samples = {n_rows}: use fewer components"
            )

    def _source(self, X: Any, sample_weight: Any, *, reset: bool) -> ChunkSource:
        if not isinstance(X, ChunkSource):
            return sorted_by_pattern(*self._rows(X, sample_weight, reset=reset), self.n_components)
        source = read_source(self, X, reset=reset, allow_nan=True)
        if reset:
            self._check_size(source.totals()[1] if source.n_rows is None else source.n_rows)
        return source

    def _known_source(
        self, X: Any, sample_weight: Any, labels: Any, *, reset: bool
    ) -> tuple[ChunkSource, Labels | None]:
        """The rows, and the components of those that have a label, in the order of the rows."""
        if labels is None:
            return self._source(X, sample_weight, reset=reset), None
        if isinstance(X, ChunkSource):
            raise ValueError("labels need a table in memory: leave them out, or read the rows into a dataframe")
        rows, weights = self._rows(X, sample_weight, reset=reset)
        known = read_labels(labels, len(rows), self.n_components)
        assert known is not None, "labels were given"
        return labelled_source(rows, weights, known)

    def _model(self, rows: float) -> GaussianMixtureModel:
        kind, k, d = self.covariance_type, self.n_components, self.n_features_in_
        constraints = read_constraints(self.fixed, self.bounds, self.tied, kind=kind, k=k, d=d)
        if constraints is not None and self.method == "gradient":
            raise ValueError('method="gradient" takes no fixed, bounds or tied: use method="em"')
        return GaussianMixtureModel(kind, self.reg_covar * rows / k, read_prior(self.prior, kind, k, d), constraints)

    def _adopt(self, fit: GaussianFit, params: GaussianParams, stats: GaussianMoments) -> Self:
        """Take over what a fit found, its components in the order of `params`."""
        self._keep(public_values(params), stats)
        self._take_trace(fit)
        return self

    @property
    def _keeps_order(self) -> bool:
        """Whether settings know components by place: a start, a constraint, a prior that differs between them."""
        given = any(part is not None for part in (self.weights_init, self.means_init, self.precisions_init))
        return bool(given or self.fixed or self.bounds or self.tied or names_components(self.prior))

    def _keep(self, params: Public, stats: GaussianMoments) -> None:
        self.statistics_ = stats
        self._set_parameters(params)

    def _initialize(self, X: Any, resp: Any) -> None:
        """Take on where a fit starts at given responsibilities, as scikit-learn's method of that name does."""
        rows = read_rows(self, X, reset=True, allow_nan=True)
        start = start_from(self, rows, resp)
        self._set_parameters(public_values(start))

    def _set_parameters(self, params: Public) -> None:
        self.weights_, self.means_, self.covariances_, self.precisions_cholesky_ = params
        self.precisions_ = precisions_of(self.precisions_cholesky_, self.covariance_type)

    def _joint(self, X: Array) -> Array:
        return GaussianMixtureModel(self.covariance_type).log_joint(kept_params(self), X)

    def _row_work(self) -> int:
        k, d = self.means_.shape
        return int(k * (d if self.covariance_type in ("full", "tied") else 1))

    def _n_parameters(self) -> int:
        (k, d), kind = self.means_.shape, self.covariance_type
        constraints = read_constraints(self.fixed, self.bounds, self.tied, kind=kind, k=k, d=d)
        return count_free(kind, k, d, constraints)

    def _engine(self) -> tuple[GaussianMixtureModel, GaussianParams]:
        check_is_fitted(self)
        return self._model(self.statistics_.rows), stored_params(self, self.statistics_.frame)
