"""Learning from more rows, from another mixture's rows, and unlearning rows: arithmetic on expected moments."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from latently.cluster.gaussian.given import Public, public_values, stored_params
from latently.cluster.gaussian.merge import aligned
from latently.cluster.gaussian.model import GaussianMixtureModel
from latently.data.sources.chunks import ChunkSource
from latently.data.tables.frames import default_names
from latently.distributions.components.base import ROUNDING
from latently.distributions.components.gaussian.moments import GaussianMoments
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.order import both_labelled
from latently.distributions.inputs import ColumnError
from latently.distributions.statistics import refuse_lost
from latently.learn.engine.reduce import reducing
from latently.learn.estimator.online import weight_left
from latently.learn.estimator.parameters import checked


class GaussianOnline:
    """`partial_fit`, `merge` and `forget`."""

    statistics_: GaussianMoments
    n_features_in_: int
    fit: Callable[..., Self]
    _source: Callable[..., ChunkSource]
    _model: Callable[[float], GaussianMixtureModel]
    _keep: Callable[[Public, GaussianMoments], None]

    @checked
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows: their expected moments under the current mixture are added to those so far.

        The first call is a `fit`. Earlier rows keep the responsibilities they were given when they were seen.
        """
        if not hasattr(self, "statistics_"):
            return self.fit(X, sample_weight=sample_weight)
        seen, before = self._expected(X, sample_weight)
        return self._learn_from(before, self.statistics_ + seen)

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Unlearn rows: their expected moments under the current mixture are taken from those so far.

        With one component and nothing missing this is exact: what is left is the fit to the other rows. Otherwise it
        is at fixed responsibilities: the rows are taken out with the responsibilities (and the guesses of missing
        values) that the current mixture gives them, which are near but not equal to those they came in with, and
        the other rows keep theirs. A `fit` to the rows that are left goes the rest of the way.

        Parameters
        ----------
        X
            (n, d) rows that were learnt from.
        y
            Ignored.
        sample_weight
            (n,) the weights they had.

        Examples
        --------
        >>> from latently.cluster import GaussianMixture
        >>> GaussianMixture(1).fit([[1.0], [2.0], [9.0]]).forget([[9.0]]).means_
        array([[1.5]])
        """
        check_is_fitted(self)
        seen, before = self._expected(X, sample_weight)
        left = self.statistics_ - seen
        left = replace(left, weight=weight_left(self.statistics_.rows, seen.rows, left.weight))
        self._refuse_lost(before, left)
        return self._learn_from(before, left)

    def _refuse_lost(self, params: GaussianParams, left: GaussianMoments) -> None:
        """An error where variances have lost digits; one variance of all columns goes by the first of them."""
        prior = self._model(left.rows).frame_prior(params).scatter
        had, now = self.statistics_.second, left.scatter() + prior
        if left.kind in ("full", "tied"):
            had, now = (np.atleast_2d(np.diagonal(part, axis1=-2, axis2=-1)) for part in (had, now))
        weight = np.where(left.weight > ROUNDING * left.rows, left.weight, 0.0)
        weight = weight.sum(keepdims=True) if left.kind == "tied" else weight
        try:
            refuse_lost(had.reshape(len(weight), -1), now.reshape(len(weight), -1), weight[:, None])
        except ColumnError as problem:
            names = getattr(self, "feature_names_in_", default_names(self.n_features_in_))
            raise problem.named(str(names[int(problem.column)])) from None

    def merge(self, other: Any) -> Self:
        """Add what another fitted mixture of the same shape has seen; its components are matched to ours first.

        Components that both mixtures know by labels keep their places; the others go to those that they are nearest to.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        mine, theirs = stored_params(self), stored_params(other)
        if (theirs.kind, theirs.means.shape) != (mine.kind, mine.means.shape):
            raise ValueError(
                f"a {theirs.kind} mixture of shape {theirs.means.shape} cannot be merged into a {mine.kind} "
                f"mixture of shape {mine.means.shape}: fit both with the same settings"
            )
        moved = aligned(mine, theirs, other.statistics_, both_labelled(self, other))
        return self._learn_from(stored_params(self, self.statistics_.frame), self.statistics_ + moved)

    def _expected(self, X: Any, sample_weight: Any) -> tuple[GaussianMoments, GaussianParams]:
        """Moments of rows under the current mixture, and that mixture in their frame."""
        source = self._source(X, sample_weight, reset=False)
        now = stored_params(self, self.statistics_.frame)
        model = GaussianMixtureModel(now.kind)
        with reducing(source) as reduce:
            return reduce(lambda chunk: model.expect(now, chunk)), now

    def _learn_from(self, before: GaussianParams, stats: GaussianMoments) -> Self:
        values = public_values(self._model(stats.rows).update(before, stats))
        self._keep(values, stats)
        return self
