"""Responsibilities as a picture: which rows are sure of their group, and which are not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from latently.plot.axes import Array, Display, colours


@dataclass(eq=False)
class ResponsibilitiesDisplay(Display):
    """Rows side by side, each a bar cut by the probabilities of its groups.

    Rows are ordered by their most probable group, within it the surest first.

    Parameters
    ----------
    responsibilities
        (n, k) probabilities of the groups, row by row.
    names
        Names of the groups.

    Attributes
    ----------
    order
        (n,) the rows from left to right.
    certainty
        (n,) probability of the most probable group of each row, in the order of the table.
    ax_, figure_, bands_
        Where it was drawn, and the band of each group.

    Examples
    --------
    >>> display = ResponsibilitiesDisplay.from_predictions([[0.4, 0.6], [0.9, 0.1], [0.2, 0.8]])
    >>> display.order.tolist(), display.certainty.tolist()
    ([1, 2, 0], [0.6, 0.9, 0.8])
    """

    responsibilities: Array
    names: Sequence[str]

    @property
    def certainty(self) -> Array:
        """(n,) probability of the most probable group."""
        return np.asarray(self.responsibilities.max(axis=1))

    @property
    def order(self) -> Any:
        """(n,) rows from left to right."""
        return np.lexsort((-self.certainty, self.responsibilities.argmax(axis=1)))

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, names: Sequence[str] | None = None, ax: Any = None) -> Self:
        """Draw what a fitted mixture, hidden Markov model or classifier says of rows.

        Parameters
        ----------
        estimator
            Anything with `predict_proba`.
        X
            Rows.
        names
            Names of the groups; classes, or numbers, if None.
        ax
            Axes to draw on; new ones if None.
        """
        known = [str(c) for c in estimator.classes_] if names is None and hasattr(estimator, "classes_") else names
        return cls.from_predictions(estimator.predict_proba(X), names=known, ax=ax)

    @classmethod
    def from_predictions(cls, responsibilities: Any, *, names: Sequence[str] | None = None, ax: Any = None) -> Self:
        """Draw probabilities (n, k) as they are."""
        shares = np.asarray(responsibilities, dtype=np.float64)
        if shares.ndim != 2 or not shares.size:
            raise ValueError(f"responsibilities must be a table (rows, groups), got shape {shares.shape}")
        if not (shares >= 0).all() or not np.allclose(shares.sum(axis=1), 1, atol=1e-6):
            raise ValueError("responsibilities must be probabilities: each row from 0 on, with a sum of 1")
        groups = [str(k) for k in range(shares.shape[1])] if names is None else list(names)
        if len(groups) != shares.shape[1]:
            raise ValueError(f"there are {shares.shape[1]} groups and {len(groups)} names")
        return cls(shares, groups).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        ax = self._on(ax)
        n, k = self.responsibilities.shape
        tops = np.cumsum(self.responsibilities[self.order], axis=1)
        # (k + 1, n + 1): the last row is repeated, since a bar ends where the next begins
        edges = np.column_stack([np.zeros(n), tops[:, :-1], np.ones(n)])
        edges = np.vstack([edges, edges[-1]]).T
        self.bands_ = [
            ax.fill_between(np.arange(n + 1), low, high, step="post", color=shade, lw=0, label=name)
            for low, high, shade, name in zip(edges[:-1], edges[1:], colours(k), self.names, strict=True)
        ]
        ax.set(xlim=(0, n), ylim=(0, 1), ylabel="probability")
        ax.set_xlabel(f"{n} rows by most probable group (mean certainty {self.certainty.mean():.2f})")
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=min(k, 6), fontsize="small", frameon=False)
        return self
