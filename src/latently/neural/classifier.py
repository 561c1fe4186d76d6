"""What neural classifiers share: classes, calibrated probabilities, decisions."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from latently.decide import DecideMixin
from latently.decide.recalibrate import TemperatureMap
from latently.learn.estimator.classes import encode, read_labels
from latently.learn.estimator.parameters import stores_parameters
from latently.neural.base import NeuralEstimator
from latently.neural.inputs import Array
from latently.neural.training.task import Task

FEWEST_TO_CALIBRATE = 10
"""With fewer held-out rows than this a temperature is mostly noise, and stays one."""


class _Classes:
    classes_: NDArray[Any]
    temperature_: float


@stores_parameters
class NeuralClassifier(_Classes, DecideMixin, ClassifierMixin, NeuralEstimator):
    """Base of classifiers whose network gives a logit for each class; a subclass says what the logits of data are."""

    @abstractmethod
    def _logits(self, X: Any) -> Array:
        """(n, K) logits, before the temperature."""

    def _codes(self, y: Any, n_rows: int) -> NDArray[np.int64]:
        """Codes (n,) of labels; sets the classes."""
        labels = read_labels(y, type(self).__name__)
        if len(labels) != n_rows:
            raise ValueError(f"y has {len(labels)} labels for {n_rows} rows: give one for each row")
        codes, self.classes_ = encode(labels)
        self.temperature_ = 1.0
        return codes

    def _calibrate(self, logits: Array, codes: NDArray[np.int64]) -> None:
        """Find the temperature of least log loss on rows that were held out."""
        if len(codes) >= FEWEST_TO_CALIBRATE and len(self.classes_) > 1:
            probabilities = softmax(logits, axis=1)
            found = TemperatureMap().fit(probabilities, codes.astype(np.intp), np.ones(len(codes)))
            self.temperature_ = found.temperature_

    def predict_proba(self, X: Any) -> Array:
        """(n, K) probabilities of the classes, with the temperature that suits held-out rows best."""
        logits = self._logits(X)
        return np.asarray(softmax(logits / self.temperature_, axis=1))

    def predict_log_proba(self, X: Any) -> Array:
        """(n, K) logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """(n,) classes of highest probability."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])


def classification(module: nn.Module) -> Task:
    """Cross-entropy of the logits of a batch (x, code)."""

    def loss(batch: tuple[Tensor, ...]) -> Tensor:
        return cross_entropy(module(batch[0]), batch[1])

    return Task.single(module, loss)
