"""Filtering: what is known as the rows come in, without looking ahead."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special
from sklearn.utils import check_random_state

from latently import compiled
from latently.sequence.emissions.base import Emission
from latently.sequence.inference import chain as ch
from latently.sequence.inference.chain import Array, Ints


@dataclass(frozen=True, eq=False)
class Dynamics:
    """What a model does step by step.

    Parameters
    ----------
    start : (K,) probabilities of the first state
    transition : gives the transition probabilities (K, K) into a row, from the inputs of that row
    emission, theta : what the states emit
    copies : how many of these states stand for one of the model, where states have durations
    """

    start: Array
    transition: Callable[[Any], Array]
    emission: Emission
    theta: Any
    copies: int = 1

    def merged(self, p: Array) -> Array:
        """Probabilities (..., K) of the states of the model."""
        return p if self.copies == 1 else p.reshape(*p.shape[:-1], -1, self.copies).sum(axis=-1)


@dataclass(frozen=True, eq=False)
class Forecast:
    """What comes h steps ahead: probabilities (h, K) of the states, and the emissions they stand for.

    `mean` and `variance` (h, d) are those of the observation; `log_prob(X)` (h,) is the log density of a row for
    each step ahead; `sample(n)` (n, h, d) draws whole futures.
    """

    _state: Array
    _moves: Array
    _dynamics: Dynamics

    @property
    def state(self) -> Array:
        """Probabilities (h, K) of the states."""
        return self._dynamics.merged(self._state)

    def log_prob(self, X: Any) -> Array:
        """Log density of a row (or of one row for each step) at each step ahead, (h,)."""
        rows = np.atleast_2d(np.asarray(X, dtype=np.float64))
        L = self._dynamics.emission.log_density(self._dynamics.theta, rows)
        with np.errstate(divide="ignore"):
            return np.asarray(np.logaddexp.reduce(L + np.log(self._state), axis=1))

    @property
    def mean(self) -> Array:
        """Expected observation, (h, d)."""
        return np.asarray(self._state @ self._dynamics.emission.means(self._dynamics.theta))

    @property
    def variance(self) -> Array:
        """Variance of each column, (h, d): within the states and between them."""
        means = self._dynamics.emission.means(self._dynamics.theta)
        within = self._state @ self._dynamics.emission.variances(self._dynamics.theta)
        # squares of gaps, not a gap of squares: that would lose a large offset
        between = np.einsum("hk,hkd->hd", self._state, (means - self.mean[:, None]) ** 2)
        return np.asarray(within + between)

    def sample(self, n: int = 1, random_state: Any = None) -> Array:
        """Draw n futures, (n, h, d)."""
        rng = check_random_state(random_state)
        states = [_drawn(np.broadcast_to(self._state[0], (n, self._state.shape[1])), rng)]
        for moves in self._moves[1:]:
            states.append(_drawn(moves[states[-1]], rng))
        chosen = np.array(states).T.ravel()
        rows = self._dynamics.emission.sample(self._dynamics.theta, chosen, rng)
        return np.asarray(rows.reshape(n, len(self._state), -1))


def _drawn(rows: Array, rng: np.random.RandomState) -> Any:
    """An index for each row of probabilities."""
    cdf = np.cumsum(rows, axis=1)
    return (cdf[:, :-1] <= rng.uniform(size=(len(rows), 1)) * cdf[:, -1:]).sum(axis=1)


def forecast(dynamics: Dynamics, belief: Array | None, inputs: Sequence[Any]) -> Forecast:
    """Forecast from a belief about the last state (None: before the first), with inputs of each step ahead."""
    if len(inputs) < 1:
        raise ValueError(f"steps must be at least 1, got {len(inputs)}")
    moves = [dynamics.transition(u) for u in inputs]
    rows = [dynamics.start if belief is None else belief @ moves[0]]
    for matrix in moves[1:]:
        rows.append(rows[-1] @ matrix)
    return Forecast(np.array(rows), np.array(moves), dynamics)


class Stream:
    """A belief about the state that is carried on from row to row.

    Made by `HiddenMarkovModel.stream()`. `push(x)` takes in a row, `belief` are the probabilities of the
    current state, `log_likelihood` that of all rows so far. With a lag, `push` returns the smoothed
    probabilities of the state `lag` rows ago (None until there are so many).

    Parameters
    ----------
    dynamics
        What the model does step by step.
    lag
        How many rows to look back for fixed-lag smoothing.
    """

    def __init__(self, dynamics: Dynamics, lag: int = 0) -> None:
        _check_lag(lag)
        self._dynamics, self.lag = dynamics, lag
        self._log_belief: Array | None = None
        self._window: list[tuple[Array, Array, Array]] = []
        self.log_likelihood = 0.0
        self.n_rows = 0

    @property
    def belief(self) -> Array:
        """Probabilities (K,) of the current state given all rows so far."""
        log_belief = self._log_belief
        return self._dynamics.merged(self._dynamics.start if log_belief is None else np.exp(log_belief))

    def push(self, x: Any, inputs: Any = None) -> Array | None:
        """Take in a row (d,); NaN is missing. `inputs` (p,) are those of the row, where transitions depend on them."""
        row = np.atleast_1d(np.asarray(x, dtype=np.float64))[None]
        L = self._dynamics.emission.log_density(self._dynamics.theta, row)[0]
        with np.errstate(divide="ignore"):
            log_A = np.log(self._dynamics.transition(inputs))
            before = np.log(self._dynamics.start)
        if self._log_belief is not None:
            before = np.logaddexp.reduce(self._log_belief[:, None] + log_A, axis=0)
        joint = before + L
        norm = float(np.logaddexp.reduce(joint))
        if np.isneginf(norm):
            raise ch.ImpossibleSequence(0, self.n_rows)
        self._log_belief = joint - norm
        self.log_likelihood += norm
        self.n_rows += 1
        kept = self._window[-self.lag :] if self.lag else []
        self._window = [*kept, (self._log_belief, L, log_A)]
        return self.belief if self.lag == 0 else self._lagged()

    def _lagged(self) -> Array | None:
        if len(self._window) <= self.lag:
            return None
        back = np.zeros(len(self._dynamics.start))
        for _, L, log_A in self._window[:0:-1]:
            back = np.logaddexp.reduce(log_A + L + back, axis=1)
            back -= back.max()
        weights = self._window[0][0] + back
        return self._dynamics.merged(np.exp(weights - np.logaddexp.reduce(weights)))

    def predict_next(self, steps: int = 1, inputs: Any = None) -> Forecast:
        """What comes next, up to so many steps ahead; `inputs` (steps, p) are those of the rows to come."""
        belief = None if self._log_belief is None else np.exp(self._log_belief)
        return forecast(self._dynamics, belief, [None] * steps if inputs is None else _rows_of(inputs, steps))


def _rows_of(inputs: Any, steps: int) -> list[Any]:
    rows = np.asarray(inputs, dtype=np.float64)
    if len(rows) != steps:
        raise ValueError(f"inputs must have {steps} rows, one for each step ahead, got {len(rows)}")
    return list(rows)


def looking_ahead(
    log_belief: Array, L: Array, lengths: Ints, lag: int, moves: Array, inputs: Array | None = None
) -> Array:
    """Probabilities (n, K) of the states given the rows up to `lag` steps after each one.

    Parameters
    ----------
    log_belief
        Logs of the same, given the rows up to each one.
    L
        Log densities (n, K).
    lengths
        Length of each sequence.
    lag
        How many rows to look ahead.
    moves
        Log transition probabilities (K, K); or coefficients (K, K, p) of the inputs.
    inputs
        Inputs (n, p) of the rows, if transitions depend on them.
    """
    _check_lag(lag)
    ahead = np.empty_like(L)
    compiled.sequence.paths.look_ahead(L, lengths, moves, lag, ahead, inputs)
    return np.asarray(special.softmax(log_belief + ahead, axis=1))


def _check_lag(lag: int) -> None:
    if lag < 0:
        raise ValueError(f"lag must not be negative, got {lag}")


class FilterMixin:
    """Filtering, forecasting and fixed-lag smoothing of whole sequences."""

    def _dynamics(self) -> Dynamics:
        params = self._params()  # type: ignore[attr-defined]

        def transition(inputs: Any) -> Array:
            if inputs is not None:
                raise ValueError("this model was fitted without inputs: give none")
            return np.asarray(params.chain.transition)

        emission, copies = self._model().emission, self._copies()  # type: ignore[attr-defined]
        return Dynamics(params.chain.start, transition, emission, params.theta, copies)

    def filter(self, X: Any, lengths: Any = None) -> Array:
        """Probabilities (n, K) of the states given the rows up to each one: no look-ahead."""
        return np.asarray(self._merged(self._belief(X, lengths)))  # type: ignore[attr-defined]

    def _belief(self, X: Any, lengths: Any) -> Array:
        found, _ = self._filtered(X, lengths)  # type: ignore[attr-defined]
        if found.impossible:
            raise ch.ImpossibleSequence(*found.impossible[0])
        return np.asarray(found.belief)

    def fixed_lag(self, X: Any, lengths: Any = None, *, lag: int) -> Array:
        """Probabilities (n, K) of the states given the rows up to `lag` steps after each one."""
        L, lengths_, chain = self._densities(X, lengths)  # type: ignore[attr-defined]
        with np.errstate(divide="ignore"):
            log_belief = np.log(self._belief(X, lengths))
        found = looking_ahead(log_belief, L, lengths_, lag, chain.logs[1])
        return np.asarray(self._merged(found))  # type: ignore[attr-defined]

    def predict_next(self, X: Any, steps: int = 1) -> Forecast:
        """Distribution of the next states and observations after a sequence."""
        belief = self._filtered(X, None)[0].belief[-1]  # type: ignore[attr-defined]
        return forecast(self._dynamics(), belief, [None] * steps)

    def stream(self, lag: int = 0) -> Stream:
        """Give an object that takes in rows one by one."""
        return Stream(self._dynamics(), lag)
