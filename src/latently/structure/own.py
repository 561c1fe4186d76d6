"""Models of your own: item by item, and every answer is checked."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from latently.structure.protocol import Array, Ints, Planes


def features_of(model: Any, x: Any, y: Any, item: int, size: int | None) -> sparse.csr_matrix:
    """Psi(x, y) as a sparse row; an error names the item whose features are not as those of others."""
    given = model.joint_features(x, y)
    row = sparse.csr_matrix(given if sparse.issparse(given) else np.asarray(given, dtype=float).reshape(1, -1))
    if size is not None and row.shape[1] != size:
        raise ValueError(f"joint_features of item {item} has {row.shape[1]} entries, but {size} in items before it")
    if not np.isfinite(row.data).all():
        raise ValueError(f"joint_features of item {item} has entries that are not finite")
    return row


def check_possible(model: Any, x: Any, y: Any, item: int, verb: str) -> None:
    """An error if a model says that an output of its own is impossible."""
    if hasattr(model, "is_possible") and not model.is_possible(x, y):
        raise ValueError(f"{verb} of item {item} returned an impossible output: {y!r:.200}")


@dataclass(frozen=True, eq=False)
class ItemProblem:
    """Items of a model of the user's own, with their true outputs."""

    model: Any
    X: Sequence[Any]
    y: Sequence[Any]
    numbers: Ints
    truth: sparse.csr_matrix
    rescale: str

    is_complete = True

    @classmethod
    def of(cls, model: Any, X: Sequence[Any], y: Sequence[Any], rescale: str, size: int | None) -> "ItemProblem":
        """Compute the features of the true outputs."""
        if len(X) != len(y):
            raise ValueError(f"X has {len(X)} items, but y has {len(y)}")
        if not len(X):
            raise ValueError("X has 0 sample(s): a minimum of 1 is required")
        rows = []
        for i, (x, output) in enumerate(zip(X, y, strict=True)):
            check_possible(model, x, output, i, "y")
            rows.append(features_of(model, x, output, i, size))
            size = rows[0].shape[1]
        return cls(model, X, y, np.arange(len(X)), sparse.vstack(rows, format="csr"), rescale)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.X)

    @property
    def size(self) -> int:
        """Number of weights."""
        return int(self.truth.shape[1])

    def take(self, items: Ints) -> "ItemProblem":
        """The problem of some items."""
        X, y = [self.X[i] for i in items], [self.y[i] for i in items]
        return replace(self, X=X, y=y, numbers=self.numbers[items], truth=self.truth[items])

    def violated(self, w: Array) -> Planes:
        """The planes of the outputs that violate the margin most."""
        losses, rows = np.empty(self.n_items), []
        verb = "decode_with_loss" if self.rescale == "margin" else "decode_scaled"
        for i, (number, x, y) in enumerate(zip(self.numbers.tolist(), self.X, self.y, strict=True)):
            output = getattr(self.model, verb)(x, y, w)
            check_possible(self.model, x, output, number, verb)
            losses[i] = self._loss(y, output, number)
            rows.append(features_of(self.model, x, output, number, self.size))
        directions = self.truth - sparse.vstack(rows, format="csr")
        if self.rescale == "slack":
            directions = sparse.diags(losses) @ directions
        return Planes(losses, sparse.csr_matrix(directions))

    def _loss(self, y: Any, output: Any, number: int) -> float:
        loss = float(self.model.loss(y, output))
        if not 0.0 <= loss < np.inf:
            raise ValueError(f"the loss of item {number} is {loss}: it must be finite and not negative")
        return loss

    def observed(self, w: Array, weights: Array) -> tuple[float, Array]:
        """Weighted sums of Psi of the true outputs."""
        total = np.asarray(self.truth.T @ weights)
        return float(total @ w), total

    def expected(self, w: Array, weights: Array) -> tuple[float, Array]:
        """Weighted sums of log partition functions and expected features."""
        logs, total = 0.0, np.zeros(self.size)
        for x, weight in zip(self.X, weights, strict=True):
            logs += weight * float(self.model.log_partition(x, w))
            total += weight * np.asarray(self.model.expected_features(x, w), dtype=float).ravel()
        return logs, total

    def log_likelihoods(self, w: Array) -> Array:
        """(n,) log p(y | x) of each item."""
        logs = np.array([float(self.model.log_partition(x, w)) for x in self.X])
        return np.asarray(self.truth @ w - logs)

    def completed(self, w: Array | None) -> "ItemProblem":
        """Itself: all outputs are known."""
        return self


@dataclass(frozen=True, eq=False)
class ItemDecoder:
    """Items that a fitted model of the user's own is asked about."""

    model: Any
    X: Sequence[Any]

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.X)

    def decode(self, w: Array) -> list[Any]:
        """The best output of each item."""
        found = []
        for i, x in enumerate(self.X):
            found.append(self.model.decode(x, w))
            check_possible(self.model, x, found[-1], i, "decode")
        return found

    def scores(self, w: Array) -> Array:
        """(n,) scores of the best outputs."""
        return np.array([self._score(x, y, i, w) for i, (x, y) in enumerate(zip(self.X, self.decode(w), strict=True))])

    def _score(self, x: Any, y: Any, item: int, w: Array) -> float:
        return float((features_of(self.model, x, y, item, len(w)) @ w)[0])

    def best(self, w: Array, k: int) -> tuple[list[list[Any]], list[Array]]:
        """The k best outputs of each item, and their scores."""
        if not hasattr(self.model, "best"):
            raise TypeError(f"{type(self.model).__name__} has no best(x, w, k): it cannot list the k best outputs")
        outputs = [list(self.model.best(x, w, k)) for x in self.X]
        scores = [
            np.array([self._score(x, y, i, w) for y in ys])
            for i, (x, ys) in enumerate(zip(self.X, outputs, strict=True))
        ]
        return outputs, scores

    def accuracy(self, w: Array, y: Any, weights: Array | None) -> float:
        """One less the mean loss."""
        if len(y) != self.n_items:
            raise ValueError(f"X has {self.n_items} items, but y has {len(y)}")
        losses = [float(self.model.loss(true, said)) for true, said in zip(y, self.decode(w), strict=True)]
        return float(1.0 - np.average(losses, weights=weights))
