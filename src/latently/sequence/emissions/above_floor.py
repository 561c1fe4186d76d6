"""Fits of distributions that stay above a floor, and which of them stand on it."""

from dataclasses import replace
from typing import Any

import numpy as np

from latently.distributions import Additive, Exponential, Family, Gamma, Gaussian, Parts, Product
from latently.distributions.columns import with_weight
from latently.distributions.components.floor import TOUCHING, Floor
from latently.sequence.emissions.mixture_of import MixtureOf


def fit_above(part: Any, stats: Additive, prior: Any, floor: Floor | None) -> Any:
    """Fit a distribution from statistics: the most likely one above the floor; a prior takes the floor's place."""
    if floor is None:
        return part.from_statistics(stats, prior)
    if isinstance(part, Product) and isinstance(stats, Parts):
        triples = zip(part.parts, stats.parts, part._priors(prior), strict=True)
        return Product([(fit_above(p, own, q, floor.columns(list(c))), c) for (p, c), own, q in triples])
    if isinstance(part, MixtureOf):
        return part.refitted(stats, lambda p, own: fit_above(p, own, prior, floor))
    if prior is not None:
        return part.from_statistics(stats, prior)
    if isinstance(part, Gaussian):
        return _gaussian(part, stats, floor)
    if isinstance(part, Gamma):
        return _gamma(part, stats, floor)
    if isinstance(part, Exponential):
        return _exponential(part, stats, floor)
    return part.from_statistics(stats, None)


def _gaussian(part: Gaussian, stats: Additive, floor: Floor) -> Gaussian:
    seen = part._moments(stats)
    weight, scatter = with_weight(np.broadcast_to(seen.weight, seen.first.shape)), seen.scatter()
    if part.kind == "full":
        covariance = floor.constrained(scatter / weight[0])
    elif part.kind == "diag":
        covariance = np.maximum(scatter / weight, floor.least)
    else:
        covariance = np.maximum(scatter.sum() / weight.sum(), floor.least.min())
    return replace(part, mean=seen.mean(), covariance=covariance)


def _gamma(part: Gamma, stats: Any, floor: Floor) -> Gamma:
    """The likelihood of a shape, with the best rate for it, has one peak."""
    logs, values, weight = stats.total.reshape(3, -1)
    most, mean = floor.most_shape, values / with_weight(weight)
    gap = np.log(mean) - logs / weight
    fitted = gap > 0.5 / most  # about log(shape) - digamma(shape) at the largest one
    if fitted.all():
        free = part.from_statistics(stats)
        shape = np.minimum(free.shape, most)
    else:
        shape = most.copy()
        for c in np.flatnonzero(fitted):
            single = Gamma().from_statistics(replace(stats, total=stats.total.reshape(3, -1)[:, c]))
            shape[c] = min(float(single.shape[0]), most[c])
    return Gamma(shape, shape / mean)


def _exponential(part: Exponential, stats: Any, floor: Floor) -> Exponential:
    weight, values = stats.total.reshape(2, -1)
    return Exponential(1 / np.maximum(values / with_weight(weight), np.sqrt(floor.least)))


def on_floor(part: Family, floor: Floor) -> bool:
    """Whether a distribution, or a part of it, has shrunk onto its floor, where the table itself has not."""
    if isinstance(part, Product):
        return any(on_floor(p, floor.columns(list(c))) for p, c in part.parts)  # type: ignore[arg-type]
    if isinstance(part, MixtureOf):
        return any(on_floor(p, floor) for p in part.parts)
    if isinstance(part, Gaussian) and part.kind == "full":
        return floor.n_touching(part.covariance) > floor.n_flat
    if isinstance(part, Gaussian):
        least = floor.least if part.kind == "diag" else np.full(part.n_columns, floor.least.min())
        return bool((floor.varies & (part.variance <= TOUCHING * least)).any())
    if isinstance(part, Gamma):
        return bool((floor.varies & (part.shape * TOUCHING >= floor.most_shape)).any())
    if isinstance(part, Exponential):
        return bool((floor.varies & (part.mean <= TOUCHING * np.sqrt(floor.least))).any())
    return False
