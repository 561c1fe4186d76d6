"""What mixtures over tables share: fitting, learning on, forgetting, merging, sampling."""

import warnings
from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.base import BaseEstimator, DensityMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from tacit.cluster.mixture_block import LOG_ZERO, Ints
from tacit.cluster.mixture_fit import best_fit, fit_one, in_order, pooled_sums
from tacit.cluster.mixture_gradient import check_free
from tacit.cluster.mixture_impute import MixtureImputation
from tacit.cluster.mixture_model import MixtureModel, MixtureParams, MixtureSums
from tacit.cluster.mixture_skin import MixturePredictions
from tacit.cluster.mixture_start import start_params
from tacit.cluster.mixture_table import checked_labels, refuse_empty
from tacit.data.chunks import ArraySource, ChunkSource
from tacit.distributions import Distribution, Parts
from tacit.distributions.inputs import generator
from tacit.distributions.mixture import MixtureDistribution
from tacit.learn.em import Fit, Hook
from tacit.learn.progress import both, progress
from tacit.learn.protocol import Array
from tacit.learn.reduce import reducing
from tacit.learn.skin import seeds


class TableMixture(MixtureImputation, MixturePredictions, DensityMixin, BaseEstimator):
    """A mixture whose components are products of blocks of columns; a subclass reads tables and makes blocks."""

    _takes_missing = True

    # what a subclass says

    @abstractmethod
    def _encode(self, X: Any, *, reset: bool, learning: bool) -> Array:
        """Checked floats (n, d) of a table."""

    @abstractmethod
    def _raw_model(self) -> MixtureModel:
        """Model without the priors that depend on the data."""

    @abstractmethod
    def _with_priors(self, model: MixtureModel, pooled: Parts) -> MixtureModel:
        """Model with its priors, given the statistics of all rows together."""

    @abstractmethod
    def _given_start(self, model: MixtureModel) -> MixtureParams | None:
        """Parameters that the user wants to start from."""

    @property
    @abstractmethod
    def _keeps_order(self) -> bool:
        """Whether components have places that the user knows."""

    @property
    def _k(self) -> int:
        return int(self.n_components)

    # learning

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, labels: Any = None, on_iteration: Hook | None = None
    ) -> Self:
        """Fit the mixture to the rows of a table.

        Parameters
        ----------
        X
            Table of (n, d); NaN is missing.
        y
            Ignored.
        sample_weight
            (n,) weights; a weight of 2 counts as two rows.
        labels
            (n,) component of each row where it is known, -1 or NaN elsewhere: those rows belong to it for good.
        on_iteration
            Called with each step; a true return value stops the fit.
        """
        rows = self._encode(X, reset=True, learning=True)
        if len(rows) < self._k:
            raise ValueError(
                f"n_components = {self._k}, but X has only n_samples = {len(rows)} rows: use fewer components"
            )
        source = self._source(rows, sample_weight, labels)
        model = replace(self._raw_model(), labelled=labels is not None)
        refuse_empty(model.blocks, rows)
        if self._method == "gradient":
            check_free(model)
        model = self._with_priors(model, self._observed(model, pooled_sums(model, source)))
        fit, reseeds = self._search(model, source, on_iteration)
        if fit.reason == "max_iter" and self.max_iter > 0:
            warnings.warn(
                f"the fit did not converge in {self.max_iter} iterations: raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        if fit.stats.bound < LOG_ZERO / 2:
            raise ValueError("some rows have no probability under what is fixed or given: loosen it, or drop the rows")
        as_found = self._keeps_order or labels is not None
        self._keep(replace(model, labelled=False), *((fit.params, fit.stats) if as_found else in_order(fit)))
        self.converged_, self.n_iter_, self.reason_, self.n_reseeds_ = fit.converged, fit.n_iter, fit.reason, reseeds
        self.lower_bounds_ = [value / fit.rows for value in fit.trace]
        self.lower_bound_ = self.lower_bounds_[-1]
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, then give the most probable component of each row."""
        return self.fit(X, y, sample_weight).predict(X)

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, labels: Any = None) -> Self:
        """Learn from further rows: their expected statistics under the current mixture join those so far.

        The first call is a `fit`. Earlier rows keep the responsibilities that they were given when seen.
        """
        if not hasattr(self, "statistics_"):
            return self.fit(X, sample_weight=sample_weight, labels=labels)
        return self._learn_from(self.statistics_ + self._expected(X, sample_weight, labels))

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None, *, labels: Any = None) -> Self:
        """Take rows away again, by their statistics.

        Exact where responsibilities do not depend on the parameters: with one component, or if `labels` gives
        the component of every row, then and now. Otherwise the rows are taken away with the responsibilities
        that the mixture gives them now, and the other rows keep theirs; a new `fit` may move further.
        """
        check_is_fitted(self)
        gone, had = self._expected(X, sample_weight, labels), self.statistics_
        left = had - gone
        if left.rows <= 1e-9 * had.rows:
            raise ValueError(
                f"rows of weight {gone.rows:g} cannot be forgotten: the mixture has learnt from {had.rows:g}, and "
                "some must remain"
            )
        if (left.weight < -1e-3 * had.rows).any():
            short = int(np.argmin(left.weight))
            raise ValueError(
                f"these rows cannot be forgotten: they have {gone.weight[short]:g} rows' worth of component {short} "
                f"now, which has learnt from {had.weight[short]:g}; were they learnt at all? Fit anew without them"
            )
        return self._learn_from(left)

    def merge(self, other: Self) -> Self:
        """Add what another fitted mixture of the same columns has seen; its components are matched to ours.

        Exact with one component; otherwise rows keep the responsibilities that each mixture gave them.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        self._check_alike(other)
        theirs = other.statistics_
        return self._learn_from(self.statistics_ + theirs.permuted(self._matched(theirs)))

    def _check_alike(self, other: Any) -> None:
        mine, theirs = ([(type(b), b.columns, b.names) for b in m.model_.blocks] for m in (self, other))
        if mine != theirs or self._k != other._k:
            raise ValueError("mixtures of different columns, families or numbers of components cannot be merged")

    def _matched(self, theirs: MixtureSums) -> Ints:
        """Which of their components belongs to each of ours: that of highest expected log density."""
        triples = zip(self.model_.blocks, self.parameters_.parts, theirs.parts.parts, strict=True)
        density = np.sum([block.cross(theta, stats) for block, theta, stats in triples], axis=0)
        return linear_sum_assignment(-density / np.maximum(theirs.weight, 1e-9))[1]

    def _expected(self, X: Any, sample_weight: Any, labels: Any) -> MixtureSums:
        rows = self._encode(X, reset=False, learning=True)
        model = replace(self.model_, labelled=labels is not None)
        with reducing(self._source(rows, sample_weight, labels)) as reduce:
            return reduce(lambda chunk: model.expect(self.parameters_, chunk))

    def _learn_from(self, stats: MixtureSums) -> Self:
        """Parameters from statistics, under priors about all rows that they come from."""
        pairs = zip(self.model_.blocks, stats.parts.parts, strict=True)
        model = self._with_priors(self.model_, Parts(tuple(block.pooled(part) for block, part in pairs)))
        self._keep(model, model.update(self.parameters_, stats), stats)
        return self

    def _source(self, rows: Array, sample_weight: Any, labels: Any) -> ChunkSource:
        if labels is not None:
            rows = np.column_stack([rows, checked_labels(labels, len(rows), self._k)])
        return ArraySource(np.ascontiguousarray(rows), sample_weight)

    def _observed(self, model: MixtureModel, pooled: Parts) -> Parts:
        for block, stats in zip(model.blocks, pooled.parts, strict=True):
            for name, weight in zip(block.names, block.observed(stats), strict=True):
                if not weight > 0:
                    raise ValueError(f"column {name!r} has no observed values (or no weight): leave it out")
        return pooled

    @property
    def _method(self) -> str:
        return getattr(self, "method", "em")

    def _search(self, model: MixtureModel, source: ChunkSource, on_iteration: Hook | None) -> tuple[Fit, int]:
        given = self._given_start(model)

        def run(rng: np.random.RandomState) -> tuple[Fit, int]:
            own = source.fresh()
            start = given or self._start(model, own, rng)
            with progress("mixture", self.max_iter, self.verbose) as bar:
                return fit_one(
                    model,
                    start,
                    own,
                    method=self._method,
                    tol=self.tol,
                    max_iter=self.max_iter,
                    on_iteration=both(bar, on_iteration),
                )

        starts = seeds(self.random_state, 1 if given else self.n_init)
        return best_fit(run, starts, source.n_rows or 0)

    def _start(self, model: MixtureModel, source: ChunkSource, rng: np.random.RandomState) -> MixtureParams:
        drawn = start_params(model, source, self._k, self.init_params, rng)
        if self.weights_init is not None:
            drawn = replace(drawn, weights=self._weights_given())
        return drawn if model.weights is None else replace(drawn, weights=model.weights)

    @abstractmethod
    def _weights_given(self) -> Array:
        """Weights that the user wants to start from."""

    def _keep(self, model: MixtureModel, params: MixtureParams, stats: MixtureSums) -> None:
        self.model_, self.parameters_, self.statistics_ = model, params, stats
        self.weights_ = params.weights

    # answers

    @property
    def components_(self) -> list[Distribution]:
        """Each component as a distribution over the columns of the encoded table."""
        check_is_fitted(self)
        return self.model_.components(self.parameters_)

    @property
    def distribution_(self) -> MixtureDistribution:
        """The mixture itself as a distribution over the columns of the encoded table."""
        return MixtureDistribution(self.weights_, self.components_)

    def score_samples(self, X: Any) -> Array:
        """(n,) log density of the observed entries of each row."""
        found = super().score_samples(X)
        return np.where(found < LOG_ZERO / 2, -np.inf, found)

    def _draw(self, n_samples: int, random_state: Any) -> tuple[Array, Ints]:
        check_is_fitted(self)
        if n_samples < 1:
            raise ValueError(f"n_samples must be at least 1, got {n_samples}")
        rng = generator(self.random_state if random_state is None else random_state)
        labels = np.sort(rng.choice(self._k, size=n_samples, p=self.weights_))
        width = sum(len(block.columns) for block in self.model_.blocks)
        out = np.empty((n_samples, width))
        for block, theta in zip(self.model_.blocks, self.parameters_.parts, strict=True):
            out[:, block.places] = block.sample(theta, labels, rng)
        return out, labels

    def _read(self, X: Any) -> Array:
        check_is_fitted(self)
        return self._encode(X, reset=False, learning=False)

    def _joint(self, X: Array) -> Array:
        return self.model_.log_joint(self.parameters_, X)

    def _n_parameters(self) -> int:
        return self.model_.n_parameters(self.parameters_)

    def _engine(self) -> tuple[MixtureModel, MixtureParams]:
        check_is_fitted(self)
        return self.model_, self.parameters_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _expected_failed_checks(self) -> dict[str, str]:
        if self._k == 1:
            return {}
        return {
            "law_merge_equals_fit_on_both": "rows keep the responsibilities that each mixture gave them",
            "law_forget_undoes_partial_fit": "rows go with the responsibilities that they have now",
        }
