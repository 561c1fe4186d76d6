"""Rows whose component is known: their responsibilities are given, the others' are inferred."""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from latently.cluster.gaussian.model import GaussianMixtureModel
from latently.data.sources.chunks import ArraySource, Chunk, ChunkSource
from latently.data.tables.matrix import FloatArray
from latently.distributions.components.gaussian.incomplete.patterns import patterns_of
from latently.distributions.components.gaussian.moments import GaussianMoments
from latently.distributions.components.gaussian.params import GaussianParams
from latently.learn.engine.protocol import Array
from latently.learn.estimator.labels import UNKNOWN, Labels


def labelled_source(rows: FloatArray, weights: Array | None, labels: Labels) -> tuple[ChunkSource, Labels]:
    """The rows sorted by label, and within a label by what is missing, with their labels."""
    patterns = patterns_of(rows)
    order = np.arange(len(rows)) if patterns is None else patterns.order
    order = order[np.argsort(labels[order], kind="stable")]
    return ArraySource(rows[order], None if weights is None else weights[order]), labels[order]


@dataclass(frozen=True)
class LabelledModel(GaussianMixtureModel):
    """A Gaussian mixture some of whose rows have a component given; rows are known by their place in the source."""

    labels: Labels = field(default_factory=lambda: np.empty(0, np.intp))

    def expect(self, params: GaussianParams, chunk: Chunk) -> GaussianMoments:
        """Expected moments: a labelled row belongs to its component, as if that were the whole mixture."""
        if "by_label" not in chunk.memo:
            chunk.memo["by_label"] = self._parts(chunk)
        unlabelled = super().expect
        found = [
            unlabelled(params, part)
            if label == UNKNOWN
            else unlabelled(params.only(label), part).spread(np.array([label]), len(params.weights))
            for label, part in chunk.memo["by_label"]
        ]
        return sum(found[1:], start=found[0])

    def _parts(self, chunk: Chunk) -> list[tuple[int, Chunk]]:
        labels = self.labels[chunk.start : chunk.stop]
        parts = []
        for label in np.unique(labels):
            rows = np.flatnonzero(labels == label)
            weights = None if chunk.weights is None else chunk.weights[rows]
            parts.append((int(label), Chunk(chunk.X[rows], weights, chunk.start + int(rows[0]))))
        return parts


def with_labels(model: GaussianMixtureModel, labels: Labels | None) -> GaussianMixtureModel:
    """The model that knows the components of some rows; as it is, if there are no labels."""
    if labels is None:
        return model
    return LabelledModel(model.kind, model.strength, model.prior, model.constraints, labels)


def labelled_start(params: GaussianParams, source: ChunkSource, labels: Labels) -> GaussianParams:
    """The start, with its components in the order of the labels, and the means of the labelled rows in place."""
    known = np.unique(labels[labels != UNKNOWN])
    if not len(known):
        return params
    inside = params.frame.inward(np.stack([_mean(source, labels, label) for label in known]))
    gaps = np.where(np.isnan(inside), 0.0, inside)[:, None] - params.means[None]
    costs = np.zeros((len(params.means), len(params.means)))
    costs[known] = np.where(np.isnan(inside)[:, None], 0.0, gaps**2).sum(axis=2)
    matched = params.permuted(linear_sum_assignment(costs)[1])
    moved = matched.means.copy()
    moved[known] = np.where(np.isnan(inside), moved[known], inside)
    return replace(matched, means=moved)


def _mean(source: ChunkSource, labels: Labels, label: int) -> Array:
    """(d,) mean of the observed entries of a label's rows; NaN where there are none."""
    total, weight = np.zeros(source.n_columns), np.zeros(source.n_columns)
    for chunk in source:
        inside = labels[chunk.start : chunk.stop] == label
        X = np.asarray(chunk.X[inside], dtype=float)
        w = np.ones(len(X)) if chunk.weights is None else chunk.weights[inside]
        total = total + w @ np.where(np.isnan(X), 0.0, X)
        weight = weight + w @ ~np.isnan(X)
    return np.asarray(np.divide(total, weight, out=np.full(np.shape(total), np.nan), where=weight > 0))
