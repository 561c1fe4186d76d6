"""Slopes of the log-likelihood, and the standard errors that follow from its curvature."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from latently.data.sequences import Sequences
from latently.sequence.chain import Array, Chain, first_rows, stationary
from latently.sequence.coordinates import Reader, from_logits, logits, pack_emission, unpack_emission
from latently.sequence.model import HmmModel, Params
from latently.sequence.slopes import emission_slope, logit_slope
from latently.sequence.sweep import Smoothed, smooth

STEP = 1e-5
"""Step of numerical slopes, for coordinates whose natural unit is one."""


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The parameters of a model as a flat vector: logits of free probabilities, then those of the emissions."""

    model: HmmModel
    like: Params

    def pack(self) -> Array:
        """The parameters as a vector."""
        rule, chain = self.model.rule, self.like.chain
        start = np.empty(0) if rule.is_stationary else logits(chain.start, np.isnan(rule.start))
        moves = logits(chain.transition, np.isnan(rule.transition))
        return np.concatenate([start, moves, pack_emission(self.model.emission, self.like.theta)])

    def unpack(self, vector: Array) -> Params:
        """Parameters from a vector."""
        rule, chain, reader = self.model.rule, self.like.chain, Reader(vector)
        start = chain.start if rule.is_stationary else from_logits(reader, chain.start, np.isnan(rule.start))
        A = from_logits(reader, chain.transition, np.isnan(rule.transition))
        theta = unpack_emission(reader, self.model.emission, self.like.theta)
        return Params(Chain(stationary(A) if rule.is_stationary else start, A), theta)

    def units(self, data: Sequences) -> Array:
        """Size of a small step in each coordinate: relative to the spread of the data for means, 1 otherwise."""
        return small_steps(len(self.pack()), len(pack_emission(self.model.emission, self.like.theta)), data)

    def scores(self, params: Params, data: Sequences) -> Array:
        """Slopes (S, P) of each sequence's log-likelihood."""
        return score_matrix(self.model, params, data)


def small_steps(n: int, tail: int, data: Sequences) -> Array:
    """Units (n,) of coordinates: one, but the spread of the data, if it is smaller, for the last ones."""
    units = np.ones(n)
    units[n - tail :] = min(1.0, float(np.nanstd(data.values)) or 1.0)
    return units


def score_matrix(model: HmmModel, params: Params, data: Sequences) -> Array:
    """Slopes (S, P) of each sequence's log-likelihood in the coordinates of `Coordinates`.

    By Fisher's identity: the posterior expectation of the slope of the complete log-likelihood.
    """
    frame, rows = Coordinates(model, params), []
    for first, length in zip(first_rows(data.lengths).tolist(), data.lengths.tolist(), strict=True):
        X = data.values[first : first + length]
        found = smooth(params.chain, model.density(params, X, first), np.array([length]))
        emission = emission_slopes(model.emission, params.theta, X, found.posterior)
        rows.append(np.concatenate([_chain_slope(frame, found), emission]))
    return np.array(rows)


def _chain_slope(frame: Coordinates, found: Smoothed) -> Array:
    """Slope in the logits of start and transitions."""
    rule, chain = frame.model.rule, frame.like.chain
    moves = logit_slope(found.transitions, chain.transition, np.isnan(rule.transition))
    if not rule.is_stationary:
        return np.concatenate([logit_slope(found.first, chain.start, np.isnan(rule.start)), moves])
    # the start follows from the transitions: how, is found by small steps
    vector = frame.pack()
    for p in range(len(moves)):
        step = np.zeros(len(vector))
        step[p] = STEP
        up, down = (np.log(np.maximum(frame.unpack(vector + s).chain.start, 1e-300)) for s in (step, -step))
        moves[p] += found.first @ (up - down) / (2 * STEP)
    return moves


def emission_slopes(emission: Any, theta: Any, X: Array, g: Array) -> Array:
    """Slope (P,) of the expected log density of some rows, whose states have probabilities g (n, K)."""
    exact = emission_slope(emission, theta, emission.expect(theta, X, np.ascontiguousarray(g)))
    if exact is not None:
        return exact
    vector, slopes = pack_emission(emission, theta), []
    for p in range(len(vector)):
        step = np.zeros(len(vector))
        step[p] = STEP * max(1.0, abs(vector[p]))
        sides = (unpack_emission(Reader(vector + s), emission, theta) for s in (step, -step))
        up, down = (emission.log_density(side, X) for side in sides)
        usable = (g > 0) & np.isfinite(up) & np.isfinite(down)
        gap = np.where(usable, up, 0.0) - np.where(usable, down, 0.0)
        slopes.append(float((g * gap).sum()) / (2 * step[p]))
    return np.array(slopes)


def information(frame: Any, data: Sequences) -> Array:
    """Observed information (P, P): minus the second derivatives of the log-likelihood."""
    vector, units, rows = frame.pack(), frame.units(data), []
    for p in range(len(vector)):
        step = np.zeros(len(vector))
        step[p] = 1e-3 * units[p]
        up, down = (frame.scores(frame.unpack(vector + s), data).sum(axis=0) for s in (step, -step))
        rows.append((up - down) / (2 * step[p]))
    matrix = -np.array(rows)
    return np.asarray((matrix + matrix.T) / 2)


def standard_errors(frame: Any, data: Sequences, natural: Any) -> dict[str, Array]:
    """Standard errors of what `natural(params)` gives, a dict of arrays, by the delta method.

    Directions in which the likelihood does not change have no error.
    """
    vector, units = frame.pack(), frame.units(data)
    spread = np.linalg.pinv(information(frame, data), rcond=1e-9, hermitian=True)
    slopes: dict[str, list[Array]] = {name: [] for name in natural(frame.like)}
    for p in range(len(vector)):
        step = np.zeros(len(vector))
        step[p] = STEP * units[p]
        up, down = natural(frame.unpack(vector + step)), natural(frame.unpack(vector - step))
        for name in slopes:
            slopes[name].append((np.asarray(up[name]) - np.asarray(down[name])) / (2 * step[p]))
    return {
        name: np.sqrt(np.maximum(np.einsum("p...,pq,q...->...", np.array(rows), spread, np.array(rows)), 0.0))
        for name, rows in slopes.items()
    }
