"""The whole estimator around a latent model: say what the model is and where it starts, and the rest is here."""

from abc import abstractmethod
from dataclasses import fields, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted

from latently.data.sources.chunks import ArraySource, ChunkSource
from latently.learn.engine.em import Fit, Hook, em
from latently.learn.engine.progress import both, progress
from latently.learn.engine.protocol import Array
from latently.learn.engine.reduce import reducing
from latently.learn.engine.restarts import best_of
from latently.learn.engine.start import sample_rows
from latently.learn.estimator.imputation import ImputationMixin
from latently.learn.estimator.memberships import MembershipMixin
from latently.learn.estimator.online import nearest_order, refuse_other, weight_left
from latently.learn.estimator.parameters import COMPONENT_CONSTRAINTS, checked
from latently.learn.estimator.table import OutOfCoreMixin, read_rows, read_source, seeds
from latently.learn.estimator.unconverged import warn_unconverged

START_ROWS = 16384
SMALL_DATA = 32768  # up to so many rows, starts run side by side


class LatentEstimator(OutOfCoreMixin, ImputationMixin, MembershipMixin, DensityMixin, BaseEstimator):
    """Base of estimators of components that are fitted by expectation and maximisation.

    A subclass has the constructor parameters `n_components`, `tol`, `max_iter`, `n_init`, `random_state` and `verbose`,
    and says four things:

    `_model()`
        the latent model: `expect`, `update`, `log_prior`, and `log_joint(params, X)`, (n, k) log p(x_i, component k);
    `_start(rows, weights, rng)`
        parameters to start from, given (a sample of) the rows;
    `_keep(params)` and `_params()`
        from parameters to fitted attributes, and back.

    The statistics of the model have an array `counts` (k,), the weight of each component. It may also say
    `_n_parameters()`, for criteria; `_component_means()` (k, d) and `_draw(labels, rng)` (n, d), for missing values,
    for `sample` and for `merge`; and `_takes_missing = True` where NaN is a missing value.

    It then has `fit` with restarts, progress, convergence warning, weights and checkpoints, on arrays, frames, files
    and Dask; `partial_fit`, `merge`, `forget`; `predict`, `predict_proba`, `score_samples`, `score`, `aic`, `bic`,
    `icl`, `sample`; and works in `select`, `stream` and `Imputer`. `docs/new_model.md` has a complete example.
    """

    _is_iterative = True
    _parameter_constraints: ClassVar[dict[str, Any]] = COMPONENT_CONSTRAINTS
    n_components: int
    tol: float
    max_iter: int
    n_init: int
    random_state: Any
    verbose: Any

    # what a subclass says

    @abstractmethod
    def _model(self) -> Any:
        """The latent model."""

    @abstractmethod
    def _start(self, rows: Array, weights: Array, rng: np.random.RandomState) -> Any:
        """Parameters to start from."""

    @abstractmethod
    def _keep(self, params: Any) -> None:
        """Set the fitted attributes."""

    @abstractmethod
    def _params(self) -> Any:
        """Parameters from the fitted attributes."""

    # learning

    @checked
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, on_iteration: Hook | None = None) -> Self:
        """Fit the model to the rows.

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
        small = source.n_rows is not None and source.n_rows <= SMALL_DATA
        run, starts = partial(self._run, source, on_iteration), seeds(self.random_state, self.n_init)
        best = best_of(run, starts, lambda fit: fit.trace[-1], side_by_side=small)
        self._keep(best.params)
        self.statistics_ = best.stats
        self._take_trace(best)
        warn_unconverged(best.reason, "max_iter", self.max_iter)
        return self

    @checked
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows: their expected statistics under the current parameters are added to those so far.

        The first call is a `fit`. Earlier rows keep the responsibilities they were given when they were seen.
        """
        if not hasattr(self, "statistics_"):
            return self.fit(X, sample_weight=sample_weight)
        return self._learn_from(self.statistics_ + self._expected(X, sample_weight))

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Unlearn rows: their expected statistics under the current parameters are taken from those so far.

        Exact with one component; otherwise the rows are taken out with the responsibilities that they have now.
        """
        check_is_fitted(self)
        had, removed = self.statistics_, self._expected(X, sample_weight)
        left = had - removed
        return self._learn_from(replace(left, counts=weight_left(had.rows, removed.rows, left.counts)))

    def merge(self, other: Self) -> Self:
        """Add what another fitted model has seen; its components go to those of ours that are nearest.

        Exact with one component; otherwise rows keep the responsibilities that each model gave them.
        """
        refuse_other(self, other)
        mine, theirs = self._component_means(), other._component_means()
        if len(mine) != len(theirs):
            raise ValueError(
                f"{len(theirs)} components cannot be merged into {len(mine)}: fit both with the same number"
            )
        return self._learn_from(self.statistics_ + permuted(other.statistics_, nearest_order(mine, theirs)))

    def _source(self, X: Any, sample_weight: Any, *, reset: bool) -> ChunkSource:
        if isinstance(X, ChunkSource):
            source = read_source(self, X, reset=reset, allow_nan=self._takes_missing)
        else:
            rows = read_rows(self, X, reset=reset, allow_nan=self._takes_missing)
            names = getattr(self, "feature_names_in_", None)
            source = ArraySource(rows, sample_weight, None, None if names is None else tuple(names))
        n = source.totals()[1] if source.n_rows is None else source.n_rows
        if reset and n < self.n_components:
            raise ValueError(
                f"n_components = {self.n_components}, but X has only n_samples = {n}: use fewer components"
            )
        return source

    def _run(self, source: ChunkSource, hook: Hook | None, rng: np.random.RandomState) -> Fit[Any, Any]:
        """One fit, from one start."""
        own, model = source.fresh(), self._model()
        start = self._start(*sample_rows(own, START_ROWS, rng), rng)
        with reducing(own) as reduce, progress(type(self).__name__, self.max_iter, self.verbose) as bar:
            options: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter, "on_iteration": both(bar, hook)}
            return em(model, start, reduce, **options)

    def _expected(self, X: Any, sample_weight: Any) -> Any:
        """Expected statistics of rows under the current parameters."""
        with reducing(self._source(X, sample_weight, reset=False)) as reduce:
            return reduce(partial(self._model().expect, self._params()))

    def _learn_from(self, stats: Any) -> Self:
        self._keep(self._model().update(self._params(), stats))
        self.statistics_ = stats
        return self

    # answers

    def _joint(self, X: Array) -> Array:
        return np.asarray(self._model().log_joint(self._params(), np.asarray(X, dtype=np.float64)))

    def _engine(self) -> tuple[Any, Any]:
        """The latent model and its parameters, which the laws of `latently.checks` look at."""
        check_is_fitted(self)
        return self._model(), self._params()

    def _expected_failed_checks(self) -> dict[str, str]:
        if self.n_components == 1:
            return {}
        return {"law_merge_equals_fit_on_both": "rows keep the responsibilities that each model gave them"}


def permuted(stats: Any, order: Any) -> Any:
    """Statistics with their components in another order: every array that has one entry for each of them.

    Examples
    --------
    >>> from latently.distributions.statistics import Moments
    >>> moments = Moments(np.array([1.0, 2.0]), np.zeros((2, 1)), np.array([[3.0], [4.0]]), np.ones((2, 1)))
    >>> permuted(moments, [1, 0]).first.tolist()
    [[4.0], [3.0]]
    """

    def moved(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return value[order] if value.ndim and len(value) == len(order) else value
        return permuted(value, order) if hasattr(value, "__dataclass_fields__") else value

    return replace(stats, **{field.name: moved(getattr(stats, field.name)) for field in fields(stats) if field.init})
