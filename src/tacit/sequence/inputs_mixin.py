"""The skin of transitions that depend on inputs."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from tacit.data.chunks import ChunkSource
from tacit.data.sequences import Sequences
from tacit.sequence import inputs as inp
from tacit.sequence.base import BaseHMM
from tacit.sequence.chain import Array, Chain, Ints
from tacit.sequence.fitting import FitPlan, run
from tacit.sequence.inputs_scores import InputCoordinates, Units
from tacit.sequence.insight import natural_emissions
from tacit.sequence.online import Dynamics, Forecast, forecast
from tacit.sequence.rule import check_probabilities
from tacit.sequence.scores import standard_errors


class InputsMixin(BaseHMM):
    """`fit`, `score`, `decode` and the like with `inputs=`; without it, all is as in `BaseHMM`."""

    # fit

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
        if isinstance(X, ChunkSource):
            raise ValueError("inputs go with rows in memory, not with files or Dask collections")
        self._check_for_inputs()
        data = self._read(X, lengths, reset=True)
        known = self._check_labels(labels, len(data.values))
        U = inp.with_intercept(inputs, len(data.values))
        return self._fit_inputs(data, U, known, sample_weight)

    def _check_for_inputs(self) -> None:
        """Refuse settings that have no meaning where transitions depend on inputs."""
        if self._copies() > 1:
            raise ValueError("inputs do not go together with duration: choose one")
        if isinstance(self.startprob, str):
            raise ValueError(f"inputs do not go together with startprob={self.startprob!r}: nothing is stationary")
        rule = self._rule()
        if (rule.transition_prior != 1).any():
            raise ValueError("inputs do not go together with transmat_prior: the transitions are no single matrix")
        if (rule.transition[~np.isnan(rule.transition)] != 0).any():
            raise ValueError("with inputs, transmat fixes zeros only: other transitions depend on the inputs")

    def _fit_inputs(self, data: Sequences, U: Array, labels: Ints | None, weights: ArrayLike | None) -> Self:
        units = Units.of(U)
        starts = self._all_starts(data, labels, lambda: self._input_start(U.shape[1]))
        model = inp.InputModel(self._emission(data.values), self._rule(), units.of_inputs(U), labels)
        fit: Any = run(model, starts, data, weights, FitPlan(self.tol, self.n_iter, self.verbose))
        self._store(startprob_=fit.params.start)
        self.coef_ = units.back(fit.params.coef)
        self._store_theta(fit.params.theta)
        self.converged_, self.n_iter_, self.history_ = fit.converged, fit.n_iter, np.array(fit.trace)
        self._store(transmat_=inp.transition(self.coef_, U.mean(axis=0)))
        return self

    def _input_start(self, p: int) -> inp.InputParams:
        """Parameters to start from: the transitions are those of `transmat_`, whatever the inputs."""
        A, zeros = np.asarray(self.transmat_), self._rule().transition == 0
        coef = np.zeros((*A.shape, p))
        logs = np.log(np.maximum(A, 1e-6))
        logs -= np.average(logs, axis=1, weights=~zeros)[:, None]
        coef[:, :, 0] = np.where(zeros, -np.inf, logs)
        return inp.InputParams(np.asarray(self.startprob_), coef, self._theta())

    # what the model is

    def transition_at(self, inputs: ArrayLike) -> Array:
        """Transition probabilities (K, K) at given inputs (p,)."""
        self._need_coef()
        u = np.append(1.0, np.atleast_1d(np.asarray(inputs, dtype=np.float64)))
        if u.shape != self.coef_.shape[2:]:
            raise ValueError(f"inputs have {len(u) - 1} columns, but the fit had {self.coef_.shape[2] - 1}")
        return inp.transition(self.coef_, u)

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters."""
        if not self._has("coef_"):
            return super().n_parameters_
        return self._input_model().n_parameters(self._input_params())

    def _need_coef(self) -> None:
        if not self._has("coef_"):
            raise NotFittedError("this model was fitted without inputs: give them to fit")

    def _input_params(self) -> inp.InputParams:
        self._need_coef()
        start = check_probabilities("startprob_", self.startprob_, (self.n_components,))
        return inp.InputParams(start, np.asarray(self.coef_), self._theta())

    def _input_model(self) -> inp.InputModel:
        return inp.InputModel(self._emission(None), self._rule(), np.empty((0, self.coef_.shape[2])))

    def _input_frame(self, U: Array) -> tuple[InputCoordinates, Units]:
        params, units = self._input_params(), Units.of(U)
        model = inp.InputModel(self._emission(None), self._rule(), units.of_inputs(U))
        return InputCoordinates(model, inp.InputParams(params.start, units.of_coef(params.coef), params.theta)), units

    def _chain(self) -> Chain:
        if self._has("coef_"):
            raise ValueError(
                "the transitions of this model depend on inputs: give inputs= (score, predict, predict_proba, decode, "
                "filter, predict_next, stream, sample, aic, bic, icl, standard_errors and fisher_scores take it)"
            )
        return super()._chain()

    def _asked(self, X: Any, lengths: Any, inputs: ArrayLike) -> tuple[inp.InputParams, Array, Array, Sequences]:
        """Parameters, log densities, inputs and rows of a question."""
        params = self._input_params()
        data = self._read(X, lengths, reset=False)
        U = inp.with_intercept(inputs, len(data.values))
        if U.shape[1] != self.coef_.shape[2]:
            raise ValueError(f"inputs have {U.shape[1] - 1} columns, but the fit had {self.coef_.shape[2] - 1}")
        return params, self._emission(None).log_density(params.theta, data.values), U, data

    # evaluation

    def score_sequences(self, X: Any, lengths: Any = None, *, inputs: ArrayLike | None = None) -> Array:
        """Log-likelihood of each sequence."""
        if inputs is None:
            return super().score_sequences(X, lengths)
        params, L, U, data = self._asked(X, lengths, inputs)
        return inp.forward(params, L, U, data.lengths)[0]

    def score(self, X: Any, lengths: Any = None, *, inputs: ArrayLike | None = None) -> float:
        """Log-likelihood of all sequences together."""
        if inputs is None:
            return super().score(X, lengths)
        return float(self.score_sequences(X, lengths, inputs=inputs).sum())

    def score_samples(self, X: Any, lengths: Any = None, *, inputs: ArrayLike | None = None) -> tuple[float, Array]:
        """Log-likelihood, and posterior probabilities (n, K) of the states."""
        if inputs is None:
            return super().score_samples(X, lengths)
        params, L, U, data = self._asked(X, lengths, inputs)
        found = inp.smooth(params, L, U, data.lengths, np.ones(len(data)))
        return float(found.log_likelihood.sum()), found.posterior

    def predict_proba(self, X: Any, lengths: Any = None, *, inputs: ArrayLike | None = None) -> Array:
        """Posterior probabilities (n, K) of the states, given whole sequences (smoothing)."""
        return self.score_samples(X, lengths, inputs=inputs)[1]

    def decode(
        self,
        X: Any,
        lengths: Any = None,
        algorithm: str | None = None,
        *,
        n_best: int | None = None,
        inputs: ArrayLike | None = None,
    ) -> tuple[Any, Any]:
        """Find the most probable states; see `BaseHMM.decode`. With inputs, without `n_best`."""
        if inputs is None:
            return super().decode(X, lengths, algorithm, n_best=n_best)
        if n_best is not None:
            raise ValueError("with inputs, decode finds the best path only, not the n best")
        chosen = self._algorithm(algorithm)
        params, L, U, data = self._asked(X, lengths, inputs)
        if chosen == "viterbi":
            logs, path = inp.viterbi(params, L, U, data.lengths)
        else:
            path = inp.smooth(params, L, U, data.lengths, np.ones(len(data))).posterior.argmax(axis=1)
            logs = inp.path_log_prob(params, L, U, data.lengths, path)
        return float(logs.sum()), path

    def predict(self, X: Any, lengths: Any = None, *, inputs: ArrayLike | None = None) -> Ints:
        """Most probable states (n,), by the model's algorithm."""
        return np.asarray(self.decode(X, lengths, inputs=inputs)[1])

    # as rows come in

    def _dynamics(self) -> Dynamics:
        if not self._has("coef_"):
            return super()._dynamics()
        params = self._input_params()

        def transition(inputs: Any) -> Array:
            if inputs is None:
                raise ValueError("the transitions of this model depend on inputs: give those of the row")
            return self.transition_at(inputs)

        return Dynamics(params.start, transition, self._emission(None), params.theta)

    def filter(self, X: Any, lengths: Any = None, *, inputs: ArrayLike | None = None) -> Array:
        """Probabilities (n, K) of the states given the rows up to each one: no look-ahead."""
        if inputs is None:
            return super().filter(X, lengths)
        params, L, U, data = self._asked(X, lengths, inputs)
        return inp.forward(params, L, U, data.lengths)[1]

    def predict_next(
        self, X: Any, steps: int = 1, *, inputs: ArrayLike | None = None, next_inputs: ArrayLike | None = None
    ) -> Forecast:
        """Distribution of the next states and observations after a sequence.

        Parameters
        ----------
        X
            A sequence.
        steps
            How far ahead.
        inputs, next_inputs
            Inputs (n, p) of the sequence and (steps, p) of the rows to come, if transitions depend on them.
        """
        if inputs is None:
            return super().predict_next(X, steps)
        if next_inputs is None or len(np.asarray(next_inputs)) != steps:
            raise ValueError(f"next_inputs must have {steps} rows, one for each step ahead")
        return forecast(self._dynamics(), self.filter(X, inputs=inputs)[-1], list(np.asarray(next_inputs)))

    def sample(
        self,
        n_samples: int = 1,
        random_state: Any = None,
        currstate: int | None = None,
        *,
        inputs: ArrayLike | None = None,
    ) -> tuple[Array, Ints]:
        """Draw a sequence from the model; with inputs (n, p) it has as many rows as they have."""
        if inputs is None:
            return super().sample(n_samples, random_state, currstate)
        params = self._input_params()
        U = inp.with_intercept(inputs, len(np.asarray(inputs)))
        rng = check_random_state(self.random_state if random_state is None else random_state)
        states = inp.walk(params, U, rng, currstate)
        return self._emission(None).sample(params.theta, states, rng), states

    # criteria

    def bic(self, X: Any, lengths: Any = None, *, inputs: ArrayLike | None = None) -> float:
        """Bayesian information criterion; lower is better."""
        return self._bic(self.score(X, lengths, inputs=inputs), X, lengths)

    def aic(self, X: Any, lengths: Any = None, *, inputs: ArrayLike | None = None) -> float:
        """Akaike's criterion; lower is better."""
        return -2 * self.score(X, lengths, inputs=inputs) + 2 * self.n_parameters_

    def icl(self, X: Any, lengths: Any = None, *, inputs: ArrayLike | None = None) -> float:
        """Integrated completed likelihood: BIC with the best path in place of all paths; lower is better."""
        if inputs is None:
            return super().icl(X, lengths)
        return self._bic(self.decode(X, lengths, algorithm="viterbi", inputs=inputs)[0], X, lengths)

    # slopes

    def fisher_scores(self, X: Any, lengths: Any = None, *, inputs: ArrayLike | None = None) -> Array:
        """Slope (sequences, parameters) of the log-likelihood of each sequence; see `BaseHMM.fisher_scores`.

        With inputs, coefficients (for inputs in units of their spread) take the place of logits of transitions.
        """
        if inputs is None:
            return super().fisher_scores(X, lengths)
        _, _, U, data = self._asked(X, lengths, inputs)
        frame, _ = self._input_frame(U)
        return frame.scores(frame.like, data)

    def standard_errors(self, X: Any, lengths: Any = None, *, inputs: ArrayLike | None = None) -> dict[str, Array]:
        """Standard errors of the parameters, from the curvature of the log-likelihood, by attribute name."""
        if inputs is None:
            return super().standard_errors(X, lengths)
        _, _, U, data = self._asked(X, lengths, inputs)
        frame, units = self._input_frame(U)
        possible = np.isfinite(frame.like.coef)

        def natural(params: inp.InputParams) -> dict[str, Array]:
            coef = np.where(possible, units.back(np.where(possible, params.coef, 0.0)), 0.0)
            return {"startprob_": params.start, "coef_": coef, **natural_emissions(frame.model.emission, params.theta)}

        return standard_errors(frame, data, natural)
