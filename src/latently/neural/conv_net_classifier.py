"""Convolutional networks that classify images."""

from collections.abc import Sequence
from dataclasses import KW_ONLY
from numbers import Real
from typing import Annotated, Any, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from torch import Tensor, nn

from latently.learn.estimator.parameters import COUNT, checked, stores_parameters
from latently.learn.estimator.table import check_fitted
from latently.neural.classifier import NeuralClassifier, classification
from latently.neural.inputs import Array, image_scaling, read_images, rows_and_target
from latently.neural.networks.convolution import convolution
from latently.neural.networks.mlp import Residual

SEEN_ON_A_PLATEAU = 20_000


class _ConvNet(nn.Module):
    """Blocks of convolutions, each followed by max-pooling, then the mean over the image and a linear layer."""

    def __init__(self, shape: Sequence[int], widths: Sequence[int], kind: str, dropout: float, n_out: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        height, width = shape[1:]
        for a, b in zip((shape[0], *widths), widths, strict=False):
            pool = (2 if height > 1 else 1, 2 if width > 1 else 1)
            layers += [convolution(a, b, kind), Residual(convolution(b, b, kind)), nn.MaxPool2d(pool, ceil_mode=True)]
            height, width = -(-height // pool[0]), -(-width // pool[1])
        self.body = nn.Sequential(*layers, nn.Flatten(), nn.Dropout(dropout))
        self.head = nn.Linear(widths[-1] * height * width, n_out)

    def forward(self, x: Tensor) -> Tensor:
        """(n, K) logits."""
        out: Tensor = self.head(self.body(x))
        return out


@stores_parameters
class ConvNetClassifier(NeuralClassifier):
    """A convolutional network for images: convolutions with residual connections, pooling, and a linear layer.

    Probabilities are calibrated: the logits are divided by the temperature that suits held-out images best.

    Parameters
    ----------
    hidden
        Channels of the blocks; each has two convolutions and halves the resolution by max-pooling.
    dropout
        Share of the features that are set to zero in training, before the last layer.
    n_iter_no_change
        Epochs without a lower held-out loss that make a plateau; "auto" is as many as see 20,000 images, from 2 to 10.
    activation, max_iter, batch_size, learning_rate, early_stopping, validation_fraction, tol
        Training, as in `latently.neural.base.NeuralEstimator`.
    random_state, device, verbose
        Seed, device and progress bar.

    Attributes
    ----------
    classes_ : (K,) the labels
    temperature_ : what logits are divided by
    image_shape_ : channels, height and width
    weights_ : dict of arrays, the parameters of the network by name
    n_iter_, best_iter_, converged_, reason_, loss_curve_, validation_curve_ : how training went

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> digits = load_digits()
    >>> model = ConvNetClassifier(hidden=(8, 16), n_iter_no_change=5, random_state=0)
    >>> model = model.fit(digits.images[:500], digits.target[:500])
    >>> bool(model.score(digits.images[500:900], digits.target[500:900]) > 0.9)
    True
    """

    _: KW_ONLY
    dropout: Annotated[float, Interval(Real, 0.0, 1.0, closed="left")] = 0.2
    hidden: Sequence[int] = (16, 32)
    max_iter: int = 100
    n_iter_no_change: Annotated[Any, COUNT, StrOptions({"auto"})] = "auto"
    tol: float = 1e-3

    _averaging = 0.99

    @checked
    def fit(self, X: Any, y: Any = None, *, checkpoint: Any = None, every: int = 1) -> Self:
        """Train the network.

        Parameters
        ----------
        X
            Images (n, channels, height, width) or (n, height, width), a table of images of one line, or a dataset.
        y
            (n,) labels; not needed with a dataset of pairs.
        checkpoint, every
            A folder that the fit is saved to, every so many epochs; the same call again goes on from there.
        """
        if not len(self.hidden):
            raise ValueError("hidden must have at least one block")
        X, y = rows_and_target(X, y)
        images = read_images(self, X, reset=True)
        codes = self._codes(y, len(images))
        self.scaling_ = image_scaling(images)
        data = (self.scaling_.apply(images), codes)
        _, held_out = self._learn(classification, data, groups=codes, checkpoint=checkpoint, every=every)
        self._calibrate(self._of_scaled(data[0][held_out]), codes[held_out])
        return self

    def _patience(self, n: int) -> int:
        if self.n_iter_no_change == "auto":
            return min(max(SEEN_ON_A_PLATEAU // n, 2), 10)
        return super()._patience(n)

    def _build(self) -> nn.Module:
        return _ConvNet(self.image_shape_, self._widths, self.activation, self.dropout, len(self.classes_))

    def _of_scaled(self, scaled: Array) -> Array:
        if not len(scaled):
            return np.zeros((0, len(self.classes_)))
        logits: Array = self._answer(self._network(), scaled)
        return logits

    def _logits(self, X: Any) -> Array:
        check_fitted(self)
        return self._of_scaled(self.scaling_.apply(read_images(self, X, reset=False)))
