"""Criteria to choose between models."""

from typing import Any

import numpy as np


class CriteriaMixin:
    """AIC, BIC and ICL, with the parameters counted that are really free."""

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters."""
        return self._model().n_parameters(self._params())

    def aic(self, X: Any, lengths: Any = None) -> float:
        """Akaike's criterion; lower is better."""
        return -2 * self.score(X, lengths) + 2 * self.n_parameters_

    def bic(self, X: Any, lengths: Any = None) -> float:
        """Bayesian information criterion; lower is better. Rows with nothing observed do not count."""
        return self._bic(self.score(X, lengths), X, lengths)

    def icl(self, X: Any, lengths: Any = None) -> float:
        """Integrated completed likelihood: BIC with the best path in place of all paths; lower is better."""
        return self._bic(self.decode(X, lengths, algorithm="viterbi")[0], X, lengths)

    def _bic(self, log_prob: float, X: Any, lengths: Any) -> float:
        values = self._read(X, lengths, reset=False).values
        n = max(int((~np.isnan(values).all(axis=1)).sum()), 1)
        return float(-2 * log_prob + self.n_parameters_ * np.log(n))
