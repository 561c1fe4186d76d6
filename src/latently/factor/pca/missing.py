"""Principal directions of rows with missing values."""

from typing import Any

import numpy as np

from latently.data.sources.chunks import ChunkSource
from latently.factor.incomplete import fit_incomplete
from latently.factor.pca.solvers import Spectrum
from latently.factor.signs import flipped
from latently.learn.engine.em import Fit

TOL = 1e-7  # nats per row


def by_em(source: ChunkSource, q: int, tol: float, max_iter: int) -> tuple[Spectrum, Fit[Any, Any]]:
    """Directions of the density with q factors of highest likelihood, and how the fit went.

    With one factor less than columns the covariance is free, and there are as many directions as columns.
    """
    found, run = fit_incomplete(source, q, isotropic=True, tol=tol or TOL, max_iter=max_iter)
    weight = float(run.stats.rows)
    left, singular, _ = np.linalg.svd(found.loadings, full_matrices=len(found.mean) <= q + 1)
    variances = np.full(left.shape[1], found.noise[0])
    variances[: len(singular)] += singular**2
    unbiased = weight / (weight - 1)
    total = float((found.loadings**2).sum() + found.noise.sum())
    steps = (run.n_iter, run.converged)
    return Spectrum(found.mean, variances * unbiased, flipped(left.T), total * unbiased, weight, steps), run
