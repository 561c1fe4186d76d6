"""SMACOF: stress lowered by majorisation, metric or not."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.utils.validation import check_array, check_symmetric

from latently.embed.inputs import check_distances
from latently.embed.mds.stress import MonotoneOrder, Pulls, pulls_of
from latently.geometry.distances import Array
from latently.learn.engine.cores import some_threads
from latently.learn.engine.restarts import best_of
from latently.learn.estimator.table import generator, seeds

Disparities = Callable[[Array], Array]

_PLAIN = 10  # steps that find the scale and the rough places, before longer ones pay


@dataclass(frozen=True, eq=False)
class Configuration:
    """A map that SMACOF found.

    Parameters
    ----------
    points
        (n, k) the map.
    stress
        Sum over pairs of (disparity - distance)^2, or Stress-1 if it is normalised.
    n_iter
        How many times it was improved.
    converged
        Whether the stress fell by less than `eps` at last.
    """

    points: Array
    stress: float
    n_iter: int
    converged: bool


@dataclass(frozen=True)
class Majorisation:
    """How a map is improved.

    Parameters
    ----------
    metric
        Whether distances follow the dissimilarities themselves, or only their order.
    max_iter
        Improvements at most.
    eps
        Fall of the stress, as a share of the sum of squared distances, at which to stop.
    normalised
        Whether the stress is Stress-1 (Kruskal 1964): sqrt(stress / sum of squared distances).
    relaxation
        Length of a step but for the first ten, 1 for the Guttman transform. Up to 2 the metric stress cannot rise
        (de Leeuw and Heiser 1980), and near it little more than half as many steps are needed.
    """

    metric: bool = True
    max_iter: int = 300
    eps: float = 1e-6
    normalised: bool = False
    relaxation: float = 1.8

    def run(self, D: Array, start: Array) -> Configuration:
        """Improve a map (n, k) of dissimilarities (n, n) until the stress no longer falls."""
        targets = (lambda points: D) if self.metric else _by_order(D)
        points, before, n_iter = start - start.mean(axis=0), np.inf, 0
        while True:
            now = pulls_of(points, targets(points))
            # the stress of the start says nothing: its scale is arbitrary
            fallen = before - now.stress if n_iter > 1 else np.inf
            if n_iter == self.max_iter or fallen <= self.eps * now.squares:
                return Configuration(points, self._stress(now), n_iter, bool(fallen <= self.eps * now.squares))
            step = self.relaxation if n_iter >= _PLAIN else 1.0
            points = points + step * now.pulls / len(points)
            before, n_iter = now.stress, n_iter + 1

    def _stress(self, now: Pulls) -> float:
        if not self.normalised:
            return now.stress
        return float(np.sqrt(now.stress / now.squares)) if now.squares > 0 else 0.0


def _by_order(D: Array) -> Disparities:
    """Disparities (n, n) of a map that follow the order of dissimilarities."""
    pairs = squareform(D, checks=False)
    order = MonotoneOrder.of(pairs)
    starts = [pairs]

    def disparities(points: Array) -> Array:
        # a start is first fitted to the dissimilarities themselves: the order of its own distances says little
        wanted = starts.pop() if starts else pdist(points)
        return np.asarray(squareform(order.disparities(wanted), checks=False))

    return disparities


def best_configuration(D: Array, starts: list[Array], how: Majorisation) -> Configuration:
    """The map of lowest stress of those from several starts."""
    return best_of(partial(how.run, D), starts, lambda found: -found.stress, side_by_side=True)


def random_starts(n: int, k: int, n_init: int, random_state: Any) -> list[Array]:
    """Maps of points that are uniform in a cube."""
    rngs = [generator(random_state)] if n_init == 1 else seeds(random_state, n_init)
    return [rng.uniform(size=(n, k)) for rng in rngs]


def given_start(init: Any, n: int, k: int) -> Array:
    """A start that somebody gave, checked."""
    start: Array = check_array(init, dtype=np.float64, input_name="init")
    if len(start) != n or start.shape[1] != k:
        raise ValueError(f"init has shape {start.shape}, but there are {n} points in {k} dimensions")
    return start


def smacof(
    dissimilarities: Any,
    *,
    metric: bool = True,
    n_components: int = 2,
    init: Any = None,
    n_init: int = 1,
    n_jobs: int | None = None,
    max_iter: int = 300,
    verbose: int = 0,
    eps: float = 1e-6,
    random_state: Any = None,
    return_n_iter: bool = False,
    normalized_stress: bool | Literal["auto"] = "auto",
) -> tuple[Any, ...]:
    """Scaling by majorising a complicated function: the map (n, k) of lowest stress, and the stress.

    A drop-in replacement for scikit-learn's function of the same name; `MDS` is the estimator.

    Parameters
    ----------
    dissimilarities
        (n, n) symmetric dissimilarities.
    metric
        Whether distances follow the dissimilarities themselves, or only their order (zeros are missing then).
    n_components
        Dimensions of the map.
    init
        (n, k) map to start from; random if None.
    n_init
        How many random starts.
    n_jobs
        How many threads for the starts; None for every core.
    verbose
        Not used.
    max_iter
        Iterations at most.
    eps
        Fall of the stress, as a share of the sum of squared distances, at which to stop.
    random_state
        Seed of the starts.
    return_n_iter
        Whether to give the number of iterations too.
    normalized_stress
        Whether to give Stress-1; "auto" for non-metric maps only.

    Examples
    --------
    >>> D = np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])
    >>> points, stress = smacof(D, eps=1e-12, random_state=0)
    >>> pdist(points).round(4)
    array([3., 4., 5.])
    """
    D = check_symmetric(check_array(dissimilarities, dtype=np.float64), raise_exception=True)
    check_distances(D)
    start = None if init is None else given_start(init, len(D), n_components)
    if start is not None and n_init != 1:
        warnings.warn(f"init is given: there is one start, not {n_init}", UserWarning, stacklevel=2)
    starts = random_starts(len(D), n_components, n_init, random_state) if start is None else [start]
    normalised = not metric if normalized_stress == "auto" else normalized_stress
    with some_threads(n_jobs):
        found = best_configuration(D, starts, Majorisation(metric, max_iter, eps, normalised))
    return (found.points, found.stress, found.n_iter)[: 3 if return_n_iter else 2]
