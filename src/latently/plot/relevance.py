"""How much of what a kernel sees is about the labels, as a picture."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from latently.plot.axes import Array, Display

if TYPE_CHECKING:
    from latently.embed.relevant_dimension import RelevantDimension


@dataclass(eq=False)
class RelevantDimensionDisplay(Display):
    """Coefficients of the labels along kernel PCA components, and the label-reconstruction error.

    Parameters
    ----------
    sizes
        (r,) size of the coefficients of the labels along each component.
    error
        (m + 1,) label-reconstruction error of 0, 1, ... components.
    dimension
        How many components are relevant.

    Attributes
    ----------
    ax_, figure_, bars_, line_
        Where it was drawn, the coefficients and the error.

    Examples
    --------
    >>> from latently.embed import relevant_dimension
    >>> from latently.kernel import RBF
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> display = RelevantDimensionDisplay.from_record(relevant_dimension(RBF()(X), y))
    >>> display.dimension < 30
    True
    """

    sizes: Array
    error: Array
    dimension: int

    @classmethod
    def from_record(cls, record: "RelevantDimension", *, ax: Any = None) -> Self:
        """Draw what `latently.embed.relevant_dimension` found.

        Parameters
        ----------
        record
            What it gave.
        ax
            Axes to draw on; new ones if None.
        """
        sizes = np.sqrt((record.coefficients**2).sum(axis=1))
        return cls(sizes, record.error, record.dimension).plot(ax=ax)

    @classmethod
    def from_labels(cls, K: Any, y: Any, *, ax: Any = None, **settings: Any) -> Self:
        """Estimate the relevant dimension of a kernel matrix for labels, and draw it."""
        from latently.embed.relevant_dimension import relevant_dimension

        return cls.from_record(relevant_dimension(K, y, **settings), ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        ax = self._on(ax)
        shown = min(len(self.sizes), max(3 * self.dimension, 20))
        self.bars_ = ax.bar(np.arange(1, shown + 1), self.sizes[:shown], width=0.8, label="coefficients of the labels")
        ax.axvspan(0.5, self.dimension + 0.5, color="C0", alpha=0.12, label=f"{self.dimension} relevant")
        ax.set(xlabel="kernel PCA component", ylabel="|u'y|", xlim=(0.5, shown + 0.5))
        other = ax.twinx()
        few = min(len(self.error), shown + 1)
        (self.line_,) = other.plot(np.arange(1, few), self.error[1:few], color="C1", label="error e(d)")
        other.set_ylabel("label-reconstruction error")
        ax.legend(handles=[self.bars_, ax.patches[-1], self.line_])
        return self
