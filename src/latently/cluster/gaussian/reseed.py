"""Components that died: put back where the data is worst explained, if that helps."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from latently.cluster.gaussian.model import GaussianFit, GaussianMixtureModel
from latently.data.sources.chunks import ChunkSource
from latently.distributions.components.gaussian.params import GaussianParams
from latently.learn.engine.em import ROUNDING
from latently.learn.engine.protocol import Array
from latently.learn.engine.start import worst_rows

# A component with less than this many rows explains none of them.
_ALIVE = 0.5


def revived(
    fit: GaussianFit,
    model: GaussianMixtureModel,
    source: ChunkSource,
    again: Callable[[GaussianParams], GaussianFit],
    movable: NDArray[np.bool_],
) -> GaussianFit:
    """The fit, gone on from re-seeded components as long as some are dead and the objective gains by it.

    Parameters
    ----------
    fit
        Where the fit ended.
    model
        To find what is badly explained.
    source
        The rows.
    again
        Fits once more from given parameters.
    movable
        (k,) which components may be put elsewhere.
    """
    n_rows = source.totals()[1]
    for _ in fit.params.weights:
        dead = np.flatnonzero((fit.params.weights * n_rows < _ALIVE) & movable)
        if len(dead) == 0:
            return fit
        try:
            other = again(reseeded(fit.params, worst_rows(model, fit.params, source, len(dead)), dead))
        except (ValueError, FloatingPointError):
            # without a prior the new place can be a single point, which has no covariance: the fit stands as it is
            return fit
        if other.trace[-1] <= fit.trace[-1] + ROUNDING * abs(fit.trace[-1]):
            return fit
        fit = _joined(fit, other)
    return fit


def reseeded(params: GaussianParams, rows: Array, dead: NDArray[np.intp]) -> GaussianParams:
    """The mixture with its dead components at these rows, each of average weight and covariance."""
    weights, means = params.weights.copy(), params.means.copy()
    k = len(weights)
    places = params.frame.inward(rows)
    means[dead] = np.where(np.isnan(places), 0.0, places)
    weights[dead] = 0.0
    weights *= (1 - len(dead) / k) / weights.sum()
    covariances = params.covariances.copy()
    if params.kind != "tied":
        covariances[dead] = np.tensordot(weights / weights.sum(), params.covariances, axes=1)
    weights[dead] = 1 / k
    return replace(params, weights=weights, means=means, covariances=covariances)


def _joined(fit: GaussianFit, other: GaussianFit) -> GaussianFit:
    """The second fit as the end of the first; the iterations it took to get back up are left out."""
    risen = tuple(value for value in other.trace if value > fit.trace[-1])
    return replace(other, trace=fit.trace + risen, n_iter=fit.n_iter + other.n_iter)
