"""Slopes of the log-likelihood, and the standard errors that follow from its curvature."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.data.sequences import Sequences
from tacit.sequence.chain import Array, Chain, first_rows, stationary
from tacit.sequence.coordinates import Reader, from_logits, logits, pack_emission, unpack_emission
from tacit.sequence.model import HmmModel, Params
from tacit.sequence.sweep import smooth

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
        vector = self.pack()
        scale = float(np.nanstd(data.values)) or 1.0
        tail = len(pack_emission(self.model.emission, self.like.theta))
        units = np.ones(len(vector))
        units[len(vector) - tail :] = np.minimum(1.0, scale)
        return units


def score_matrix(model: HmmModel, params: Params, data: Sequences) -> Array:
    """Slopes (S, P) of each sequence's log-likelihood in the coordinates of `Coordinates`.

    By Fisher's identity: the posterior expectation of the slope of the complete log-likelihood.
    """
    frame = Coordinates(model, params)
    vector, units = frame.pack(), frame.units(data)
    starts = first_rows(data.lengths)
    columns = []
    found = smooth(params.chain, model.density(params, data.values), data.lengths)
    moves = _moves_by_sequence(model, params, data)
    for p in range(len(vector)):
        step = np.zeros(len(vector))
        step[p] = STEP * units[p]
        up, down = frame.unpack(vector + step), frame.unpack(vector - step)
        slope = _log_ratio(up.chain.start, down.chain.start) @ found.posterior[starts].T
        slope = slope + np.einsum("ij,sij->s", _log_ratio(up.chain.transition, down.chain.transition), moves)
        if p >= len(vector) - len(pack_emission(model.emission, params.theta)):
            upper, lower = (model.emission.log_density(theta, data.values) for theta in (up.theta, down.theta))
            usable = (found.posterior > 0) & np.isfinite(upper) & np.isfinite(lower)
            gap = np.where(usable, upper, 0.0) - np.where(usable, lower, 0.0)
            weighted = (found.posterior * gap).sum(axis=1)
            slope = slope + np.add.reduceat(weighted, starts)
        columns.append(slope / (2 * step[p]))
    return np.column_stack(columns)


def _moves_by_sequence(model: HmmModel, params: Params, data: Sequences) -> Array:
    moves = []
    for first, length in zip(first_rows(data.lengths).tolist(), data.lengths.tolist(), strict=True):
        rows = data.values[first : first + length]
        moves.append(smooth(params.chain, model.density(params, rows, first), np.array([length])).transitions)
    return np.array(moves)


def _log_ratio(up: Array, down: Array) -> Array:
    return np.where((up > 0) & (down > 0), np.log(np.where(up > 0, up, 1.0) / np.where(down > 0, down, 1.0)), 0.0)


def information(model: HmmModel, params: Params, data: Sequences) -> Array:
    """Observed information (P, P): minus the second derivatives of the log-likelihood."""
    frame = Coordinates(model, params)
    vector, units = frame.pack(), frame.units(data)
    rows = []
    for p in range(len(vector)):
        step = np.zeros(len(vector))
        step[p] = 1e-3 * units[p]
        up, down = (score_matrix(model, frame.unpack(vector + s), data).sum(axis=0) for s in (step, -step))
        rows.append((up - down) / (2 * step[p]))
    matrix = -np.array(rows)
    return np.asarray((matrix + matrix.T) / 2)


def covariance(model: HmmModel, params: Params, data: Sequences) -> Array:
    """Covariance (P, P) of the estimates in the coordinates; directions that do not matter have none."""
    return np.asarray(np.linalg.pinv(information(model, params, data), rcond=1e-9, hermitian=True))


def standard_errors(model: HmmModel, params: Params, data: Sequences, natural: Any) -> Any:
    """Standard errors of what `natural(params)` gives, a dict of arrays, by the delta method."""
    frame = Coordinates(model, params)
    vector, units = frame.pack(), frame.units(data)
    spread = covariance(model, params, data)
    slopes: dict[str, list[Array]] = {name: [] for name in natural(params)}
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
