"""Durations of a state: a family of distributions cut at the longest duration, and what is left rescaled to one.

A duration of d steps has the probability f(d - 1) / (f(0) + ... + f(D - 1)), for d = 1 to D: a distribution of its own,
for any family, that of a continuous one taken at whole numbers. D is `longest`.
"""

import warnings
from typing import Any

import numpy as np
from scipy import optimize, special

from latently.distributions import ColumnError, Family
from latently.distributions.unconstrained import Reader
from latently.sequence.inference.chain import Array

NOTICED = 0.05
"""Share of durations at or beyond the longest from which on a limit is said to bind."""


def _steps(n: int) -> Array:
    return np.arange(n, dtype=np.float64)[:, None]


def log_shape(part: Family, rows: Array) -> Array:
    """Log probabilities of rows, less that of the most probable of them.

    By features where there are any: what they share (the rate of a Poisson, which may be large) is never added.
    """
    found = part.log_prob(rows)
    top = int(np.argmax(found))
    if not part.has_features or not np.isfinite(found[top]):
        return found
    exponential: Any = part  # `has_features` says that it has the methods below
    features, base = exponential.features(rows), exponential.log_base(rows)
    return np.where(np.isneginf(found), -np.inf, (features - features[top]) @ exponential.natural() + base - base[top])


def log_durations(part: Family, longest: int) -> Array:
    """Log probabilities (D,) of the durations 1 to `longest`."""
    shape = log_shape(part, _steps(longest))
    if not shape.max() > -np.inf:
        raise ValueError(f"{part} gives no probability to any duration from 1 to max_duration={longest}")
    return np.asarray(shape - special.logsumexp(shape))


def mean_duration(part: Family, longest: int) -> float:
    """Expected duration, in steps."""
    return float(np.exp(log_durations(part, longest)) @ np.arange(1, longest + 1))


def uncut(part: Family, longest: int) -> Array:
    """Probabilities of the durations 1, 2, ... as they were if the longest were many times as long."""
    return np.asarray(special.softmax(log_shape(part, _steps(20 * longest + 1000))))


def share_from(part: Family, longest: int, duration: int) -> float:
    """Share of the durations that would be this long or longer, were there no longest one."""
    return float(uncut(part, longest)[duration - 1 :].sum())


def ample(part: Family, longest: int) -> int:
    """A longest duration that would leave all but one in a thousand as it is; 2 to 10 times the present one."""
    reached = int(np.searchsorted(np.cumsum(uncut(part, longest)), 0.999)) + 1
    return min(max(reached, 2 * longest), 10 * longest)  # how far beyond it they go, durations up to it hardly tell


def warn_of_limit(durations: tuple[Family, ...], longest: int, duration: int) -> None:
    """Warn if a noticeable share of some state's durations would be so long or longer, were there no longest one."""
    shares = [share_from(part, longest, duration) for part in durations]
    cut = [f"{share:.0%} of those of state {k}" for k, share in enumerate(shares) if share > NOTICED]
    if cut:
        wanted = max(ample(part, longest) for part, share in zip(durations, shares, strict=True) if share > NOTICED)
        warnings.warn(
            f"durations are cut at max_duration={longest}: without it, {', '.join(cut)} would be {duration} steps or "
            f"longer. Give a larger max_duration ({wanted}, say), unless no state can last longer",
            UserWarning,
            stacklevel=4,
        )


def trimmed(part: Family, longest: int) -> Family:
    """Leave the categories out that are longer than the longest duration: no parameter is spent on them."""
    categories: int | None = getattr(part, "n_categories", None)
    if categories is None or categories <= longest:
        return part
    return type(part)(np.exp(log_durations(part, longest)))  # type: ignore[call-arg]


def fitted(old: Family, counts: Array) -> Family:
    """Most probable parameters for expected counts (D,) of the durations 1 to D, given that none is longer.

    Never less probable than the old ones.
    """
    D, seen = len(counts), counts > 0
    old = trimmed(old, D)
    rows, weights = _steps(D)[seen], counts[seen] / counts.sum()

    def value(part: Family) -> float:
        return float(weights @ log_durations(part, D)[seen])

    try:
        plain = old.from_statistics(old.expected_statistics(rows, weights))
    except ColumnError:
        plain = old  # a spread that has come down to a point
    better = plain if value(plain) >= value(old) else old
    if better is plain and _is_whole(plain, D):
        return plain
    climbed = _climbed(better, rows, weights, D)
    return climbed if value(climbed) > value(better) else better


def _is_whole(part: Family, longest: int) -> bool:
    """Whether nothing is cut off, so that the plain fit is the best one."""
    return bool(all(part.discrete) and part.prob(_steps(longest)).sum() > 1 - 1e-13)


def _climbed(start: Family, rows: Array, weights: Array, longest: int) -> Family:
    """Go uphill in the log probability of durations that are cut; the start if there is no way to."""
    place = start.pack()
    if not np.isfinite(place).all():
        return start
    seen, every = rows[:, 0].astype(np.intp), _steps(longest)

    def part_at(x: Array) -> Any:
        return start.unpack(Reader(x))

    def loss(x: Array) -> tuple[float, Array]:
        part = part_at(x)
        logs = log_durations(part, longest)
        there = np.isfinite(logs)
        up = part.gradient(part.expected_statistics(rows, weights))
        down = part.gradient(part.expected_statistics(every[there], np.exp(logs[there])))
        return -float(weights @ logs[seen]), down - up

    reach = max(300.0, 20.0 * longest)  # logarithms or steps: what is farther away is the limit for all purposes
    found = optimize.minimize(
        loss,
        np.clip(place, -reach, reach),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-reach, reach)] * len(place),
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 200},
    )
    return part_at(found.x) if np.isfinite(found.fun) else start
