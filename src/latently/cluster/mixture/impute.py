"""Missing entries of rows under a fitted mixture: means, intervals, draws; and how much each entry surprises."""

from collections.abc import Callable
from typing import Any

import numpy as np

from latently.cluster.mixture.model import normalise
from latently.data.sources.chunks import ArraySource, Chunk
from latently.distributions.components.slab import Slab
from latently.distributions.inputs import generator
from latently.learn.engine.protocol import Array
from latently.learn.engine.reduce import mapping


class MixtureImputation:
    """What a mixture says about entries that are missing, in the units of the encoded table."""

    def impute_mean(self, X: Any) -> Array:
        """(n, d) rows with missing entries at their conditional mean; at the most probable code for categories."""
        return np.concatenate(self._by_chunk(self._read(X), self._filled))

    def impute_interval(self, X: Any, level: float = 0.9) -> tuple[Array, Array]:
        """Ends (n, d) of equal-tailed intervals of the missing entries; the value itself where there is one.

        Parameters
        ----------
        X
            Table of (n, d).
        level
            Probability that an interval holds, between 0 and 1. Categories have no order to speak of: both
            ends are the most probable code.
        """
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, got {level}")
        found = self._by_chunk(self._read(X), lambda chunk: self._between(chunk, level))
        low, high = (np.concatenate(ends) for ends in zip(*found, strict=True))
        return low, high

    def impute_draws(self, X: Any, n_draws: int = 1, random_state: Any = None) -> Array:
        """(n_draws, n, d) joint draws of the missing entries given the observed ones of their row."""
        rows = self._read(X)
        if n_draws < 1:
            raise ValueError(f"n_draws must be at least 1, got {n_draws}")
        rng = generator(random_state)
        out = np.empty((n_draws, *rows.shape))
        for chunk in ArraySource(rows):
            shares = np.cumsum(self._shares(Slab(chunk.X)), axis=0)
            for draw in out[:, chunk.start : chunk.stop]:
                spots = rng.random(len(chunk.X)) * shares[-1]
                labels = np.minimum((spots >= shares).sum(axis=0), len(shares) - 1)
                draw[:] = self._completed(chunk.X, lambda b, t, s, at=labels: b.draw(t, s, at, rng))
        return out

    def surprise(self, X: Any) -> Array:
        """(n, d) -log p of each entry given the other observed entries of its row; 0 where missing."""
        return np.concatenate(self._by_chunk(self._read(X), self._surprises))

    def _by_chunk(self, rows: Array, ask: Callable[[Chunk], Any]) -> list[Any]:
        with mapping(ArraySource(rows)) as over_chunks:
            return list(over_chunks(ask))

    def _shares(self, slab: Slab) -> Array:
        """(K, n) responsibilities."""
        joint = self.model_.joint(self.parameters_, slab)
        normalise(joint)
        return joint

    def _completed(self, X: Array, ask: Callable[[Any, Any, Slab], Array]) -> Array:
        """X with what `ask` says of every block in the place of what is missing."""
        slab, out = Slab(X), X.copy()
        for block, theta in zip(self.model_.blocks, self.parameters_.parts, strict=True):
            own = X[:, block.places]
            if np.isnan(own).any():
                out[:, block.places] = np.where(np.isnan(own), ask(block, theta, slab), own)
        return out

    def _filled(self, chunk: Chunk) -> Array:
        shares = self._shares(Slab(chunk.X))
        return self._completed(chunk.X, lambda block, theta, slab: block.fill(theta, slab, shares))

    def _between(self, chunk: Chunk, level: float) -> tuple[Array, Array]:
        shares = self._shares(Slab(chunk.X))
        low, high = chunk.X.copy(), chunk.X.copy()
        for block, theta in zip(self.model_.blocks, self.parameters_.parts, strict=True):
            own = chunk.X[:, block.places]
            if np.isnan(own).any():
                ends = block.interval(theta, Slab(chunk.X), shares, level)
                low[:, block.places], high[:, block.places] = (np.where(np.isnan(own), e, own) for e in ends)
        return low, high

    def _surprises(self, chunk: Chunk) -> Array:
        X, out = chunk.X, np.zeros(chunk.X.shape)
        joint = self.model_.joint(self.parameters_, Slab(X))
        whole = normalise(joint.copy())
        for block, theta in zip(self.model_.blocks, self.parameters_.parts, strict=True):
            own = np.zeros_like(joint)
            block.log_density(theta, Slab(X), own)
            for c in block.columns:
                hidden = X.copy()
                hidden[:, c] = np.nan
                rest = np.zeros_like(joint)
                block.log_density(theta, Slab(hidden), rest)
                out[:, c] = normalise(joint - own + rest) - whole
        return np.where(np.isnan(X), 0.0, out)
