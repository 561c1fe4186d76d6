"""The skin of transitions that depend on inputs."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError

from tacit.data.sequences import Sequences
from tacit.sequence import inputs as inp
from tacit.sequence.base import BaseHMM
from tacit.sequence.chain import Array, Chain, Ints
from tacit.sequence.fitting import FitPlan, run
from tacit.sequence.rule import check_probabilities


class InputsMixin(BaseHMM):
    """`fit`, `score`, `decode` and the like with `inputs=`; without it, all is as in `BaseHMM`."""

    def fit(
        self,
        X: Any,
        lengths: Any = None,
        *,
        inputs: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn the parameters by expectation and maximisation.

        Parameters
        ----------
        X
            Rows of all sequences below each other (NaN is missing), or a list of arrays.
        lengths
            Length of each sequence; None for a single one.
        inputs
            Known numbers (n, p) on which the transition into each row depends.
        labels
            Known states of the rows, -1 where unknown.
        sample_weight
            Weight of each sequence.
        """
        self.__dict__.pop("coef_", None)
        if inputs is None:
            return super().fit(X, lengths, labels=labels, sample_weight=sample_weight)
        if labels is not None or self._copies() > 1 or self.transmat is not None or self.n_init > 1:
            raise ValueError("inputs do not go together with labels, duration, transmat or n_init")
        data = self._read(X, lengths, reset=True)
        U = inp.with_intercept(inputs, len(data.values))
        self._init(data.values, data.lengths)
        coef = np.zeros((self.n_components, self.n_components, U.shape[1]))
        coef[:, :, 0] = np.log(np.maximum(self.transmat_, 1e-6))
        coef -= coef.mean(axis=1, keepdims=True)
        model = inp.InputModel(self._emission(data.values), self._rule(), U)
        start = inp.InputParams(np.asarray(self.startprob_), coef, self._theta())
        plan = FitPlan(self.tol, self.n_iter, self.verbose)
        fit: Any = run(model, [start], data, sample_weight, plan)
        self._store(startprob_=fit.params.start)
        self.coef_ = fit.params.coef
        self._store_theta(fit.params.theta)
        self.converged_, self.n_iter_, self.history_ = fit.converged, fit.n_iter, np.array(fit.trace)
        self._store(transmat_=self.transition_at(np.average(U[:, 1:], axis=0)))
        return self

    def transition_at(self, inputs: ArrayLike) -> Array:
        """Transition probabilities (K, K) at given inputs (p,)."""
        u = np.append(1.0, np.atleast_1d(np.asarray(inputs, dtype=np.float64)))
        z = self.coef_ @ u
        p = np.exp(z - z.max(axis=1, keepdims=True))
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    def _with_inputs(self, X: Any, lengths: Any, inputs: ArrayLike) -> tuple[inp.InputParams, Array, Array, Sequences]:
        if "coef_" not in self.__dict__:
            raise NotFittedError("this model was fitted without inputs: give them to fit")
        data = self._read(X, lengths, reset=False)
        U = inp.with_intercept(inputs, len(data.values))
        if U.shape[1] != self.coef_.shape[2]:
            raise ValueError(f"inputs have {U.shape[1] - 1} columns, but the fit had {self.coef_.shape[2] - 1}")
        start = check_probabilities("startprob_", self.startprob_, (self.n_components,))
        params = inp.InputParams(start, self.coef_, self._theta())
        return params, self._emission(None).log_density(params.theta, data.values), U, data

    def _chain(self) -> Chain:
        self._no_inputs()
        return super()._chain()

    def _no_inputs(self) -> None:
        if "coef_" in self.__dict__:
            raise ValueError("the transitions of this model depend on inputs: give inputs=")

    def score_sequences(self, X: Any, lengths: Any = None, *, inputs: ArrayLike | None = None) -> Array:
        """Log-likelihood of each sequence."""
        if inputs is None:
            self._no_inputs()
            return super().score_sequences(X, lengths)
        params, L, U, data = self._with_inputs(X, lengths, inputs)
        return inp.forward(params, L, U, data.lengths)[0]

    def score(self, X: Any, lengths: Any = None, *, inputs: ArrayLike | None = None) -> float:
        """Log-likelihood of all sequences together."""
        return float(self.score_sequences(X, lengths, inputs=inputs).sum())

    def score_samples(self, X: Any, lengths: Any = None, *, inputs: ArrayLike | None = None) -> tuple[float, Array]:
        """Log-likelihood, and posterior probabilities (n, K) of the states."""
        if inputs is None:
            self._no_inputs()
            return super().score_samples(X, lengths)
        params, L, U, data = self._with_inputs(X, lengths, inputs)
        K, p = self.n_components, U.shape[1]
        sums = np.zeros((K, K, p)), np.zeros((K, p, p))
        logs, g = inp.smooth(params, L, U, data.lengths, np.ones(len(L)), *sums)
        return float(logs.sum()), g

    def predict_proba(self, X: Any, lengths: Any = None, *, inputs: ArrayLike | None = None) -> Array:
        """Posterior probabilities (n, K) of the states, given whole sequences (smoothing)."""
        return self.score_samples(X, lengths, inputs=inputs)[1]

    def filter(self, X: Any, lengths: Any = None, *, inputs: ArrayLike | None = None) -> Array:
        """Probabilities (n, K) of the states given the rows up to each one: no look-ahead."""
        if inputs is None:
            self._no_inputs()
            return super().filter(X, lengths)
        params, L, U, data = self._with_inputs(X, lengths, inputs)
        return inp.forward(params, L, U, data.lengths)[1]

    def decode(
        self,
        X: Any,
        lengths: Any = None,
        algorithm: str | None = None,
        *,
        n_best: int | None = None,
        inputs: ArrayLike | None = None,
    ) -> tuple[Any, Any]:
        """Find the most probable states; see `BaseHMM.decode`. With inputs, by Viterbi's algorithm only."""
        if inputs is None:
            self._no_inputs()
            return super().decode(X, lengths, algorithm, n_best=n_best)
        if n_best is not None or (algorithm or self.algorithm) != "viterbi":
            raise ValueError("with inputs, decode finds the best path (algorithm='viterbi') only")
        params, L, U, data = self._with_inputs(X, lengths, inputs)
        logs, path = inp.viterbi(params, L, U, data.lengths)
        return float(logs.sum()), path

    def predict(self, X: Any, lengths: Any = None, *, inputs: ArrayLike | None = None) -> Ints:
        """Most probable states (n,), by the model's algorithm."""
        return np.asarray(self.decode(X, lengths, inputs=inputs)[1])

    def bic(self, X: Any, lengths: Any = None, *, inputs: ArrayLike | None = None) -> float:
        """Bayesian information criterion; lower is better."""
        n = self._n_observed(X, lengths)
        return float(-2 * self.score(X, lengths, inputs=inputs) + self.n_parameters_ * np.log(n))

    def aic(self, X: Any, lengths: Any = None, *, inputs: ArrayLike | None = None) -> float:
        """Akaike's criterion; lower is better."""
        return -2 * self.score(X, lengths, inputs=inputs) + 2 * self.n_parameters_

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters."""
        if "coef_" not in self.__dict__:
            return super().n_parameters_
        model = inp.InputModel(self._emission(None), self._rule(), np.empty((0, self.coef_.shape[2])))
        return model.n_parameters(inp.InputParams(np.asarray(self.startprob_), self.coef_, self._theta()))
