"""Recalibration: a classifier's probabilities bent so that they come true as often as they say."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, check_array, check_is_fitted, column_or_1d

from latently.decide.mixin import DecideMixin
from latently.decide.rewards import Floats

_FLOOR = 1e-12  # a probability of zero has no log; no map can learn from less than this


class Recalibrated(DecideMixin, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Any classifier, with its probabilities recalibrated on rows it was not fitted to.

    Parameters
    ----------
    estimator
        A classifier with `predict_proba`; logistic regression if None.
    method
        "temperature": p^(1/T), one number, keeps the order of the classes. "logistic": a logistic regression
        on the log probabilities. "isotonic": any rising curve per class; needs many rows.
    cv
        Number of folds whose held-out probabilities the map is learnt from; or "prefit" if `estimator` is
        fitted and the data given to `fit` are not those it was fitted to.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    estimator_ : classifier
        Fitted to all rows (or as given, if prefit).
    map_ : object
        The fitted map from probabilities to probabilities.
    n_features_in_ : int
        Number of columns.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from latently.decide import Recalibrated, log_score
    >>> X, y = make_classification(2000, 20, n_redundant=10, random_state=0)
    >>> plain = GaussianNB().fit(X[:1000], y[:1000])
    >>> better = Recalibrated(GaussianNB()).fit(X[:1000], y[:1000])
    >>> log_score(y[1000:], better.predict_proba(X[1000:])).value < log_score(
    ...     y[1000:], plain.predict_proba(X[1000:])).value
    True
    """

    def __init__(self, estimator: Any = None, *, method: str = "temperature", cv: int | str = 5) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier, and the map to its held-out probabilities."""
        if self.method not in _MAPS:
            raise ValueError(f"method must be one of {', '.join(_MAPS)}; got {self.method!r}")
        if _num_samples(X) == 0:
            raise ValueError("X has 0 sample(s): there is nothing to calibrate")
        check_array(y, ensure_2d=False, dtype=None, ensure_min_samples=0, input_name="y")
        check_classification_targets(y)
        labels = column_or_1d(y, warn=True)
        base = LogisticRegression() if self.estimator is None else self.estimator
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if self.cv == "prefit":
            check_is_fitted(base)
            self.estimator_, held_out = base, base.predict_proba(X)
        else:
            params = {} if weight is None else {"sample_weight": weight}
            folds = self._folds(labels)
            self.estimator_ = clone(base).fit(X, labels, **params)
            held_out = cross_val_predict(
                clone(base), X, labels, cv=folds, method="predict_proba", params=params or None
            )
        self.classes_ = self.estimator_.classes_
        if hasattr(self.estimator_, "n_features_in_"):
            self.n_features_in_ = self.estimator_.n_features_in_
        if hasattr(self.estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.estimator_.feature_names_in_
        code = np.searchsorted(self.classes_, labels)
        self.map_ = _MAPS[self.method]().fit(held_out, code, np.ones(len(code)) if weight is None else weight)
        return self

    def _folds(self, labels: NDArray[Any]) -> StratifiedKFold:
        names, counts = np.unique(labels, return_counts=True)
        if len(names) < 2:
            raise ValueError(f"there is one class only, {names.tolist()}: nothing to calibrate")
        if not isinstance(self.cv, int | np.integer) or self.cv < 2:
            raise ValueError(f"cv must be 'prefit' or at least 2 folds, got {self.cv!r}")
        if counts.min() < 2:
            rare = names[np.argmin(counts)]
            raise ValueError(f"class {rare!r} has a single row: calibration needs at least two; leave it out")
        return StratifiedKFold(min(int(self.cv), int(counts.min())), shuffle=True, random_state=0)

    def predict_proba(self, X: Any) -> Floats:
        """Give recalibrated probabilities of the classes."""
        check_is_fitted(self, "map_")
        return np.asarray(self.map_.transform(self.estimator_.predict_proba(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the most probable class."""
        chances = self.predict_proba(X)
        return np.asarray(self.classes_[np.argmax(chances, axis=1)])

    @staticmethod
    def _expected_failed_checks() -> dict[str, str]:
        weights = "a row and its repeats fall into different folds"
        inner = "what becomes of NaN and inf, and how it is said, is up to the classifier within"
        return {
            "check_sample_weight_equivalence_on_dense_data": weights,
            "check_sample_weight_equivalence_on_sparse_data": weights,
            "law_saved_and_loaded_is_the_same": "a classifier of another library within cannot be saved without pickle",
            "law_missing_values_are_handled_or_named": inner,
            "law_a_column_of_nan_is_handled_or_named": inner,
            "law_inf_is_refused": inner,
        }

    def __sklearn_tags__(self) -> Any:
        """Take what input is allowed from the classifier within."""
        tags = super().__sklearn_tags__()
        inner = get_tags(LogisticRegression() if self.estimator is None else self.estimator)
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.input_tags.sparse = inner.input_tags.sparse
        return tags


def _logs(proba: ArrayLike) -> Floats:
    return np.log(np.maximum(np.asarray(proba, dtype=np.float64), _FLOOR))


class TemperatureMap:
    """Probabilities to the power 1/T: softer for T above one, sharper below."""

    def fit(self, proba: Floats, code: NDArray[np.intp], weight: Floats) -> Self:
        """Find the temperature of least log score."""
        logs, rows = _logs(proba), np.arange(len(code))

        def loss(log_temperature: float) -> float:
            bent = log_softmax(logs * np.exp(-log_temperature), axis=1)
            return -float(weight @ bent[rows, code])

        self.temperature_ = float(np.exp(minimize_scalar(loss, bounds=(-5, 5), method="bounded").x))
        return self

    def transform(self, proba: ArrayLike) -> Floats:
        """Bend probabilities."""
        return np.asarray(softmax(_logs(proba) / self.temperature_, axis=1))


class LogisticMap:
    """A logistic regression on log probabilities."""

    def fit(self, proba: Floats, code: NDArray[np.intp], weight: Floats) -> Self:
        """Fit the regression."""
        self.columns_ = proba.shape[1]
        self.regression_ = LogisticRegression(max_iter=1000).fit(self._features(proba), code, weight)
        return self

    def _features(self, proba: ArrayLike) -> Floats:
        logs = _logs(proba)
        return logs[:, 1:] - logs[:, :1]  # log odds against the first class

    def transform(self, proba: ArrayLike) -> Floats:
        """Bend probabilities."""
        out = np.zeros((len(np.asarray(proba)), self.columns_))
        out[:, self.regression_.classes_] = self.regression_.predict_proba(self._features(proba))
        return out


class IsotonicMap:
    """One rising curve per class, and the row brought back to sum one."""

    def fit(self, proba: Floats, code: NDArray[np.intp], weight: Floats) -> Self:
        """Fit the curves; none reaches 0 or 1, since n rows cannot show that something never happens."""
        edge = 1 / (len(code) + 2)
        self.curves_ = [
            IsotonicRegression(y_min=edge, y_max=1 - edge, out_of_bounds="clip").fit(c, code == k, weight)
            for k, c in enumerate(np.asarray(proba, dtype=np.float64).T)
        ]
        return self

    def transform(self, proba: ArrayLike) -> Floats:
        """Bend probabilities."""
        table = np.asarray(proba, dtype=np.float64)
        bent = np.column_stack([c.predict(column) for c, column in zip(self.curves_, table.T, strict=True)])
        return np.asarray(bent / bent.sum(axis=1, keepdims=True))


_MAPS: dict[str, Any] = {"temperature": TemperatureMap, "logistic": LogisticMap, "isotonic": IsotonicMap}
