"""Transitions that depend on inputs: a multinomial logistic regression for each state that is left."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit import compiled
from tacit.data.chunks import Chunk
from tacit.learn.protocol import Statistics
from tacit.sequence.chain import Array, ImpossibleSequence, Ints, first_rows
from tacit.sequence.emission import Emission
from tacit.sequence.model import ImpossibleRow, as_doubles, lengths_of
from tacit.sequence.rule import ChainRule, best_row


@dataclass(frozen=True, eq=False)
class InputParams:
    """Start (K,), coefficients (K, K, p) of the transitions, and parameters of the emissions."""

    start: Array
    coef: Array
    theta: Any


@dataclass(frozen=True, eq=False)
class InputStatistics(Statistics):
    """Expected first states (K,), slope (K, K, p) and scatter (K, p, p) of the regressions, visits, emissions."""

    first: Array
    slope: Array
    scatter: Array
    visits: Array
    emission: Any


@dataclass(frozen=True, eq=False)
class InputModel:
    """A hidden Markov model with inputs (rows of the whole table, p), a column of ones among them."""

    emission: Emission[Any]
    rule: ChainRule
    inputs: Array

    def expect(self, params: InputParams, chunk: Chunk) -> InputStatistics:
        """Forward and backward through the sequences of a chunk."""
        X, lengths = as_doubles(chunk), lengths_of(chunk)
        U = self.inputs[chunk.start : chunk.start + len(X)]
        starts = first_rows(lengths)
        w = np.ones(len(X)) if chunk.weights is None else chunk.weights
        slope, scatter = np.zeros(params.coef.shape), np.zeros((len(params.start), U.shape[1], U.shape[1]))
        try:
            logs, g = smooth(params, self.emission.log_density(params.theta, X), U, lengths, w, slope, scatter)
        except ImpossibleSequence as problem:
            raise ImpossibleRow(chunk.start + int(starts[problem.sequence]) + problem.step) from None
        g = g * w[:, None]
        bound = float(logs @ w[starts])
        emission = self.emission.expect(params.theta, X, g)
        return InputStatistics(
            chunk.total_weight, bound, g[starts].sum(axis=0), slope, scatter, g.sum(axis=0), emission
        )

    def update(self, params: InputParams, stats: InputStatistics) -> InputParams:
        """Start and emissions as ever; the regressions go up by a step that is sure not to go too far.

        The curvature is nowhere more than scatter / 2 (Boehning's bound), so that the step 2 scatter^-1 slope never
        lowers the likelihood.
        """
        start, coef = params.start, params.coef
        if "s" in self.rule.learn:
            start = best_row(stats.first, self.rule.start_prior, start, self.rule.start)
        if "t" in self.rule.learn:
            steps = [np.linalg.lstsq(H, G.T, rcond=1e-12)[0].T for H, G in zip(stats.scatter, stats.slope, strict=True)]
            coef = coef + 2 * np.array(steps)
        return InputParams(start, coef, self.emission.update(params.theta, stats.emission))

    def log_prior(self, params: InputParams) -> float:
        """Log prior of the emissions."""
        return self.emission.log_prior(params.theta)

    def n_parameters(self, params: InputParams) -> int:
        """Start, K - 1 regressions for each state, emissions."""
        K, p = len(params.start), self.inputs.shape[1]
        start = ("s" in self.rule.learn) * (K - 1)
        return start + ("t" in self.rule.learn) * K * (K - 1) * p + self.emission.n_parameters(params.theta)


def smooth(
    params: InputParams, L: Array, U: Array, lengths: Ints, weights: Array, slope: Array, scatter: Array
) -> tuple[Array, Array]:
    """Log-likelihoods (S,) and posteriors (n, K); adds to slope and scatter."""
    g, logs = np.empty_like(L), np.empty(len(lengths))
    for s, first in enumerate(first_rows(lengths).tolist()):
        rows = slice(first, first + int(lengths[s]))
        logs[s], bad = compiled.hmm_inputs.smooth(
            L[rows], U[rows], params.start, params.coef, weights[first], np.empty_like(L[rows]), g[rows], slope, scatter
        )
        if bad >= 0:
            raise ImpossibleSequence(s, int(bad))
    return logs, g


def forward(params: InputParams, L: Array, U: Array, lengths: Ints) -> tuple[Array, Array]:
    """Log-likelihoods (S,) and filtered probabilities (n, K)."""
    a, logs = np.empty_like(L), np.empty(len(lengths))
    for s, first in enumerate(first_rows(lengths).tolist()):
        rows = slice(first, first + int(lengths[s]))
        logs[s], bad = compiled.hmm_inputs.forward(L[rows], U[rows], params.start, params.coef, a[rows])
        if bad >= 0:
            raise ImpossibleSequence(s, int(bad))
    return logs, a


def viterbi(params: InputParams, L: Array, U: Array, lengths: Ints) -> tuple[Array, Ints]:
    """Log joint probability of each sequence with its best path, and the path (n,)."""
    path, logs = np.empty(len(L), dtype=np.int64), np.empty(len(lengths))
    with np.errstate(divide="ignore"):
        log_start = np.log(params.start)
    for s, first in enumerate(first_rows(lengths).tolist()):
        rows = slice(first, first + int(lengths[s]))
        logs[s] = compiled.hmm_inputs.viterbi(L[rows], U[rows], log_start, params.coef, path[rows])
    return logs, path


def with_intercept(inputs: Any, n: int) -> Array:
    """Inputs (n, p + 1) behind a column of ones."""
    U = np.asarray(inputs, dtype=np.float64)
    U = U[:, None] if U.ndim == 1 else U
    if U.ndim != 2 or len(U) != n:
        raise ValueError(f"inputs must have {n} rows, one for each row of X, got shape {U.shape}")
    if not np.isfinite(U).all():
        row = int(np.argmax(~np.isfinite(U).all(axis=1)))
        raise ValueError(f"inputs must be finite: row {row} is not")
    return np.hstack([np.ones((n, 1)), U])
