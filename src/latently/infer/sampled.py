"""Posteriors by sampling: places to start from, the run, the evidence, and warnings where they are due."""

import warnings

import numpy as np
from scipy import stats
from scipy.special import logsumexp

from latently.infer.ensemble import Chains, run, walkers_for
from latently.infer.factors import Floats
from latently.infer.grid import PosteriorWarning
from latently.infer.methods import Result
from latently.infer.optimise import climb, modes
from latently.infer.summaries import Empirical
from latently.infer.target import Target


def sampled(target: Target, start: Floats | None, rng: np.random.Generator, n_samples: int, max_steps: int) -> Result:
    """Run the sampler, and summarise its draws."""
    walkers = _start(target, start, rng)
    chains = run(target, walkers, rng, target=n_samples, max_steps=max_steps)
    draws = chains.flat()
    scale = draws.std(axis=0)
    hills = modes(target, _spread(chains), scale, target.prior.bounds)
    _warn(target, chains, hills)
    best = draws[int(np.argmax(chains.log_density.ravel()))]
    top, _ = climb(target, best, scale, target.prior.bounds)
    return Result(
        "sample",
        draws.mean(axis=0),
        top if not hills or target(top[None])[0] >= hills[0][1] else hills[0][0],
        np.cov(draws, rowvar=False).reshape(target.d, target.d),
        [Empirical(column) for column in draws.T],
        bridge(target, chains, rng),
        lambda n, r: draws[r.integers(len(draws), size=n)],
        lambda f: float(np.mean(f(draws))),
        {
            "r_hat": chains.r_hat,
            "r_hat_walkers": chains.r_hat_walkers,
            "ess_bulk": chains.ess_bulk,
            "ess_tail": chains.ess_tail,
            "converged": chains.converged,
            "modes": [place.tolist() for place, _ in hills],
            "chains": chains,
        },
    )


def _start(target: Target, start: Floats | None, rng: np.random.Generator) -> Floats:
    """Give walkers of positive density: from the prior, the better ones more often, but never only the best."""
    n = walkers_for(target.d)
    if start is not None:
        pool = np.atleast_2d(np.asarray(start, dtype=np.float64))
        if pool.shape[1] != target.d or not np.all(np.isfinite(pool)):
            raise ValueError(f"start needs rows of {target.d} finite numbers, got shape {pool.shape}")
        spread = pool.std(axis=0) if len(pool) > 1 else np.maximum(np.abs(pool[0]), 1.0)
        pool = pool[rng.integers(len(pool), size=20 * n)] + 0.3 * spread * rng.normal(size=(20 * n, target.d))
    else:
        drawn = target.prior.sample(40 * n, rng)
        if drawn is None:
            raise ValueError("a flat prior without bounds cannot be sampled from: give start=, a guess per parameter")
        pool = drawn
    logs = target(pool)
    pool, logs = pool[np.isfinite(logs)], logs[np.isfinite(logs)]
    if len(pool) < n:
        raise ValueError("the posterior is zero almost everywhere it was looked for: give start= or a closer prior")
    # flatten the density until no fewer than n places share the weight, then draw without repeats
    power = 1.0
    while _share(power * logs) < n:
        power *= 0.7
    keys = power * (logs - logs.max()) + rng.gumbel(size=len(logs))
    return pool[np.argsort(-keys)[:n]]


def _share(logs: Floats) -> float:
    """Give how many places the weights are worth."""
    weights = np.exp(logs - logs.max())
    return float(weights.sum() ** 2 / (weights**2).sum())


def _spread(chains: Chains) -> Floats:
    """Give the last places of some walkers, one for every so many."""
    last = chains.draws[:, -1]
    return last[np.linspace(0, len(last) - 1, 8).astype(int)]


def _warn(target: Target, chains: Chains, hills: list[tuple[Floats, float]]) -> None:
    if not chains.converged:
        names, worst = target.prior.names, int(np.argmax(chains.r_hat_walkers))
        warnings.warn(
            f"the chains do not agree (R-hat {chains.r_hat.max():.3f}, of single walkers "
            f"{chains.r_hat_walkers.max():.2f} for {names[worst]!r}; effective sample size "
            f"{min(chains.ess_bulk.min(), chains.ess_tail.min()):.0f}): do not trust the summaries; look at "
            "several modes, reparametrise, or raise max_steps",
            PosteriorWarning,
            stacklevel=5,
        )
    if len(hills) > 1:
        places = "; ".join(", ".join(f"{v:.4g}" for v in place) for place, _ in hills[:4])
        warnings.warn(
            f"the posterior has {len(hills)} modes or more, at {places}: its mean and variance describe none of "
            "them, and their weights are only as good as the walkers' moves between them",
            PosteriorWarning,
            stacklevel=5,
        )


def bridge(target: Target, chains: Chains, rng: np.random.Generator) -> float:
    """Give the log evidence by bridge sampling (Meng and Wong 1996), from a Student t fitted to half the draws."""
    half = chains.draws.shape[1] // 2
    first, second = (c.reshape(-1, target.d) for c in (chains.draws[:, :half], chains.draws[:, half:]))
    shape = np.cov(first, rowvar=False).reshape(target.d, target.d)
    proposal = stats.multivariate_t(first.mean(axis=0), shape, df=5)
    fresh = np.asarray(proposal.rvs(len(second), random_state=rng)).reshape(-1, target.d)
    here = chains.log_density[:, half:].ravel() - np.atleast_1d(proposal.logpdf(second))
    there = target(fresh) - np.atleast_1d(proposal.logpdf(fresh))
    worth = float(min(chains.ess_bulk.min(), len(second))) / 2
    return _meng_wong(here, there, np.log(worth), np.log(len(fresh)))


def _meng_wong(here: Floats, there: Floats, log_n1: float, log_n2: float) -> float:
    """Iterate log r = log mean(there / (n1 there + n2 r)) - log mean(1 / (n1 here + n2 r))."""
    r = float(np.median(here))
    for _ in range(1000):
        top = logsumexp(there - np.logaddexp(log_n1 + there, log_n2 + r)) - np.log(len(there))
        bottom = logsumexp(-np.logaddexp(log_n1 + here, log_n2 + r)) - np.log(len(here))
        last, r = r, float(top - bottom)
        if abs(r - last) < 1e-10:
            break
    return r
