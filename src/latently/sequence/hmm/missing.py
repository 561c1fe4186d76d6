"""Missing entries of sequences: what is expected there, between which ends it lies, and draws of it."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from latently.distributions.components.slab import Slab
from latently.sequence.inference.chain import Array


class MissingValuesMixin:
    """Missing entries, given everything that is observed in their sequence."""

    def conditional_mean(self, X: Any, lengths: Any = None) -> Array:
        """The rows with missing entries at their expectation given whole sequences.

        A category is not averaged: it is the most probable one.
        """
        data = self._read(X, lengths, reset=False)  # type: ignore[attr-defined]
        return self._completed(data, lambda block, theta, slab, R: block.fill(theta, slab, R))

    def conditional_interval(self, X: Any, lengths: Any = None, *, level: float = 0.9) -> tuple[Array, Array]:
        """Ends (n, d) of equal-tailed intervals of the missing entries given whole sequences.

        Where a value is observed, both ends are that value. Categories have no order to speak of: both ends are the
        most probable one.
        """
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, got {level}")
        data = self._read(X, lengths, reset=False)  # type: ignore[attr-defined]
        low, high = (
            self._completed(data, lambda block, theta, slab, R, end=end: block.interval(theta, slab, R, level)[end])
            for end in (0, 1)
        )
        return low, high

    def conditional_draws(self, X: Any, lengths: Any = None, *, n_draws: int = 1, random_state: Any = None) -> Array:
        """Draws (n_draws, n, d) of the rows, with missing entries drawn from their distribution given all rows."""
        if n_draws < 1:
            raise ValueError(f"n_draws must be at least 1, got {n_draws}")
        rng = check_random_state(random_state)
        data = self._read(X, lengths, reset=False)  # type: ignore[attr-defined]
        rows = np.flatnonzero(np.isnan(data.values).any(axis=1))
        paths = self.sample_paths(data, n_paths=n_draws, random_state=rng)[:, rows]  # type: ignore[attr-defined]
        draws, slab = np.repeat(data.values[None], n_draws, axis=0), Slab(data.values[rows])
        emission, theta, missing = self._emission(None), self._theta(), np.isnan(slab.X)  # type: ignore[attr-defined]
        for draw, path in zip(draws, paths, strict=True):
            if len(rows):
                own = emission.block.draw(theta, slab, emission.owner[path * self._copies()], rng)  # type: ignore[attr-defined]
                draw[rows] = np.where(missing, own, slab.X)
        return np.asarray(draws)

    def impute_mean(self, X: Any, lengths: Any = None) -> Array:
        """Do what `conditional_mean` does, by the name that mixtures have for it."""
        return self.conditional_mean(X, lengths)

    def impute_interval(self, X: Any, level: float = 0.9, lengths: Any = None) -> tuple[Array, Array]:
        """Do what `conditional_interval` does, by the name that mixtures have for it."""
        return self.conditional_interval(X, lengths, level=level)

    def impute_draws(self, X: Any, n_draws: int = 1, random_state: Any = None, lengths: Any = None) -> Array:
        """Do what `conditional_draws` does, by the name that mixtures have for it."""
        return self.conditional_draws(X, lengths, n_draws=n_draws, random_state=random_state)

    def _completed(self, data: Any, ask: Callable[..., Array]) -> Array:
        """The rows with what `ask` says of components, given posteriors, in the place of what is missing."""
        filled, missing = data.values.copy(), np.isnan(data.values)
        rows = np.flatnonzero(missing.any(axis=1))
        if len(rows):
            emission, theta = self._emission(None), self._theta()  # type: ignore[attr-defined]
            posterior = self.predict_proba(data)[rows]  # type: ignore[attr-defined]
            first = emission.owner[:: self._copies()]  # type: ignore[attr-defined]
            R = np.zeros((emission.size, len(rows)))
            np.add.at(R, first, posterior.T)
            slab = Slab(data.values[rows])
            filled[rows] = np.where(missing[rows], ask(emission.block, theta, slab, R), slab.X)
        return np.asarray(filled)
