"""Where a Gaussian mixture starts: from rows, from K-means, from responsibilities, or as given."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from latently.cluster.gaussian.model import GaussianMixtureModel
from latently.cluster.gaussian.start_rows import start_sample
from latently.data.sources.chunks import Chunk, ChunkSource
from latently.data.tables.matrix import refuse_tiny
from latently.distributions.components.gaussian.frame import Frame, Kind, frame_of, is_varying
from latently.distributions.components.gaussian.moments import GaussianMoments
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.spread import SAMPLE_ROWS, within_deviation
from latently.distributions.statistics import Moments
from latently.learn.engine.protocol import Array, Reduce
from latently.learn.engine.start import StartName, label_responsibilities, random_responsibilities, start_rows
from latently.learn.estimator.table import seeded, seeds
from latently.learn.kmeans.clustered import clustered

# A start needs a picture of the data, not all of it.
START_ROWS, START_ROWS_PER_COMPONENT, MOST_START_ROWS = 16384, 512, 65536
# Of a long table, starts of K-means are tried on a sample of it: several cost little.
MANY, N_STARTS = 4096, 4
# Up to so many rows putting them in order costs nothing to speak of.
_FEW = 1024


def column_moments(reduce: Reduce) -> Moments:
    """Weight, mean and sum of squares of every column, in one pass."""
    found: Moments = reduce(_chunk_moments)
    return found


def _chunk_moments(chunk: Chunk) -> Moments:
    X = np.asarray(chunk.X, dtype=np.float64)
    weights = np.ones(len(X)) if chunk.weights is None else chunk.weights
    seen = ~np.isnan(X)
    if seen.all():
        gaps = X - X[0]
        return Moments(np.full(X.shape[1], weights.sum()), X[0], weights @ gaps, weights @ gaps**2)
    centre = X[seen.argmax(axis=0), np.arange(X.shape[1])]  # first observed value of each column
    centre = np.where(np.isnan(centre), 0.0, centre)
    gaps = np.where(seen, X - centre, 0.0)
    return Moments(weights @ seen, centre, weights @ gaps, np.einsum("i,ij,ij->j", weights, gaps, gaps))


def data_frame(moments: Moments, kind: Kind, source: ChunkSource, k: int, names: Sequence[str]) -> Frame:
    """The frame of all rows, which knows how wide they are inside k clusters."""
    variance = np.maximum(moments.scatter(), 0) / moments.weight
    frame = frame_of(moments.mean(), variance, kind)
    # a seed of its own: the same prior for every start
    rows, weights = start_sample(source, SAMPLE_ROWS, seeded(0))
    refuse_tiny(rows, weights, names)
    # a column that does not vary has no spread of its own
    own = np.where(is_varying(moments.mean(), variance), np.sqrt(variance), frame.scale)
    return replace(frame, within=(within_deviation(rows, weights, own, k) / frame.scale) ** 2)


def start_size(k: int) -> int:
    """How many rows a start of k components looks at, at most."""
    return min(max(START_ROWS, START_ROWS_PER_COMPONENT * k), MOST_START_ROWS)


def start_params(
    model: GaussianMixtureModel, frame: Frame, source: ChunkSource, k: int, how: str, rng: np.random.RandomState
) -> GaussianParams:
    """Parameters from rows or responsibilities chosen by `how`: "kmeans", "k-means++", "random_from_data", "random"."""
    rows, weights = start_sample(source, start_size(k), rng)
    if how != "random":
        rows, weights = _canonical(rows, weights, k)
    Z = frame.inward(rows)
    full = np.where(np.isnan(Z), 0.0, Z)  # a missing entry stands at its column's mean, for the start only
    if how == "kmeans":
        responsibilities = label_responsibilities(
            clustered(Z, weights, k, seeds(rng, N_STARTS if len(Z) > MANY else 1)).labels, k
        )
    elif how == "random":
        responsibilities = random_responsibilities(len(Z), k, rng)
    else:
        responsibilities = np.zeros((len(Z), k))
        name: StartName = "k-means++" if how == "k-means++" else "random_from_data"
        responsibilities[start_rows(Z, weights, k, name, rng), np.arange(k)] = 1.0
    return params_from(model, frame, full, responsibilities * weights[:, None])


def _canonical(rows: Array, weights: Array, k: int) -> tuple[Array, Array]:
    """Few rows in an order of their own, equal ones as one: neither order nor repeats then change the start."""
    if len(rows) > _FEW:
        return rows, weights
    unique, place = np.unique(rows, axis=0, return_inverse=True)
    total: Array = np.bincount(place.ravel(), weights).astype(np.float64, copy=False)
    counted = total > 0
    return (unique[counted], total[counted]) if counted.sum() >= k else (rows, weights)


def params_from(model: GaussianMixtureModel, frame: Frame, Z: Array, shares: Array) -> GaussianParams:
    """M-step from given (weighted) responsibilities; a component with a single row gets the data's own variance."""
    k, d = shares.shape[1], Z.shape[1]
    wide = _wide_params(model.kind, frame, np.zeros((k, d)))
    fitted = model.update(wide, _moments(model.kind, frame, Z, shares))
    lonely = (shares > 0).sum(axis=0) <= 1
    if model.kind == "tied" or not lonely.any():
        return fitted
    return replace(fitted, covariances=_replace_rows(fitted.covariances, wide.covariances, lonely))


def _wide_params(kind: Kind, frame: Frame, means: Array) -> GaussianParams:
    k, d = means.shape
    unit = {"full": np.tile(np.eye(d), (k, 1, 1)), "tied": np.eye(d), "diag": np.ones((k, d))}
    return GaussianParams(kind, frame, np.full(k, 1 / k), means, unit.get(kind, np.ones(k)))


def _replace_rows(values: Array, others: Array, chosen: Array) -> Array:
    return np.where(chosen.reshape((-1,) + (1,) * (values.ndim - 1)), others, values)


def _moments(kind: Kind, frame: Frame, Z: Array, shares: Array) -> GaussianMoments:
    weight = shares.sum(axis=0)
    blank = np.zeros((shares.shape[1], Z.shape[1]))
    centre = np.divide(shares.T @ Z, weight[:, None], out=blank, where=weight[:, None] > 0)
    second = np.stack([_second(kind, Z - c, r) for c, r in zip(centre, shares.T, strict=True)])
    return GaussianMoments(
        float(weight.sum()), 0.0, weight, centre, np.zeros_like(centre),
        second.sum(axis=0) if kind == "tied" else second, kind, frame,
    )  # fmt: skip


def _second(kind: Kind, gaps: Array, share: Array) -> Array:
    if kind in ("full", "tied"):
        return (gaps * share[:, None]).T @ gaps
    columns = share @ gaps**2
    return columns if kind == "diag" else columns.sum()
