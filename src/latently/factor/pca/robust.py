"""Principal components of the rows that belong together: spherical PCA, then rows that stand apart are left out."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, norm

from latently.factor.moments import moments_of
from latently.factor.pca.dimension import by_share
from latently.factor.pca.solvers import Spectrum, by_moments, by_svd, centred
from latently.factor.signs import flipped

Array = NDArray[np.float64]
LEVEL = 0.999
"""Share of the rows of a Gaussian that are trusted."""
_NORMAL_MAD = float(norm.ppf(0.75))  # median absolute deviation of a standard normal


@dataclass(frozen=True, eq=False)
class Distances:
    """How far rows lie from the others, in units of the distance beyond which a row is not trusted.

    Attributes
    ----------
    within : (n,) along the components
    beyond : (n,) from the space that they span
    """

    within: Array
    beyond: Array

    @property
    def distrusted(self) -> NDArray[np.bool_]:
        """(n,) rows that stand apart."""
        return np.asarray((self.within > 1) | (self.beyond > 1))


def robust_spectrum(X: Array, weights: Array, n_components: int | float, max_iter: int) -> tuple[Spectrum, Distances]:
    """Directions of the rows that are trusted, and the distances of all rows.

    The start is spherical PCA: eigenvectors of the rows brought to a sphere about their spatial median, where no row
    counts for more than another (Locantore et al. 1999). Then, until it stands still: rows far from the others,
    within the components or from the space they span, are left out, and the others give new components.
    """
    start = _spherical(X, weights)
    k = _count(start, n_components)
    distances = _distances(X, weights, start.mean, start.vectors[:k], start.variances[:k])
    spectrum, seen = start, set()
    for _ in range(max_iter):
        spectrum = _classical(X, np.where(distances.distrusted, 0.0, weights), k)
        k = _count(spectrum, n_components)
        distances = _distances(X, weights, spectrum.mean, spectrum.vectors[:k], spectrum.variances[:k])
        key = distances.distrusted.tobytes()
        if key in seen:
            break
        seen.add(key)
    return spectrum, distances


def _count(spectrum: Spectrum, n_components: int | float) -> int:
    most = int((spectrum.variances > 1e-12 * spectrum.variances[0]).sum()) if spectrum.variances[0] > 0 else 1
    if isinstance(n_components, float) and 0 < n_components < 1:
        return by_share(spectrum.variances, spectrum.total, n_components)
    return max(min(int(n_components), most), 1)


def _classical(X: Array, weights: Array, k: int) -> Spectrum:
    """Directions of the weighted rows; variances are those of a Gaussian whose tails were cut off."""
    kept = weights > 0
    plain = (
        by_moments(moments_of(X[kept], weights[kept]))
        if len(X) > X.shape[1]
        else by_svd(centred(X[kept], weights[kept]))
    )
    cut = chi2.ppf(LEVEL, k)
    lost = LEVEL / chi2.cdf(cut, k + 2)
    return Spectrum(plain.mean, plain.variances * lost, plain.vectors, plain.total * lost, plain.weight)


def spatial_median(X: Array, weights: Array, max_iter: int = 200) -> Array:
    """(d,) the point with the least sum of distances to the rows, by Weiszfeld's iteration.

    Examples
    --------
    >>> spatial_median(np.array([[0.0], [1.0], [2.0], [3.0], [1e9]]), np.ones(5)).round(3)
    array([2.])
    """
    centre = np.median(X, axis=0)
    for _ in range(max_iter):
        gap = np.linalg.norm(X - centre, axis=1)
        if float(np.median(gap)) == 0:  # half of the rows are this one
            break
        pull = weights / np.maximum(gap, 1e-12 * max(float(np.median(gap)), np.finfo(float).tiny))
        new = pull @ X / pull.sum()
        moved = float(np.linalg.norm(new - centre))
        centre = new
        if moved <= 1e-10 * float(np.median(gap)):
            break
    return np.asarray(centre)


def _spherical(X: Array, weights: Array) -> Spectrum:
    centre = spatial_median(X, weights)
    step = X - centre
    size = np.linalg.norm(step, axis=1)
    sphere = step / np.where(size > 0, size, 1.0)[:, None] * np.sqrt(weights)[:, None]
    if len(X) > X.shape[1]:
        vectors = np.linalg.eigh(sphere.T @ sphere)[1].T[::-1]
    else:
        vectors = np.linalg.svd(sphere, full_matrices=False)[2]
    spread = (np.median(np.abs(step @ vectors.T), axis=0) / _NORMAL_MAD) ** 2
    order = np.argsort(-spread, kind="stable")
    vectors, spread = flipped(vectors[order]), spread[order]
    return Spectrum(centre, spread, vectors, float(spread.sum()), float(weights.sum()))


def _distances(X: Array, weights: Array, centre: Array, vectors: Array, variances: Array) -> Distances:
    step = X - centre
    along = step @ vectors.T
    scale = float(np.abs(X).max()) or 1.0
    tiny = max(1e-12 * float(variances[0]), (1e-12 * scale) ** 2, np.finfo(float).tiny)
    within = np.sqrt((along**2 / np.maximum(variances, tiny)).sum(axis=1) / chi2.ppf(LEVEL, len(vectors)))
    rest = np.linalg.norm(step - along @ vectors, axis=1)
    if vectors.shape[0] == vectors.shape[1] or float(np.median(rest)) <= 1e-12 * scale:
        return Distances(within, rest / (1e-6 * scale) if vectors.shape[0] < vectors.shape[1] else np.zeros(len(X)))
    power = rest ** (2 / 3)  # nearly normal (Wilson and Hilferty)
    middle = float(np.median(power))
    spread = float(np.median(np.abs(power - middle))) / _NORMAL_MAD
    return Distances(within, rest / (middle + norm.ppf(LEVEL) * spread) ** 1.5)
