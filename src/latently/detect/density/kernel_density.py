"""Kernel density estimation."""

from dataclasses import KW_ONLY
from numbers import Real
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from latently.detect.base import Detector
from latently.detect.calibration import Tails, lower_quantile
from latently.detect.density.bandwidth import held_out_bandwidth, ruled_bandwidth
from latently.detect.density.boxes import KINDS, Boxes, log_norm
from latently.detect.read import column_names, in_memory, read_table
from latently.detect.reasons.predictions import Reasons
from latently.kernel.base import Array
from latently.learn.estimator.parameters import Count, Flag, checked, stores_parameters

_TREES = {"kd_tree", "ball_tree"}
_METRICS = ("euclidean", "l2", "minkowski", "p", "manhattan", "cityblock", "l1", "chebyshev", "infinity", "haversine")
_USUAL = 2000  # rows of the fit whose scores set the threshold


@stores_parameters
class KernelDensity(Detector):
    """Kernel density estimation: the mean of kernels on the training rows; its logarithm is the score.

    A drop-in replacement for scikit-learn's class of the same name. In feature space the density is the inner product
    with the mean of the training rows, `mean_in_feature_space`.

    Parameters
    ----------
    bandwidth
        Width of the kernels: a number; "scott" or "silverman", which know only how many rows and columns
        there are; "rule", Silverman's rule with the spread of the columns; or "held-out", under which rows that were
        left out are most probable.
    algorithm
        Accepted for scikit-learn's sake.
    kernel
        "gaussian", "tophat", "epanechnikov", "exponential", "linear" or "cosine".
    metric
        "euclidean", or another of scikit-learn's, which takes longer.
    atol, rtol
        How far off a density may be, absolutely and relative to itself; 0 for as good as numbers are.
    breadth_first, leaf_size
        Accepted for scikit-learn's sake.
    metric_params
        Further arguments of the metric.
    contamination
        Share of the rows of the fit that `predict` is to call outliers.

    Attributes
    ----------
    bandwidth_
        The bandwidth.
    offset_
        Score at the threshold.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> kde = KernelDensity(bandwidth=0.5).fit(X)
    >>> kde.score_samples(X[:3])
    array([-3.39, -3.34, -4.21])
    >>> kde.predict([[0.0, 0.0, 0.0], [5.0, 5.0, 5.0]])
    array([ 1, -1])
    """

    _tags: ClassVar[dict[str, Any]] = {"sparse": True}

    _: KW_ONLY
    bandwidth: Annotated[
        Any, Interval(Real, 0, None, closed="neither"), StrOptions({"scott", "silverman", "rule", "held-out"})
    ] = 1.0
    algorithm: Annotated[str, StrOptions(_TREES | {"auto"})] = "auto"
    kernel: Annotated[str, StrOptions(set(KINDS))] = "gaussian"
    metric: Annotated[str, StrOptions(set(_METRICS))] = "euclidean"
    atol: Annotated[float, Interval(Real, 0, None, closed="left")] = 0
    rtol: Annotated[float, Interval(Real, 0, None, closed="left")] = 0
    breadth_first: Flag = True
    leaf_size: Count = 40
    metric_params: Annotated[dict[str, Any] | None, None, dict] = None
    contamination: Annotated[float, Interval(Real, 0.0, 0.5, closed="right")] = 0.1

    @checked
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Keep the rows, and choose the bandwidth.

        Parameters
        ----------
        X
            (n, d) rows.
        y
            Not used.
        sample_weight
            (n,) weights of the rows, above zero.
        """
        if self.algorithm == "kd_tree" and self.metric == "haversine":
            raise ValueError(f"invalid metric for {self.algorithm}: '{self.metric}'")
        X, _, sample_weight = in_memory(self, X, None, sample_weight)
        rows = np.asarray(read_table(self, X, reset=True), dtype=float)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
        self._total = float(len(rows) if weights is None else weights.sum())
        self.bandwidth_ = self._chosen_bandwidth(rows)
        self._boxes = Boxes.of(rows, weights)
        self._reasons = Reasons.of(rows, column_names(self, rows.shape[1]))
        self._memo: dict[str, Any] = {}
        return self

    def _chosen_bandwidth(self, rows: Array) -> float:
        n, d = rows.shape
        if self.bandwidth == "scott":
            return float(n ** (-1 / (d + 4)))
        if self.bandwidth == "silverman":
            return float((n * (d + 2) / 4) ** (-1 / (d + 4)))
        if self.bandwidth == "rule":
            return ruled_bandwidth(rows)
        return held_out_bandwidth(rows, self.kernel) if self.bandwidth == "held-out" else float(self.bandwidth)

    def score_samples(self, X: Any) -> Array:
        """Log density (n,) of each row."""
        check_is_fitted(self)
        return self._log_density(np.asarray(read_table(self, X, reset=False), dtype=float))

    def _log_density(self, rows: Array) -> Array:
        norm = log_norm(self.kernel, rows.shape[1], self.bandwidth_) + np.log(self._total)
        if self.metric in ("euclidean", "l2", "minkowski", "p") and not self.metric_params:
            atol = self.atol * np.exp(min(norm, 700.0))
            return np.asarray(self._boxes.log_sums(rows, self.bandwidth_, self.kernel, self.rtol, atol) - norm)
        return np.asarray(self._by_metric(rows) - norm)

    def _by_metric(self, rows: Array) -> Array:
        from latently.detect.density.profiles import log_profile_sums

        far = pairwise_distances(rows, self._boxes.points, metric=self.metric, **(self.metric_params or {}))
        return log_profile_sums(far / self.bandwidth_, self.kernel, self._boxes.weights)

    def score(self, X: Any, y: Any = None) -> float:
        """Sum of the log densities of all rows, as scikit-learn has it."""
        return float(np.sum(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Array:
        """Draw rows (n, d) from the density; for kernels "gaussian" and "tophat"."""
        check_is_fitted(self)
        if self.kernel not in ("gaussian", "tophat"):
            raise NotImplementedError(f"sample is for the kernels 'gaussian' and 'tophat', not {self.kernel!r}")
        rng = check_random_state(random_state)
        points, weights = self._boxes.points, self._boxes.weights
        chosen = rng.choice(len(points), n_samples, p=weights / weights.sum() if len(weights) else None)
        noise = rng.normal(size=(n_samples, points.shape[1]))
        if self.kernel == "tophat":  # a direction, and a radius that fills the ball evenly
            size = rng.uniform(size=(n_samples, 1)) ** (1 / points.shape[1])
            noise *= size / np.sqrt((noise**2).sum(axis=1, keepdims=True))
        return np.asarray(points[chosen] + self.bandwidth_ * noise)

    def mean_in_feature_space(self) -> Any:
        """The function <phi(x), mean of phi(x_i)> with a Gaussian kernel: the density without its normalisation.

        A `latently.kernel.gram.expansion.Expansion`: call it with rows.
        """
        from latently.kernel.gram.expansion import Expansion
        from latently.kernel.vector import RBF

        check_is_fitted(self)
        if self.kernel != "gaussian":
            raise ValueError("the view in feature space is for the Gaussian kernel")
        points, weights = self._boxes.points, self._boxes.weights
        each = weights if len(weights) else np.ones(len(points))
        return Expansion(RBF(width=self.bandwidth_), points, each / each.sum())

    # the threshold takes scores of the rows of the fit, which are computed when it is first asked for

    @property
    def offset_(self) -> float:
        """Score at the threshold."""
        return float(self._usual("offset"))

    @offset_.setter
    def offset_(self, value: float) -> None:
        self._memo["offset"] = value

    @property
    def _tails(self) -> Tails:
        found = self._usual("tails")
        assert isinstance(found, Tails)
        return found

    @_tails.setter
    def _tails(self, value: Tails) -> None:
        self._memo["tails"] = value

    def _usual(self, name: str) -> Any:
        if not hasattr(self, "_memo"):
            raise AttributeError(f"this {type(self).__name__} is not fitted")
        if name not in self._memo:
            points, weights = self._boxes.points, self._boxes.weights
            some = np.random.default_rng(0).permutation(len(points))[:_USUAL]
            scores = self._log_density(points[some])
            self._memo.setdefault("tails", Tails.of(scores))
            self._memo.setdefault(
                "offset", lower_quantile(scores, float(self.contamination), weights[some] if len(weights) else None)
            )
        return self._memo[name]

    def _expected_failed_checks(self) -> dict[str, str]:
        return {"law_score_is_the_mean_of_score_samples": "the sum, as in scikit-learn's class of the same name"}
