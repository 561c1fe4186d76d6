"""Questions to a model whose transitions depend on inputs."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from latently.sequence.hmm.filtering import Dynamics, Forecast, forecast
from latently.sequence.hmm.paths import apart, check_n_best
from latently.sequence.hmm.scores import natural_emissions, standard_errors
from latently.sequence.inference.chain import Array, Ints
from latently.sequence.inputs import transitions as inp
from latently.sequence.inputs.fit import InputsFit
from latently.sequence.inputs.table import with_intercept


class InputsMixin(InputsFit):
    """`score`, `decode` and the like with `inputs=`; without it, all is as in `BaseHMM`."""

    # evaluation

    def score_sequences(self, X: Any, lengths: Any = None, *, inputs: Any = None) -> Array:
        """Log-likelihood of each sequence."""
        if not self._driven(inputs):
            return super().score_sequences(X, lengths)
        params, L, U, data = self._asked(X, lengths, inputs)
        return inp.forward(params, L, U, data.lengths)[0]

    def score(self, X: Any, lengths: Any = None, *, inputs: Any = None) -> float:
        """Log-likelihood of all sequences together."""
        if inputs is None:
            return super().score(X, lengths)
        return float(self.score_sequences(X, lengths, inputs=inputs).sum())

    def score_samples(self, X: Any, lengths: Any = None, *, inputs: Any = None) -> tuple[float, Array]:
        """Log-likelihood, and posterior probabilities (n, K) of the states."""
        if not self._driven(inputs):
            return super().score_samples(X, lengths)
        params, L, U, data = self._asked(X, lengths, inputs)
        found = inp.smooth(params, L, U, data.lengths, np.ones(len(data)))
        return float(found.log_likelihood.sum()), found.posterior

    def predict_proba(self, X: Any, lengths: Any = None, *, inputs: Any = None) -> Array:
        """Posterior probabilities (n, K) of the states, given whole sequences (smoothing)."""
        return self.score_samples(X, lengths, inputs=inputs)[1]

    def decode(
        self,
        X: Any,
        lengths: Any = None,
        algorithm: str | None = None,
        *,
        n_best: int | None = None,
        inputs: Any = None,
    ) -> tuple[Any, Any]:
        """Find the most probable states; see `BaseHMM.decode`."""
        if not self._driven(inputs):
            return super().decode(X, lengths, algorithm, n_best=n_best)
        chosen = self._algorithm(algorithm)
        params, L, U, data = self._asked(X, lengths, inputs)
        if n_best is not None:
            check_n_best(n_best)
            return apart(inp.n_best(params, L, U, data.lengths, n_best))
        if chosen == "viterbi":
            logs, path = inp.best_paths(params, L, U, data.lengths)
        else:
            path = inp.smooth(params, L, U, data.lengths, np.ones(len(data))).posterior.argmax(axis=1)
            logs = inp.path_log_prob(params, L, U, data.lengths, path)
        return float(logs.sum()), path

    def predict(self, X: Any, lengths: Any = None, *, inputs: Any = None) -> Ints:
        """Most probable states (n,), by the model's algorithm."""
        return np.asarray(self.decode(X, lengths, inputs=inputs)[1])

    def sample_paths(
        self, X: Any, lengths: Any = None, *, n_paths: int = 1, random_state: Any = None, inputs: Any = None
    ) -> Ints:
        """Draw paths (n_paths, n) from their posterior distribution given the data."""
        if not self._driven(inputs):
            return super().sample_paths(X, lengths, n_paths=n_paths, random_state=random_state)
        params, L, U, data = self._asked(X, lengths, inputs)
        return inp.sample_paths(params, L, U, data.lengths, n_paths, check_random_state(random_state))

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

    def filter(self, X: Any, lengths: Any = None, *, inputs: Any = None) -> Array:
        """Probabilities (n, K) of the states given the rows up to each one: no look-ahead."""
        if not self._driven(inputs):
            return super().filter(X, lengths)
        params, L, U, data = self._asked(X, lengths, inputs)
        return np.asarray(np.exp(inp.forward(params, L, U, data.lengths)[1]))

    def fixed_lag(self, X: Any, lengths: Any = None, *, lag: int, inputs: Any = None) -> Array:
        """Probabilities (n, K) of the states given the rows up to `lag` steps after each one."""
        if not self._driven(inputs):
            return super().fixed_lag(X, lengths, lag=lag)
        params, L, U, data = self._asked(X, lengths, inputs)
        return inp.fixed_lag(params, L, U, data.lengths, lag)

    def predict_next(self, X: Any, steps: int = 1, *, inputs: Any = None, next_inputs: Any = None) -> Forecast:
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
        if not self._driven(inputs):
            return super().predict_next(X, steps)
        if next_inputs is None or len(next_inputs) != steps:
            raise ValueError(f"next_inputs must have {steps} rows, one for each step ahead")
        V = with_intercept(next_inputs, names=self.__dict__.get("input_names_in_"))[:, 1:]
        return forecast(self._dynamics(), self.filter(X, inputs=inputs)[-1], list(V))

    def sample(
        self,
        n_samples: int = 1,
        random_state: Any = None,
        currstate: int | None = None,
        *,
        inputs: Any = None,
    ) -> tuple[Array, Ints]:
        """Draw a sequence from the model; with inputs (n, p) it has as many rows as they have."""
        if inputs is None:
            return super().sample(n_samples, random_state, currstate)
        params = self._input_params()
        U = with_intercept(inputs, names=self.__dict__.get("input_names_in_"))
        rng = check_random_state(self.random_state if random_state is None else random_state)
        states = inp.walk(params, U, rng, currstate)
        return self._emission(None).sample(params.theta, states, rng), states

    # criteria

    def bic(self, X: Any, lengths: Any = None, *, inputs: Any = None) -> float:
        """Bayesian information criterion; lower is better."""
        return self._bic(self.score(X, lengths, inputs=inputs), X, lengths)

    def aic(self, X: Any, lengths: Any = None, *, inputs: Any = None) -> float:
        """Akaike's criterion; lower is better."""
        return self._aic(self.score(X, lengths, inputs=inputs))

    def icl(self, X: Any, lengths: Any = None, *, inputs: Any = None) -> float:
        """Integrated completed likelihood: BIC with the best path in place of all paths; lower is better."""
        if inputs is None:
            return super().icl(X, lengths)
        return self._bic(self.decode(X, lengths, algorithm="viterbi", inputs=inputs)[0], X, lengths)

    # gradients

    def fisher_scores(self, X: Any, lengths: Any = None, *, inputs: Any = None) -> Array:
        """Gradient (sequences, parameters) of the log-likelihood of each sequence; see `BaseHMM.fisher_scores`.

        With inputs, coefficients (for inputs in units of their spread) take the place of logits of transitions.
        """
        if not self._driven(inputs):
            return super().fisher_scores(X, lengths)
        _, _, U, data = self._asked(X, lengths, inputs)
        frame, _ = self._input_frame(U)
        return frame.scores(frame.like, data)

    def standard_errors(
        self,
        X: Any,
        lengths: Any = None,
        *,
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        inputs: Any = None,
    ) -> dict[str, Array]:
        """Standard errors of the parameters, from the curvature of the objective; see `BaseHMM.standard_errors`."""
        if not self._driven(inputs):
            return super().standard_errors(X, lengths, labels=labels, sample_weight=sample_weight)
        _, _, U, data = self._asked(X, lengths, inputs)
        frame, units = self._input_frame(U, self._check_labels(labels, len(data.values)))
        possible = np.isfinite(frame.like.coef)

        def natural(params: inp.InputParams) -> dict[str, Array]:
            coef = np.where(possible, units.back(np.where(possible, params.coef, 0.0)), 0.0)
            return {"startprob_": params.start, "coef_": coef, **natural_emissions(frame.emission, params.theta)}

        return standard_errors(frame, data, natural, sample_weight)
