"""The best member of a family whose parameters have bounds."""

from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from scipy.optimize import approx_fprime, minimize

from latently.distributions.conjugate import log_prior
from latently.distributions.inputs import Array
from latently.distributions.priors.pseudo_rows import PseudoRows
from latently.distributions.unconstrained import SCALES, Reader

Boxes: TypeAlias = dict[str, tuple[Array, Array]]
"""Lowest and highest values of parameters, by name."""


def is_inside(member: Any, boxes: Boxes) -> bool:
    """Whether all parameters of a distribution are in their boxes."""
    return all(((low <= getattr(member, n)) & (getattr(member, n) <= high)).all() for n, (low, high) in boxes.items())


def moved_inside(member: Any, boxes: Boxes) -> Any:
    """The member whose parameters are the nearest inside."""
    if is_inside(member, boxes):
        return member
    return replace(member, **{name: np.clip(getattr(member, name), low, high) for name, (low, high) in boxes.items()})


def prior_gradient(member: Any, prior: Any) -> Array | float:
    """Gradient of the log prior of a distribution's parameters in its vector, by differences."""
    if prior is None:
        return 0.0
    if isinstance(prior, PseudoRows):
        return np.asarray(member.gradient(prior.statistics))
    return np.asarray(approx_fprime(member.pack(), lambda v: log_prior(member.unpack(Reader(v)), prior), 1e-7))


def fit_inside(start: Any, stats: Any, prior: Any, boxes: Boxes) -> Any:
    """The most probable member of a family inside boxes of its parameters, never worse than the start, which is inside.

    Parameters that are numbers by themselves have boxes on their own scale too, where L-BFGS-B looks for it.
    """

    def loss(vector: Array) -> tuple[float, Array]:
        member = start.unpack(Reader(vector))
        value = member.log_likelihood(stats) + log_prior(member, prior)
        return -value, -(member.gradient(stats) + prior_gradient(member, prior))

    with np.errstate(divide="ignore"):
        pairs = [
            (SCALES[scale][0](low), SCALES[scale][0](high))
            for (low, high), scale in zip((boxes[name] for name in start.PARAMETERS), start.SCALES, strict=True)
        ]
    bounds = [(float(a), float(b)) for low, high in pairs for a, b in zip(np.ravel(low), np.ravel(high), strict=True)]
    here = start.pack()
    found = minimize(loss, here, jac=True, method="L-BFGS-B", bounds=bounds)
    best = moved_inside(start.unpack(Reader(found.x)), boxes)
    return best if loss(best.pack())[0] <= loss(here)[0] else start
