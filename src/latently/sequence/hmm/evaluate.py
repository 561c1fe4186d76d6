"""Evaluation: log-likelihoods, posteriors of the states, expected transitions, criteria to choose between models."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from latently.data.sources.sequences import Sequences
from latently.learn.estimator.sums import summing
from latently.sequence.inference import chain as ch
from latently.sequence.inference.chain import Array, LogDensity
from latently.sequence.inference.forward_backward import Smoothed, smooth
from latently.sequence.model.hmm import HmmModel, Params


class EvaluateMixin:
    """What a model with parameters says about sequences.

    AIC, BIC and ICL count the parameters that are really free. All are infinite for a fit in which a state has
    collapsed onto a single value (`collapsed_`): its likelihood has no maximum, and is no measure of the model.
    """

    n_components: int
    _read: Callable[..., Sequences]
    _params: Callable[[], Params]
    _density: Callable[..., LogDensity]
    _chain: Callable[[], ch.Chain]
    _copies: Callable[[], int]
    _merged: Callable[[Array], Array]
    _model: Callable[..., HmmModel]
    decode: Callable[..., tuple[Any, Any]]

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

    # criteria

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters."""
        return self._model().n_parameters(self._params())

    def aic(self, X: Any, lengths: Any = None) -> float:
        """Akaike's criterion; lower is better."""
        return self._aic(self.score(X, lengths))

    def bic(self, X: Any, lengths: Any = None) -> float:
        """Bayesian information criterion; lower is better. Rows with nothing observed do not count."""
        return self._bic(self.score(X, lengths), X, lengths)

    def icl(self, X: Any, lengths: Any = None) -> float:
        """Integrated completed likelihood: BIC with the best path in place of all paths; lower is better."""
        return self._bic(float(self._log_best_path(X, lengths=lengths)), X, lengths)

    @summing
    def _log_best_path(self, X: Any, lengths: Any = None) -> Any:
        return np.asarray(self.decode(X, lengths, algorithm="viterbi")[0])

    @summing
    def _n_observed(self, X: Any, lengths: Any = None) -> int:
        """Rows in which something is observed."""
        values = self._read(X, lengths, reset=False).values
        return int((~np.isnan(values).all(axis=1)).sum())

    def _aic(self, log_prob: float) -> float:
        return np.inf if self._is_collapsed else -2 * log_prob + 2 * self.n_parameters_

    @property
    def _is_collapsed(self) -> bool:
        return len(self.__dict__.get("collapsed_", ())) > 0

    def _bic(self, log_prob: float, X: Any, lengths: Any) -> float:
        if self._is_collapsed:
            return np.inf
        n = max(self._n_observed(X, lengths=lengths), 1)
        return float(-2 * log_prob + self.n_parameters_ * np.log(n))
