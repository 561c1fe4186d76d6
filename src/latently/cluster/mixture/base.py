"""What mixtures over tables share: fitting, sampling, and what they know about themselves."""

from abc import abstractmethod
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from latently.cluster.mixture.fit import MixtureFit, best_fit, fit_one, pooled_sums, with_spread
from latently.cluster.mixture.gradient import check_free
from latently.cluster.mixture.grow import MixtureGrowth
from latently.cluster.mixture.impute import MixtureImputation
from latently.cluster.mixture.model import MixtureModel, MixtureParams, MixtureSums
from latently.cluster.mixture.online import MixtureOnline
from latently.cluster.mixture.prior import fixed_weights
from latently.cluster.mixture.start import start_params
from latently.cluster.mixture.table import refuse_empty
from latently.data.sources.chunks import ArraySource, ChunkSource
from latently.decide.mixin import DecideMixin
from latently.distributions import Distribution, Parts
from latently.distributions.components.order import heaviest_first, is_asymmetric, named_by
from latently.distributions.components.slab import LOG_ZERO, Ints
from latently.distributions.families.mixture import MixtureDistribution
from latently.distributions.inputs import generator
from latently.learn.engine.em import Hook
from latently.learn.engine.progress import both, progress
from latently.learn.engine.protocol import Array
from latently.learn.estimator.labels import UNKNOWN, read_labels
from latently.learn.estimator.memberships import MembershipMixin
from latently.learn.estimator.parameters import NON_NEGATIVE, Count, Seed, Verbose, Whole, checked, stores_parameters
from latently.learn.estimator.table import OutOfCoreMixin, seeds
from latently.learn.estimator.unconverged import warn_unconverged


@stores_parameters
class TableMixture(
    OutOfCoreMixin,
    MixtureOnline,
    MixtureGrowth,
    MixtureImputation,
    DecideMixin,
    MembershipMixin,
    DensityMixin,
    BaseEstimator,
):
    """A mixture whose components are products of blocks of columns; a subclass reads tables and makes blocks."""

    _takes_missing = True
    _is_iterative = True

    n_components: Count = 1
    _: KW_ONLY
    prior: Any = None
    weight_prior: Any = None
    tol: Annotated[float, NON_NEGATIVE] = 1e-4
    max_iter: Whole = 300
    n_init: Count = 1
    init_params: Annotated[str, StrOptions({"kmeans", "random", "random_from_data", "k-means++"})] = "kmeans"
    weights_init: Any = None
    method: Annotated[str, StrOptions({"em", "gradient"})] = "em"
    random_state: Seed = None
    verbose: Verbose = 0

    # what a subclass says

    @abstractmethod
    def _encode(self, X: Any, *, reset: bool, learning: bool) -> Array:
        """Checked floats (n, d) of a table."""

    @abstractmethod
    def _encoded(self, X: ChunkSource, *, reset: bool) -> ChunkSource:
        """The same of a table that comes in chunks."""

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

    @checked
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
        source = self._source(X, sample_weight, labels, reset=True)
        self._check_size(source)
        model = replace(self._raw_model(), labelled=labels is not None)
        refuse_empty(model.blocks, source)
        if self._method == "gradient":
            check_free(model)
        model = self._with_priors(with_spread(model, source), self._observed(model, pooled_sums(model, source)))
        fit, reseeds = self._search(model, source, on_iteration)
        warn_unconverged(fit.reason, "max_iter", self.max_iter)
        if fit.stats.bound < LOG_ZERO / 2:
            raise ValueError(
                "some rows have probability zero under the fixed or initial parameters: relax those, or drop the rows"
            )
        as_found = self._keeps_order or is_asymmetric(model.pseudo) or labels is not None
        self._keep(replace(model, labelled=False), *((fit.params, fit.stats) if as_found else heaviest_first(fit)))
        self._labelled = named_by(labels, self._k)
        self._take_trace(fit)
        self.n_reseeds_ = reseeds
        return self

    def _check_size(self, source: ChunkSource) -> None:
        n = source.totals()[1] if source.n_rows is None else source.n_rows
        if n < self._k:
            raise ValueError(f"n_components = {self._k}, but X has only n_samples = {n} rows: use fewer components")

    def _source(self, X: Any, sample_weight: Any, labels: Any, *, reset: bool) -> ChunkSource:
        if isinstance(X, ChunkSource):
            if labels is not None:
                raise ValueError("labels need a table in memory: leave them out, or read the rows into a dataframe")
            return self._encoded(X, reset=reset)
        rows = self._encode(X, reset=reset, learning=True)
        known = read_labels(labels, len(rows), self._k)
        if known is not None:
            rows = np.column_stack([rows, np.where(known == UNKNOWN, np.nan, known)])
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

    def _search(self, model: MixtureModel, source: ChunkSource, on_iteration: Hook | None) -> tuple[MixtureFit, int]:
        given = self._given_start(model)

        def run(rng: np.random.RandomState) -> tuple[MixtureFit, int]:
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
        return replace(drawn, weights=model.kept_weights(drawn.weights))

    def _weights_given(self) -> Array:
        """Weights that the user wants to start from."""
        return fixed_weights(self.weights_init, self._k, "weights_init")

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

    def fisher_scores(self, X: Any) -> Array:
        """Gradients (n, parameters) of the log density of each row; missing values are left out of it.

        Parameters are in coordinates without bounds: logits of weights and probabilities, means, logarithms of
        variances and rates, Cholesky factors of matrices. `latently.kernel.FisherKernel` compares rows by them.
        """
        return self.model_.scores(self.parameters_, self._read(X))

    def _scores(self, rows: Array) -> Array:
        found = super()._scores(rows)
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

    def _expected_failed_checks(self) -> dict[str, str]:
        if self._k == 1:
            return {}
        return {
            "law_merge_equals_fit_on_both": "rows keep the responsibilities that each mixture gave them",
            "law_forget_undoes_partial_fit": "rows go with the responsibilities that they have now",
        }
