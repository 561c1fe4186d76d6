"""Tables, images and datasets as arrays: checked, in units of their own, with missing values masked."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import Dataset

from latently.data.tables import frames
from latently.learn.estimator.table import read_rows

Array = NDArray[np.float64]
CONSTANT = 1e-13
"""Share of its size below which the spread of a column is rounding."""


def plain(X: Any) -> Any:
    """Data without PyTorch: a tensor as an array, a dataset as an array (or arrays) of its items; others as they are.

    Examples
    --------
    >>> from torch.utils.data import TensorDataset
    >>> X, y = plain(TensorDataset(torch.zeros(3, 2), torch.arange(3)))
    >>> X.shape, y
    ((3, 2), array([0, 1, 2]))
    """
    if isinstance(X, torch.Tensor):
        return X.detach().cpu().numpy()
    if not isinstance(X, Dataset):
        return X
    items: list[Any] = [X[i] for i in range(len(X))]  # type: ignore[arg-type]
    if not items:
        raise ValueError("the dataset has 0 samples: there is nothing to learn from")
    if isinstance(items[0], tuple | list):
        columns = [np.stack([np.asarray(plain(value)) for value in column]) for column in zip(*items, strict=True)]
        return columns[0] if len(columns) == 1 else tuple(columns)
    return np.stack([np.asarray(plain(item)) for item in items])


def rows_and_target(X: Any, y: Any) -> tuple[Any, Any]:
    """Rows and target, the latter from a dataset of pairs where none is given."""
    X = plain(X) if isinstance(X, Dataset | torch.Tensor) else X
    if isinstance(X, tuple) and y is None:
        return X[0], X[1]
    return (X[0] if isinstance(X, tuple) else X), plain(y)


def read_table(estimator: Any, X: Any, *, reset: bool, missing: str = "error", min_rows: int = 1) -> Array:
    """The checked table (n, d); missing values are NaN where `missing` is "mask", else an error naming the column."""
    X = rows_and_target(X, None)[0] if isinstance(X, Dataset) else plain(X)
    rows = read_rows(estimator, X, reset=reset, allow_nan=missing == "mask", min_rows=min_rows)
    return np.asarray(rows, dtype=np.float64)


def refuse_constant(estimator: Any, rows: Array) -> None:
    """An error where a column is constant, which no density describes; it names the column."""
    spread, size = np.ptp(rows, axis=0), np.abs(rows).max(axis=0)
    flat = np.flatnonzero(spread <= CONSTANT * size)
    if len(flat):
        names = getattr(estimator, "feature_names_in_", frames.default_names(rows.shape[1]))
        raise ValueError(f"column {str(names[flat[0]])!r} of X is constant, which is no density: leave it out")


@dataclass(frozen=True, eq=False)
class Scaling:
    """Centre and scale (d,) of columns, and whether missing values get columns of their own.

    Examples
    --------
    >>> scaling = Scaling.of(np.array([[1.0, 5.0], [3.0, np.nan]]), masked=True)
    >>> scaling.apply(np.array([[2.0, np.nan]]))
    array([[0., 0., 0., 1.]])
    """

    centre: Array
    scale: Array
    masked: bool = False

    @classmethod
    def of(cls, rows: Array, *, masked: bool = False) -> Self:
        """Mean and standard deviation of the observed values; a constant column has scale one."""
        seen = ~np.isnan(rows)
        n = np.maximum(seen.sum(axis=0), 1)
        first = np.where(seen, rows, 0.0).sum(axis=0) / n
        apart = np.where(seen, rows - first, 0.0)
        centre = first + apart.sum(axis=0) / n
        spread = np.sqrt((np.where(seen, rows - centre, 0.0) ** 2).sum(axis=0) / n)
        return cls(centre, np.where(spread > CONSTANT * np.abs(centre), spread, 1.0), masked)

    @property
    def n_inputs(self) -> int:
        """Width of what a network is given."""
        return len(self.centre) * (2 if self.masked else 1)

    def apply(self, rows: Array) -> Array:
        """(n, d) rows in these units, the mean where a value is missing; with `masked`, (n, d) more that say where."""
        scaled = (rows - self.centre) / self.scale
        if not self.masked:
            return np.asarray(scaled)
        lost = np.isnan(scaled)
        return np.hstack([np.where(lost, 0.0, scaled), lost])

    def back(self, scaled: Array) -> Array:
        """Rows in their own units."""
        return np.asarray(scaled * self.scale + self.centre)


def read_images(estimator: Any, X: Any, *, reset: bool) -> Array:
    """Checked images (n, channels, height, width); a table is read as images of one line, (n, 1, 1, columns).

    Sets (or compares) the estimator's `image_shape_`, and the number and names of columns of a table.
    """
    X = rows_and_target(X, None)[0] if isinstance(X, Dataset) else plain(X)
    if frames.is_frame(X) or hasattr(X, "tocsr") or np.asarray(X).ndim <= 2:
        images = read_table(estimator, X, reset=reset)[:, None, None, :]
    else:
        images = _of_arrays(np.asarray(X))
        estimator.__dict__.pop("feature_names_in_", None)
        if reset:
            estimator.n_features_in_ = int(np.prod(images.shape[1:]))
    if reset:
        estimator.image_shape_ = images.shape[1:]
    elif images.shape[1:] != tuple(estimator.image_shape_):
        raise ValueError(
            f"X has images of shape (channels, height, width) = {images.shape[1:]}, but {type(estimator).__name__} was "
            f"fitted to {tuple(estimator.image_shape_)}"
        )
    return images


def _of_arrays(X: NDArray[Any]) -> Array:
    if X.ndim not in (3, 4):
        raise ValueError(
            f"X must be images, (n, height, width) or (n, channels, height, width), or a table; got shape {X.shape}"
        )
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X holds images of dtype {X.dtype}: give numbers")
    images = np.asarray(X if X.ndim == 4 else X[:, None], dtype=np.float64)
    if 0 in images.shape:
        raise ValueError(f"X has 0 sample(s) or pixels: its shape is {X.shape}")
    bad = ~np.isfinite(images)
    if bad.any():
        at = np.argwhere(bad)[0].tolist()
        value = images[tuple(at)]
        raise ValueError(
            f"image {at[0]} of X has {value} at channel {at[1]}, row {at[2]}, column {at[3]}: replace it by a number"
        )
    return images


def image_scaling(images: Array) -> Scaling:
    """One centre and scale for each channel, or for each column of images of one line; shaped to be applied to images.

    Examples
    --------
    >>> lines = np.array([[0.0, 1000.0], [2.0, 3000.0]])[:, None, None]
    >>> image_scaling(lines).apply(lines)[:, 0, 0].tolist()
    [[-1.0, -1.0], [1.0, 1.0]]
    """
    if images.shape[1:3] == (1, 1):
        each = Scaling.of(images[:, 0, 0])
        return Scaling(each.centre[None, None], each.scale[None, None])
    each = Scaling.of(images.transpose(0, 2, 3, 1).reshape(-1, images.shape[1]))
    return Scaling(each.centre[:, None, None], each.scale[:, None, None])


def as_tensor(values: Any, device: torch.device | None = None) -> torch.Tensor:
    """Numbers in single precision, as networks are trained; codes stay whole."""
    array = np.asarray(values)
    kind = torch.long if array.dtype.kind in "iub" else torch.float32
    return torch.as_tensor(array.copy(), dtype=kind, device=device)
