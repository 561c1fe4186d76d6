"""Sammon's mapping."""

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, Self

import numpy as np
from scipy.optimize import minimize
from scipy.sparse.csgraph import connected_components
from sklearn.utils._param_validation import StrOptions

from latently.embed.mds.base import DissimilarityMap
from latently.embed.mds.classical import ClassicalMDS
from latently.embed.mds.smacof import Configuration, given_start
from latently.embed.mds.stress import pulls_of
from latently.geometry.distances import Array
from latently.learn.engine.restarts import best_of
from latently.learn.estimator.parameters import NON_NEGATIVE, Count, Seed, checked, stores_parameters
from latently.learn.estimator.table import generator
from latently.learn.estimator.unconverged import warn_unconverged

_SHAKEN = 0.3  # size of the noise of further starts, as a share of the spread of the classical map


@stores_parameters
class SammonMapping(DissimilarityMap):
    """Sammon's mapping (1969): a map that meets small distances as well as large ones, relative to their size.

    The Sammon stress, sum (D_ij - d_ij)^2 / D_ij over pairs divided by the sum of all D_ij, is minimised by L-BFGS from
    the classical map and from shaken copies of it, since it has many local minima. Things at distance zero
    of each other stand at one place.

    Parameters
    ----------
    n_components
        Dimensions of the map.
    n_init
        How many starts, side by side in threads: the classical map, and shaken copies of it.
    init
        "classical_mds" or "random".
    max_iter
        Iterations of each start at most.
    tol
        Relative fall of the stress at which to stop.
    metric
        "euclidean", "precomputed", or another metric of `sklearn.metrics.pairwise_distances`.
    metric_params
        Further arguments of the metric.
    random_state
        Seed of the starts.

    Attributes
    ----------
    embedding_
        (n, k) the map.
    stress_
        The Sammon stress: 0 for a perfect map.
    dissimilarity_matrix_
        (n, n) dissimilarities.
    n_iter_, converged_, reason_
        Iterations of the best start, and whether its stress had ceased to fall.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> model = SammonMapping(random_state=0).fit(X)
    >>> bool(model.stress_ < 0.0041), model.transform(X[:2] + 0.01).shape
    (True, (2, 2))
    """

    _weighted = True

    n_components: Count = 2
    _: KW_ONLY
    n_init: Count = 8
    init: Annotated[str, StrOptions({"classical_mds", "random"})] = "classical_mds"
    max_iter: Count = 2000
    tol: Annotated[float, NON_NEGATIVE] = 1e-10
    metric: Annotated[Any, str, callable] = "euclidean"
    metric_params: Annotated[dict[str, Any] | None, dict, None] = None
    random_state: Seed = None

    def fit(self, X: Any, y: Any = None, init: Any = None) -> Self:
        """Find the map; see `fit_transform`."""
        self.fit_transform(X, init=init)
        return self

    @checked
    def fit_transform(self, X: Any, y: Any = None, init: Any = None, **params: Any) -> Array:
        """Find the map, and give the places (n, k) of the rows.

        Parameters
        ----------
        X
            (n, d) rows, or for the metric "precomputed" their (n, n) dissimilarities.
        y
            Not used.
        init
            (n, k) map to start from, alone.
        """
        things = Distinct.of(self._dissimilarities(X))
        starts = self._starts(things.D, None if init is None else things.one_of_each(init, self.n_components))
        found = best_of(
            lambda start: descended(things, start, self.max_iter, self.tol), starts, lambda one: -one.stress,
            side_by_side=True,
        )  # fmt: skip
        self.embedding_, self.stress_ = found.points[things.which], found.stress
        self.n_iter_, self.converged_ = found.n_iter, found.converged
        self.reason_ = "converged" if found.converged else "max_iter"
        warn_unconverged(self.reason_, "max_iter", self.max_iter)
        return self.embedding_

    def _expected_failed_checks(self) -> dict[str, str]:
        reason = "starts are shaken at random, row by row: another order of rows is another start"
        return {"law_row_order_does_not_matter": reason}

    def _starts(self, D: Array, init: Array | None) -> list[Array]:
        if init is not None:
            return [init]
        rng, shape = generator(self.random_state), (len(D), self.n_components)
        if self.init == "random":
            return [D.mean() * rng.normal(size=shape) for _ in range(self.n_init)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # any map is a start
            first = ClassicalMDS(self.n_components, metric="precomputed").fit(D).embedding_
        spread = first.std() or 1.0
        # the first is shaken as well, a little: points that coincide do not push each other apart
        sizes = [1e-4, *[_SHAKEN] * (self.n_init - 1)]
        return [first + size * spread * rng.normal(size=shape) for size in sizes]


@dataclass(frozen=True, eq=False)
class Distinct:
    """Things that are apart: those at distance zero are one, which counts as often as there are of it.

    Parameters
    ----------
    D
        (m, m) dissimilarities of distinct things.
    weights
        (m, m) 1 / D, times the number of pairs that each entry stands for; zero on the diagonal.
    total
        Sum of the dissimilarities of all pairs.
    which
        (n,) which distinct thing each thing is.
    """

    D: Array
    weights: Array
    total: float
    which: Any

    @classmethod
    def of(cls, D: Array) -> "Distinct":
        """Take together what is at distance zero; its dissimilarities to others are averaged."""
        count, which = connected_components(D <= 0, directed=False)
        member = np.zeros((count, len(D)))
        member[which, np.arange(len(D))] = 1.0
        sizes = member.sum(axis=1)
        pairs = np.outer(sizes, sizes)
        apart = member @ D @ member.T / pairs
        np.fill_diagonal(apart, 0.0)
        weights = pairs * np.where(apart > 0, 1.0, 0.0) / np.where(apart > 0, apart, 1.0)
        return cls(apart, weights, float((pairs * apart).sum() / 2), which)

    def one_of_each(self, init: Any, k: int) -> Array:
        """The places of distinct things in a map of all."""
        return given_start(init, len(self.which), k)[np.unique(self.which, return_index=True)[1]]


def descended(things: Distinct, start: Array, max_iter: int, tol: float) -> Configuration:
    """The map that L-BFGS finds from a start.

    Examples
    --------
    >>> things = Distinct.of(np.array([[0.0, 2.0], [2.0, 0.0]]))
    >>> round(descended(things, np.array([[0.0], [1.0]]), 100, 1e-12).stress, 6)
    0.0
    """
    if things.total == 0:
        return Configuration(np.zeros_like(start), 0.0, 0, True)

    unit = things.total / max(things.weights.size, 1)  # so that coordinates are of the order of one

    def value(flat: Array) -> tuple[float, Array]:
        now = pulls_of(flat.reshape(start.shape) * unit, things.D, things.weights)
        return now.stress / things.total, (-2.0 * unit / things.total) * now.pulls.ravel()

    options = {"maxiter": max_iter, "maxfun": 2 * max_iter, "ftol": tol, "gtol": 1e-12, "maxcor": 20}
    found = minimize(value, start.ravel() / unit, jac=True, method="L-BFGS-B", options=options)
    points = found.x.reshape(start.shape) * unit
    return Configuration(points - points.mean(axis=0), float(found.fun), int(found.nit), bool(found.status != 1))
