"""Evaluation: log-likelihoods, posteriors of the states, expected transitions."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from latently.data.sources.sequences import Sequences
from latently.learn.estimator.sums import summing
from latently.sequence.inference import chain as ch
from latently.sequence.inference.chain import Array, LogDensity
from latently.sequence.inference.forward_backward import Smoothed, smooth
from latently.sequence.model.hmm import Params


class EvaluateMixin:
    """What a model with parameters says about sequences."""

    n_components: int
    _read: Callable[..., Sequences]
    _params: Callable[[], Params]
    _density: Callable[..., LogDensity]
    _chain: Callable[[], ch.Chain]
    _copies: Callable[[], int]
    _merged: Callable[[Array], Array]

    def _filtered(self, X: Any, lengths: Any) -> tuple[ch.Filtered, Sequences]:
        data = self._read(X, lengths, reset=False)
        params = self._params()
        return ch.forward(params.chain, self._density(params, data.values), data.lengths), data

    def score_sequences(self, X: Any, lengths: Any = None) -> Array:
        """Log-likelihood of each sequence; -inf, with a warning that says where, if it is impossible."""
        found, _ = self._filtered(X, lengths)
        for sequence, step in found.impossible:
            warnings.warn(str(ch.ImpossibleSequence(sequence, step)), RuntimeWarning, stacklevel=2)
        return found.log_likelihood

    def score(self, X: Any, lengths: Any = None) -> float:
        """Log-likelihood of all sequences together."""
        return float(self._log_likelihood(X, lengths=lengths))

    @summing
    def _log_likelihood(self, X: Any, lengths: Any = None) -> Array:
        return np.asarray(self.score_sequences(X, lengths).sum())

    def score_samples(self, X: Any, lengths: Any = None) -> tuple[float, Array]:
        """Log-likelihood, and posterior probabilities (n, K) of the states."""
        found = self._smoothed(X, lengths)
        return float(found.log_likelihood.sum()), self._merged(found.posterior)

    def _smoothed(self, X: Any, lengths: Any) -> Smoothed:
        data = self._read(X, lengths, reset=False)
        params = self._params()
        return smooth(params.chain, self._density(params, data.values), data.lengths)

    def predict_proba(self, X: Any, lengths: Any = None) -> Array:
        """Posterior probabilities (n, K) of the states, given whole sequences (smoothing)."""
        return self.score_samples(X, lengths)[1]

    def expected_transitions(self, X: Any, lengths: Any = None) -> Array:
        """Expected number (K, K) of transitions between states."""
        copies = self._copies()
        moves = self._smoothed(X, lengths).transitions
        return np.asarray(moves.reshape(self.n_components, copies, -1, copies).sum(axis=(1, 3)))

    def get_stationary_distribution(self) -> Array:
        """Distribution (K,) of the state after a long time."""
        return np.asarray(self._merged(ch.stationary(self._chain().transition)[None])[0])
