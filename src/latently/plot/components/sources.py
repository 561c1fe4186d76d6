"""Pictures of hidden sources: over time, as atoms of a dictionary, and how well they are separated."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latently.plot.axes import Display


@dataclass(eq=False)
class SourcesDisplay(Display):
    """Sources over time, one below the other.

    Use `from_estimator` to make one.

    Attributes
    ----------
    time : ndarray
        (n,) places on the axis.
    sources : ndarray
        (n, k) values.
    names : list
        Name of each source.

    Examples
    --------
    >>> import numpy as np
    >>> from latently.factor import JADE
    >>> X = np.random.default_rng(0).laplace(size=(200, 2))
    >>> display = SourcesDisplay.from_estimator(JADE().fit(X), X)
    >>> display.sources.shape, display.names
    ((200, 2), ['jade0', 'jade1'])
    """

    time: NDArray[Any]
    sources: NDArray[Any]
    names: list[str]

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, time: ArrayLike | None = None, ax: Any = None) -> Self:
        """Draw the sources that a fitted estimator finds in rows.

        Parameters
        ----------
        estimator
            Anything fitted with `transform` and `get_feature_names_out`.
        X
            Rows in the order of time.
        time
            Time of each row; 0, 1, ... if not given.
        ax
            Axes to draw on; new ones if None.
        """
        sources = np.asarray(estimator.transform(X))
        when = np.arange(len(sources)) if time is None else np.asarray(time)
        if when.shape != (len(sources),):
            raise ValueError(f"time must have one entry for each of the {len(sources)} rows, got shape {when.shape}")
        return cls(when, sources, [str(name) for name in estimator.get_feature_names_out()]).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax
            Axes to draw on; new ones if not given.
        """
        self._on(ax)
        spread = np.abs(self.sources - self.sources.mean(axis=0)).max(axis=0)
        step = 2.2 * float(spread.max(initial=0.0)) or 1.0
        levels = -step * np.arange(self.sources.shape[1])
        for j, level in enumerate(levels):
            self.ax_.plot(self.time, self.sources[:, j] - self.sources[:, j].mean() + level, lw=0.8)
        self.ax_.set(xlabel="time", yticks=levels, yticklabels=self.names)
        return self


@dataclass(eq=False)
class AtomsDisplay(Display):
    """Atoms of a dictionary as small images, side by side, each to the same scale about zero.

    Use `from_estimator` to make one.

    Attributes
    ----------
    atoms : ndarray
        (k, height, width).
    n_columns : int
        Atoms in a row of the picture.

    Examples
    --------
    >>> import numpy as np
    >>> display = AtomsDisplay.from_components(np.eye(6), (2, 3))
    >>> display.atoms.shape, display.n_columns
    ((6, 2, 3), 3)
    """

    atoms: NDArray[Any]
    n_columns: int

    @classmethod
    def from_estimator(cls, estimator: Any, shape: Sequence[int] | None = None, **options: Any) -> Self:
        """Draw the `components_` of a fitted estimator; see `from_components`."""
        return cls.from_components(estimator.components_, shape, **options)

    @classmethod
    def from_components(
        cls, components: ArrayLike, shape: Sequence[int] | None = None, *, n_columns: int | None = None, ax: Any = None
    ) -> Self:
        """Draw rows as images.

        Parameters
        ----------
        components
            (k, d) atoms.
        shape
            Height and width of an atom; a square if None.
        n_columns
            Atoms in a row of the picture; about as many as there are rows if None.
        ax
            Axes to draw on; new ones if None.
        """
        D = np.asarray(components, dtype=float)
        side = int(np.sqrt(D.shape[1]))
        height, width = (side, side) if shape is None else (int(shape[0]), int(shape[1]))
        if height * width != D.shape[1]:
            raise ValueError(f"atoms have {D.shape[1]} entries, which are no image of {height} x {width}: give shape")
        columns = int(np.ceil(np.sqrt(len(D)))) if n_columns is None else n_columns
        return cls(D.reshape(-1, height, width), columns).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax
            Axes to draw on; new ones if not given.
        """
        self._on(ax)
        k, height, width = self.atoms.shape
        rows = -(-k // self.n_columns)
        canvas = np.full((rows * (height + 1) - 1, self.n_columns * (width + 1) - 1), np.nan)
        for j, atom in enumerate(self.atoms):
            top, left = (j // self.n_columns) * (height + 1), (j % self.n_columns) * (width + 1)
            canvas[top : top + height, left : left + width] = atom / (np.abs(atom).max() or 1.0)
        self.ax_.imshow(canvas, cmap="RdBu_r", vmin=-1, vmax=1, interpolation="nearest")
        self.ax_.set(xticks=[], yticks=[])
        return self


@dataclass(eq=False)
class SeparabilityDisplay(Display):
    """How far components of an independent component analysis mix with each other under resampling.

    Use `from_uncertainty` or `from_estimator` to make one.

    Attributes
    ----------
    separability : ndarray
        (k, k) angles in radians; 0.45 is the value for two components that cannot be separated.
    blocks : tuple
        Components that cannot be separated.

    Examples
    --------
    >>> import numpy as np
    >>> from latently.factor import JADE
    >>> X = np.random.default_rng(0).laplace(size=(500, 2))
    >>> display = SeparabilityDisplay.from_estimator(JADE(), X, n_resamples=5, random_state=0)
    >>> display.blocks
    ((0,), (1,))
    """

    separability: NDArray[Any]
    blocks: tuple[tuple[int, ...], ...]

    @classmethod
    def from_uncertainty(cls, uncertainty: Any, *, ax: Any = None) -> Self:
        """Draw what `latently.factor.ica_uncertainty` found."""
        return cls(uncertainty.separability, uncertainty.blocks).plot(ax=ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, ax: Any = None, **options: Any) -> Self:
        """Resample, and draw; options as for `latently.factor.ica_uncertainty`."""
        from latently.factor import ica_uncertainty

        return cls.from_uncertainty(ica_uncertainty(estimator, X, **options), ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax
            Axes to draw on; new ones if not given.
        """
        self._on(ax)
        k, most = len(self.separability), np.pi / 4 / np.sqrt(3)
        image = self.ax_.imshow(self.separability, cmap="magma_r", vmin=0, vmax=most)
        for i in range(k if k <= 12 else 0):
            for j in range(k):
                value = self.separability[i, j]
                style = {"ha": "center", "va": "center", "color": "white" if value > most / 2 else "black"}
                self.ax_.text(j, i, f"{value:.2f}", **style)
        self.figure_.colorbar(image, ax=self.ax_, label="root mean square angle (radians)")
        self.ax_.set(xlabel="component", ylabel="component", xticks=range(k), yticks=range(k))
        return self
