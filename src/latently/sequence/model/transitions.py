"""How the chain of a hidden Markov model is learnt: priors, fixed entries, a stationary start."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import optimize, special

from latently.distributions.probabilities import best_rows, filled_rows, n_free
from latently.sequence.inference.chain import Array, Chain, stationary

# How far from one the sum of probabilities may be.
_SUM_TO_ONE = 1e-5


def check_probabilities(name: str, values: Any, shape: tuple[int, ...]) -> Array:
    """Give probabilities of this shape, whose rows sum to one; an error names the row that does not."""
    p = np.asarray(values, dtype=np.float64)
    if p.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, not {p.shape}")
    sums = np.atleast_1d(p.sum(axis=-1))
    wrong = ~(np.abs(sums - 1.0) <= _SUM_TO_ONE)
    if wrong.any() or not p.min(initial=0.0) >= 0:
        if not np.isfinite(p).all() or (p < 0).any():
            raise ValueError(f"{name} must be finite and not negative, got {p.tolist()}")
        row = int(np.argmax(wrong))
        where = f"row {row} of {name}" if p.ndim > 1 else name
        raise ValueError(f"{where} must sum to 1, not to {sums[row]:.6g}")
    return p


def check_fixed(name: str, values: Any, shape: tuple[int, ...]) -> Array:
    """Give fixed probabilities with NaN where they are to be learnt; all NaN if there are none."""
    if values is None:
        return np.full(shape, np.nan)
    fixed = np.array(values, dtype=np.float64)
    if fixed.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, not {fixed.shape}")
    free, rows = np.isnan(fixed).any(axis=-1), np.atleast_1d(np.nansum(fixed, axis=-1))
    wrong = (rows > 1 + 1e-8) | (~np.atleast_1d(free) & (rows < 1 - 1e-8))
    if (fixed < 0).any() or wrong.any():
        row = int(np.argmax(wrong)) if wrong.any() else int(np.argwhere(fixed < 0)[0][0])
        raise ValueError(
            f"row {row} of {name} fixes probabilities that sum to {rows[row]:.6g}: they must not be negative, and "
            "sum to 1, or to less with NaN where an entry is to be learnt"
        )
    return fixed


def check_prior(name: str, values: Any, shape: tuple[int, ...]) -> Array:
    """Give the parameters of Dirichlet priors; below one there is no mode."""
    prior = np.broadcast_to(np.asarray(values, dtype=np.float64), shape)
    if not (prior >= 1).all():
        raise ValueError(f"{name} must be at least 1 (1 is flat): below 1 the posterior has no mode, got {values}")
    return prior


@dataclass(frozen=True, eq=False)
class ChainRule:
    """What is learnt of a chain, and under which prior.

    Parameters
    ----------
    start_prior, transition_prior : (K,) and (K, K) Dirichlet parameters
    start, transition : (K,) and (K, K) fixed values, NaN where they are learnt
    learn : which of "s" (start) and "t" (transitions) are learnt at all
    is_stationary : whether the start is the stationary distribution of the transitions
    """

    start_prior: Array
    transition_prior: Array
    start: Array
    transition: Array
    learn: str = "st"
    is_stationary: bool = False

    @cached_property
    def is_free(self) -> bool:
        """Whether no probability is fixed, not even by the others."""
        return not self.is_stationary and bool(np.isnan(self.start).all() and np.isnan(self.transition).all())

    @property
    def excess(self) -> tuple[Array, Array]:
        """(K,) and (K, K) numbers that the priors add to the expected counts; zero for what is not learnt."""
        return ("s" in self.learn) * (self.start_prior - 1), ("t" in self.learn) * (self.transition_prior - 1)

    def update(self, chain: Chain, first: Array, transitions: Array) -> Chain:
        """Posterior mode, given expected first states and transitions."""
        start, A = chain.start, chain.transition
        if "t" in self.learn:
            A = best_rows(transitions, self.transition_prior, A, self.transition)
        if self.is_stationary:
            if "t" in self.learn:
                A = self._stationary_update(chain.transition, A, first, transitions)
            return Chain(stationary(A), A)
        if "s" in self.learn:
            start = best_rows(first, self.start_prior, start, self.start)
        return Chain(start, A)

    def log_prior(self, chain: Chain) -> float:
        """Log density of the Dirichlet priors, up to a constant."""
        total = 0.0
        if "t" in self.learn:
            total += _log_dirichlet(self.transition_prior, chain.transition)
        return total + self.log_start_prior(chain.start)

    def log_start_prior(self, start: Array) -> float:
        """Log density of the prior of the start alone."""
        if "s" not in self.learn or self.is_stationary:
            return 0.0
        return _log_dirichlet(self.start_prior, start)

    def n_parameters(self) -> int:
        """Free probabilities: those that are not fixed, and one less for each sum that is given."""
        is_start_learnt = "s" in self.learn and not self.is_stationary
        return is_start_learnt * n_free(self.start) + ("t" in self.learn) * n_free(self.transition)

    def _stationary_update(self, old: Array, closed: Array, first: Array, transitions: Array) -> Array:
        """Transitions that are best when they also have to explain the first states."""
        counts = np.maximum(transitions + (self.transition_prior - 1), 0.0)
        free = np.isnan(self.transition)

        def unpack(x: Array) -> Array:
            z = np.full(old.shape, -np.inf)
            z[free] = x
            mass = 1 - np.where(free, 0.0, np.nan_to_num(self.transition)).sum(axis=1)
            with np.errstate(invalid="ignore"):
                rows = np.nan_to_num(special.softmax(z, axis=1)) * mass[:, None]
            return np.where(free, rows, np.nan_to_num(self.transition))

        def loss(x: Array) -> tuple[float, Array]:
            A = unpack(x)
            value, gradient = _with_start(A, first, counts)
            share = A / np.maximum(np.where(free, A, 0.0).sum(axis=1, keepdims=True), 1e-300)
            inner = np.where(free, gradient * A, 0.0)
            return -value, -(inner - share * inner.sum(axis=1, keepdims=True))[free]

        with np.errstate(divide="ignore"):
            starts = [np.log(np.maximum(A, 1e-12))[free] for A in (closed, old)]
        tries = [old] + [unpack(optimize.minimize(loss, x, jac=True, method="L-BFGS-B").x) for x in starts]
        values = [_with_start(A, first, counts)[0] for A in tries]
        return tries[int(np.argmax(values))]


def _log_dirichlet(prior: Array, p: Array) -> float:
    if (prior == 1).all():
        return 0.0
    return float(special.xlogy(prior - 1, np.where(p > 0, p, 1.0)).sum())


def _with_start(A: Array, first: Array, counts: Array) -> tuple[float, Array]:
    """Expected log probability of transitions and stationary first states, and its gradient in A."""
    pi = stationary(A)
    value = special.xlogy(counts, A).sum() + special.xlogy(first, pi).sum()
    fundamental = np.linalg.inv(np.eye(len(A)) - A + pi)
    ratio = np.divide(first, pi, out=np.zeros_like(pi), where=pi > 0)
    gradient = np.divide(counts, A, out=np.zeros_like(A), where=A > 0)
    return float(value), gradient + np.outer(pi, fundamental @ ratio)


def random_chain(K: int, rule: ChainRule, rng: np.random.RandomState) -> Chain:
    """A chain that tends to stay where it is, a little different each time, with what is fixed at its value."""
    start, A = rng.dirichlet(np.full(K, 10.0)), rng.dirichlet(np.full(K, 5.0), size=K) + np.eye(K)
    return Chain(filled_rows(start, rule.start), filled_rows(A, rule.transition))
