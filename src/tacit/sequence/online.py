"""Filtering: what is known as the rows come in, without looking ahead."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.sequence import chain as ch
from tacit.sequence.chain import Array, Chain
from tacit.sequence.model import HmmModel, Params


@dataclass(frozen=True, eq=False)
class Forecast:
    """What comes h steps ahead: probabilities (h, K) of the states, and the emissions they stand for.

    `mean` and `variance` (h, d) are those of the observation; `log_prob(X)` (h,) is the log density of a row for
    each step ahead; `sample(n)` (n, h, d) draws whole futures.
    """

    state: Array
    _params: Params
    _model: HmmModel
    _belief: Array

    def log_prob(self, X: Any) -> Array:
        """Log density of a row (or of one row for each step) at each step ahead, (h,)."""
        rows = np.atleast_2d(np.asarray(X, dtype=np.float64))
        L = self._model.emission.log_density(self._params.theta, rows)
        with np.errstate(divide="ignore"):
            return np.asarray(np.logaddexp.reduce(L + np.log(self.state), axis=1))

    @property
    def mean(self) -> Array:
        """Expected observation, (h, d)."""
        return self.state @ self._model.emission.means(self._params.theta)

    @property
    def variance(self) -> Array:
        """Variance of each column, (h, d): within the states and between them."""
        means = self._model.emission.means(self._params.theta)
        within = self.state @ self._model.emission.variances(self._params.theta)
        return np.asarray(within + self.state @ means**2 - self.mean**2)

    def sample(self, n: int = 1, random_state: Any = None) -> Array:
        """Draw n futures, (n, h, d)."""
        rng = np.random.RandomState(random_state) if not hasattr(random_state, "randint") else random_state
        chain = Chain(self._belief @ self._params.chain.transition, self._params.chain.transition)
        states = np.array([ch.walk(chain, len(self.state), rng) for _ in range(n)])
        rows = self._model.emission.sample(self._params.theta, states.ravel(), rng)
        return np.asarray(rows.reshape(n, len(self.state), -1))


class Stream:
    """A belief about the state that is carried on from row to row.

    Made by `HiddenMarkovModel.stream()`. `push(x)` takes in a row, `belief` are the probabilities of the
    current state, `log_likelihood` that of all rows so far. With a lag, `push` returns the smoothed
    probabilities of the state `lag` rows ago (None until there are so many).

    Parameters
    ----------
    params
        Parameters.
    model
        Model.
    lag
        How many rows to look back for fixed-lag smoothing.
    """

    def __init__(self, params: Params, model: HmmModel, lag: int = 0) -> None:
        if lag < 0:
            raise ValueError(f"lag must not be negative, got {lag}")
        self._params, self._model, self.lag = params, model, lag
        self._log_belief: Array | None = None
        self._window: list[tuple[Array, Array]] = []
        self.log_likelihood = 0.0
        self.n_rows = 0

    @property
    def belief(self) -> Array:
        """Probabilities (K,) of the current state given all rows so far."""
        if self._log_belief is None:
            return self._params.chain.start
        return np.asarray(np.exp(self._log_belief))

    def push(self, x: Any) -> Array | None:
        """Take in a row (d,); NaN is missing."""
        row = np.atleast_1d(np.asarray(x, dtype=np.float64))[None]
        L = self._model.log_density(self._params, row)[0]
        joint = self._predicted() + L
        norm = float(np.logaddexp.reduce(joint))
        if np.isneginf(norm):
            raise ch.ImpossibleSequence(0, self.n_rows)
        self._log_belief = joint - norm
        self.log_likelihood += norm
        self.n_rows += 1
        self._window = [*self._window[-self.lag :], (self._log_belief, L)] if self.lag else [(self._log_belief, L)]
        return self.belief if self.lag == 0 else self._lagged()

    def _predicted(self) -> Array:
        log_start, log_A = self._params.chain.logs()
        if self._log_belief is None:
            return log_start
        return np.asarray(np.logaddexp.reduce(self._log_belief[:, None] + log_A, axis=0))

    def _lagged(self) -> Array | None:
        if len(self._window) <= self.lag:
            return None
        _, log_A = self._params.chain.logs()
        back = np.zeros(self._params.chain.n_states)
        for _, L in self._window[:0:-1]:
            back = np.logaddexp.reduce(log_A + L + back, axis=1)
            back -= back.max()
        weights = self._window[0][0] + back
        return np.asarray(np.exp(weights - np.logaddexp.reduce(weights)))

    def predict_next(self, steps: int = 1) -> Forecast:
        """What comes next, up to so many steps ahead."""
        if self._log_belief is None:
            return forecast_from_start(self._params, self._model, steps)
        return forecast(self._params, self._model, self.belief, steps)


def forecast(params: Params, model: HmmModel, belief: Array, steps: int) -> Forecast:
    """Forecast from a belief about the last state."""
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")
    rows = [belief @ params.chain.transition]
    for _ in range(steps - 1):
        rows.append(rows[-1] @ params.chain.transition)
    return Forecast(np.array(rows), params, model, belief)


def forecast_from_start(params: Params, model: HmmModel, steps: int) -> Forecast:
    """Forecast of the first rows, before anything is seen."""
    later = forecast(params, model, params.chain.start, steps)
    first = np.vstack([params.chain.start, later.state[: steps - 1]])
    return Forecast(first, params, model, params.chain.start)


class FilterMixin:
    """Filtering, forecasting and fixed-lag smoothing of whole sequences."""

    def filter(self, X: Any, lengths: Any = None) -> Array:
        """Probabilities (n, K) of the states given the rows up to each one: no look-ahead."""
        found, _ = self._filtered(X, lengths)  # type: ignore[attr-defined]
        if found.impossible:
            raise ch.ImpossibleSequence(*found.impossible[0])
        return np.asarray(self._merged(found.belief))  # type: ignore[attr-defined]

    def fixed_lag(self, X: Any, lengths: Any = None, *, lag: int) -> Array:
        """Probabilities (n, K) of the states given the rows up to `lag` steps after each one."""
        if lag < 0:
            raise ValueError(f"lag must not be negative, got {lag}")
        belief = self._filtered(X, lengths)[0].belief  # type: ignore[attr-defined]
        L, lengths_, chain = self._densities(X, lengths)  # type: ignore[attr-defined]
        b = np.exp(L - L.max(axis=1, keepdims=True))
        last = np.cumsum(lengths_) - 1
        back = np.ones_like(b)
        for _ in range(lag):
            ahead = np.vstack([(b * back)[1:], np.ones((1, b.shape[1]))]) @ chain.transition.T
            ahead[last] = 1.0
            back = ahead / ahead.max(axis=1, keepdims=True)
        joint = belief * back
        return np.asarray(self._merged(joint / joint.sum(axis=1, keepdims=True)))  # type: ignore[attr-defined]

    def predict_next(self, X: Any, steps: int = 1) -> Forecast:
        """Distribution of the next states and observations after a sequence."""
        belief = self._filtered(X, None)[0].belief[-1]  # type: ignore[attr-defined]
        return forecast(self._params(), self._model(), belief, steps)  # type: ignore[attr-defined]

    def stream(self, lag: int = 0) -> Stream:
        """Give an object that takes in rows one by one."""
        return Stream(self._params(), self._model(), lag)  # type: ignore[attr-defined]
