"""Gradients of the log-likelihood, and the standard errors that follow from its curvature."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from latently.data.sources.sequences import Sequences
from latently.distributions.inputs import as_weights
from latently.distributions.unconstrained import Directions, Reader, from_logits, logit_gradient, logits
from latently.learn.engine.information import covariance_at_maximum
from latently.sequence.inference.chain import Array, Chain, Ints, first_rows, stationary
from latently.sequence.inference.forward_backward import Smoothed, smooth
from latently.sequence.markov import long_run
from latently.sequence.model.hmm import HmmModel, Params
from latently.sequence.model.transitions import ChainRule

STEP = 1e-5
"""Step of numerical gradients, for coordinates whose natural unit is one."""

FAR = 1e-4
"""Step, in units, of differences of exact gradients: they are then good to eight digits."""


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The parameters of a model as a flat vector: logits of free probabilities, then those of the emissions."""

    model: HmmModel
    like: Params

    @property
    def rule(self) -> ChainRule:
        """How the chain is learnt."""
        rule = self.model.rule
        assert isinstance(rule, ChainRule), "a chain of states with durations has no such coordinates"
        return rule

    def pack(self) -> Array:
        """The parameters as a vector."""
        rule, chain = self.rule, self.like.chain
        start = np.empty(0) if rule.is_stationary else logits(chain.start, np.isnan(rule.start))
        moves = logits(chain.transition, np.isnan(rule.transition))
        return np.concatenate([start, moves, self.model.emission.pack(self.like.theta)])

    def unpack(self, vector: Array) -> Params:
        """Parameters from a vector."""
        rule, chain, reader = self.rule, self.like.chain, Reader(vector)
        start = chain.start if rule.is_stationary else from_logits(reader, chain.start, np.isnan(rule.start))
        A = from_logits(reader, chain.transition, np.isnan(rule.transition))
        theta = self.model.emission.unpack(self.like.theta, reader)
        return Params(Chain(stationary(A) if rule.is_stationary else start, A), theta)

    def directions(self) -> Array:
        """Directions (P, F) in which the parameters are free, each as long as its unit."""
        rule, chain = self.rule, self.like.chain
        moves = Directions.logits(chain.transition, np.isnan(rule.transition)).if_learnt("t" in rule.learn)
        emission = self.model.emission.directions(self.like.theta)
        if rule.is_stationary:
            return Directions.joined([moves, emission]).matrix()
        start = Directions.logits(chain.start, np.isnan(rule.start)).if_learnt("s" in rule.learn)
        return Directions.joined([start, moves, emission]).matrix()

    def log_prior(self, params: Params) -> float:
        """What the objective is besides the log-likelihood."""
        return self.model.log_prior(params)

    def scores(self, params: Params, data: Sequences) -> Array:
        """Gradients (S, P) of each sequence's log-likelihood."""
        return score_matrix(self.model, params, data)


def score_matrix(model: HmmModel, params: Params, data: Sequences) -> Array:
    """Gradients (S, P) of each sequence's log-likelihood in the coordinates of `Coordinates`.

    By Fisher's identity: the posterior expectation of the gradient of the complete log-likelihood.
    """
    frame, rows = Coordinates(model, params), []
    for first, length in zip(first_rows(data.lengths).tolist(), data.lengths.tolist(), strict=True):
        X = np.asarray(data.values[first : first + length], dtype=np.float64)
        found = smooth(params.chain, model.density(params, X, first), np.array([length]))
        emission = model.emission.gradient(params.theta, X, found.posterior)
        rows.append(np.concatenate([_chain_gradient(frame, found), emission]))
    return np.array(rows)


def _chain_gradient(frame: Coordinates, found: Smoothed) -> Array:
    """Gradient in the logits of start and transitions."""
    rule, chain = frame.rule, frame.like.chain
    moves = logit_gradient(found.transitions, chain.transition, np.isnan(rule.transition))
    if not rule.is_stationary:
        return np.concatenate([logit_gradient(found.first, chain.start, np.isnan(rule.start)), moves])
    # the start follows from the transitions: how, is found by small steps
    vector = frame.pack()
    for p in range(len(moves)):
        step = np.zeros(len(vector))
        step[p] = STEP
        up, down = (np.log(np.maximum(frame.unpack(vector + s).chain.start, 1e-300)) for s in (step, -step))
        moves[p] += found.first @ (up - down) / (2 * STEP)
    return moves


def _gradient(frame: Any, vector: Array, data: Sequences, weights: Array, directions: Array) -> Array:
    """Gradient (F,) of log-likelihood and log prior along some directions (P, F)."""
    gradient = weights @ frame.scores(frame.unpack(vector), data)
    steps = (STEP * direction for direction in directions.T)
    sides = [[frame.log_prior(frame.unpack(v)) for v in (vector + step, vector - step)] for step in steps]
    prior = np.array([(up - down) / (2 * STEP) for up, down in sides])
    return np.asarray(gradient @ directions + prior)


def _information(frame: Any, data: Sequences, weights: Array, directions: Array) -> Array:
    """Observed information (F, F): minus the second derivatives of the objective along the directions."""
    vector, rows = frame.pack(), []
    for direction in directions.T:
        up, down = (_gradient(frame, vector + s * direction, data, weights, directions) for s in (FAR, -FAR))
        rows.append((down - up) / (2 * FAR))
    matrix = np.array(rows).reshape(directions.shape[1], -1)
    return np.asarray((matrix + matrix.T) / 2)


def standard_errors(frame: Any, data: Sequences, natural: Any, weights: Any = None) -> dict[str, Array]:
    """Standard errors of what `natural(params)` gives, a dict of arrays, by the delta method.

    What is fixed, or at a bound, has an error of zero.
    """
    vector, directions = frame.pack(), frame.directions()
    w = as_weights(weights, len(data.lengths))
    information = _information(frame, data, w, directions)
    spread = covariance_at_maximum(information, _gradient(frame, vector, data, w, directions))
    sides = [[natural(frame.unpack(vector + s * step)) for s in (FAR, -FAR)] for step in directions.T]
    found = {}
    for name, value in natural(frame.like).items():
        gradients = [(np.asarray(up[name]) - np.asarray(down[name])) / (2 * FAR) for up, down in sides]
        rows = np.array(gradients).reshape(len(gradients), np.size(value))
        size = np.abs(rows).max(axis=0, initial=np.finfo(float).tiny)  # so that squares neither overflow nor vanish
        variances = np.einsum("fi,fg,gi->i", rows / size, spread, rows / size)
        found[name] = (size * np.sqrt(np.maximum(variances, 0.0))).reshape(np.shape(value))
    return found


class StandardErrorsMixin:
    """Fisher scores, standard errors, expected durations of a model."""

    def fisher_scores(self, X: Any, lengths: Any = None) -> Array:
        """Gradient (sequences, parameters) of the log-likelihood of each sequence.

        Parameters are in coordinates without bounds: logits of the start and of the rows of the transition
        matrix, means, logarithms of variances and rates, Cholesky factors of matrices.
        """
        data = self._read(X, lengths, reset=False)  # type: ignore[attr-defined]
        return score_matrix(self._plain_model(), self._params(), data)  # type: ignore[attr-defined]

    def standard_errors(
        self, X: Any, lengths: Any = None, *, labels: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> dict[str, Array]:
        """Standard errors of the parameters, from the curvature of the objective, by attribute name.

        Zero for what is fixed, and for probabilities at their bounds. It takes a fit at its optimum, of the same
        rows, labels and weights: use a small `tol` and enough iterations.

        Parameters
        ----------
        X, lengths
            The sequences that were fitted.
        labels
            Known states of the rows, -1 where unknown, if the fit had them.
        sample_weight
            Weight of each sequence, if the fit had them.
        """
        data = self._read(X, lengths, reset=False)  # type: ignore[attr-defined]
        known = self._check_labels(labels, len(data.values))  # type: ignore[attr-defined]
        frame = Coordinates(self._plain_model(known), self._params())  # type: ignore[attr-defined]
        return standard_errors(frame, data, self._natural, sample_weight)

    def _plain_model(self, labels: Ints | None = None) -> Any:
        """The model, of which the chain is plain; an error if it is not."""
        return self._model(None, labels)  # type: ignore[attr-defined]

    def _natural(self, params: Params) -> dict[str, Array]:
        """Parameters by name, as arrays, for the delta method."""
        emission = self._model().emission  # type: ignore[attr-defined]
        return {
            "startprob_": params.chain.start,
            "transmat_": params.chain.transition,
            **natural_emissions(emission, params.theta),
        }

    def expected_durations(self) -> Array:
        """Expected number of steps (K,) in a state once it is entered."""
        return long_run.expected_durations(self._chain().transition)  # type: ignore[attr-defined]


def natural_emissions(emission: Any, theta: Any) -> dict[str, Array]:
    """Parameters of the emissions by name: means and variances, or what the states' distributions have."""
    parts = emission.distributions(theta)
    if hasattr(parts[0], "n_categories"):
        return {"emissionprob_": np.array([part.probabilities for part in parts])}
    return {"means_": emission.means(theta), "variances_": emission.variances(theta)}
