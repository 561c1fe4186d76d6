"""How stable the components of an independent component analysis are under resampling."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import logm
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components
from sklearn.utils.validation import check_is_fitted, check_random_state

from latently.factor.ica.ascent.fixed_point import orthogonal
from latently.factor.ica.base import IndependentComponents
from latently.learn.engine.cores import one_core
from latently.learn.engine.protocol import Array
from latently.learn.engine.reduce import mapping

# Root mean square of angles between -pi/4 and pi/4, all alike: two components that cannot be separated.
UNIDENTIFIED = np.pi / 4 / np.sqrt(3)


@dataclass(frozen=True, eq=False)
class ICAUncertainty:
    """How far components turn into each other when the data are drawn anew.

    Parameters
    ----------
    separability : (k, k) root mean square of the rotation angle of each pair, in radians; 0 on the diagonal. Two
        components that cannot be separated come to pi / (4 sqrt(3)) = 0.45.
    uncertainty : (k,) the largest entry of each row
    blocks : tuples of components that cannot be separated; a component by itself is a block of one
    angles : (n_resamples, k, k) rotation angles of every resample
    threshold : angle from which on two components are in one block
    """

    separability: Array
    uncertainty: Array
    blocks: tuple[tuple[int, ...], ...]
    angles: Array
    threshold: float

    @property
    def is_identified(self) -> Any:
        """(k,) whether each component stands alone."""
        alone = {block[0] for block in self.blocks if len(block) == 1}
        return np.array([j in alone for j in range(len(self.uncertainty))])


def ica_uncertainty(
    estimator: IndependentComponents,
    X: Any,
    n_resamples: int = 50,
    random_state: Any = None,
    *,
    threshold: float = UNIDENTIFIED / 4,
) -> ICAUncertainty:
    """Say how uncertain the directions of independent components are.

    Surrogate data are drawn from the estimated sources, made white, and separated anew by the same algorithm; what it
    finds is a rotation, whose angles would all be zero if the data settled the components. Rows are drawn with
    replacement; for `TDSEP` times are drawn, each with the rows that follow it.

    Parameters
    ----------
    estimator
        One of `FastICA`, `JADE`, `TDSEP`, `InfoMax`; fitted to X, or it is fitted here (a clone of it).
    X
        Table of (rows, columns).
    n_resamples
        Number of surrogate tables. They are worked on in parallel.
    random_state
        Seed or generator. The same seed gives the same answer for any number of threads.
    threshold
        Angle from which on two components are in one block: a quarter of what two unidentified ones come to, since
        draws from one table are more alike than tables are.

    References
    ----------
    Meinecke, Ziehe, Kawanabe and Müller (2002), A resampling approach to estimate the stability of one-dimensional or
    multidimensional independent components.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from latently.factor import JADE
    >>> rng = np.random.default_rng(0)
    >>> S = np.c_[rng.laplace(size=2000), rng.normal(size=(2000, 2))]  # two Gaussian ones
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # which says that two are not identified
    ...     found = ica_uncertainty(JADE(max_iter=1000), S * [3, 2, 1], n_resamples=20, random_state=0)
    >>> found.blocks
    ((0,), (1, 2))
    """
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, got {n_resamples}")
    fitted = _fitted(estimator, X)
    sources = np.asarray(fitted.transform(X), dtype=np.float64)
    sources = (sources - sources.mean(axis=0)) / sources.std(axis=0)
    rng = check_random_state(random_state)
    seeds = [int(seed) for seed in rng.randint(np.iinfo(np.int32).max, size=n_resamples)]

    def angles_of(seed: int) -> Array:
        with one_core():
            return rotation_angles(orthogonal(fitted._resampled(sources, np.random.default_rng(seed))))

    with mapping(seeds) as over_seeds:
        angles = np.stack(list(over_seeds(angles_of)))
    return summary_of(angles, threshold)


def summary_of(angles: Array, threshold: float) -> ICAUncertainty:
    """Separability, uncertainty and blocks of angles (resamples, k, k)."""
    S = np.sqrt((angles**2).mean(axis=0))
    _, labels = connected_components(threshold < S, directed=False)
    blocks = tuple(tuple(np.flatnonzero(labels == label).tolist()) for label in dict.fromkeys(labels.tolist()))
    return ICAUncertainty(S, S.max(axis=1), blocks, angles, threshold)


def rotation_angles(R: Array) -> Array:
    """(k, k) angles of a rotation: its logarithm, once rows are in the order and have the signs nearest to one.

    Examples
    --------
    >>> c, s = np.cos(0.2), np.sin(0.2)
    >>> rotation_angles(np.array([[s, -c], [c, s]])).round(3)  # rows exchanged, a sign turned
    array([[ 0. ,  0.2], [-0.2,  0. ]])
    """
    _, columns = linear_sum_assignment(R**2, maximize=True)
    R = R[np.argsort(columns)]
    R = R * np.where(np.diag(R) < 0, -1.0, 1.0)[:, None]
    if np.linalg.det(R) < 0:  # no rotation yet: turn the row that is least itself
        R[np.argmin(np.diag(R))] *= -1
    L = np.real(logm(R))
    return np.asarray((L - L.T) / 2)


def _fitted(estimator: IndependentComponents, X: Any) -> IndependentComponents:
    """The estimator itself if it is fitted, else a clone that is."""
    from sklearn.base import clone
    from sklearn.exceptions import NotFittedError

    if not isinstance(estimator, IndependentComponents):
        raise TypeError(
            f"ica_uncertainty takes FastICA, JADE, TDSEP or InfoMax of latently.factor, got {type(estimator).__name__}"
        )
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        again: IndependentComponents = clone(estimator)
        return again.fit(X)
    return estimator
