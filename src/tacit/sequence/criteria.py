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
        n = self._n_observed(X, lengths)
        return float(-2 * self.score(X, lengths) + self.n_parameters_ * np.log(n))

    def icl(self, X: Any, lengths: Any = None) -> float:
        """Integrated completed likelihood: BIC with the best path in place of all paths; lower is better."""
        log_joint, _ = self.decode(X, lengths, algorithm="viterbi")
        return float(-2 * log_joint + self.n_parameters_ * np.log(self._n_observed(X, lengths)))

    def _n_observed(self, X: Any, lengths: Any) -> int:
        values = self._read(X, lengths, reset=False).values
        return max(int((~np.isnan(values).all(axis=1)).sum()), 1)
