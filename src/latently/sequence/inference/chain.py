"""What can be asked of a hidden chain, given log densities: the numpy side of the compiled kernels.

Nothing here knows what the observations are: a `Chain` and a function that gives log densities are enough.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from latently import compiled

SMALL = 12
"""Up to this many states, kernels are compiled for their exact number."""

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
LogDensity = Callable[[int, int], Array]
"""Rows a to b of the (n, K) log densities, in memory that may be overwritten."""


class ImpossibleSequence(ValueError):
    """A sequence that has probability zero under the model."""

    def __init__(self, sequence: int, step: int) -> None:
        super().__init__(sequence, step)
        self.sequence, self.step = sequence, step

    def __str__(self) -> str:
        return (
            f"sequence {self.sequence} is impossible under the model: at step {self.step} no reachable state can "
            "give what is observed there (log-likelihood -inf)"
        )


@dataclass(frozen=True, eq=False)
class Chain:
    """Probabilities of the first state, (K,), and of the next state given one, (K, K)."""

    start: Array
    transition: Array

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.start)

    @cached_property
    def width(self) -> tuple[int, ...]:
        """See `width_of`."""
        return width_of(self.n_states)

    @cached_property
    def can_lose_states(self) -> bool:
        """Whether a transition is (nearly) impossible, so that an underflow may lose a state for good."""
        return bool(self.transition.min() < 1e-100)

    def entered(self, state: int) -> Array:
        """Probabilities of where the chain is when a state has just been entered."""
        return np.asarray(np.eye(self.n_states)[state])

    @cached_property
    def logs(self) -> tuple[Array, Array]:
        """Log probabilities; -inf for zero."""
        with np.errstate(divide="ignore"):
            return np.log(self.start), np.log(self.transition)


def first_rows(lengths: Ints) -> Ints:
    """Index of the first row of each sequence."""
    return np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)


def parts_of(rows: NDArray[Any], lengths: Ints) -> list[NDArray[Any]]:
    """The rows of each sequence."""
    return np.split(rows, np.cumsum(lengths)[:-1])


def width_of(K: int) -> tuple[int, ...]:
    """A tuple of as many zeros as there are states, for the kernels; empty if they are many."""
    return (0,) * K if K <= SMALL else ()


def exponentiate(L: Array, width: tuple[int, ...]) -> Array:
    """Turn log densities into densities over the largest of each row, in place; the largest are returned."""
    top = np.empty(len(L))
    compiled.sequence.forward_backward.exponentiate(L, width, top, np.empty(2048))
    return top


class Mover:
    """A chain as the kernels take it; `forward` and `backward` are those of `compiled.sequence.forward_backward`."""

    def __init__(self, chain: Chain) -> None:
        self.transition = np.ascontiguousarray(chain.transition)
        self._transposed = np.ascontiguousarray(chain.transition.T)
        self.width, self._strict = chain.width, chain.can_lose_states
        self._is_simple = len(self.width) > 0 and not self._strict

    def forward(self, b: Array, top: Array, lengths: Ints, start: Array, a: Array, logs: Array) -> None:
        """Fill a with forward rows, and logs."""
        if self._is_simple:
            compiled.sequence.forward_backward.forward_of_few(
                b, top, lengths, start, self._transposed, self.width, a, logs
            )
        else:
            compiled.sequence.forward_backward.forward(
                b, top, lengths, start, self.transition, self._strict, self.width, a, logs
            )

    def backward(self, b: Array, lengths: Ints, weights: Array, end: Array, g: Array, link: Array, safe: Any) -> None:
        """Fill g with backward rows, link, and safe."""
        if self._is_simple:
            compiled.sequence.forward_backward.backward_of_few(
                b, lengths, weights, end, self.transition, self.width, g, link, safe
            )
        else:
            compiled.sequence.forward_backward.backward(
                b, lengths, weights, end, self._transposed, self._strict, self.width, g, link, safe
            )


@dataclass(frozen=True, eq=False)
class Filtered:
    """Probabilities of the states given the rows so far, (n, K), and log-likelihoods (S,)."""

    belief: Array
    log_likelihood: Array
    impossible: tuple[tuple[int, int], ...]
    """Sequence and step of each sequence that cannot be; its beliefs from there on are NaN."""


def forward(chain: Chain, density: LogDensity, lengths: Ints) -> Filtered:
    """Forward only: no look-ahead."""
    b = density(0, int(lengths.sum()))
    top = exponentiate(b, chain.width)
    a, logs = np.empty_like(b), np.empty(len(lengths))
    Mover(chain).forward(b, top, lengths, chain.start, a, logs)
    with np.errstate(invalid="ignore"):
        a /= a.sum(axis=1, keepdims=True)
    impossible = []
    for s, first in enumerate(first_rows(lengths)):
        if np.isnan(logs[s]):
            la, bad = log_forward(chain, density(int(first), int(first + lengths[s])))
            stop = len(la) if bad < 0 else bad
            scaled = np.exp(la[:stop] - la[:stop].max(axis=1, keepdims=True))
            a[first : first + stop] = scaled / scaled.sum(axis=1, keepdims=True)
            a[first + stop : first + len(la)] = np.nan
            logs[s] = -np.inf if bad >= 0 else np.logaddexp.reduce(la[-1])
            if bad >= 0:
                impossible.append((s, bad))
    return Filtered(a, logs, tuple(impossible))


def log_forward(chain: Chain, L: Array) -> tuple[Array, int]:
    """Log forward rows of one sequence, and the first impossible row or -1."""
    la = np.empty_like(L)
    log_start, log_A = chain.logs
    return la, int(compiled.sequence.log_space.log_forward(L, log_start, chain.transition, log_A, la))


def n_best(chain: Chain, L: Array, n: int) -> tuple[Array, Ints]:
    """Log joint probabilities (n,) and paths (n, T) of the n best paths of one sequence, best first."""
    return n_best_paths(*chain.logs, L, n)


def n_best_paths(log_start: Array, moves: Array, L: Array, n: int, inputs: Array | None = None) -> tuple[Array, Ints]:
    """What `n_best` gives, for `moves` and `inputs` as in `viterbi.with_pointers`."""
    T, K = L.shape
    paths, logs = np.empty((n, T), dtype=np.int64), np.empty(n)
    pointers = np.empty((T, K, n), dtype=np.int32)
    compiled.sequence.paths.n_best(L, log_start, moves, np.empty((2, K, n)), pointers, paths, logs, inputs)
    there = logs > -np.inf
    return logs[there], paths[there]


def sample_paths(chain: Chain, L: Array, n: int, rng: np.random.RandomState) -> Ints:
    """Paths (n, T) of one sequence, drawn from their posterior."""
    la, bad = log_forward(chain, L)
    if bad >= 0:
        raise ImpossibleSequence(0, bad)
    return drawn_back(la, chain.logs[1], n, rng)


def drawn_back(la: Array, moves: Array, n: int, rng: np.random.RandomState, inputs: Array | None = None) -> Ints:
    """Paths (n, T) of one sequence with log forward rows (T, K); `moves` and `inputs` as in `viterbi.with_pointers`."""
    paths = np.empty((n, len(la)), dtype=np.int64)
    compiled.sequence.paths.sample_back(la, moves, rng.uniform(size=paths.shape), paths, inputs)
    return paths


def path_log_prob(chain: Chain, L: Array, lengths: Ints, path: Ints) -> Array:
    """Log joint probability of each sequence and a given path."""
    log_start, log_A = chain.logs
    return joint_log_prob(log_start, log_A[path[:-1], path[1:]], L, lengths, path)


def joint_log_prob(log_start: Array, steps: Array, L: Array, lengths: Ints, path: Ints) -> Array:
    """Log joint probability of each sequence and a given path, whose steps have log probabilities (n - 1,)."""
    starts = first_rows(lengths)
    terms = L[np.arange(len(L)), path]
    steps[starts[1:] - 1] = 0.0  # no transition from one sequence to the next
    terms[1:] += steps
    terms[starts] += log_start[path[starts]]
    return np.asarray(np.add.reduceat(terms, starts))


def walk(chain: Chain, n: int, rng: np.random.RandomState, state: int | None = None) -> Ints:
    """A path of n states drawn from the chain, from a given first state if there is one."""
    path = np.empty(n, dtype=np.int64)
    start = chain.start if state is None else chain.entered(state)
    compiled.sequence.paths.walk(_cdf(start), _cdf(chain.transition), rng.uniform(size=n), path)
    return path


def _cdf(p: Array) -> Array:
    steps = np.cumsum(p, axis=-1)
    return np.asarray(steps / steps[..., -1:])


def stationary(transition: Array) -> Array:
    """Distribution that the transitions leave as it is; zero for states that are left for good.

    By elimination without subtractions (Grassmann, Taksar and Heyman), which keeps all digits however rare some
    transitions are. The diagonal is not read.

    Examples
    --------
    >>> stationary(np.array([[0.9, 0.1], [0.3, 0.7]]))
    array([0.75, 0.25])
    """
    inside = closed_class(transition)
    A = np.array(transition[np.ix_(inside, inside)], dtype=np.float64)
    for k in range(len(A) - 1, 0, -1):
        A[:k, k] /= A[k, :k].sum()
        A[:k, :k] += np.outer(A[:k, k], A[k, :k])
    weights = np.ones(len(A))
    for k in range(1, len(A)):
        weights[k] = weights[:k] @ A[:k, k]
        weights[: k + 1] /= weights[: k + 1].max()  # ratios of shares may be beyond all numbers
    found = np.zeros(len(transition))
    found[inside] = weights / weights.sum()
    return found


def closed_class(transition: Array) -> Ints:
    """States that are never left for good; an error if they fall into several classes."""
    step = transition > 0
    if step.all():
        return np.arange(len(step))
    n, label = connected_components(step, directed=True, connection="strong")
    outward = step & (label[:, None] != label)
    closed = np.setdiff1d(np.arange(n), label[outward.any(axis=1)])
    if len(closed) > 1:
        raise ValueError(
            "the chain has several closed classes of states, so that it has no single stationary distribution"
        )
    return np.flatnonzero(label == closed[0])
