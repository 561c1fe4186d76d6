"""How far one distribution is from another: the Kullback-Leibler divergence, and entropy."""

from typing import Any, NamedTuple

import numpy as np
from scipy import special

from latently.distributions.base import Distribution
from latently.distributions.inputs import Array, generator

DRAWS = 20_000
"""Rows drawn where there is neither a closed form nor a sum nor a quadrature."""


class _Estimate(NamedTuple):
    value: float
    error: float


def kl_divergence(
    p: Distribution, q: Distribution, *, return_error: bool = False, random_state: Any = None
) -> float | tuple[float, float]:
    """Kullback-Leibler divergence from p to q in nats: the expectation of log p(x) - log q(x) under p.

    Never negative, zero only for equals, not symmetric, and infinite where p has probability that q has not.
    In closed form for two of one family; otherwise over independent groups of columns one by one, each by a
    sum (discrete), by quadrature (one continuous column), or by sampling.

    Parameters
    ----------
    p, q : distributions with parameters, over the same number of columns
    return_error : whether to return the error as well: 0 for closed forms, the bound of a quadrature, the
        standard error of a sampled value
    random_state : seed, used where p is sampled

    Returns
    -------
    The divergence, or the divergence and its error.

    Examples
    --------
    >>> from latently.distributions import Bernoulli, Exponential, Gaussian
    >>> kl_divergence(Bernoulli(0.5), Bernoulli(0.1))
    0.511
    >>> kl_divergence(Gaussian(0.0, 1.0), Exponential(1.0))
    inf
    """
    if p.n_columns != q.n_columns:
        raise ValueError(f"p has {p.n_columns} columns and q has {q.n_columns}")
    p._ready(), q._ready()
    found = _divergence(p, q, generator(random_state))
    value = max(found.value, 0.0)  # rounding alone can take it below
    return (value, found.error) if return_error else value


def entropy(p: Distribution) -> float:
    """Entropy of a distribution in nats; differential, so possibly negative, where it is continuous.

    Examples
    --------
    >>> from latently.distributions import Categorical
    >>> entropy(Categorical([0.25, 0.25, 0.25, 0.25]))
    1.386
    """
    return p.entropy()


def _divergence(p: Distribution, q: Distribution, rng: np.random.Generator) -> _Estimate:
    closed = p._kl(q)
    if closed is not None:
        return _Estimate(closed, 0.0)
    if p.discrete != q.discrete:
        return _Estimate(np.inf, 0.0)  # a point has no probability under a density, and points miss the rest
    groups = _joined(p.blocks, q.blocks)
    if len(groups) > 1:
        found = [_divergence(p.marginal(g), q.marginal(g), rng) for g in groups]
        return _Estimate(sum(f.value for f in found), float(np.sqrt(sum(f.error**2 for f in found))))
    atoms = p._atoms() if all(p.discrete) else None
    if atoms is not None:
        return _by_sum(p, q, atoms)
    if (p.support[0] < q.support[0]).any() or (p.support[1] > q.support[1]).any():
        return _Estimate(np.inf, 0.0)
    if p.n_columns == 1 and not p.discrete[0]:
        return _by_quadrature(p, q)
    return _by_sampling(p, q, rng)


def _joined(*partitions: tuple[tuple[int, ...], ...]) -> list[list[int]]:
    """Finest grouping of columns that both partitions agree with."""
    groups: list[set[int]] = []
    for block in (set(b) for partition in partitions for b in partition):
        touching = [g for g in groups if g & block]
        groups = [g for g in groups if not g & block] + [block.union(*touching)]
    return sorted(sorted(g) for g in groups)


def _by_sum(p: Distribution, q: Distribution, atoms: Array) -> _Estimate:
    log_p, log_q = p.log_prob(atoms), q.log_prob(atoms)
    seen = log_p > -np.inf
    if (log_q[seen] == -np.inf).any():
        return _Estimate(np.inf, 0.0)
    terms = np.exp(log_p[seen]) * (log_p[seen] - log_q[seen])
    return _Estimate(float(terms.sum()), float(np.finfo(float).eps * np.abs(terms).sum()))


def _by_quadrature(p: Distribution, q: Distribution) -> _Estimate:
    """Integrate log p - log q over the quantiles of p, from both ends to keep the tails."""
    from scipy import integrate  # here, since loading it takes long and few need it

    def gap(t: float, upper: bool) -> float:
        x = p._quantile(np.array([[special.expit(t)]]), upper)
        gradient = special.expit(t) * special.expit(-t)
        difference = p.log_prob(x) - q.log_prob(x)
        return float(np.where(np.isfinite(difference), difference, 0.0)[0] * gradient)

    parts = [integrate.quad(gap, -50.0, 0.0, args=(upper,), limit=200) for upper in (False, True)]
    return _Estimate(float(sum(value for value, _ in parts)), float(sum(error for _, error in parts)))


def _by_sampling(p: Distribution, q: Distribution, rng: np.random.Generator) -> _Estimate:
    rows = p._sample(DRAWS, rng)
    log_q = q.log_prob(rows)
    if (log_q == -np.inf).any():
        return _Estimate(np.inf, 0.0)
    gaps = p.log_prob(rows) - log_q
    return _Estimate(float(gaps.mean()), float(gaps.std(ddof=1) / np.sqrt(DRAWS)))
