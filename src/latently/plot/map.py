"""A map of points as a picture: coloured by label, by density, or by how far each place is to be trusted."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from latently.plot.axes import Array, Display, colours

Colour = Literal["label", "density", "distrust"]


@dataclass(eq=False)
class MapDisplay(Display):
    """Points of a map, coloured by label, density or distrust.

    Parameters
    ----------
    embedding
        (n, 2) the map.
    values
        (n,) what colours show: codes of labels, densities, or distrust; None for one colour.
    names
        Names of the labels, for a legend.
    label
        What the colours are, for a colour bar.
    note
        A line under the map.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    points_
        What was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from latently.embed import TSNE, map_quality
    >>> X, y = load_iris(return_X_y=True)
    >>> Y = TSNE(random_state=0, max_iter=300).fit_transform(X)
    >>> display = MapDisplay.from_predictions(Y, colour="distrust", quality=map_quality(X, Y))
    >>> display.values.shape
    (150,)
    """

    embedding: Array
    values: npt.NDArray[Any] | None = None
    names: Sequence[str] | None = None
    label: str | None = None
    note: str | None = None
    points_: Any = field(default=None, init=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        labels: Any = None,
        colour: Colour | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the map of a fitted estimator that has `embedding_`.

        Parameters
        ----------
        estimator
            Fitted.
        X
            The rows of the fit, to compare the map with: what distrust and the note under the map need.
        labels
            (n,) labels of the points.
        colour
            "label", "density" or "distrust"; None for labels if there are some.
        ax
            Axes to draw on; new ones if None.
        """
        quality = None
        if X is not None:
            from latently.embed.quality import map_quality

            metric = getattr(estimator, "metric", "euclidean")
            k = max(1, min(10, (len(estimator.embedding_) - 1) // 2))
            quality = map_quality(X, estimator.embedding_, metric=metric, n_neighbors=k)
        return cls.from_predictions(estimator.embedding_, labels=labels, colour=colour, quality=quality, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        embedding: Any,
        *,
        labels: Any = None,
        colour: Colour | None = None,
        quality: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw a map, whoever made it.

        Parameters
        ----------
        embedding
            (n, 2) the map.
        labels
            (n,) labels of the points.
        colour
            "label", "density" or "distrust"; None for labels if there are some.
        quality
            What `latently.embed.map_quality` says of the map; needed for distrust.
        ax
            Axes to draw on; new ones if None.
        """
        places = np.asarray(embedding, dtype=float)
        if places.ndim != 2 or places.shape[1] != 2:
            raise ValueError(f"a map with two columns is drawn, this one has the shape {places.shape}")
        chosen = colour or ("label" if labels is not None else None)
        note = None if quality is None else quality.summary().splitlines()[0]
        display = cls(places, note=note)
        if chosen == "label":
            if labels is None:
                raise ValueError("colour='label' needs labels")
            names, display.values = np.unique(np.asarray(labels), return_inverse=True)
            display.names = [str(name) for name in names]
        elif chosen == "density":
            display.values, display.label = _density(places), "points nearby"
        elif chosen == "distrust":
            if quality is None:
                raise ValueError("colour='distrust' needs quality=map_quality(X, embedding)")
            display.embedding = places[quality.rows]
            display.values, display.label = 1.0 - quality.trust, "distrust: 0 all neighbours are real, 1 none is near"
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on new axes if None."""
        self._on(ax)
        size = float(np.clip(4000 / max(len(self.embedding), 1), 2, 25))
        x, y = self.embedding.T
        if self.values is None:
            self.points_ = self.ax_.scatter(x, y, s=size, linewidths=0)
        elif self.names is not None:
            self._draw_labels(size)
        else:
            order = np.argsort(self.values, kind="stable")
            self.points_ = self.ax_.scatter(
                x[order], y[order], c=self.values[order], s=size, linewidths=0, cmap="viridis_r"
            )
            self.figure_.colorbar(self.points_, ax=self.ax_, label=self.label)
        self.ax_.set(xticks=[], yticks=[], aspect="equal")
        if self.note:
            self.ax_.set_xlabel(self.note, fontsize="small")
        return self

    def _draw_labels(self, size: float) -> None:
        assert self.names is not None
        assert self.values is not None
        palette = colours(len(self.names))
        self.points_ = []
        for code, name in enumerate(self.names):
            mine = self.embedding[self.values == code]
            self.points_.append(self.ax_.scatter(*mine.T, s=size, linewidths=0, color=palette[code], label=name))
        self.ax_.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, markerscale=2)


def _density(places: Array) -> Array:
    """How many points are within a fiftieth of the map's width, of each point."""
    from scipy.spatial import cKDTree

    reach = float(np.ptp(places, axis=0).max()) / 50
    return np.asarray(cKDTree(places).query_ball_point(places, reach, return_length=True), dtype=float)
