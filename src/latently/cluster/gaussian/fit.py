"""One fit of a Gaussian mixture: where it starts, how it climbs, which start wins, in what order components come."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.cluster.gaussian.compiled_fit import climbed
from latently.cluster.gaussian.given import given_params, stored_params
from latently.cluster.gaussian.labels import labelled_start, with_labels
from latently.cluster.gaussian.model import GaussianFit, GaussianMixtureModel
from latently.cluster.gaussian.reseed import revived
from latently.cluster.gaussian.start import column_moments, data_frame, params_from, start_params
from latently.data.sources.chunks import ArraySource, Chunk, ChunkSource, KeptSource
from latently.data.tables.matrix import FloatArray
from latently.distributions.components.gaussian.frame import Frame
from latently.distributions.components.gaussian.incomplete.conditional import incomplete_rows
from latently.distributions.components.gaussian.moments import GaussianMoments
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.order import heaviest_first
from latently.learn.checkpoint.checkpoint import is_checkpointing
from latently.learn.engine.em import Hook, ObjectiveFell, em
from latently.learn.engine.gradient import ascend
from latently.learn.engine.progress import both, progress
from latently.learn.engine.protocol import Array, Reduce
from latently.learn.engine.reduce import reducing
from latently.learn.engine.restarts import best_of
from latently.learn.estimator.labels import Labels
from latently.learn.estimator.table import seeds

# Up to this many rows the starts of a fit run side by side, one thread each.
_SMALL = 2 * 16384
# Up to this many multiplications per pass, what stands between two passes takes longer than they do.
_SMALL_WORK = 1 << 17


@dataclass(frozen=True, eq=False)
class GaussianTask:
    """What a mixture is to be fitted to."""

    mixture: Any
    source: ChunkSource
    labels: Labels | None
    on_iteration: Hook | None

    def best(self) -> GaussianFit:
        """The best of all starts."""
        with reducing(self.source) as reduce:
            moments = column_moments(reduce)
        self._refuse_empty_columns(moments.weight)
        frame = data_frame(moments, self.mixture.covariance_type, self.source, self.mixture.n_components, self._names)
        starts = seeds(self.mixture.random_state, 1 if self.goes_on else self.mixture.n_init)
        small = self.source.n_rows is not None and self.source.n_rows <= _SMALL
        return best_of(lambda rng: self._run(frame, rng), starts, lambda fit: fit.trace[-1], side_by_side=small)

    def in_order(self, fit: GaussianFit) -> tuple[GaussianParams, GaussianMoments]:
        """Heaviest component first, so that two runs agree; as it is, where the user has named components."""
        named = self.mixture._keeps_order or self.labels is not None
        return (fit.params, fit.stats) if self.goes_on or named else heaviest_first(fit)

    @property
    def goes_on(self) -> bool:
        """Whether the fit starts where the last one ended."""
        return self.mixture.warm_start and hasattr(self.mixture, "statistics_")

    @property
    def _given(self) -> tuple[Any, Any, Any]:
        return self.mixture.weights_init, self.mixture.means_init, self.mixture.precisions_init

    def _run(self, frame: Frame, rng: np.random.RandomState) -> GaussianFit:
        own, model = self.source.fresh(), self._model()
        with reducing(own) as reduce, progress("mixture", self.mixture.max_iter, self.mixture.verbose) as bar:
            hook = both(bar, self.on_iteration)
            fit = self._climb(model, self._start(model, frame, own, rng), reduce, hook)
            if self.mixture.max_iter == 0 or fit.halted:
                return fit
            again = partial(self._again, model, reduce, hook)
            return revived(fit, model, own, again, self._movable(model))

    def _model(self) -> GaussianMixtureModel:
        return with_labels(self.mixture._model(self.source.totals()[0]), self.labels)

    def _movable(self, model: GaussianMixtureModel) -> NDArray[np.bool_]:
        k = self.mixture.n_components
        return np.ones(k, bool) if model.constraints is None else ~model.constraints.touched

    def _climb(
        self, model: GaussianMixtureModel, params: GaussianParams, reduce: Reduce, hook: Hook | None
    ) -> GaussianFit:
        options: dict[str, Any] = {"tol": self.mixture.tol, "max_iter": self.mixture.max_iter, "on_iteration": hook}
        if hook is None and not is_checkpointing() and (chunk := self._small_table(model)) is not None:
            rows = incomplete_rows(np.asarray(chunk.X, dtype=np.float64), params.frame, chunk.weights)
            # where that loses digits the engine, which knows how many may be lost, has the last word
            with suppress(ObjectiveFell, ZeroDivisionError, ValueError):
                return climbed(rows, params, model.strength, tol=self.mixture.tol, max_iter=self.mixture.max_iter)
        if self.mixture.method == "gradient":
            return ascend(model, params, reduce, **options)
        previous = self.mixture.lower_bound_ * self.mixture.statistics_.rows if self.goes_on else None
        return em(model, params, reduce, previous=previous, **options)

    def _small_table(self, model: GaussianMixtureModel) -> Chunk | None:
        """All rows, if one compiled call takes them through all iterations faster than the engine would."""
        plain = model.prior is None and model.constraints is None and self.labels is None and not self.goes_on
        by_em = self.mixture.method == "em" and self.mixture.max_iter > 0 and model.kind in ("full", "tied")
        if not (plain and by_em) or not isinstance(self.source, KeptSource):
            return None
        chunk = next(iter(self.source))
        work = chunk.X.size * chunk.X.shape[1] * self.mixture.n_components
        return chunk if len(self.source) == 1 and work <= _SMALL_WORK else None

    def _again(
        self, model: GaussianMixtureModel, reduce: Reduce, hook: Hook | None, params: GaussianParams
    ) -> GaussianFit:
        start = self._allowed(model, params)
        return em(model, start, reduce, tol=self.mixture.tol, max_iter=self.mixture.max_iter, on_iteration=hook)

    def _start(
        self, model: GaussianMixtureModel, frame: Frame, source: ChunkSource, rng: np.random.RandomState
    ) -> GaussianParams:
        mixture = self.mixture
        if self.goes_on:
            return self._allowed(model, stored_params(mixture, frame))
        if all(part is not None for part in self._given):
            return self._allowed(model, given_params(mixture, frame, None))
        # the start is not bound by the constraints: they may leave no room to tell components apart
        free = GaussianMixtureModel(model.kind, model.strength)
        drawn = start_params(free, frame, source, mixture.n_components, mixture.init_params, rng)
        if self.labels is not None:
            drawn = labelled_start(drawn, source, self.labels)
        elif model.constraints is not None and mixture.means_init is None:
            drawn = model.constraints.matched(drawn)
        return self._allowed(model, given_params(mixture, frame, drawn))

    def _allowed(self, model: GaussianMixtureModel, params: GaussianParams) -> GaussianParams:
        return params if model.constraints is None else model.constraints.in_frame(params.frame).project(params)

    @property
    def _names(self) -> Sequence[str]:
        return list(getattr(self.mixture, "feature_names_in_", self.source.column_names))

    def _refuse_empty_columns(self, weight: Array) -> None:
        empty = [name for name, seen in zip(self._names, weight, strict=True) if seen <= 0]
        if empty:
            raise ValueError(f"column {empty[0]!r} has no observed value: drop it, or give it at least one")


def start_from(mixture: Any, rows: FloatArray, responsibilities: Array | None) -> GaussianParams:
    """Where a fit to these rows would start at given responsibilities; without them all has to be given."""
    source = ArraySource(rows)
    with reducing(source) as reduce:
        moments = column_moments(reduce)
    k = mixture.n_components if responsibilities is None else np.shape(responsibilities)[1]
    frame = data_frame(moments, mixture.covariance_type, source, k, source.column_names)
    if responsibilities is None:
        return given_params(mixture, frame, None)
    model = GaussianMixtureModel(mixture.covariance_type, mixture.reg_covar * len(rows) / k)
    Z = frame.inward(rows)
    shares = np.asarray(responsibilities, dtype=np.float64)
    return given_params(mixture, frame, params_from(model, frame, np.where(np.isnan(Z), 0.0, Z), shares))
