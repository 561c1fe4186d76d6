"""Learning from more sequences, from another model's sequences, and unlearning some: arithmetic on expected counts."""

from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from latently.data.sources.chunks import ChunkSource
from latently.data.sources.sequences import Sequences
from latently.data.tables.frames import default_names
from latently.distributions import ColumnError
from latently.distributions.components.order import matched_order
from latently.learn.engine.reduce import reducing
from latently.learn.estimator.online import refuse_other, weight_left
from latently.sequence.hmm.fit import naming_impossible
from latently.sequence.hmm.stored import StoredSequences, read_stored
from latently.sequence.inference.chain import Array
from latently.sequence.model.hmm import HmmStatistics

# Rows that are drawn to compare two states, and the log density of those that one of them cannot emit.
_DRAWS, _IMPOSSIBLE = 200, -1e4


class OnlineMixin:
    """`partial_fit`, `merge` and `forget`."""

    def partial_fit(self, X: Any, lengths: Any = None, *, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from further sequences: their expected counts under the current model are added to those so far.

        The first call is a `fit`. Earlier sequences keep the expected states that they had when they were seen.
        """
        if not self._has("statistics_"):  # type: ignore[attr-defined]
            return self.fit(X, lengths, sample_weight=sample_weight)  # type: ignore[attr-defined, no-any-return]
        return self._learn_from(self.statistics_ + self._expected(X, lengths, sample_weight))

    def forget(self, X: Any, lengths: Any = None, *, sample_weight: ArrayLike | None = None) -> Self:
        """Unlearn whole sequences: their expected counts under the current model are taken from those so far.

        With one state this is exact. Otherwise the sequences are taken out with the expected states that the model
        gives them now, and the others keep theirs; a `fit` to the sequences that are left goes the rest of the way.

        Parameters
        ----------
        X, lengths
            Sequences that were learnt from.
        sample_weight
            The weights they had.
        """
        had = self._learnt()
        seen = self._expected(X, lengths, sample_weight)
        left = had - seen
        visits = weight_left(float(had.visits.sum()), float(seen.visits.sum()), left.visits, unit="state")
        try:
            self._model().emission.block.refuse_lost(had.emission, left.emission)  # type: ignore[attr-defined]
        except ColumnError as problem:
            names = getattr(self, "feature_names_in_", default_names(self.n_features_in_))  # type: ignore[attr-defined]
            raise problem.named(str(names[int(problem.column)])) from None
        first, moves = np.maximum(left.first, 0.0), np.maximum(left.transitions, 0.0)
        return self._learn_from(replace(left, first=first, transitions=moves, visits=visits))

    def merge(self, other: Self) -> Self:
        """Add what another fitted model has seen; its states are matched to those of ours that they are most like.

        Exact with one state; otherwise sequences keep the expected states that each model gave them.
        """
        mine = self._learnt()
        refuse_other(self, other)
        theirs = other._learnt()
        if self._copies() > 1 or len(mine.visits) != len(theirs.visits):  # type: ignore[attr-defined]
            raise ValueError("models with durations, or with other numbers of states, cannot be merged: fit one to all")
        order = matched_order(-self._likeness(other), np.zeros(len(theirs.visits), bool))
        moved = replace(
            theirs,
            first=theirs.first[order],
            transitions=theirs.transitions[np.ix_(order, order)],
            visits=theirs.visits[order],
            emission=theirs.emission.permuted(order),  # type: ignore[attr-defined]
        )
        return self._learn_from(mine + moved)

    def _likeness(self, other: Self) -> Array:
        """(K, K) mean log density, in each of our states, of rows that are drawn in each of theirs."""
        emission, drawn = self._model().emission, np.repeat(np.arange(other.n_components), _DRAWS)  # type: ignore[attr-defined]
        rows = other._model().emission.sample(other._theta(), drawn, np.random.RandomState(0))  # type: ignore[attr-defined]
        logs = np.maximum(emission.log_density(self._theta(), rows), _IMPOSSIBLE)  # type: ignore[attr-defined]
        return np.asarray(logs.reshape(other.n_components, _DRAWS, -1).mean(axis=1).T)  # type: ignore[attr-defined]

    def _learnt(self) -> HmmStatistics:
        """What was learnt so far."""
        if not self._has("statistics_"):  # type: ignore[attr-defined]
            self._params()  # type: ignore[attr-defined]  # an error if there are no parameters either
            raise ValueError(
                f"this {type(self).__name__} keeps no statistics: it was not fitted, or to sequences with inputs"
            )
        found: HmmStatistics = self.statistics_
        return found

    def _expected(self, X: Any, lengths: Any, weights: ArrayLike | None) -> HmmStatistics:
        """Expected counts of sequences under the current model."""
        data: Sequences | StoredSequences
        if isinstance(X, ChunkSource):
            data, weights = read_stored(self, X, reset=False), None
        else:
            data = self._read(X, lengths, reset=False)  # type: ignore[attr-defined]
        model, params = self._model(), self._params()  # type: ignore[attr-defined]
        with naming_impossible(data), reducing(data.chunked(weights)) as total:
            found: HmmStatistics = total(partial(model.expect, params))
        return found

    def _learn_from(self, stats: HmmStatistics) -> Self:
        """Parameters that are best for some statistics."""
        params = self._model().update(self._params(), stats)  # type: ignore[attr-defined]
        self._store_chain(params.chain)  # type: ignore[attr-defined]
        self._store_theta(params.theta)  # type: ignore[attr-defined]
        self.statistics_ = stats
        return self
