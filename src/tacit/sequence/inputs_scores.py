"""Slopes and standard errors where transitions depend on inputs; and units for the inputs."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from tacit.data.sequences import Sequences
from tacit.sequence.chain import Array, first_rows
from tacit.sequence.coordinates import Reader, from_logits, logits, pack_emission, unpack_emission
from tacit.sequence.inputs import InputModel, InputParams, smooth
from tacit.sequence.scores import emission_slopes, small_steps
from tacit.sequence.slopes import logit_slope


@dataclass(frozen=True, eq=False)
class Units:
    """Centre and scale (p,) of inputs, so that a fit does not depend on their units; none for the column of ones."""

    centre: Array
    scale: Array

    @classmethod
    def of(cls, U: Array) -> Self:
        """Mean and spread of each column."""
        sd = U.std(axis=0)
        is_flat = sd <= 1e-12 * np.abs(U).max(axis=0)
        return cls(np.where(np.arange(U.shape[1]) == 0, 0.0, U.mean(axis=0)), np.where(is_flat, 1.0, sd))

    def of_inputs(self, U: Array) -> Array:
        """Inputs in these units."""
        return np.asarray((U - self.centre) / self.scale)

    def of_coef(self, coef: Array) -> Array:
        """Coefficients for inputs in these units, from those for inputs as they came."""
        own = coef * self.scale
        own[:, :, 0] += coef[:, :, 1:] @ self.centre[1:]
        return np.asarray(own)

    def back(self, coef: Array) -> Array:
        """Coefficients for inputs as they came."""
        raw = coef / self.scale
        raw[:, :, 0] -= raw[:, :, 1:] @ self.centre[1:]
        return np.asarray(raw)


@dataclass(frozen=True, eq=False)
class InputCoordinates:
    """Parameters as a flat vector: logits of the start, coefficients of possible transitions, emissions."""

    model: InputModel
    like: InputParams

    def pack(self) -> Array:
        """The parameters as a vector."""
        possible = np.isfinite(self.like.coef[:, :, 0])
        start = logits(self.like.start, np.isnan(self.model.rule.start))
        emission = pack_emission(self.model.emission, self.like.theta)
        return np.concatenate([start, self.like.coef[possible].ravel(), emission])

    def unpack(self, vector: Array) -> InputParams:
        """Parameters from a vector."""
        reader, coef = Reader(vector), self.like.coef.copy()
        start = from_logits(reader, self.like.start, np.isnan(self.model.rule.start))
        possible = np.isfinite(coef[:, :, 0])
        coef[possible] = reader.take(coef[possible].shape)
        return InputParams(start, coef, unpack_emission(reader, self.model.emission, self.like.theta))

    def units(self, data: Sequences) -> Array:
        """Size of a small step in each coordinate."""
        return small_steps(len(self.pack()), len(pack_emission(self.model.emission, self.like.theta)), data)

    def scores(self, params: InputParams, data: Sequences) -> Array:
        """Slopes (S, P) of each sequence's log-likelihood, by Fisher's identity."""
        possible, rows = np.isfinite(params.coef[:, :, 0]), []
        for first, length in zip(first_rows(data.lengths).tolist(), data.lengths.tolist(), strict=True):
            place, X = slice(first, first + length), data.values[first : first + length]
            L = self.model.emission.log_density(params.theta, X)
            found = smooth(params, L, self.model.inputs[place], np.array([length]), np.ones(1))
            start = logit_slope(found.posterior[0], params.start, np.isnan(self.model.rule.start))
            emission = emission_slopes(self.model.emission, params.theta, X, found.posterior)
            rows.append(np.concatenate([start, found.slope[possible].ravel(), emission]))
        return np.array(rows)
