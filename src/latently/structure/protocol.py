"""What a structured model is: to the person who writes one, and to the algorithms that learn its weights.

A model says what an output is worth, `w . Psi(x, y)`, what a wrong one costs, and which output is best. It says so
item by item (`StructuredModel`, all that a model of your own needs), or for all items of a fit at once (`Problem`, what
the algorithms see; the models of this package write it themselves, since one compiled call beats many).
"""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@runtime_checkable
class StructuredModel(Protocol):
    """A model of your own, item by item.

    For `ConditionalRandomField` it also has `log_partition(x, w)`, the logarithm of the sum over all outputs of
    exp(w . Psi(x, y)), and `expected_features(x, w)`, the mean of Psi(x, y) under p(y | x). For k best outputs it has
    `best(x, w, k)`, a list of outputs, best first. For slack rescaling it has `decode_scaled(x, y, w)`, the output
    with the largest loss(y, y') (1 + w . Psi(x, y') - w . Psi(x, y)). With `is_possible(x, y)` outputs are checked.
    """

    def joint_features(self, x: Any, y: Any) -> Any:
        """Psi(x, y): an array (d,), or a sparse one (1, d), always of the same length."""

    def loss(self, y: Any, other: Any) -> float:
        """What it costs to say `other` where `y` is true: 0 for the truth, never negative."""

    def decode(self, x: Any, w: Array) -> Any:
        """The output y with the largest w . Psi(x, y)."""

    def decode_with_loss(self, x: Any, y: Any, w: Array) -> Any:
        """The output y' with the largest loss(y, y') + w . Psi(x, y')."""


@dataclass(frozen=True, eq=False)
class Planes:
    """Linear bounds of the losses of some items: that of item b is at least offset_b - w . direction_b.

    Parameters
    ----------
    offsets
        (m,) the loss of each output.
    directions
        (m, d) sparse rows: Psi(x, y) - Psi(x, output), times the loss with slack rescaling.
    """

    offsets: Array
    directions: sparse.csr_matrix

    def values(self, w: Array) -> Array:
        """(m,) the bounds at w."""
        return np.asarray(self.offsets - self.directions @ w)


class Problem(Protocol):
    """Items with their true outputs, as the algorithms see them."""

    @property
    def n_items(self) -> int:
        """Number of items."""

    @property
    def size(self) -> int:
        """Number of weights."""

    @property
    def is_complete(self) -> bool:
        """Whether all labels are known, so that `observed` is linear in w."""

    def violated(self, w: Array) -> Planes:
        """The planes of the outputs that violate the margin most, one for each item."""

    def observed(self, w: Array, weights: Array) -> tuple[float, Array]:
        """Weighted sum of log sum exp(w . Psi(x, y)) over the outputs that agree with the true one; its gradient."""

    def expected(self, w: Array, weights: Array) -> tuple[float, Array]:
        """Weighted sum of log sum exp(w . Psi(x, y)) over all outputs, and its gradient: the expected Psi."""

    def take(self, items: Ints) -> "Problem":
        """The problem of some items."""

    def completed(self, w: Array | None) -> "Problem":
        """The same items, with labels that are not known (latent) replaced by the best ones; itself if all are.

        Without weights, by the best ones of a first guess.
        """


class Decoder(Protocol):
    """Items without outputs: what a fitted model is asked about."""

    @property
    def n_items(self) -> int:
        """Number of items."""

    def decode(self, w: Array) -> Any:
        """The best output of each item."""

    def best(self, w: Array, k: int) -> tuple[list[list[Any]], list[Array]]:
        """The k best outputs of each item and their scores, best first; fewer where there are not as many."""

    def scores(self, w: Array) -> Any:
        """What `decision_function` gives."""

    def accuracy(self, w: Array, y: Any, weights: Array | None) -> float:
        """Share of the loss that is avoided, over all items."""
