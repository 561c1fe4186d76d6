"""The rows placed by t-SNE, and how far each place can be trusted."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.embed import TSNE, MapQuality, map_quality
from latently.geometry.neighbours import nearest
from latently.report.sections.map.discriminant import completed, covariances, discriminant
from latently.report.study.words import percent

Values = NDArray[np.float64]
TSNE_POINTS, _FEWEST = 1000, 30
_ITERATIONS = 250
_SPREAD, _JITTER = 1e-4, 0.01  # of the start: its standard deviation, and the part of it that is random
_TOGETHER = 0.95  # share of neighbours in the table from which clusters lie apart in it as they are
_MOST = 3.0  # a column counts at most so many times as much as it does in the linear view


class _FromStart(TSNE):
    """t-SNE that need not find where clusters are: its start shows them apart."""

    _EXPLORATION_MAX_ITER = 50


def tsne_map(
    features: Values, places: Values, shares: Values, rows: NDArray[np.int64], rng: np.random.Generator
) -> dict[str, Any]:
    """Place rows so that neighbours stay together and clusters lie apart.

    Parameters
    ----------
    features
        (n, d) the rows as the linear view sees them.
    places
        (n, 2) the linear view.
    shares
        (n, k) probability of each cluster.
    rows
        (n,) which rows of the table they are.
    rng
        Of the start.
    """
    n = len(rows)
    if n < _FEWEST:
        return {"skipped": f"t-SNE is left out: neighbourhoods need at least {_FEWEST} rows, here are {n}."}
    scale = _scale(features, shares)
    start = _start(features, places, shares, rng)
    tsne = _FromStart(perplexity=min(30.0, (n - 1) / 3), max_iter=_ITERATIONS, init=start, random_state=0)
    found = np.asarray(tsne.fit_transform(features * scale), dtype=np.float64)
    quality = map_quality(features, found, n_neighbors=min(10, n // 6), max_rows=None)
    faint = _faint(quality)
    return {
        "rows": rows.tolist(),
        "x": found[:, 0].round(3).tolist(),
        "y": found[:, 1].round(3).tolist(),
        "trust": quality.trust.round(4).tolist(),
        "faint": faint,
        "neighbours": quality.n_neighbors,
        "kept": quality.neighbour_preservation,
        "trustworthiness": quality.trustworthiness,
        "text": _text(quality, faint, bool((scale != 1).any())),
    }


def _scale(features: Values, shares: Values) -> Values:
    """(d,) how much each feature counts: by its spread within clusters if neighbours in the table mix these."""
    labels = shares.argmax(axis=1)
    near = nearest(features, min(10, len(features) - 1)).indices
    if (labels[near] == labels[:, None]).mean() >= _TOGETHER:
        return np.ones(features.shape[1])
    _, within = covariances(features, shares)
    total = features.var(axis=0)
    # a feature that tells the clusters apart varies less within them than over all rows
    part = np.divide(np.diag(within), total, out=np.ones_like(total), where=total > 0)
    return np.asarray(1 / np.sqrt(np.clip(part, _MOST**-2, 1.0)))


def _start(features: Values, places: Values, shares: Values, rng: np.random.Generator) -> Values:
    """The discriminant axes of the clusters, the linear view where there are fewer than two; a little noise."""
    axes = completed(discriminant(features, shares), places)
    size = axes.std(axis=0)
    unit = (axes - axes.mean(axis=0)) / np.where(size > 0, size, 1.0)
    # rows that are alike would otherwise never part
    return np.asarray(_SPREAD * (unit + _JITTER * rng.standard_normal(unit.shape)))


def _faint(quality: MapQuality) -> float:
    """The trust half-way from a place by chance to a perfect one.

    The logarithm of a random rank lies about 1 below that of the last one, and trust is measured in logarithms.
    """
    chance = min(1 / np.log((quality.n_rows - 1) / quality.n_neighbors), 1.0)
    return float(round((1 + chance) / 2, 4))


def _text(quality: MapQuality, faint: float, scaled: bool) -> str:
    k = quality.n_neighbors
    doubtful = float((quality.trust.round(4) < faint).mean())
    pale = (
        f"points drawn faint, {percent(doubtful)} of them, should not be trusted" if doubtful else "no point is faint"
    )
    how = " Columns that tell the clusters apart count more here than in the linear view." if scaled else ""
    return (
        f"{percent(quality.neighbour_preservation)} of the {k} nearest neighbours on this map are among the {k} "
        f"nearest in the table (trustworthiness {quality.trustworthiness:.2f}); {pale}. "
        f"How wide a gap or a group is means little here.{how}"
    )
