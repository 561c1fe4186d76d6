"""Learning from more rows, from another mixture's rows, and unlearning rows: arithmetic on expected statistics."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from latently.cluster.mixture.model import MixtureModel, MixtureParams, MixtureSums
from latently.data.sources.chunks import ChunkSource
from latently.distributions import Parts
from latently.distributions.components.order import both_labelled, labelled_components, matched_order, named_by
from latently.distributions.components.slab import Ints, Mask
from latently.learn.engine.reduce import reducing
from latently.learn.estimator.online import weight_left
from latently.learn.estimator.parameters import checked


class MixtureOnline:
    """`partial_fit`, `forget` and `merge`."""

    model_: MixtureModel
    parameters_: MixtureParams
    statistics_: MixtureSums
    fit: Callable[..., Self]
    _labelled: Mask
    _source: Callable[..., ChunkSource]
    _with_priors: Callable[[MixtureModel, Parts], MixtureModel]
    _keep: Callable[[MixtureModel, MixtureParams, MixtureSums], None]

    @property
    @abstractmethod
    def _k(self) -> int:
        """Number of components."""

    @checked
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, labels: Any = None) -> Self:
        """Learn from further rows: their expected statistics under the current mixture join those so far.

        The first call is a `fit`. Earlier rows keep the responsibilities that they were given when seen.
        """
        if not hasattr(self, "statistics_"):
            return self.fit(X, sample_weight=sample_weight, labels=labels)
        found = self._learn_from(self.statistics_ + self._expected(X, sample_weight, labels))
        found._labelled = labelled_components(self) | named_by(labels, self._k)
        return found

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None, *, labels: Any = None) -> Self:
        """Take rows away again, by their statistics.

        Exact where responsibilities do not depend on the parameters: with one component, or if `labels` gives
        the component of every row, then and now. Otherwise the rows are taken away with the responsibilities
        that the mixture gives them now, and the other rows keep theirs; a new `fit` may move further.
        """
        check_is_fitted(self)
        removed, had = self._expected(X, sample_weight, labels), self.statistics_
        left = had - removed
        left = replace(left, weight=weight_left(had.rows, removed.rows, left.weight))
        for block, before, now in zip(self.model_.blocks, had.parts.parts, left.parts.parts, strict=True):
            block.refuse_lost(before, now)
        return self._learn_from(left)

    def merge(self, other: Self) -> Self:
        """Add what another fitted mixture of the same columns has seen; its components are matched to ours.

        Components that both mixtures know by labels keep their places; the others go to those that they are nearest to.
        Exact with one component; otherwise rows keep the responsibilities that each mixture gave them.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        self._check_alike(other)
        theirs = other.statistics_
        return self._learn_from(self.statistics_ + theirs.permuted(self._matched(theirs, both_labelled(self, other))))

    def _check_alike(self, other: Any) -> None:
        mine, theirs = ([(type(b), b.columns, b.names) for b in m.model_.blocks] for m in (self, other))
        if mine != theirs or self._k != other._k:
            raise ValueError("mixtures of different columns, families or numbers of components cannot be merged")

    def _matched(self, theirs: MixtureSums, stay: Mask) -> Ints:
        """Which of their components belongs to each of ours: that of highest expected log density."""
        triples = zip(self.model_.blocks, self.parameters_.parts, theirs.parts.parts, strict=True)
        density = np.sum([block.cross(theta, stats) for block, theta, stats in triples], axis=0)
        return matched_order(-density / np.maximum(theirs.weight, 1e-9), stay)

    def _expected(self, X: Any, sample_weight: Any, labels: Any) -> MixtureSums:
        model = replace(self.model_, labelled=labels is not None)
        with reducing(self._source(X, sample_weight, labels, reset=False)) as reduce:
            found: MixtureSums = reduce(lambda chunk: model.expect(self.parameters_, chunk))
        return found

    def _learn_from(self, stats: MixtureSums) -> Self:
        """Parameters from statistics, under priors about all rows that they come from."""
        pairs = zip(self.model_.blocks, stats.parts.parts, strict=True)
        model = self._with_priors(self.model_, Parts(tuple(block.pooled(part) for block, part in pairs)))
        self._keep(model, model.update(self.parameters_, stats), stats)
        return self
