"""K-means and Gaussian mixtures against scikit-learn and pomegranate."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn.cluster
import sklearn.mixture

from benchmarks.compare.harness import Contest, Runner
from latently.cluster import GaussianMixture, KMeans

ITERATIONS = 20
STEADY_ITERATIONS = 5


@dataclass(frozen=True)
class Blobs:
    """Rows around k centres, and a start beside those centres."""

    X: np.ndarray
    start: np.ndarray


# How far the centres lie apart, in standard deviations of a column of a cluster.
FAR, OVERLAPPING = 3.0, 0.2


def blobs(d: int, k: int, apart: float = FAR) -> Callable[[int], Blobs]:
    def make(rows: int) -> Blobs:
        rng = np.random.default_rng(0)
        centres = apart * rng.normal(size=(k, d))
        X = centres[rng.integers(k, size=rows)] + rng.normal(size=(rows, d))
        return Blobs(X, centres + 0.5)

    return make


def scattered(d: int, k: int, *, structured: bool) -> Callable[[int], Blobs]:
    """The same with a start at random rows, or rows of pure noise: the easy and the hard case of K-means."""

    def make(rows: int) -> Blobs:
        X = blobs(d, k)(rows).X if structured else np.random.default_rng(0).normal(size=(rows, d))
        return Blobs(X, X[np.random.default_rng(1).choice(rows, k, replace=False)])

    return make


def mixture(make: type, kind: str) -> Runner:
    def run(data: Blobs) -> Any:
        k, d = data.start.shape
        unit = {"full": np.tile(np.eye(d), (k, 1, 1)), "tied": np.eye(d), "diag": np.ones((k, d))}
        model = make(
            k,
            covariance_type=kind,
            tol=0.0,
            max_iter=ITERATIONS,
            reg_covar=1e-9,
            means_init=data.start,
            weights_init=np.full(k, 1 / k),
            precisions_init=unit.get(kind, np.ones(k)),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(data.X)
        return model.lower_bound_, model.weights_[np.argsort(model.means_[:, 0])], np.sort(model.means_[:, 0])

    return run


def bound_alone(run: Runner) -> Runner:
    return lambda data: run(data)[0]


def pomegranate_mixture(data: Blobs) -> float:
    import torch
    from pomegranate.distributions import Normal
    from pomegranate.gmm import GeneralMixtureModel

    X = torch.from_numpy(data.X)
    k, d = data.start.shape
    parts = [Normal(means=torch.from_numpy(m), covs=torch.eye(d, dtype=torch.float64)) for m in data.start]
    model = GeneralMixtureModel(
        parts, priors=torch.full((k,), 1 / k, dtype=torch.float64), tol=-1e9, max_iter=ITERATIONS
    )
    model.fit(X)
    return float(model.log_probability(X).mean())


def kmeans(make: type, **options: Any) -> Runner:
    def run(data: Blobs) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return make(len(data.start), init=data.start, n_init=1, **options).fit(data.X).inertia_

    return run


def steady_kmeans(data: Blobs) -> float:
    """A fixed number of iterations, fewer than any of the contests needs to converge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KMeans(len(data.start), init=data.start, n_init=1, tol=0.0, max_iter=STEADY_ITERATIONS).fit(data.X)
    if model.n_iter_ != STEADY_ITERATIONS:
        raise RuntimeError(f"converged after {model.n_iter_} iterations, so its time says nothing of growth")
    return model.inertia_


def mixture_contest(rows: int, d: int, k: int, kind: str, goal: float, apart: float = FAR) -> Contest:
    return Contest(
        f"gaussian_mixture.{kind}.{rows}x{d}x{k}" + (".overlapping" if apart == OVERLAPPING else ""),
        rows,
        blobs(d, k, apart),
        mixture(GaussianMixture, kind),
        {"scikit-learn": mixture(sklearn.mixture.GaussianMixture, kind)},
        {"scikit-learn": goal},
        repeats=2 if d > 30 else 3,
    )


def kmeans_contest(rows: int, d: int, k: int, goal: float, *, structured: bool) -> Contest:
    peers = {f"scikit-learn {name}": kmeans(sklearn.cluster.KMeans, algorithm=name) for name in ("lloyd", "elkan")}
    return Contest(
        f"kmeans.{'blobs' if structured else 'noise'}.{rows}x{d}x{k}",
        rows,
        scattered(d, k, structured=structured),
        kmeans(KMeans, empty="split"),  # as scikit-learn does
        peers,
        dict.fromkeys(peers, goal),
        tolerance=1e-10,
        repeats=2,
        steady=steady_kmeans,
    )


def contests() -> list[Contest]:
    against_pomegranate = Contest(
        "gaussian_mixture.pomegranate.200000x10x10",
        200_000,
        blobs(10, 10),
        bound_alone(mixture(GaussianMixture, "full")),
        {"pomegranate": pomegranate_mixture},
        {"pomegranate": 5.0},
        tolerance=1e-3,
        repeats=2,
    )
    return [
        mixture_contest(200_000, 2, 8, "full", 20),
        mixture_contest(200_000, 10, 10, "full", 20),
        mixture_contest(100_000, 32, 16, "full", 12),
        mixture_contest(100_000, 32, 16, "full", 8, OVERLAPPING),
        mixture_contest(20_000, 128, 8, "full", 5),
        mixture_contest(20_000, 128, 8, "full", 2, OVERLAPPING),
        mixture_contest(200_000, 10, 10, "diag", 10),
        mixture_contest(200_000, 10, 10, "tied", 1),
        mixture_contest(200_000, 10, 10, "spherical", 1),
        mixture_contest(150, 4, 3, "full", 1),
        against_pomegranate,
        *(kmeans_contest(500_000, 16, 100, 2, structured=s) for s in (True, False)),
        *(kmeans_contest(200_000, 2, 8, 2, structured=s) for s in (True, False)),
        *(kmeans_contest(100_000, 32, 1000, 3, structured=s) for s in (True, False)),
    ]
