"""Posteriors by sampling: places to start from, the run, the evidence, and warnings where they are due."""

import warnings

import numpy as np
from scipy import stats
from scipy.special import logsumexp

from latently.infer.factors import Floats
from latently.infer.posterior.budget import Limits, Metered
from latently.infer.posterior.chains import Chains
from latently.infer.posterior.ensemble import run, walkers_for
from latently.infer.posterior.grid import PosteriorWarning
from latently.infer.posterior.methods import Result
from latently.infer.posterior.optimise import modes, summit
from latently.infer.posterior.summaries import Empirical
from latently.infer.posterior.target import Target
from latently.learn.engine.progress import drawn

_SHARE = 0.9  # of the budget for the walkers; the rest is for the evidence and the modes
_FRESH = 20_000  # the most draws from the proposal of the bridge


def sampled(target: Target, start: Floats | None, rng: np.random.Generator, limits: Limits) -> Result:
    """Run the sampler, and summarise its draws."""
    meter = Metered(target, limits.max_evaluations)
    chains = _chains(target, meter, start, rng, limits)
    draws = chains.flat()
    scale = draws.std(axis=0)
    log_evidence = bridge(meter, chains, rng)
    hills = modes(meter, _spread(chains), scale, target.prior.bounds, meter.left)
    _warn(target, chains, meter, limits)
    _warn_of_modes(hills)
    best = draws[int(np.argmax(chains.log_density.ravel()))] if not hills else hills[0][0]
    return Result(
        "sample",
        draws.mean(axis=0),
        lambda: summit(target, best, scale, target.prior.bounds),
        np.cov(draws, rowvar=False).reshape(target.d, target.d),
        [Empirical(column) for column in draws.T],
        log_evidence,
        lambda n, r: draws[r.integers(len(draws), size=n)],
        lambda f: float(np.mean(f(draws))),
        {
            "r_hat": chains.r_hat,
            "r_hat_walkers": chains.r_hat_walkers,
            "r_hat_worst": chains.r_hat_each.max(axis=0),
            "ess_bulk": chains.ess_bulk,
            "ess_tail": chains.ess_tail,
            "converged": chains.converged,
            "evaluations": meter.used,
            "modes": [place.tolist() for place, _ in hills],
            "chains": chains,
        },
    )


def _chains(target: Target, meter: Metered, start: Floats | None, rng: np.random.Generator, limits: Limits) -> Chains:
    """Run the walkers, with a bar if somebody is looking."""
    with drawn("posterior", limits.max_evaluations, limits.verbose) as draw:

        def look(note: str) -> None:
            if draw is not None:
                draw(meter.used, note)

        walkers = _start(target, meter, start, rng)
        steps, worth = limits.max_steps, limits.n_samples
        return run(meter, walkers, rng, target=worth, max_steps=steps, share=_SHARE, look=look)


def _start(target: Target, meter: Metered, start: Floats | None, rng: np.random.Generator) -> Floats:
    """Give walkers of positive density: from the prior, the better ones more often, but never only the best."""
    n = walkers_for(target.d)
    size = int(np.clip(meter.limit // 20, 4 * n, 40 * n))
    if start is not None:
        pool = np.atleast_2d(np.asarray(start, dtype=np.float64))
        if pool.shape[1] != target.d or not np.all(np.isfinite(pool)):
            raise ValueError(f"start needs rows of {target.d} finite numbers, got shape {pool.shape}")
        spread = pool.std(axis=0) if len(pool) > 1 else np.maximum(np.abs(pool[0]), 1.0)
        pool = pool[rng.integers(len(pool), size=size)] + 0.3 * spread * rng.normal(size=(size, target.d))
    else:
        drawn_ = target.prior.sample(size, rng)
        if drawn_ is None:
            raise ValueError("a flat prior without bounds cannot be sampled from: give start=, a guess per parameter")
        pool = drawn_
    return _chosen(pool, meter(pool), n, rng)


def _chosen(pool: Floats, logs: Floats, n: int, rng: np.random.Generator) -> Floats:
    """Choose n different places by their density, flattened until no fewer than n of them share the weight."""
    pool, logs = pool[np.isfinite(logs)], logs[np.isfinite(logs)]
    if len(pool) < n:
        raise ValueError("the posterior is zero almost everywhere it was evaluated: give start= or a closer prior")
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
    return np.asarray(last[np.linspace(0, len(last) - 1, 8).astype(int)])


def _warn(target: Target, chains: Chains, meter: Metered, limits: Limits) -> None:
    """Say what was not reached, what was, and what to do."""
    if chains.converged and chains.worth >= limits.n_samples:
        return
    spent = meter.left(_SHARE) <= 0
    used = f"{meter.used} evaluations of the log density, max_evaluations={limits.max_evaluations}"
    why = f"the budget is spent ({used})" if spent else f"max_steps={limits.max_steps} is reached"
    more = "raise max_evaluations" if spent else "raise max_steps"
    reached = (
        f"R-hat {chains.r_hat.max():.3f} between ensembles (1.01 is good), {chains.r_hat_walkers.max():.2f} between "
        f"walkers (1.1 is good); effective sample size {chains.worth:.0f} of {limits.n_samples}"
    )
    if chains.converged:
        text = f"{why}: the chains agree, but there are fewer draws than asked for. {reached}; {more} for more"
    else:
        worst = target.prior.names[int(np.argmax(chains.r_hat_walkers))]
        lost = f"; {int(chains.strays.sum())} walkers stay away from the others" if chains.strays.any() else ""
        text = (
            f"{why} and the chains do not agree, least in {worst!r}: do not trust the summaries. {reached}{lost}; "
            f"{more}, reparametrise (a scale by its logarithm, effects in units of their scale), or give start="
        )
    warnings.warn(text, PosteriorWarning, stacklevel=6)


def _warn_of_modes(hills: list[tuple[Floats, float]]) -> None:
    if len(hills) > 1:
        places = "; ".join(", ".join(f"{v:.4g}" for v in place) for place, _ in hills[:4])
        warnings.warn(
            f"the posterior has {len(hills)} modes or more, at {places}: its mean and variance describe none of "
            "them, and their weights are only as good as the walkers' moves between them",
            PosteriorWarning,
            stacklevel=6,
        )


def bridge(target: Metered, chains: Chains, rng: np.random.Generator) -> float:
    """Give the log evidence by bridge sampling (Meng and Wong 1996), from a Student t fitted to half the draws."""
    half, d = chains.draws.shape[1] // 2, chains.draws.shape[2]
    first, second = (c.reshape(-1, d) for c in (chains.draws[:, :half], chains.draws[:, half:]))
    shape = np.cov(first, rowvar=False).reshape(d, d)
    proposal = stats.multivariate_t(first.mean(axis=0), shape, df=5)
    fresh = np.asarray(proposal.rvs(min(len(second), _FRESH), random_state=rng)).reshape(-1, d)
    here = chains.log_density[:, half:].ravel() - np.atleast_1d(proposal.logpdf(second))
    there = target(fresh) - np.atleast_1d(proposal.logpdf(fresh))
    # draws that hang together count for what they are worth: as many as they are, they would outweigh the fresh ones
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
