"""Families: distributions that learn from data by statistics that add."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latently.distributions.base import Distribution
from latently.distributions.floor import Floor
from latently.distributions.inputs import Array, ColumnError, as_rows, as_weights
from latently.distributions.statistics import Additive, Sums, as_sums
from latently.distributions.unconstrained import Directions, Reader, packed, unpacked

STEP = 1e-5
"""Step of numerical gradients, for numbers whose natural unit is one."""


class Family(Distribution):
    """A distribution that learns from data by statistics that add.

    `SCALES` says how each of its `PARAMETERS` is written without constraints ("real", "log", "logit" or "simplex"):
    with `log_likelihood`, that is all that gradients, standard errors and bounds ask of a family.
    """

    SCALES: ClassVar[tuple[str, ...]] = ()
    IS_CODED: ClassVar[bool] = False
    """Whether values are codes of categories."""

    VALUES: ClassVar[str] = "finite numbers"
    """What its columns may hold, for errors."""

    # statistics and fit

    def _outside(self, X: Array) -> NDArray[np.bool_]:
        """Mark entries (n, d) that have no probability under any parameters; never a NaN."""
        return np.asarray(np.isinf(X))

    def _supported(self, X: Array) -> Array:
        """Give back the rows, or name the first entry outside the support."""
        outside = self._outside(X)
        if outside.any():
            row, column = (int(i) for i in np.argwhere(outside)[0])
            raise ColumnError(column, f"has {X[row, column]:g} in row {row}: {type(self).__name__} takes {self.VALUES}")
        return X

    @property
    def most_codes(self) -> float:
        """How many categories a column can have, if its values are codes."""
        return self._ENDS[1] + 1

    @property
    def has_features(self) -> bool:
        """Whether `features`, `natural` and `log_base` can be used."""
        return False

    @abstractmethod
    def statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> Additive:
        """Sum up what a fit needs to know about the rows; missing entries add nothing."""

    def expected_statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> Additive:
        """Sum up statistics with the missing entries at their expectation under the current parameters."""
        return self.statistics(X, weights)

    @abstractmethod
    def from_statistics(self, stats: Additive, prior: Any = None) -> Self:
        """Fit from statistics: maximum likelihood, or the mode of the posterior if a prior is given."""

    def fit(self, X: ArrayLike, weights: ArrayLike | None = None, prior: Any = None) -> Self:
        """Fit to the rows of X; the fitted distribution is returned, self stays as it was."""
        return self.from_statistics(self.statistics(X, weights), prior)

    def fit_above(self, stats: Additive, prior: Any, floor: Floor | None) -> Self:
        """Fit from statistics: the most likely member above a floor; a prior takes the floor's place."""
        if floor is None or prior is not None:
            return self.from_statistics(stats, prior)
        return self._fit_above(stats, floor)

    def fit_apart(self, X: ArrayLike, floor: Floor) -> Self | None:
        """Fit columns one by one, where they follow from others so that `fit` has no answer; None if it cannot be."""
        return None

    def is_on_floor(self, floor: Floor) -> bool:
        """Whether it has shrunk onto the floor, where the table itself has not."""
        return False

    def default_prior(self, stats: Additive, strength: float, spread: Array | None) -> Any:
        """Prior that is worth `strength` rows like those of all clusters together; None where a family has none.

        `spread` (d,) is the scale of the shortest clusters, if the family asks for it (`ABOUT_SCALE`).
        """
        return None

    ABOUT_SCALE: ClassVar[bool] = False
    """Whether the default prior is about the scale of clusters."""

    # parameters without constraints

    def log_likelihood(self, stats: Additive) -> float:
        """Sum of the log densities of the rows behind some statistics."""
        return self._lacks("log_likelihood", "a likelihood of statistics")

    def pack(self) -> Array:
        """Parameters as a vector (P,) without constraints."""
        return np.concatenate([packed(getattr(self, name), scale) for name, scale in self._scales().items()])

    def unpack(self, reader: Reader) -> Self:
        """A member of the same family from the next numbers of such a vector."""
        found = {name: unpacked(reader, getattr(self, name), scale) for name, scale in self._scales().items()}
        return replace(self, **found)  # type: ignore[type-var]

    def directions(self) -> Directions:
        """In which directions the vector is free to move, and by how much."""
        pieces = []
        for name, scale in self._scales().items():
            values = np.atleast_1d(getattr(self, name))
            own = Directions.logits(values) if scale == "simplex" else Directions.plain(self._units(name, values))
            pieces.append(own)
        return Directions.joined(pieces)

    def gradient(self, stats: Additive) -> Array:
        """Gradient (P,) of `log_likelihood` in the vector: by differences, unless a family knows better."""
        vector, out = self.pack(), []
        for p in range(len(vector)):
            step = np.zeros(len(vector))
            step[p] = STEP * max(1.0, abs(vector[p]))
            up, down = (self.unpack(Reader(vector + s)).log_likelihood(stats) for s in (step, -step))
            out.append((up - down) / (2 * step[p]))
        return np.array(out)

    def _scales(self) -> dict[str, str]:
        if len(self.SCALES) != len(self.PARAMETERS):
            self._lacks("SCALES", "parameters without constraints")
        return dict(zip(self.PARAMETERS, self.SCALES, strict=True))

    def _units(self, name: str, values: Array) -> Array:
        """How large a step in a parameter is small, on its scale."""
        return np.ones(values.shape)

    def _fit_above(self, stats: Additive, floor: Floor) -> Self:
        return self.from_statistics(stats)


class ExponentialFamily(Family):
    """A family whose log density is linear in features of the row.

    ``log_prob(X) = features(X) @ natural() + log_base(X)``, and statistics are weighted sums of features: a
    mixture of K of them costs two matrix products. `natural` has LOG_ZERO in the place of log 0.
    """

    def log_likelihood(self, stats: Additive) -> float:
        """Sum of the log densities of the rows behind some statistics."""
        sums = as_sums(stats, type(self).__name__)
        return float(sums.total @ self.natural()) + sums.base

    @property
    def has_features(self) -> bool:
        """Whether `features`, `natural` and `log_base` can be used."""
        return True

    # statistics

    def features(self, X: ArrayLike, origin: Array | None = None) -> Array:
        """Features of each row, (n, P); zero for missing entries and for rows outside the support.

        With an origin (d,), columns with a location (Gaussian) are taken relative to it; give `natural` and
        `record` the same one. Other families have nothing to shift.
        """
        return self._features(self._inside(as_rows(X, self._width())), origin)

    def log_base(self, X: ArrayLike) -> Array:
        """Part of the log density that no parameter touches, (n,); -inf for rows outside the support."""
        rows = as_rows(X, self._width())
        return np.where(self._outside(rows).any(axis=1), -np.inf, self._log_base(self._inside(rows)))

    def natural(self, origin: Array | None = None) -> Array:
        """Coefficients of the features, (P,), all finite."""
        return np.asarray(self._ready()._natural(origin))

    def statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> Additive:
        """Weighted sums of the features; an error names the first value outside the support."""
        rows = self._supported(as_rows(X, self._width()))
        w = as_weights(weights, len(rows))
        return self.record(w @ self._features(rows, None), float(w @ self._log_base(rows)))

    def record(self, total: Array, base: float = 0.0, origin: Array | None = None) -> Additive:
        """Make summed features (P,) into the statistics that `from_statistics` reads."""
        return Sums(total, base)

    def _inside(self, X: Array) -> Array:
        """Turn rows outside the support into missing ones."""
        outside = np.asarray(self._outside(X).any(axis=1))
        return np.where(outside[:, None], np.nan, X) if outside.any() else X

    @abstractmethod
    def _outside(self, X: Array) -> NDArray[np.bool_]: ...

    @abstractmethod
    def _features(self, X: Array, origin: Array | None) -> Array: ...

    @abstractmethod
    def _natural(self, origin: Array | None) -> Array: ...

    def _log_base(self, X: Array) -> Array:
        return np.zeros(len(X))
