"""What all detectors share: a score for each row, a threshold, tails and probabilities, reasons."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from latently.detect.calibration import Tails
from latently.detect.read import some_rows
from latently.detect.reasons.columns import explained
from latently.detect.reasons.predictions import Reasons
from latently.kernel.base import Array, length, take
from latently.learn.estimator.table import OutOfCoreMixin


class Detector(OutOfCoreMixin, OutlierMixin, BaseEstimator, ABC):
    """Base of detectors.

    A subclass has `fit`, which ends with `_settle`, and `score_samples`: the higher, the more usual. Answers of a table
    that is not in memory are written to a file, chunk by chunk.
    """

    _row_verbs: ClassVar[tuple[str, ...]] = (
        "predict", "score_samples", "decision_function", "tail_probability", "outlier_probability",
    )  # fmt: skip
    _answer_names: ClassVar[dict[str, str]] = {"score_samples": "score", "decision_function": "decision"}

    contamination: float | None
    offset_: float
    _tails: Tails
    _reasons: Reasons | None = None

    @abstractmethod
    def score_samples(self, X: Any) -> Array:
        """Score (n,) of each row: the higher, the more usual."""

    def decision_function(self, X: Any) -> Array:
        """Score less the threshold: negative for outliers."""
        scores = self.score_samples(X)
        return np.asarray(scores - self.offset_)

    def predict(self, X: Any) -> Any:
        """1 for rows that belong, -1 for outliers."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    # thresholds and probabilities

    def calibrate(self, X: Any, y: Any = None, *, held_out: bool = False, cv: int = 5, random_state: Any = 0) -> Self:
        """Learn what scores are usual from rows that the detector has not seen; thresholds and probabilities use it.

        Scores of the rows of the fit are too high, since the detector knows them.

        Parameters
        ----------
        X
            The rows of the fit, or new ones; of a table that is not in memory and larger than 64 megabytes, a draw.
        y
            Labels of new rows: 1 belongs, -1 outlier, 0 unknown. With both kinds of labels, probabilities follow them.
        held_out
            Whether the rows are new. If not, they are scored by `cv` detectors, each fitted without some of them.
        cv
            How many parts.
        random_state
            Seed of the parts.
        """
        check_is_fitted(self)
        X = some_rows(self, X)
        scores = self.score_samples(X) if held_out or y is not None else self._unseen_scores(X, cv, random_state)
        self._tails = Tails.of(scores, None if y is None else np.asarray(y))
        return self

    def _unseen_scores(self, X: Any, cv: int, random_state: Any) -> Array:
        n = length(X)
        if not 2 <= cv <= n:
            raise ValueError(f"cv must be between 2 and the number of rows, {n}; got {cv}")
        scores = np.empty(n)
        for part in np.array_split(check_random_state(random_state).permutation(n), cv):
            rest = np.setdiff1d(np.arange(n), part)
            other = clone(self).fit(take(X, rest))
            # scores of some detectors grow with the number of rows: the same rows give the ratio of the two scales
            known, ours = other.score_samples(take(X, rest)), self.score_samples(take(X, rest))
            unit = np.subtract(*np.percentile(known, [75, 25]))
            scale = np.subtract(*np.percentile(ours, [75, 25])) / unit if unit > 0 else 1.0
            scores[part] = np.median(ours) + scale * (other.score_samples(take(X, part)) - np.median(known))
        return scores

    def set_false_alarm_rate(self, rate: float) -> Self:
        """Move the threshold so that at most this share of usual rows is taken for outliers.

        The share is exact on average over rows that the detector has not seen, after `calibrate`; without it, it is
        that of the rows of the fit.
        """
        check_is_fitted(self)
        self.offset_ = self._tails.threshold(rate)
        return self

    def tail_probability(self, X: Any) -> Array:
        """Chance (n,) that a usual row scores as low as each: uniform between 0 and 1 for rows that belong."""
        return self._tails.probability(self.score_samples(X))

    def outlier_probability(self, X: Any) -> Array:
        """Probability (n,) that each row is an outlier.

        With labels given to `calibrate`, the share of outliers among rows that score alike. Without, the share of rows
        that are more than the tail of the usual scores, continued from its middle, lets expect.
        """
        return self._tails.outlier_probability(self.score_samples(X))

    # reasons

    def explain(self, X: Any, *, n_columns: int = 3) -> list[dict[str, Any]]:
        """Explain which columns make each row unusual, and by how much.

        Parameters
        ----------
        X
            (n, d) rows.
        n_columns
            How many columns the text of a row names.

        Returns
        -------
        list of dict
            For each row "row", "score", "decision" (below 0 for outliers), "tail_probability", "text", and "columns",
            the most telling first. A column has "column", "value", "expected" and "sd" (what the others
            predict), "deviation" (how many sd the value is away), and "score_if_expected".
        """
        check_is_fitted(self)
        if self._reasons is None:
            raise ValueError(f"this {type(self).__name__} was not fitted to a table: there are no columns to explain")
        return explained(self, X, self._reasons, n_columns)

    # for subclasses

    def _settle(self, scores: Array, offset: float | None = None) -> None:
        """Set the threshold from the scores of the rows of the fit: by contamination, or where the method has it."""
        chosen = offset if self.contamination is None else float(np.percentile(scores, 100.0 * self.contamination))
        assert chosen is not None
        self.offset_ = chosen
        self._tails = Tails.of(scores)
