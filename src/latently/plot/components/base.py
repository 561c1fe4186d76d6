"""What pictures of components share."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from latently.plot.axes import axes_of

MOST_NAMES = 25
"""Names of columns that can be read beside each other."""


def column_names(estimator: Any, names: Sequence[str] | None) -> list[str]:
    """Names of the columns that an estimator was fitted to; x0, x1, ... if it knows none."""
    known = getattr(estimator, "feature_names_in_", None) if names is None else names
    return [str(name) for name in known] if known is not None else [f"x{j}" for j in range(estimator.n_features_in_)]


@dataclass(eq=False)
class Drawn:
    """Where something was drawn."""

    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

    def _on(self, ax: Any) -> Any:
        """The axes to draw on, remembered."""
        self.ax_, self.figure_ = axes_of(ax)
        return self.ax_
