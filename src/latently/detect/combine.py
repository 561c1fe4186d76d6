"""Several detectors as one."""

from collections.abc import Sequence
from dataclasses import KW_ONLY
from numbers import Real
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from latently.detect.base import Detector
from latently.detect.read import column_names, in_memory, read_table
from latently.detect.reasons.predictions import Reasons
from latently.kernel.base import Array
from latently.learn.estimator.parameters import CHOICES, Flag, checked, stores_parameters


@stores_parameters
class CombinedDetector(Detector):
    """Combines detectors through the ranks, or the tail probabilities, that they give to a row.

    Parameters
    ----------
    detectors
        Detectors, or pairs (name, detector); kernel density, one-class SVM and kernel PCA if None.
    by
        "ranks": the mean over detectors of the share of rows that score lower. "tails": the sum of log tail
        probabilities (Fisher's method), in which one detector that is sure has more say.
    cross_fitted
        Whether tails are learnt from rows that detectors have not seen, which takes five more fits of each.
    contamination
        Share of the rows of the fit that is to be called outliers.

    Attributes
    ----------
    detectors_
        The fitted detectors, by name.
    offset_
        Score at the threshold.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> both = CombinedDetector(contamination=0.05).fit(X)
    >>> both.predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    >>> both.disagreement([[0.0, 0.0]]).shape
    (1,)
    """

    _tags: ClassVar[dict[str, Any]] = {"sparse": True}

    detectors: Annotated[Sequence[Any] | None, None, "array-like"] = None
    _: KW_ONLY
    by: Annotated[Literal["ranks", "tails"], CHOICES] = "tails"
    cross_fitted: Flag = False
    contamination: Annotated[float, Interval(Real, 0.0, 0.5, closed="right")] = 0.1

    @checked
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit all detectors; labels (1, -1, 0), if given, go to those that take them."""
        X, y, _ = in_memory(self, X, y)
        rows = read_table(self, X, reset=True, min_rows=2)
        self._reasons = Reasons.of(np.asarray(rows, dtype=float), column_names(self, rows.shape[1]))
        self.detectors_ = {name: clone(detector).fit(X, y) for name, detector in _named(self.detectors)}
        if self.cross_fitted:
            for detector in self.detectors_.values():
                detector.calibrate(X)
        self._settle(self._joined(X))
        return self

    def score_samples(self, X: Any) -> Array:
        """Score (n,) of each row: mean rank, or sum of log tail probabilities."""
        check_is_fitted(self)
        read_table(self, X, reset=False)
        return self._joined(X)

    def tails(self, X: Any) -> Array:
        """(n, detectors) tail probability of each row under each detector."""
        check_is_fitted(self)
        return np.column_stack([detector.tail_probability(X) for detector in self.detectors_.values()])

    def disagreement(self, X: Any) -> Array:
        """(n,) range of the tail probabilities that the detectors give: 0 if they agree, 1 if they contradict."""
        return np.asarray(np.ptp(self.tails(X), axis=1))

    def _joined(self, X: Any) -> Array:
        tails = self.tails(X)
        return np.asarray(tails.mean(axis=1) if self.by == "ranks" else np.log(tails).sum(axis=1))

    def _expected_failed_checks(self) -> dict[str, str]:
        return {
            "law_density_integrates_to_one": "scores are not log densities",
            "law_row_order_does_not_matter": "a detector of its own depends on it, and ranks are steps",
        }


def _named(detectors: Any) -> list[tuple[str, Any]]:
    if detectors is None:
        from latently.detect.density.kernel_density import KernelDensity
        from latently.detect.kernel_pca import KernelPCADetector
        from latently.detect.one_class import OneClassSVM

        detectors = [KernelDensity(bandwidth="rule"), OneClassSVM(), KernelPCADetector()]
    if not len(detectors):
        raise ValueError("detectors is empty: give at least one")
    pairs = [item if isinstance(item, tuple) else (type(item).__name__, item) for item in detectors]
    names = [name for name, _ in pairs]
    return [(name if names.count(name) == 1 else f"{name} {i}", item) for i, (name, item) in enumerate(pairs)]
