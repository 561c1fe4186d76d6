"""The rows along the axes on which the clusters differ most, so that a picture shows what a sentence says."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from latently.report.study.words import percent

Values = NDArray[np.float64]
_RIDGE = 0.1


def covariances(features: Values, shares: Values) -> tuple[Values, Values]:
    """(d, d) covariances between and within the clusters."""
    weights = shares.sum(axis=0)
    means = (shares.T @ features) / np.maximum(weights, 1e-9)[:, None] - features.mean(axis=0)
    between = (means.T * weights) @ means / len(features)
    return between, np.cov(features.T, bias=True).reshape(between.shape) - between


def discriminant(features: Values, shares: Values) -> Values:
    """(n, at most 2) the rows on the axes along which the clusters differ most from their own spread."""
    number = min(2, shares.shape[1] - 1)
    if number == 0:
        return np.empty((len(features), 0))
    between, within = covariances(features, shares)
    ridge = _RIDGE * max(float(np.trace(within)) / len(within), 1e-9)
    _, vectors = eigh(between, within + ridge * np.eye(len(within)))
    chosen = vectors[:, ::-1][:, :number]
    largest = chosen[np.abs(chosen).argmax(axis=0), np.arange(chosen.shape[1])]
    return np.asarray((features - features.mean(axis=0)) @ (chosen * np.where(largest < 0, -1.0, 1.0)))


def completed(axes: Values, places: Values) -> Values:
    """(n, 2) axes, with what the linear view shows beside them where they are fewer than two."""
    if axes.shape[1] == 0:
        return places
    if axes.shape[1] > 1:
        return axes
    axis = axes / max(float(np.linalg.norm(axes)), 1e-300)
    rest = places - axis @ (axis.T @ places)
    return np.hstack([axes, rest[:, [rest.var(axis=0).argmax()]]])


def discriminant_view(features: Values, places: Values, shares: Values) -> dict[str, Any] | None:
    """Place rows on the axes that tell the clusters apart; None if there is one cluster.

    Parameters
    ----------
    features
        (n, d) the rows as the linear view sees them.
    places
        (n, 2) the linear view.
    shares
        (n, k) probability of each cluster.

    Returns
    -------
    dict or None
        "x" and "y" of the rows, "apart" (share of the rows that are nearest to the middle of their own cluster),
        "loadings" (features, 2) their correlations with the axes, and "text".
    """
    axes = discriminant(features, shares)
    if not axes.shape[1]:
        return None
    view = completed(axes, places)
    own = shares.argmax(axis=1)
    apart = _apart(axes, own)
    share = "all" if apart == 1 else percent(apart)
    clean = (view - view.mean(axis=0)) / np.maximum(view.std(axis=0), 1e-300)
    spread = np.maximum(features.std(axis=0), 1e-300)
    return {
        "x": view[:, 0].round(4).tolist(),
        "y": view[:, 1].round(4).tolist(),
        "apart": apart,
        "loadings": (features - features.mean(axis=0)).T @ clean / len(view) / spread[:, None],
        "text": (
            "The same rows along the directions in which the clusters differ most from their own spread: "
            f"{share} of the rows lie nearest to the middle of their own cluster here."
        ),
    }


def _apart(axes: Values, own: NDArray[np.intp]) -> float:
    known = np.unique(own)
    middles = np.stack([axes[own == k].mean(axis=0) for k in known])
    near = known[((axes[:, None] - middles) ** 2).sum(axis=2).argmin(axis=1)]
    return float((near == own).mean())
