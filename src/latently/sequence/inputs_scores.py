"""Slopes and standard errors where transitions depend on inputs."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from latently.data.sequences import Sequences
from latently.sequence.chain import Array, first_rows
from latently.sequence.coordinates import Reader, from_logits, logits, pack_emission, unpack_emission
from latently.sequence.emission import Emission
from latently.sequence.inputs import InputParams, smooth
from latently.sequence.rule import ChainRule
from latently.sequence.scores import emission_slopes, small_steps
from latently.sequence.slopes import logit_slope


@dataclass(frozen=True, eq=False)
class InputCoordinates:
    """Parameters as a flat vector: logits of the start, coefficients of possible transitions, emissions.

    Parameters
    ----------
    emission, rule : what the states emit, and how the start is learnt
    inputs : (n, p), a column of ones first
    like : parameters for inputs in these units
    """

    emission: Emission[Any]
    rule: ChainRule
    inputs: Array
    like: InputParams

    def pack(self) -> Array:
        """The parameters as a vector."""
        possible = np.isfinite(self.like.coef[:, :, 0])
        start = logits(self.like.start, np.isnan(self.rule.start))
        emission = pack_emission(self.emission, self.like.theta)
        return np.concatenate([start, self.like.coef[possible].ravel(), emission])

    def unpack(self, vector: Array) -> InputParams:
        """Parameters from a vector."""
        reader, coef = Reader(vector), self.like.coef.copy()
        start = from_logits(reader, self.like.start, np.isnan(self.rule.start))
        possible = np.isfinite(coef[:, :, 0])
        coef[possible] = reader.take(coef[possible].shape)
        return InputParams(start, coef, unpack_emission(reader, self.emission, self.like.theta))

    def units(self, data: Sequences) -> Array:
        """Size of a small step in each coordinate."""
        return small_steps(len(self.pack()), len(pack_emission(self.emission, self.like.theta)), data)

    def scores(self, params: InputParams, data: Sequences) -> Array:
        """Slopes (S, P) of each sequence's log-likelihood, by Fisher's identity."""
        possible, rows = np.isfinite(params.coef[:, :, 0]), []
        for first, length in zip(first_rows(data.lengths).tolist(), data.lengths.tolist(), strict=True):
            place, X = slice(first, first + length), data.values[first : first + length]
            L = self.emission.log_density(params.theta, X)
            found = smooth(params, L, self.inputs[place], np.array([length]), np.ones(1))
            start = logit_slope(found.posterior[0], params.start, np.isnan(self.rule.start))
            emission = emission_slopes(self.emission, params.theta, X, found.posterior)
            rows.append(np.concatenate([start, found.slope[possible].ravel(), emission]))
        return np.array(rows)
