"""Features from data without labels, by tasks whose answers the data have themselves."""

from collections.abc import Sequence
from dataclasses import KW_ONLY
from numbers import Real
from typing import Annotated, Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions
from torch import Tensor, nn

from latently.learn.estimator.parameters import Count, checked, stores_parameters
from latently.learn.estimator.table import check_fitted
from latently.neural.base import Missing, NeuralEstimator
from latently.neural.inputs import Array, image_scaling, read_images, rows_and_target
from latently.neural.pretext.columns import MixedColumns, read_columns
from latently.neural.pretext.images import TASKS, ImageTask
from latently.neural.pretext.tables import MaskedColumns
from latently.neural.training.task import Task

LAYERS = {True: (64,), False: (16, 32)}
"""Hidden layers of tables, and channels of images, where none are given."""


class _PretextFitted:
    columns_: MixedColumns


@stores_parameters
class PretextEncoder(_PretextFitted, ClassNamePrefixFeaturesOutMixin, TransformerMixin, NeuralEstimator):
    """Self-supervised features: an encoder is trained on a task that needs no labels, then frozen.

    `transform` gives the features; a linear model on them needs few labels.

    Parameters
    ----------
    n_components
        Number of features.
    task
        "masked": of a table (numbers, categories, missing values) some entries are hidden and filled in. Of images,
        "inpainting": a square is filled in; "jigsaw": the quarters are put in order; "rotation": how many quarter turns
        are between two versions of an image, told from both encodings; "transformation": by which angle and shift two
        versions differ, from both encodings.
    mask_share
        Share of the entries of a table that are hidden.
    missing
        What is done about NaN in a table: "error" names the column; "mask" treats it as hidden. Categories that were
        not in the fit always count as hidden.
    hidden
        Widths of layers of tables, channels of the blocks of images; (64,) and (16, 32) if None.
    activation, max_iter, batch_size, learning_rate, early_stopping, validation_fraction, n_iter_no_change, tol
        Training, as in `latently.neural.base.NeuralEstimator`.
    random_state, device, verbose
        Seed, device and progress bar.

    Attributes
    ----------
    weights_ : dict of arrays, the parameters of the network by name
    n_iter_, best_iter_, converged_, reason_, loss_curve_, validation_curve_ : how training went

    Examples
    --------
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> size = rng.normal(size=300)
    >>> table = pd.DataFrame({"cm": size, "inch": size / 2.54, "tall": np.where(size > 0, "yes", "no")})
    >>> encoder = PretextEncoder(4, random_state=0).fit(table)
    >>> encoder.transform(table).shape
    (300, 4)
    """

    n_components: Count = 16
    _: KW_ONLY
    task: Annotated[str, StrOptions({"masked", *TASKS})] = "masked"
    mask_share: Annotated[float, Interval(Real, 0.0, 1.0, closed="neither")] = 0.3
    missing: Missing = "error"
    hidden: Annotated[Sequence[int] | None, tuple, list, None] = None  # type: ignore[assignment]

    @checked
    def fit(self, X: Any, y: Any = None, *, checkpoint: Any = None, every: int = 10) -> Self:
        """Train the encoder on its task.

        Parameters
        ----------
        X
            A table, or images (n, channels, height, width) or (n, height, width); or a dataset of those.
        y
            Not used.
        checkpoint, every
            A folder that the fit is saved to, every so many epochs; the same call again goes on from there.
        """
        X, _ = rows_and_target(X, None)
        if self._of_tables:
            self.columns_, codes = read_columns(self, X, missing=self.missing, known=None)
            data: tuple[Array, ...] = self._table_inputs(codes)
        else:
            data = (self._read_images(X, reset=True),)
        self._learn(_pretext, data, checkpoint=checkpoint, every=every)
        return self

    @property
    def _of_tables(self) -> bool:
        return self.task == "masked"

    @property
    def _widths(self) -> tuple[int, ...]:
        return LAYERS[self._of_tables] if self.hidden is None else super()._widths

    def _table_inputs(self, codes: Array) -> tuple[Array, Array]:
        return self.columns_.values(codes), (~np.isnan(codes)).astype(np.float64)

    def _read_images(self, X: Any, *, reset: bool) -> Array:
        images = read_images(self, X, reset=reset)
        height, width = images.shape[2:]
        if self.task == "rotation" and height != width:
            raise ValueError(f"task='rotation' is for square images, not {height} x {width}: take 'transformation'")
        if self.task == "jigsaw" and min(height, width) < 2:
            raise ValueError(f"task='jigsaw' cuts images into quarters: {height} x {width} is too small")
        if reset:
            self.scaling_ = image_scaling(images)
        return self.scaling_.apply(images)

    def _build(self) -> nn.Module:
        if self._of_tables:
            sizes = self.columns_.sizes
            return MaskedColumns(sizes, self._widths, self.n_components, self.activation, self.mask_share)
        module: ImageTask = TASKS[self.task](self.image_shape_, self._widths, self.n_components, self.activation)
        return module

    def transform(self, X: Any) -> Array:
        """(n, k) features."""
        check_fitted(self)
        X, _ = rows_and_target(X, None)
        if self._of_tables:
            _, codes = read_columns(self, X, missing=self.missing, known=self.columns_)
            inputs: tuple[Array, ...] = self._table_inputs(codes)
        else:
            inputs = (self._read_images(X, reset=False),)
        features: Array = self._answer(self._network().encoded, *inputs)
        return features

    @property
    def _n_features_out(self) -> int:
        return self.n_components


def _pretext(module: nn.Module) -> Task:
    def loss(batch: tuple[Tensor, ...]) -> Tensor:
        out: Tensor = module.loss(*batch)  # type: ignore[operator]
        return out

    return Task.single(module, loss)
