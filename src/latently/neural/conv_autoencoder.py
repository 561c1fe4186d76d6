"""Autoencoders of images."""

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Annotated, Any, Self

import numpy as np
from sklearn.utils._param_validation import StrOptions
from torch import Tensor, nn

from latently.data.tables.matrix import as_matrix
from latently.learn.estimator.parameters import COUNT, checked, stores_parameters
from latently.learn.estimator.table import check_fitted
from latently.neural.autoencoder import Code, CodeEstimator
from latently.neural.inputs import Array, image_scaling, read_images
from latently.neural.networks.convolution import ConvDecoder, ConvEncoder, resolutions


class _ImageEncoder(nn.Module):
    def __init__(self, body: ConvEncoder, head: nn.Module) -> None:
        super().__init__()
        self.body, self.head = body, head

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.head(self.body(x)[-1])
        return out


class _ImageDecoder(nn.Module):
    def __init__(self, head: nn.Module, body: nn.Module, sizes: list[tuple[int, int]]) -> None:
        super().__init__()
        self.head, self.body, self.sizes = head, body, sizes

    def forward(self, code: Tensor, maps: Sequence[Tensor] = ()) -> Tensor:
        out: Tensor = self.body(self.head(code), self.sizes, maps)
        return out


class _Filters(nn.Module):
    """Images as sums of filters, each times its map: the linear decoder of convolutional sparse coding."""

    def __init__(self, n_maps: int, channels: int) -> None:
        super().__init__()
        self.filters = nn.ConvTranspose2d(n_maps, channels, 5, 1, 2)

    def forward(self, code: Tensor, sizes: Sequence[tuple[int, int]], maps: Sequence[Tensor] = ()) -> Tensor:
        out: Tensor = self.filters(code)
        return out


class _UNet(Code):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        encoder: Any = self.encoder[0] if isinstance(self.encoder, nn.Sequential) else self.encoder
        maps = encoder.body(x)
        code = self.encoder(x)
        return code, self.decoder(code, maps[1:-1][::-1])


@stores_parameters
class ConvAutoencoder(CodeEstimator):
    """An autoencoder of images: convolutional, sparse, denoising, with residual blocks or U-Net skip connections.

    Parameters
    ----------
    n_components
        Length of the code; if None the code is the maps of the last block, flattened.
    connections
        "plain"; "residual": each block has a residual block behind it; "unet": also, the decoder is given the maps
        of the encoder, so that it can say where things are (for denoising; a code alone gives no image then);
        "filters": convolutional sparse coding, images are sums of filters times maps of their own resolution, of which
        there are `hidden[-1]`; to be used with `sparsity`.
    sparsity
        Weight of the mean absolute code. If it is positive, the code passes a ReLU.
    noise
        Standard deviation of noise that is added to the scaled inputs during training (denoising).
    alpha
        Weight of the squared norm of the weights, which keeps a sparse code from shrinking while the decoder grows.
    hidden
        Channels of the blocks, each of which halves the resolution.
    activation, max_iter, batch_size, learning_rate, early_stopping, validation_fraction, n_iter_no_change, tol
        Training, as in `latently.neural.base.NeuralEstimator`.
    random_state, device, verbose
        Seed, device and progress bar.

    Attributes
    ----------
    image_shape_ : channels, height and width
    weights_ : dict of arrays, the parameters of the network by name
    n_iter_, best_iter_, converged_, reason_, loss_curve_, validation_curve_ : how training went

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> images = load_digits().images[:200]
    >>> model = ConvAutoencoder(8, max_iter=60, n_iter_no_change=3, random_state=0).fit(images)
    >>> model.transform(images).shape, model.reconstruct(images).shape
    ((200, 8), (200, 8, 8))
    """

    n_components: Annotated[int | None, COUNT, None] = None
    _: KW_ONLY
    connections: Annotated[str, StrOptions({"plain", "residual", "unet", "filters"})] = "plain"
    hidden: Sequence[int] = (8, 16)

    @checked
    def fit(self, X: Any, y: Any = None, *, checkpoint: Any = None, every: int = 10) -> Self:
        """Train the autoencoder.

        Parameters
        ----------
        X
            Images (n, channels, height, width) or (n, height, width); a table is images of one line.
        y
            Not used.
        checkpoint, every
            A folder that the fit is saved to, every so many epochs; the same call again goes on from there.
        """
        if not len(self.hidden):
            raise ValueError("hidden must have at least one block")
        images = read_images(self, X, reset=True)
        self.scaling_ = image_scaling(images)
        scaled = self.scaling_.apply(images)
        self._learn(self._task, (scaled, np.ones_like(scaled)), checkpoint=checkpoint, every=every)
        return self

    @property
    def _map_shape(self) -> tuple[int, int, int]:
        """Shape of the maps of the last block."""
        _, height, width = self.image_shape_
        size = resolutions(height, width, len(self.hidden), self._stride)[-1]
        return self.hidden[-1], *size

    @property
    def _stride(self) -> int:
        return 1 if self.connections == "filters" else 2

    def _build(self) -> nn.Module:
        (channels, *size), widths, shape = self.image_shape_, self._widths, self._map_shape
        residual = self.connections in ("residual", "unet")
        body = ConvEncoder(channels, widths, self.activation, self._stride, residual=residual)
        sizes = resolutions(size[0], size[1], len(widths), self._stride)[-2::-1]
        flat, k = int(np.prod(shape)), self.n_components
        heads: list[nn.Module] = [nn.Flatten(), nn.Unflatten(1, shape)]
        if k is not None:
            heads = [nn.Sequential(heads[0], nn.Linear(flat, k)), nn.Sequential(nn.Linear(k, flat), heads[1])]
        back: nn.Module = _Filters(widths[-1], channels)
        if self.connections != "filters":
            skips = self.connections == "unet"
            back = ConvDecoder(channels, widths, self.activation, residual=residual, skips=skips)
        kind = _UNet if self.connections == "unet" else Code
        decoder = _ImageDecoder(heads[1], back, sizes)
        return kind(_ImageEncoder(body, heads[0]), decoder, sparse=self.sparsity > 0)

    def _scaled(self, X: Any) -> Array:
        check_fitted(self)
        return self.scaling_.apply(read_images(self, X, reset=False))

    def _like(self, images: Array, X: Any) -> Array:
        """Images with as many dimensions as those given."""
        return images if np.ndim(X) == 4 else images[:, 0] if np.ndim(X) == 3 else images[:, 0, 0]

    def transform(self, X: Any) -> Array:
        """(n, k) codes of images."""
        scaled = self._scaled(X)
        code: Array = self._answer(self._network().encoder, scaled)
        return code

    def inverse_transform(self, X: Any) -> Array:
        """(n, channels, height, width) images that codes stand for."""
        network = self._network()
        if self.connections == "unet":
            raise ValueError("connections='unet': the decoder needs maps of the image beside its code, see reconstruct")
        code = as_matrix(X, dtype="float64")
        if code.shape[1] != self._n_features_out:
            raise ValueError(f"X has {code.shape[1]} columns, but a code has {self._n_features_out}")
        return self.scaling_.back(self._answer(network.decoder, code))

    def reconstruct(self, X: Any) -> Array:
        """Images as they come back from their codes, in the shape that they were given in."""
        again = self._again(self._scaled(X))
        return self._like(self.scaling_.back(again), X)

    def _again(self, scaled: Array) -> Array:
        network = self._network()
        again: Array = self._answer(lambda x: network(x)[1], scaled)
        return again

    def score_samples(self, X: Any) -> Array:
        """Minus the mean squared error (n,) of the reconstruction, in scaled units: low for what does not belong."""
        scaled = self._scaled(X)
        return -((self._again(scaled) - scaled) ** 2).mean(axis=(1, 2, 3))

    @property
    def _n_features_out(self) -> int:
        return int(np.prod(self._map_shape)) if self.n_components is None else self.n_components
