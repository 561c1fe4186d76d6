"""Transitions that depend on inputs: a multinomial logistic regression for each state that is left."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from latently import compiled
from latently.data.sources.chunks import Chunk
from latently.distributions.probabilities import best_rows
from latently.learn.engine.protocol import Statistics
from latently.sequence.emissions.base import Emission
from latently.sequence.hmm.filtering import looking_ahead
from latently.sequence.inference.chain import (
    Array,
    ImpossibleSequence,
    Ints,
    drawn_back,
    first_rows,
    joint_log_prob,
    n_best_paths,
    parts_of,
)
from latently.sequence.inference.viterbi import in_groups, with_pointers
from latently.sequence.inputs.table import Columns, Units
from latently.sequence.model.hmm import ImpossibleRow, as_doubles, lengths_of, mask
from latently.sequence.model.transitions import ChainRule


@dataclass(frozen=True, eq=False)
class InputParams:
    """Start (K,), coefficients (K, K, p) of the transitions, and parameters of the emissions.

    A transition that is impossible has the intercept -inf.
    """

    start: Array
    coef: Array
    theta: Any

    @property
    def log_start(self) -> Array:
        """Log probabilities of the first state; -inf for zero."""
        with np.errstate(divide="ignore"):
            return np.log(self.start)


@dataclass(frozen=True, eq=False)
class InputStatistics(Statistics):
    """Expected first states (K,), gradient (K, K, p), curvature (K, K p, K p) of the regressions, visits, emissions."""

    first: Array
    gradient: Array
    curvature: Array
    visits: Array
    emission: Any


@dataclass(frozen=True, eq=False)
class InputModel:
    """A hidden Markov model with inputs.

    Parameters
    ----------
    emission : what the states emit
    rule : how the start is learnt, and whether the transitions are
    columns : which columns of a chunk are emitted, and which are inputs
    units : those in which the coefficients are meant
    labels : (rows of the whole table,) known states, -1 where unknown; or None
    """

    emission: Emission
    rule: ChainRule
    columns: Columns
    units: Units
    labels: Ints | None = None

    def expect(self, params: InputParams, chunk: Chunk) -> InputStatistics:
        """Forward and backward through the sequences of a chunk."""
        (X, U), lengths = self._parts(chunk), lengths_of(chunk)
        starts = first_rows(lengths)
        weights = np.ones(len(lengths)) if chunk.weights is None else chunk.weights[starts]
        L = mask(self.emission.log_density(params.theta, X), self.labels, chunk.start, 1)
        try:
            found = smooth(params, L, U, lengths, weights)
        except ImpossibleSequence as problem:
            raise ImpossibleRow(chunk.start + int(starts[problem.sequence]) + problem.step) from None
        g = found.posterior * np.repeat(weights, lengths)[:, None]
        return InputStatistics(
            chunk.total_weight,
            float(found.log_likelihood @ weights),
            g[starts].sum(axis=0),
            found.gradient,
            found.curvature,
            g.sum(axis=0),
            self.emission.expect(params.theta, X, g),
        )

    def _parts(self, chunk: Chunk) -> tuple[Array, Array]:
        """What is emitted, and the inputs in their units; made once and kept."""
        if "parts" not in chunk.memo:
            rows = as_doubles(chunk)
            U = self.units.of_inputs(self.columns.inputs_of(rows))
            chunk.memo["parts"] = self.columns.emitted_of(rows), U
        return chunk.memo["parts"]  # type: ignore[no-any-return]

    def update(self, params: InputParams, stats: InputStatistics) -> InputParams:
        """Start and emissions as ever; the regressions go up by a step of Newton's, as far as is sure to help."""
        start, coef = params.start, params.coef
        if "s" in self.rule.learn:
            start = best_rows(stats.first, self.rule.start_prior, start, self.rule.start)
        if "t" in self.rule.learn:
            pairs = zip(stats.gradient, stats.curvature, strict=True)
            coef = coef + np.array(
                [newton_step(gradient, curvature, self.units.reach) for gradient, curvature in pairs]
            )
        return InputParams(start, coef, self.emission.update(params.theta, stats.emission))

    def log_prior(self, params: InputParams) -> float:
        """Log prior of start and emissions."""
        return self.rule.log_start_prior(params.start) + self.emission.log_prior(params.theta)

    def collapsed(self, params: InputParams) -> list[int]:
        """States that have shrunk onto a single value."""
        return self.emission.collapsed(params.theta)


def count_parameters(emission: Emission, rule: ChainRule, params: InputParams, rank: int) -> int:
    """Start, emissions, and a regression on `rank` inputs for each possible transition, one less for each state."""
    start = ("s" in rule.learn) * max(int(np.isnan(rule.start).sum()) - 1, 0)
    moves = int((np.isfinite(params.coef[:, :, 0]).sum(axis=1) - 1).sum())
    return start + ("t" in rule.learn) * moves * rank + emission.n_parameters(params.theta)


def newton_step(gradient: Array, curvature: Array, reach: Array) -> Array:
    """Step (K, p) that never lowers a sum of log softmax, from its gradient (K, p) and curvature (K p, K p).

    Along a direction d the third derivative of log sum exp is at most the second times the range R of d_j . u over j:
    a cumulant of third order is at most that of second order times the range. So the curvature grows by at most
    exp(s R) over a step s, and s = log(1 + R) / R of the whole step of Newton is sure to rise; it tends to 1.

    Parameters
    ----------
    gradient, curvature
        First and minus second derivatives.
    reach
        (p,) largest absolute inputs, which bound R.
    """
    step = np.linalg.lstsq(curvature, gradient.ravel(), rcond=1e-10)[0].reshape(gradient.shape)
    R = float(np.ptp(step, axis=0) @ reach)
    return np.asarray(step * (np.log1p(R) / R if R > 1e-8 else 1.0))


@dataclass(frozen=True, eq=False)
class InputsSmoothed:
    """Log-likelihoods (S,), posteriors (n, K), gradient (K, K, p) and curvature (K, K p, K p) of the regressions."""

    log_likelihood: Array
    posterior: Array
    gradient: Array
    curvature: Array


def smooth(params: InputParams, L: Array, U: Array, lengths: Ints, weights: Array) -> InputsSmoothed:
    """Forward and backward through all sequences, which have weights (S,)."""
    logs, la = forward(params, L, U, lengths)
    g, (K, _, p) = np.empty_like(L), params.coef.shape
    gradient, curvature = np.zeros((K, K, p)), np.zeros((K, K * p, K * p))
    compiled.sequence.inputs.smooth(L, U, lengths, weights, params.coef, la, g, gradient, curvature)
    return InputsSmoothed(logs, g, gradient, curvature)


def forward(params: InputParams, L: Array, U: Array, lengths: Ints) -> tuple[Array, Array]:
    """Log-likelihoods (S,) and logs of the filtered probabilities (n, K)."""
    la, logs = np.empty_like(L), np.empty(len(lengths))
    sequence, step = compiled.sequence.inputs.forward(L, U, lengths, params.log_start, params.coef, la, logs)
    if sequence >= 0:
        raise ImpossibleSequence(int(sequence), int(step))
    return logs, la


def best_paths(params: InputParams, L: Array, U: Array, lengths: Ints) -> tuple[Array, Ints]:
    """Log joint probability (S,) of each sequence with its best path, and the paths (n,)."""

    def decode(a: int, b: int, sizes: Ints, path: Ints, logs: Array) -> None:
        with_pointers(L[a:b], sizes, params.log_start, params.coef, path, logs, U[a:b])

    logs, path = in_groups(decode, lengths)
    if np.isneginf(logs).any():
        forward(params, L, U, lengths)  # says which sequence is impossible, and where
    return logs, path


def n_best(params: InputParams, L: Array, U: Array, lengths: Ints, n: int) -> list[tuple[Array, Ints]]:
    """Log joint probabilities (n,) and paths (n, T) of the n best paths of each sequence, best first."""
    pairs = zip(parts_of(L, lengths), parts_of(U, lengths), strict=True)
    return [n_best_paths(params.log_start, params.coef, rows, n, own) for rows, own in pairs]


def sample_paths(params: InputParams, L: Array, U: Array, lengths: Ints, n: int, rng: np.random.RandomState) -> Ints:
    """Paths (n, rows) of all sequences, drawn from their posterior."""
    la = forward(params, L, U, lengths)[1]
    pairs = zip(parts_of(la, lengths), parts_of(U, lengths), strict=True)
    return np.hstack([drawn_back(rows, params.coef, n, rng, own) for rows, own in pairs])


def fixed_lag(params: InputParams, L: Array, U: Array, lengths: Ints, lag: int) -> Array:
    """Probabilities (n, K) of the states given the rows up to `lag` steps after each one."""
    return looking_ahead(forward(params, L, U, lengths)[1], L, lengths, lag, params.coef, U)


def path_log_prob(params: InputParams, L: Array, U: Array, lengths: Ints, path: Ints) -> Array:
    """Log joint probability of each sequence and a given path."""
    logits = np.einsum("njp,np->nj", params.coef[path[:-1]], U[1:])
    steps = special.log_softmax(logits, axis=1)[np.arange(len(logits)), path[1:]]
    return joint_log_prob(params.log_start, steps, L, lengths, path)


def transition(coef: Array, u: Array) -> Array:
    """Transition probabilities (K, K) at a step with inputs u (p,), the first of them one."""
    return np.asarray(special.softmax(coef @ u, axis=1))


def walk(params: InputParams, U: Array, rng: np.random.RandomState, state: int | None = None) -> Ints:
    """A path (n,) drawn from the chain, given the inputs of its steps."""
    path = np.empty(len(U), dtype=np.int64)
    for t, u in enumerate(U):
        row = params.start if t == 0 else transition(params.coef[[path[t - 1]]], u)[0]
        path[t] = state if t == 0 and state is not None else rng.choice(len(row), p=row)
    return path
