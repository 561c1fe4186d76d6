"""Where a mixture over a table starts: from groups of rows that are near each other, columns of any kind."""

from collections.abc import Sequence

import numpy as np

from latently.cluster.mixture.model import MixtureModel, MixtureParams, MixtureSums
from latently.data.sources.chunks import ChunkSource
from latently.distributions import Parts
from latently.distributions.components.base import Block
from latently.distributions.components.order import matched_order
from latently.distributions.components.slab import Ints, Slab
from latently.distributions.priors.base import PER_STRENGTH
from latently.learn.engine.protocol import Array
from latently.learn.engine.start import label_responsibilities, random_responsibilities, sample_rows, start_rows

# A start needs a picture of the data, not all of it.
START_ROWS = 4096
_ROUNDS = 10


def start_params(
    model: MixtureModel, source: ChunkSource, k: int, how: str, rng: np.random.RandomState
) -> MixtureParams:
    """Parameters from rows or responsibilities: "kmeans", "k-means++", "random_from_data" or "random"."""
    rows, weights = sample_rows(source, START_ROWS, rng)
    labels = rows[:, -1] if model.labelled else np.full(len(rows), np.nan)
    if how == "random":
        shares = random_responsibilities(len(rows), k, rng)
    else:
        Z = coordinates(rows, model.blocks)
        nearest = _grouped(Z, weights, labels, k, how, rng)
        shares = label_responsibilities(nearest, k)
    known = ~np.isnan(labels)
    shares[known] = label_responsibilities(labels[known].astype(np.intp), k)
    R = shares.T * weights
    params, sums = _drawn(model, rows, R)
    if any(block.is_limited for block in model.blocks) and not model.labelled:
        order = _suited_order(model, params, sums)
        params, sums = params.permuted(order), sums.permuted(order)
    return _in_place(model, params, sums)


def params_from(model: MixtureModel, rows: Array, R: Array) -> MixtureParams:
    """M-step from given (weighted) responsibilities (K, n), under a prior worth a row with the spread of all."""
    return _in_place(model, *_drawn(model, rows, R))


def _drawn(model: MixtureModel, rows: Array, R: Array) -> tuple[MixtureParams, MixtureSums]:
    """Parameters of groups of rows, and their statistics, as if nothing were said of any component."""
    k, slab = len(R), Slab(rows)
    R = np.ascontiguousarray(R)
    even = np.repeat(R.sum(axis=0)[None] / k, k, axis=0)
    parts, sums = [], []
    for block in (block.without_constraints().with_spread(None) for block in model.blocks):
        first = block.first(rows, k)
        whole = block.expect(first, slab, even)
        strength = 1 / PER_STRENGTH if block.is_squared else 1.0
        soft = block.with_prior(whole.permuted(np.array([0])), [strength] * len(block.columns))
        # a component without rows starts as all rows together
        parts.append(soft.begin(soft.update(first, whole), slab, R))
        sums.append(block.expect(parts[-1], slab, R))
    mass = R.sum(axis=1)
    return MixtureParams(mass / mass.sum(), tuple(parts)), MixtureSums(0.0, 0.0, mass, Parts(tuple(sums)))


def _suited_order(model: MixtureModel, params: MixtureParams, sums: MixtureSums) -> Ints:
    """Where groups of rows suit what is fixed best."""
    k = len(params.weights)
    gain = np.zeros((k, k))
    for shift in range(k):  # every group in every place, once
        order = (np.arange(k) + shift) % k
        moved, seen = params.permuted(order), sums.permuted(order)
        for block, theta, own in zip(model.blocks, moved.parts, seen.parts.parts, strict=True):
            gain[np.arange(k), order] += np.diagonal(block.cross(block.constrained(theta), own))
    return matched_order(-gain, np.zeros(k, bool))


def _in_place(model: MixtureModel, params: MixtureParams, sums: MixtureSums) -> MixtureParams:
    """What is said of components put in its place."""
    constrained = tuple(block.constrained(theta) for block, theta in zip(model.blocks, params.parts, strict=True))
    return MixtureParams(model.kept_weights(sums.weight + model.pseudo), constrained)


def coordinates(rows: Array, blocks: Sequence[Block]) -> Array:
    """Rows as points: columns of numbers in standard deviations, categories as corners at unit distance."""
    return np.hstack([block.as_points(rows[:, block.places]) for block in blocks])


def _grouped(Z: Array, weights: Array, labels: Array, k: int, how: str, rng: np.random.RandomState) -> Ints:
    """(n,) group of each row: the nearest of k seeds, which K-means moves about if asked to."""
    seeds = Z[start_rows(Z, weights, k, "random_from_data" if how == "random_from_data" else "k-means++", rng)]
    centres = np.where(np.isnan(seeds), 0.0, seeds)
    known = ~np.isnan(labels)
    for label in np.unique(labels[known]).astype(np.intp):
        centres[label] = _mean(Z[labels == label], centres[label], weights[labels == label])
    seen = (~np.isnan(Z)).astype(np.float64)
    filled = np.nan_to_num(Z)
    nearest = _nearest(filled, seen, centres)
    for _ in range(_ROUNDS if how == "kmeans" else 0):
        nearest[known] = labels[known]
        own = np.equal.outer(np.arange(k), nearest) * weights
        total = own @ seen
        centres = np.divide(own @ filled, total, out=centres, where=total > 0)
        before, nearest = nearest, _nearest(filled, seen, centres)
        if np.array_equal(before, nearest):
            break
    return nearest


def _mean(Z: Array, otherwise: Array, weights: Array) -> Array:
    seen = ~np.isnan(Z) * weights[:, None]
    total = seen.sum(axis=0)
    sums = (np.nan_to_num(Z) * weights[:, None]).sum(axis=0)
    return np.asarray(np.divide(sums, total, out=otherwise.copy(), where=total > 0))


def _nearest(filled: Array, seen: Array, centres: Array) -> Ints:
    """(n,) nearest centre over the observed coordinates (1 in `seen`); the others are filled with zero."""
    return np.asarray((seen @ (centres**2).T - 2 * filled @ centres.T).argmin(axis=1))
