"""A search over models as a picture: the criterion against the number of components."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from latently.plot.axes import Display


@dataclass(eq=False)
class SelectionDisplay(Display):
    """The criterion against the number of components, a line for each family of models.

    Parameters
    ----------
    lines
        For each family its numbers of components, the values of the criterion, and their standard errors (or
        None).
    best
        Number of components and value of the best model.
    criterion
        What the values are.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    lines_
        The lines drawn, one for each family.
    best_
        The mark on the best model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from latently.cluster import GaussianMixture
    >>> from latently.learn import select
    >>> found = select((GaussianMixture(), {"n_components": range(1, 5)}), load_iris().data, random_state=0)
    >>> display = SelectionDisplay.from_selection(found)
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('number of components', 'BIC (lower is better)')
    """

    lines: Mapping[str, tuple[Sequence[int], Sequence[float], Sequence[float] | None]]
    best: tuple[int, float]
    criterion: str

    @classmethod
    def from_selection(cls, selection: Any, *, ax: Any = None) -> Self:
        """Draw what `latently.learn.select` found.

        Parameters
        ----------
        selection
            Its result. Models that could not be fitted are left out.
        ax
            Axes to draw on; new ones if None.
        """
        fitted = [line for line in selection.table if not line["error"]]
        unsized = next((line["family"] for line in fitted if line["n_components"] is None), None)
        if unsized is not None:
            raise ValueError(f"{unsized} has no n_components, so it cannot be drawn in this picture")
        families = dict.fromkeys(line["family"] for line in fitted)
        lines = {name: _line(fitted, name, selection.key) for name in families}
        best = selection.best
        return cls(lines, (best["n_components"], best[selection.key]), selection.criterion).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        ax = self._on(ax)
        self.lines_ = [self._draw(name, *values) for name, values in self.lines.items()]
        k, value = self.best
        (self.best_,) = ax.plot([k], [value], "o", markersize=12, fillstyle="none", color="black", label="best")
        ax.set_xlabel("number of components")
        ax.set_ylabel(_axis_label(self.criterion))
        ax.set_xticks(sorted({k for ks, _, _ in self.lines.values() for k in ks}))
        ax.legend()
        return self

    def _draw(self, name: str, k: Sequence[int], values: Sequence[float], errors: Sequence[float] | None) -> Any:
        return self.ax_.errorbar(k, values, yerr=errors, marker=".", label=name, capsize=2)[0]


def _line(table: list[dict[str, Any]], family: str, key: str) -> tuple[list[int], list[float], list[float] | None]:
    chosen = sorted((line for line in table if line["family"] == family), key=lambda line: line["n_components"])
    errors = [line[f"{key}_error"] for line in chosen] if key == "held_out" else None
    return [line["n_components"] for line in chosen], [line[key] for line in chosen], errors


def _axis_label(criterion: str) -> str:
    if criterion == "held-out":
        return "mean log density of held-out rows (higher is better)"
    return f"{criterion.upper()} (lower is better)"
