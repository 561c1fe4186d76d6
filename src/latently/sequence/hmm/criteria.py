"""Criteria to choose between models."""

from collections.abc import Callable
from typing import Any

import numpy as np

from latently.data.sources.sequences import Sequences
from latently.learn.estimator.sums import summing
from latently.sequence.model.hmm import HmmModel, Params


class CriteriaMixin:
    """AIC, BIC and ICL, with the parameters counted that are really free.

    All are infinite for a fit in which a state has collapsed onto a single value (`collapsed_`): its likelihood has
    no maximum, and is no measure of the model.
    """

    score: Callable[..., float]
    decode: Callable[..., tuple[Any, Any]]
    _read: Callable[..., Sequences]
    _model: Callable[..., HmmModel]
    _params: Callable[[], Params]

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
