"""Mixtures of Bernoullis: hidden groups in tables of zeros and ones."""

from dataclasses import KW_ONLY, replace
from numbers import Real
from typing import Annotated, Any

import numpy as np
from sklearn.utils._param_validation import Interval

from latently.cluster.mixture.base import TableMixture
from latently.cluster.mixture.model import MixtureModel, MixtureParams, MixtureSums
from latently.cluster.mixture.prior import strength_of, weight_pseudo, with_block_priors
from latently.data.sources.chunks import ChunkSource
from latently.data.tables import frames
from latently.data.tables.matrix import FloatArray
from latently.distributions import Beta, Parts
from latently.distributions.components.binary import BinaryBlock
from latently.distributions.components.discrete import Values
from latently.distributions.components.slab import Ints
from latently.learn.engine.protocol import Array
from latently.learn.estimator.parameters import stores_parameters
from latently.learn.estimator.table import read_rows, read_source


@stores_parameters
class BernoulliMixture(TableMixture):
    """Mixture of Bernoullis for columns of zeros and ones, with missing values.

    In a component, columns are independent. What is missing is left out of a row's density, at fit and
    after; a row with nothing observed has the weights as its responsibilities.

    Parameters
    ----------
    n_components
        Number of components.
    binarize
        Threshold above which a number is a one; None if the table must hold zeros and ones already.
    prior
        None for a prior of one row with the overall share of ones, per component and column, so that no
        probability is 0 or 1 unless a column is constant; a number for another strength; a `Beta` (one pair for
        all columns, or one per column, at least 1); "ml" (or 0) for maximum likelihood.
    weight_prior
        Dirichlet concentration of the weights, at least 1; by default 1 + strength / n_components.
    tol
        Converged when the objective rises by less than this per row.
    max_iter
        Iterations at most; at zero the start is kept as it is.
    n_init
        Number of starts; the best result is kept.
    init_params
        "kmeans", "k-means++", "random_from_data" or "random" (responsibilities).
    weights_init, probabilities_init
        Where to start instead, (K,) and (K, d).
    method
        "em", or "gradient": L-BFGS on the log-likelihood in log odds, after ten passes of EM.
    random_state
        Seed of the starts.
    verbose
        1 shows a progress bar on a terminal.

    Attributes
    ----------
    weights_, probabilities_
        (K,) weights, in falling order unless a start, a label or `weight_prior` knows components by place, and (K, d)
        probabilities of a one.
    components_
        Each component as a distribution.
    converged_, n_iter_, reason_, n_reseeds_
        How the best start ended, and how often a dead component was put to new use.
    lower_bound_, lower_bounds_
        Log-likelihood plus log prior, per row, at the end and at every iteration.
    statistics_
        The sums that the parameters were made from; `partial_fit`, `merge` and `forget` add to and take from them.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1, 1, 0, 0], [1, 1, 0, np.nan], [1, 1, 0, 0], [0, 0, 1, 1], [0, np.nan, 1, 1]])
    >>> mixture = BernoulliMixture(2, random_state=0).fit(X)
    >>> mixture.predict(X)
    array([0, 0, 0, 1, 1])
    >>> mixture.impute_mean(X)[[1, 4]]
    array([[1., 1., 0., 0.], [0., 0., 1., 1.]])
    """

    _: KW_ONLY
    binarize: Annotated[float | None, None, Interval(Real, None, None, closed="neither")] = 0.0
    probabilities_init: Any = None

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Array, Ints]:
        """Draw rows and the components they come from, component by component."""
        return self._draw(n_samples, random_state)

    def _encode(self, X: Any, *, reset: bool, learning: bool) -> Array:
        rows = read_rows(self, X, reset=reset, allow_nan=True).astype(np.float64, copy=False)
        if reset:
            self._names = frames.column_names(X if frames.is_frame(X) else rows)
        return np.asarray(self._zeros_and_ones(rows), dtype=np.float64)

    def _encoded(self, X: ChunkSource, *, reset: bool) -> ChunkSource:
        source = read_source(self, X, reset=reset, allow_nan=True)
        if reset:
            self._names = source.column_names
        return source.mapped(self._zeros_and_ones)

    def _zeros_and_ones(self, rows: FloatArray) -> FloatArray:
        if self.binarize is None:
            wrong = (rows != 0) & (rows != 1) & ~np.isnan(rows)
            if wrong.any():
                row, column = (int(i) for i in np.argwhere(wrong)[0])
                raise ValueError(
                    f"column {self._names[column]!r} has {rows[row, column]:g} in row {row}: it must hold 0 and 1, or "
                    "give binarize a threshold"
                )
            return rows
        return np.where(np.isnan(rows), np.nan, rows > self.binarize)

    def _raw_model(self) -> MixtureModel:
        block = BinaryBlock(tuple(range(len(self._names))), tuple(self._names))
        return MixtureModel((block,), np.zeros(self._k))

    def _with_priors(self, model: MixtureModel, pooled: Parts) -> MixtureModel:
        d = len(model.blocks[0].columns)
        if isinstance(self.prior, Beta):
            if self.prior.n_columns not in (1, d):
                raise ValueError(f"prior has {self.prior.n_columns} columns, but the table has {d}")
            pairs = zip(np.broadcast_to(self.prior.a, d), np.broadcast_to(self.prior.b, d), strict=True)
            given: list[Any] = [Beta(a, b) for a, b in pairs]
            strength: Any = None
        else:
            given, strength = [strength_of(self.prior)] * d, self.prior
        pseudo = weight_pseudo(self.weight_prior, strength, self._k)
        return replace(with_block_priors(model, pooled, [given]), pseudo=pseudo)

    def _given_start(self, model: MixtureModel) -> MixtureParams | None:
        if self.probabilities_init is None:
            return None
        shape = (self._k, len(model.blocks[0].columns))
        values = np.asarray(self.probabilities_init, dtype=np.float64)
        if values.shape != shape or not ((values >= 0) & (values <= 1)).all():
            raise ValueError(f"probabilities_init must be probabilities of shape {shape}, got shape {values.shape}")
        weights = np.full(self._k, 1 / self._k) if self.weights_init is None else self._weights_given()
        return MixtureParams(weights, (Values(values),))

    def _start_settings(self, params: MixtureParams, model: MixtureModel) -> dict[str, Any]:
        return {"weights_init": params.weights, "probabilities_init": params.parts[0].values}

    @property
    def _keeps_order(self) -> bool:
        return self.weights_init is not None or self.probabilities_init is not None

    def _keep(self, model: MixtureModel, params: MixtureParams, stats: MixtureSums) -> None:
        super()._keep(model, params, stats)
        self.probabilities_ = params.parts[0].values

    def _check_data(self, n_rows: int, rng: np.random.Generator) -> Array:
        """Rows of two groups for the checks of `latently.checks`."""
        chances = np.array([[0.8, 0.3], [0.1, 0.6]])[np.arange(n_rows) % 2]
        return (rng.random((n_rows, 2)) < chances).astype(np.float64)
