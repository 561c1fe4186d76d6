"""Gradients and standard errors where transitions depend on inputs."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from latently.data.sources.sequences import Sequences
from latently.distributions.unconstrained import Directions, Reader, from_logits, logit_gradient, logits
from latently.sequence.emissions.base import Emission
from latently.sequence.inference.chain import Array, Ints, first_rows
from latently.sequence.inputs.transitions import InputParams, smooth
from latently.sequence.model.hmm import mask
from latently.sequence.model.transitions import ChainRule


@dataclass(frozen=True, eq=False)
class InputCoordinates:
    """Parameters as a flat vector: logits of the start, coefficients of possible transitions, emissions.

    Parameters
    ----------
    emission, rule : what the states emit, and how the start is learnt
    inputs : (n, p), a column of ones first
    like : parameters for inputs in these units
    labels : known states of the rows, -1 where unknown; or None
    """

    emission: Emission
    rule: ChainRule
    inputs: Array
    like: InputParams
    labels: Ints | None = None

    def pack(self) -> Array:
        """The parameters as a vector."""
        possible = np.isfinite(self.like.coef[:, :, 0])
        start = logits(self.like.start, np.isnan(self.rule.start))
        emission = self.emission.pack(self.like.theta)
        return np.concatenate([start, self.like.coef[possible].ravel(), emission])

    def unpack(self, vector: Array) -> InputParams:
        """Parameters from a vector."""
        reader, coef = Reader(vector), self.like.coef.copy()
        start = from_logits(reader, self.like.start, np.isnan(self.rule.start))
        possible = np.isfinite(coef[:, :, 0])
        coef[possible] = reader.take(coef[possible].shape)
        return InputParams(start, coef, self.emission.unpack(self.like.theta, reader))

    def directions(self) -> Array:
        """Directions (P, F) in which the parameters are free: inputs that are sums of others add none."""
        possible = np.isfinite(self.like.coef[:, :, 0])
        start = Directions.logits(self.like.start, np.isnan(self.rule.start)).if_learnt("s" in self.rule.learn)
        # the coefficients of a state and an input are logits of a row; each row has those of one state
        moves = Directions.logits(np.where(possible, 0.5, 0.0), True).if_learnt("t" in self.rule.learn)
        regressions = np.kron(moves.matrix(), _independent(self.inputs))
        emission = self.emission.directions(self.like.theta)
        return np.asarray(linalg.block_diag(start.matrix(), regressions, emission.matrix()))

    def log_prior(self, params: InputParams) -> float:
        """What the objective is besides the log-likelihood."""
        return self.rule.log_start_prior(params.start) + self.emission.log_prior(params.theta)

    def scores(self, params: InputParams, data: Sequences) -> Array:
        """Gradients (S, P) of each sequence's log-likelihood, by Fisher's identity."""
        possible, rows = np.isfinite(params.coef[:, :, 0]), []
        for first, length in zip(first_rows(data.lengths).tolist(), data.lengths.tolist(), strict=True):
            place = slice(first, first + length)
            X = np.asarray(data.values[place], dtype=np.float64)
            L = mask(self.emission.log_density(params.theta, X), self.labels, first, 1)
            found = smooth(params, L, self.inputs[place], np.array([length]), np.ones(1))
            start = logit_gradient(found.posterior[0], params.start, np.isnan(self.rule.start))
            emission = self.emission.gradient(params.theta, X, found.posterior)
            rows.append(np.concatenate([start, found.gradient[possible].ravel(), emission]))
        return np.array(rows)


def _independent(U: Array) -> Array:
    """Orthonormal directions (p, r) of the coefficients of inputs (n, p) that are identified."""
    values, vectors = np.linalg.eigh(U.T @ U / len(U))
    return np.asarray(vectors[:, values > 1e-9 * values[-1]])
