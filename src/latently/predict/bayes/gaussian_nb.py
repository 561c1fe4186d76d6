"""Naive Bayes with a Gaussian for every column and class."""

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from latently.data.dask.source import DaskSource
from latently.data.sources.chunks import ChunkSource
from latently.learn.estimator.classes import Classes, Codes
from latently.learn.estimator.parameters import stores_parameters
from latently.learn.estimator.table import read_rows
from latently.predict.bayes.classifier import Array, BayesClassifier, Counter
from latently.predict.bayes.gaussians import Gaussians
from latently.predict.labels import class_priors, log_shares
from latently.predict.rows import CHUNK_ROWS
from latently.predict.statistics import ClassStatistics, GaussianStatistics
from latently.predict.tables import read_source


@stores_parameters
class GaussianNB(BayesClassifier):
    """Gaussian naive Bayes: within a class, columns are independent and normal.

    Missing values (NaN) are left out, at fit and at predict. Variances are held up by a share of each
    column's own unit, so columns may differ in scale by any factor. The squared unit is the column's
    variance, or a third of its fourth moment over its variance if that is more (a column that hardly ever
    departs from one value).

    Parameters
    ----------
    priors
        Prior probabilities of the classes; learnt from the data if None.
    var_smoothing
        Share of each column's squared unit that is added to its variance in every class.

    Attributes
    ----------
    classes_ : (K,) the classes
    class_count_ : (K,) weight of the rows of each class
    class_prior_ : (K,) prior probability of each class
    theta_ : (K, d) mean of each column in each class
    var_ : (K, d) variance of each column in each class
    epsilon_ : (d,) what was added to the variances
    statistics_ : the sums that the model has learnt

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-2.0, -1.0], [-1.0, -1.0], [1.0, np.nan], [2.0, 1.0]])
    >>> model = GaussianNB().fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[-1.5, np.nan], [1.4, 0.9]])
    array(['a', 'b'], ...)
    """

    _tags: ClassVar[dict[str, Any]] = {"allow_nan": True}

    _: KW_ONLY
    priors: ArrayLike | None = None
    var_smoothing: float = 1e-9

    def _read(self, X: Any, *, reset: bool) -> Any:
        if isinstance(X, DaskSource):  # in memory, and summed in small blocks anyway: larger chunks are fewer additions
            return read_source(self, X.chunked_by(4 * CHUNK_ROWS), reset=reset)
        if isinstance(X, ChunkSource):
            return read_source(self, X, reset=reset)
        return read_rows(self, X, reset=reset, allow_nan=True)

    def _counter(self, rows: Any) -> Counter:
        return GaussianStatistics.of

    def _parameters(self, stats: ClassStatistics, classes: Classes) -> dict[str, Any]:
        prior = class_priors(self.priors, stats.class_count)
        fitted = Gaussians.of(stats.features, self.var_smoothing)
        return {
            "class_prior_": prior,
            "theta_": fitted.theta,
            "var_": fitted.var,
            "epsilon_": fitted.epsilon,
            "_known": fitted.known,
        }

    def _gaussians(self) -> Gaussians:
        return Gaussians(self.theta_, self.var_, self.epsilon_, self._known)

    def _log_prior(self) -> Array:
        return log_shares(self.class_prior_)

    def _chunk_joint(self, X: Any) -> Array:
        return self._gaussians().joint(X, self._log_prior())

    def _draw(self, codes: Codes, rng: np.random.Generator) -> Array:
        return self._gaussians().draw(codes, rng)
