"""What maps of rows share: how wide they are, and whether what they read are distances already."""

from operator import attrgetter
from typing import Any, ClassVar

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from latently.geometry.distances import Array
from latently.learn.estimator.tags import DeclaredTags


class Embedding(DeclaredTags, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of maps: a subclass sets `embedding_`, the places (n, k) of the rows of the fit."""

    _tags: ClassVar[dict[str, Any]] = {"sparse": True, "pairwise": attrgetter("_is_precomputed")}
    embedding_: Array

    @property
    def _metric(self) -> Any:
        """What distances are measured by, if anything says so."""
        return getattr(self, "metric", None)

    @property
    def _is_precomputed(self) -> bool:
        """Whether X are distances of all pairs."""
        return isinstance(self._metric, str) and self._metric == "precomputed"

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])
