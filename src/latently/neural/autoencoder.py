"""Autoencoders of tables."""

from abc import abstractmethod
from dataclasses import KW_ONLY
from typing import Annotated, Any, Self

import torch
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from torch import Tensor, nn

from latently.data.tables.matrix import as_matrix
from latently.learn.estimator.parameters import NON_NEGATIVE, Count, checked, stores_parameters
from latently.learn.estimator.table import check_fitted
from latently.neural.base import Missing, NeuralEstimator
from latently.neural.inputs import Array, Scaling, read_table
from latently.neural.networks.mlp import mlp
from latently.neural.training.task import Task


class Code(nn.Module):
    """An encoder, a decoder, and the code between them; a code that is to be sparse is not negative."""

    def __init__(self, encoder: nn.Module, decoder: nn.Module, *, sparse: bool) -> None:
        super().__init__()
        self.encoder = nn.Sequential(encoder, nn.ReLU()) if sparse else encoder
        self.decoder = decoder

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The code, and what the decoder makes of it."""
        code = self.encoder(x)
        return code, self.decoder(code)

    def weight_norm(self) -> Tensor:
        """Sum of squares of all weights but biases."""
        return torch.stack([p.square().sum() for p in self.parameters() if p.ndim > 1]).sum()


@stores_parameters
class CodeEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, NeuralEstimator):
    """What autoencoders of tables and of images share.

    The loss is the mean of |x - x'|^2 / d + sparsity |s|_1 / k over the rows, plus alpha |W|_F^2.
    """

    _: KW_ONLY
    sparsity: Annotated[float, NON_NEGATIVE] = 0.0
    noise: Annotated[float, NON_NEGATIVE] = 0.0
    alpha: Annotated[float, NON_NEGATIVE] = 0.0

    def _task(self, module: nn.Module) -> Task:
        assert isinstance(module, Code)

        def loss(batch: tuple[Tensor, ...], *, noise: float, alpha: float) -> Tensor:
            x, seen = batch
            given = x + noise * torch.randn_like(x) if noise else x
            code, again = module(given)
            target = x[:, : again.shape[1]]
            error = ((again - target).square() * seen).sum() / seen.sum().clamp(min=1)
            penalty = self.sparsity * code.abs().mean() if self.sparsity else 0.0
            return error + penalty + (alpha * module.weight_norm() if alpha else 0.0)

        return Task.single(
            module,
            lambda batch: loss(batch, noise=self.noise, alpha=self.alpha),
            lambda batch: loss(batch, noise=0.0, alpha=0.0),
        )

    def score(self, X: Any, y: Any = None) -> float:
        """Mean of `score_samples`."""
        return float(self.score_samples(X).mean())

    @abstractmethod
    def score_samples(self, X: Any) -> Array:
        """Minus the mean squared error (n,) of the reconstruction, in scaled units: low for what does not belong."""

    def _expected_failed_checks(self) -> dict[str, str]:
        return {"law_density_integrates_to_one": "scores are reconstruction errors, not log densities"}


@stores_parameters
class Autoencoder(CodeEstimator):
    """An autoencoder of a table: linear, deep, sparse or denoising.

    An encoder maps rows to a code of few numbers, a decoder maps codes back, and both are trained so that the rows come
    back. With `activation="linear"` and no noise the code spans the subspace of PCA (of scaled columns).

    Parameters
    ----------
    n_components
        Length of the code.
    sparsity
        Weight of the mean absolute code. If it is positive, the code passes a ReLU.
    noise
        Standard deviation of noise that is added to the scaled inputs during training, so that the network learns to
        remove it (denoising).
    alpha
        Weight of the squared norm of the weights, which keeps a sparse code from shrinking while the decoder grows.
    missing
        What is done about NaN in X: "error" names the column; "mask" puts the mean in its place, tells the network
        where, and leaves it out of the loss.
    hidden, activation, max_iter, batch_size, learning_rate, early_stopping, validation_fraction, n_iter_no_change, tol
        The network (the decoder is its mirror image) and its training, as in `latently.neural.base.NeuralEstimator`.
    random_state, device, verbose
        Seed, device and progress bar.

    Attributes
    ----------
    weights_ : dict of arrays, the parameters of the network by name
    n_iter_, best_iter_, converged_, reason_, loss_curve_, validation_curve_ : how training went

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> model = Autoencoder(2, random_state=0).fit(X)
    >>> model.transform(X).shape
    (150, 2)
    >>> bool(model.score(X) > -0.1)  # less than a tenth of the variance is lost
    True
    """

    n_components: Count = 2
    _: KW_ONLY
    missing: Missing = "error"

    @checked
    def fit(self, X: Any, y: Any = None, *, checkpoint: Any = None, every: int = 10) -> Self:
        """Train the autoencoder.

        Parameters
        ----------
        X
            (n, d) rows: an array, a frame, a tensor or a dataset.
        y
            Not used.
        checkpoint, every
            A folder that the fit is saved to, every so many epochs; the same call again goes on from there.
        """
        rows = read_table(self, X, reset=True, missing=self.missing)
        self.scaling_ = Scaling.of(rows, masked=self.missing == "mask")
        self._learn(self._task, self._tensors(rows), checkpoint=checkpoint, every=every)
        return self

    def _tensors(self, rows: Array) -> tuple[Array, Array]:
        seen = (rows == rows).astype(float)
        return self.scaling_.apply(rows), seen

    def _build(self) -> nn.Module:
        d, n_in, widths = self.n_features_in_, self.scaling_.n_inputs, self._widths
        encoder = mlp(n_in, widths, self.n_components, self.activation)
        decoder = mlp(self.n_components, widths[::-1], d, self.activation)
        return Code(encoder, decoder, sparse=self.sparsity > 0)

    def _read(self, X: Any) -> Array:
        check_fitted(self)
        return read_table(self, X, reset=False, missing=self.missing)

    def transform(self, X: Any) -> Array:
        """(n, k) codes of rows."""
        code: Array = self._answer(self._network().encoder, self._scaled(X))
        return code

    def _scaled(self, X: Any) -> Array:
        return self.scaling_.apply(self._read(X))

    def inverse_transform(self, X: Any) -> Array:
        """(n, d) rows that codes (n, k) stand for."""
        network = self._network()
        code = as_matrix(X, dtype="float64")
        if code.shape[1] != self.n_components:
            raise ValueError(f"X has {code.shape[1]} columns, but a code has {self.n_components}")
        return self.scaling_.back(self._answer(network.decoder, code))

    def reconstruct(self, X: Any) -> Array:
        """(n, d) rows as they come back from their codes: without noise, and without missing values."""
        return self.inverse_transform(self.transform(X))

    def score_samples(self, X: Any) -> Array:
        """Minus the mean squared error (n,) of the reconstruction, in scaled units: low for what does not belong."""
        scaled, seen = self._tensors(self._read(X))
        again = self._answer(lambda x: self._network()(x)[1], scaled)
        errors = ((again - scaled[:, : self.n_features_in_]) ** 2 * seen).sum(axis=1)
        return -errors / seen.sum(axis=1).clip(min=1)

    @property
    def _n_features_out(self) -> int:
        return self.n_components
