"""Multidimensional scaling by SMACOF."""

import warnings
from dataclasses import KW_ONLY
from numbers import Integral
from typing import Annotated, Any, Literal, Self

from sklearn.utils._param_validation import StrOptions

from latently.embed.mds.base import DissimilarityMap
from latently.embed.mds.classical import ClassicalMDS
from latently.embed.mds.smacof import Majorisation, best_configuration, given_start, random_starts
from latently.geometry.distances import Array
from latently.learn.engine.cores import some_threads
from latently.learn.estimator.parameters import (
    CHOICES,
    NON_NEGATIVE,
    Count,
    Flag,
    Seed,
    Verbose,
    checked,
    stores_parameters,
)
from latently.learn.estimator.unconverged import warn_unconverged


@stores_parameters
class MDS(DissimilarityMap):
    """Multidimensional scaling: a map whose distances are close to given dissimilarities, or follow their order.

    A drop-in replacement for scikit-learn's class of the same name. New rows can be placed in the map that stands.

    Parameters
    ----------
    n_components
        Dimensions of the map.
    metric_mds
        Whether distances follow the dissimilarities themselves; if not, only their order, and zeros are missing.
    n_init
        How many random starts, side by side in threads; the map of lowest stress is kept.
    init
        "random" or "classical_mds" (then there is one start). "warn", scikit-learn's default, is "random".
    max_iter
        Iterations at most.
    verbose
        Not used: `n_iter_` and `converged_` say how it went.
    n_jobs
        How many threads for the starts; None for every core.
    eps
        Fall of the stress, as a share of the sum of squared distances, at which to stop.
    random_state
        Seed of the starts.
    dissimilarity
        Former name of `metric`.
    metric
        "euclidean", "precomputed", or another metric of `sklearn.metrics.pairwise_distances`.
    metric_params
        Further arguments of the metric.
    normalized_stress
        Whether `stress_` is Stress-1: sqrt(stress / sum of squared distances); "auto" for non-metric maps only.

    Attributes
    ----------
    embedding_
        (n, k) the map.
    stress_
        Sum over pairs of (disparity - distance)^2, or Stress-1.
    dissimilarity_matrix_
        (n, n) dissimilarities.
    n_iter_, converged_, reason_
        Iterations of the best start, and whether its stress had ceased to fall.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(20, 2))
    >>> model = MDS(init="classical_mds").fit(X)
    >>> bool(model.stress_ < 1e-20)
    True
    """

    n_components: Count = 2
    _: KW_ONLY
    metric_mds: Flag = True
    n_init: Count = 1
    init: Annotated[Literal["random", "classical_mds", "warn"], CHOICES] = "warn"
    max_iter: Count = 300
    verbose: Verbose = 0
    eps: Annotated[float, NON_NEGATIVE] = 1e-6
    n_jobs: Annotated[int | None, None, Integral] = None
    random_state: Seed = None
    dissimilarity: Annotated[str, StrOptions({"euclidean", "precomputed", "deprecated"})] = "deprecated"
    metric: Annotated[Any, str, callable, "boolean"] = "euclidean"
    metric_params: Annotated[dict[str, Any] | None, dict, None] = None
    normalized_stress: Annotated[bool | Literal["auto"], "boolean", CHOICES] = "auto"

    def fit(self, X: Any, y: Any = None, init: Any = None) -> Self:
        """Find the map; see `fit_transform`."""
        self.fit_transform(X, init=init)
        return self

    @checked
    def fit_transform(self, X: Any, y: Any = None, init: Any = None, **params: Any) -> Array:
        """Find the map, and give the places (n, k) of the rows.

        Parameters
        ----------
        X
            (n, d) rows, or for the metric "precomputed" their (n, n) dissimilarities.
        y
            Not used.
        init
            (n, k) map to start from.
        """
        self._warn_former_names()
        D = self._dissimilarities(X)
        metric = self.metric if isinstance(self.metric, bool) else self.metric_mds
        normalised = not metric if self.normalized_stress == "auto" else self.normalized_stress
        how = Majorisation(metric, self.max_iter, self.eps, normalised)
        with some_threads(self.n_jobs):
            found = best_configuration(D, self._starts(D, init), how)
        self.embedding_, self.stress_ = found.points, found.stress
        self.n_iter_, self.converged_ = found.n_iter, found.converged
        self.reason_ = "converged" if found.converged else "max_iter"
        warn_unconverged(self.reason_, "max_iter", self.max_iter)
        return self.embedding_

    def _starts(self, D: Array, init: Any) -> list[Array]:
        if init is not None:
            return [given_start(init, len(D), self.n_components)]
        if self.init == "classical_mds":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # any map is a start
                return [ClassicalMDS(self.n_components, metric="precomputed").fit(D).embedding_]
        return random_starts(len(D), self.n_components, self.n_init, self.random_state)

    def _expected_failed_checks(self) -> dict[str, str]:
        reason = "each row starts at a random place: another order of rows may lead to another local minimum"
        return {"law_row_order_does_not_matter": reason} if self.init != "classical_mds" else {}

    @property
    def _metric(self) -> Any:
        if self.dissimilarity != "deprecated":
            return self.dissimilarity
        return "euclidean" if isinstance(self.metric, bool) else self.metric

    def _warn_former_names(self) -> None:
        """Warnings about parameters that scikit-learn has renamed."""
        if self.dissimilarity != "deprecated":
            if not isinstance(self.metric, bool) and self.metric != "euclidean":
                raise ValueError("You provided both `dissimilarity` and `metric`: give `metric` alone")
            _warn_former("The `dissimilarity` parameter is now called `metric`")
        if isinstance(self.metric, bool):
            _warn_former(f"Use metric_mds={self.metric} instead of metric={self.metric}")


def _warn_former(message: str) -> None:
    warnings.warn(message, FutureWarning, stacklevel=5)
