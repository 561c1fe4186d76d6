"""Missing entries of rows under a fitted mixture: means, intervals, draws; and how much each entry surprises."""

from collections.abc import Callable
from typing import Any

import numpy as np

from latently.cluster.mixture.augmentation import (
    completed,
    drawn_labels,
    drawn_parameters,
    shares_of,
    side_by_side,
)
from latently.cluster.mixture.model import MixtureModel, MixtureParams, normalise
from latently.data.sources.chunks import ArraySource, Chunk
from latently.distributions.components.slab import Ints, Slab
from latently.distributions.inputs import generator
from latently.learn.engine.protocol import Array
from latently.learn.engine.reduce import mapping

# Rows up to which intervals are averaged over draws of the parameters, and how many: more rows leave little open.
_FEW_ROWS, _PARAMETER_DRAWS = 2000, 50
# Numbers that are held at a time of what all components of all draws say of all entries.
_ENTRIES = 2**21


class MixtureImputation:
    """What a mixture says about entries that are missing, in the units of the encoded table."""

    model_: MixtureModel
    parameters_: MixtureParams
    _read: Callable[[Any], Array]

    def impute_mean(self, X: Any) -> Array:
        """(n, d) rows with missing entries at their conditional mean; at the most probable code for categories."""
        return np.concatenate(self._by_chunk(self._read(X), self._filled))

    def impute_interval(self, X: Any, level: float = 0.9, *, rows: Any = None) -> tuple[Array, Array]:
        """Ends (n, d) of equal-tailed intervals of the missing entries; the value itself where there is one.

        Parameters
        ----------
        X
            Table of (n, d).
        level
            Probability that an interval holds, between 0 and 1. Categories have no order to speak of: both
            ends are the most probable code.
        rows
            The table that the mixture was fitted to: what few rows leave open of the parameters makes the intervals
            wider. None takes the parameters as known, and so do more than 2000 rows.
        """
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, got {level}")
        table, drawn, most = self._read(X), [self.parameters_], None
        if rows is not None and len(known := self._read(rows)) <= _FEW_ROWS:
            drawn = list(drawn_parameters(self, known, _PARAMETER_DRAWS, generator(0), every=2))
            most = max(64, _ENTRIES // (len(drawn) * len(self.parameters_.weights) * table.shape[1]))
        found = self._by_chunk(table, lambda chunk: self._interval(chunk, level, drawn), most)
        low, high = (np.concatenate(ends) for ends in zip(*found, strict=True))
        return low, high

    def impute_draws(self, X: Any, n_draws: int = 1, random_state: Any = None, *, rows: Any = None) -> Array:
        """(n_draws, n, d) joint draws of the missing entries given the observed ones of their row.

        Parameters
        ----------
        X
            Table of (n, d).
        n_draws
            How many completed tables.
        random_state
            Seed.
        rows
            The table that the mixture was fitted to, or a random sample of it: each completed table then has parameters
            of its own, drawn from their posterior by data augmentation. None takes the parameters as known.
        """
        table = self._read(X)
        if n_draws < 1:
            raise ValueError(f"n_draws must be at least 1, got {n_draws}")
        rng = generator(random_state)
        out = np.empty((n_draws, *table.shape))
        if rows is not None:
            for draw, params in zip(out, drawn_parameters(self, self._read(rows), n_draws, rng), strict=True):
                for chunk in ArraySource(table):
                    self._draw_into(draw[None, chunk.start : chunk.stop], params, chunk, rng)
            return out
        for chunk in ArraySource(table):
            self._draw_into(out[:, chunk.start : chunk.stop], self.parameters_, chunk, rng)
        return out

    def _draw_into(self, out: Array, params: MixtureParams, chunk: Chunk, rng: np.random.Generator) -> None:
        slab = Slab(np.asarray(chunk.X, dtype=np.float64))
        shares = shares_of(self.model_, params, slab)
        for draw in out:
            draw[:] = self._drawn(params, slab, drawn_labels(shares, rng), rng)

    def _drawn(self, params: MixtureParams, slab: Slab, labels: Ints, rng: np.random.Generator) -> Array:
        return completed(self.model_, params, slab, lambda b, t, s: b.draw(t, s, labels, rng))

    def surprise(self, X: Any) -> Array:
        """(n, d) -log p of each entry given the other observed entries of its row; 0 where missing."""
        return np.concatenate(self._by_chunk(self._read(X), self._surprises))

    def _by_chunk(self, rows: Array, ask: Callable[[Chunk], Any], most: int | None = None) -> list[Any]:
        with mapping(ArraySource(rows, chunk_rows=most)) as over_chunks:
            return list(over_chunks(ask))

    def _filled(self, chunk: Chunk) -> Array:
        slab = Slab(np.asarray(chunk.X, dtype=np.float64))
        shares = shares_of(self.model_, self.parameters_, slab)
        return completed(self.model_, self.parameters_, slab, lambda b, theta, s: b.fill(theta, s, shares))

    def _interval(self, chunk: Chunk, level: float, drawn: list[MixtureParams]) -> tuple[Array, Array]:
        """Ends of the intervals of mixtures, averaged over parameters that were drawn."""
        slab = Slab(np.asarray(chunk.X, dtype=np.float64))
        shares = np.concatenate([shares_of(self.model_, params, slab) for params in drawn]) / len(drawn)
        low, high = slab.X.copy(), slab.X.copy()
        for block, theta in zip(self.model_.blocks, side_by_side(drawn).parts, strict=True):
            own = slab.X[:, block.places]
            if np.isnan(own).any():
                ends = block.interval(theta, slab, shares, level)
                low[:, block.places], high[:, block.places] = (np.where(np.isnan(own), e, own) for e in ends)
        return low, high

    def _surprises(self, chunk: Chunk) -> Array:
        X, out = np.asarray(chunk.X, dtype=np.float64), np.zeros(chunk.X.shape)
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
