"""How clear a line, or one or two breaks, would be in simulated series that have the memory of this one and neither."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter
from scipy.stats import norm

Values = NDArray[np.float64]
Places = NDArray[np.int64]
Kind = Literal["line", "level", "trend"]

_SHARE: Final = 0.1  # of the series, between two breaks, and at either end, where no step is looked for
_SHARE_OF_BENDS: Final = 0.05  # at either end, where no bend is looked for
_SERIES: Final = 300
# a weight, how much of a value, and of the step to it, comes again: random walks are twice as probable as all else
_PROCESSES: Final = (
    *((1.0, r, 0.0) for r in (-0.6, -0.3, 0.0, 0.3, 0.5, 0.7, 0.85, 0.93, 0.97, 0.995)),
    (20.0, 1.0, 0.0),
    (8.0, 1.0, 0.5),
)
_MEMORIES: Final = (-0.6, -0.3, 0.0, 0.3, 0.5, 0.7, 0.85, 0.93, 0.97, 0.995, 1.0)
_PLACES_OF_TWO: Final = 48  # places of which every two are tried
_STEP: Final = 1.1  # from one length of simulated series to the next


@dataclass(frozen=True)
class Sought:
    """What is looked for in a series.

    Attributes
    ----------
    n
        Length of the series.
    kind
        A line, steps of the level, or bends of a line.
    count
        How many at once, 1 or 2.
    rises
        Whether they are looked for beside a line.
    known
        Kind and place of what was found before.
    """

    n: int
    kind: Kind
    count: int = 1
    rises: bool = False
    known: tuple[tuple[Kind, int], ...] = ()


@dataclass(frozen=True, eq=False)
class _Regressors:
    """An orthonormal base, what each place adds to it, and the places that are tried together."""

    base: Values
    added: Values  # (places, n)
    gram: Values
    tried: Places  # (tries, count) rows of `added`
    places: Places


def clearest(x: Values, sought: Sought) -> tuple[Places, float]:
    """Find where what is sought is clearest, and how often chance brings as much in series with as much memory.

    Parameters
    ----------
    x
        (n,) values at even steps.
    sought
        What to look for.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=100) + 3 * (np.arange(100) >= 40)
    >>> places, p = clearest(x, Sought(100, "level"))
    >>> places.tolist(), p < 1e-6
    ([40], True)
    """
    clear, places, memory = _clearest(x[None], _regressors(sought))
    usual = _chance(_rounded(sought))
    return places[0], _p(float(np.log(max(float(clear[0]), 1e-300))), float(memory[0]), usual, sought.kind)


def _p(clear: float, memory: float, usual: Values, kind: Kind) -> float:
    """P-value over all memories that the series may have, each weighed by how well it explains what is seen of it."""
    prior, mean, spread, clearness, slope, scale = usual.T
    log_weight = np.log(prior) + norm.logpdf(memory, mean, spread)
    weight = np.exp(log_weight - log_weight.max())
    above = clear - clearness - slope * (memory - mean)
    tails = 2 * norm.sf(np.exp(above / 2)) if kind == "line" else norm.sf(above / scale)
    return float(weight @ tails / weight.sum())


def regressor(n: int, kind: Kind, place: int) -> Values:
    """(n,) a line, a step at a place, or a bend of a line there.

    Examples
    --------
    >>> regressor(5, "level", 2), regressor(5, "trend", 2)
    (array([0., 0., 1., 1., 1.]), array([0., 0., 0., 1., 2.]))
    """
    after = np.arange(n, dtype=np.float64) - place
    if kind == "line":
        return np.asarray(after / n)
    return np.asarray(after >= 0, dtype=np.float64) if kind == "level" else np.maximum(after, 0.0)


def base(sought: Sought) -> Values:
    """(n, columns) a constant, a line beside it, and what was found before."""
    line: tuple[tuple[Kind, int], ...] = (("line", 0),) if sought.rises else ()
    columns = [regressor(sought.n, kind, place) for kind, place in line + sought.known]
    return np.column_stack([np.ones(sought.n), *columns])


def _rounded(sought: Sought) -> Sought:
    """What is much the same by chance, so that simulations serve for many series."""
    n = round(_STEP ** round(np.log(sought.n) / np.log(_STEP)))
    known = sorted((kind, round(20 * place / sought.n) * n // 20) for kind, place in sought.known)
    return replace(sought, n=n, known=tuple(known))


@lru_cache(maxsize=256)
def _chance(sought: Sought) -> Values:
    """What simulated series without anything show, for each memory.

    Its prior, mean and spread of the memory seen once the clearest is taken out, and how clear that is: mean, slope
    along the memory seen, and spread about that. Taking out a break takes out memory too, the more the clearer it is.
    """
    rng, regressors, made = np.random.default_rng(0), _regressors(sought), []
    for prior, r, again in _PROCESSES:
        noise = rng.standard_normal((_SERIES, sought.n))
        noise[:, 1:] *= np.sqrt(1 - r * r) or 1.0
        series = lfilter([1.0], np.convolve([1.0, -r], [1.0, -again]), noise, axis=1)
        clear, _, seen = _clearest(series, regressors)
        made.append([prior, seen.mean(), seen.std(), *_clearness(np.log(clear), seen - seen.mean(), sought.kind)])
    return np.array(made)


def _clearness(y: Values, x: Values, kind: Kind) -> tuple[float, float, float]:
    """Mean (of a line, whose squared t value it is, in its own scale), slope along the memory seen, and spread."""
    high = y > np.median(y)  # what is hardly there says little of what is clear
    slope = float(np.polyfit(x[high], y[high], 1)[0])
    left = y - slope * x
    mean = float(np.log(np.exp(left).mean())) if kind == "line" else float(left.mean())
    return mean, slope, float(left.std())


@lru_cache(maxsize=32)
def _regressors(sought: Sought) -> _Regressors:
    n, edge = sought.n, max(5, round((_SHARE if sought.kind == "level" else _SHARE_OF_BENDS) * sought.n))
    least = max(5, round(_SHARE * n))
    places = np.array([0]) if sought.kind == "line" else np.arange(edge, n - edge)
    if sought.count == 2:
        places = np.unique(np.linspace(edge, n - edge - 1, min(_PLACES_OF_TWO, len(places))).round().astype(int))
    apart = [min((abs(place - other) for _, other in sought.known), default=n) for place in places]
    places = places[np.array(apart) >= least]
    q = np.linalg.qr(base(sought))[0]
    added = np.array([regressor(n, sought.kind, int(place)) for place in places]).reshape(-1, n)
    added -= (added @ q) @ q.T
    first, second = np.triu_indices(len(places), 1)
    far = places[second] - places[first] >= least
    tried = np.arange(len(places))[:, None] if sought.count == 1 else np.column_stack([first[far], second[far]])
    return _Regressors(q, added, added @ added.T, tried, places)


def _clearest(x: Values, given: _Regressors) -> tuple[Values, Places, Values]:
    """Of each series: how clear its clearest try is, at which places, and the memory of what it leaves."""
    left = x - (x @ given.base) @ given.base.T
    along = left @ given.added.T
    fall = _falls(along, given)
    best, total, every = fall.argmax(axis=1), (left**2).sum(axis=1), np.arange(len(x))
    most = fall[every, best]
    clear = most / np.maximum(total - most, 1e-12 * np.maximum(total, 1e-300))
    tried = given.tried[best]  # (series, count)
    gram = given.gram[tried[:, :, None], tried[:, None, :]]
    sizes = np.einsum("sij,sj->si", np.linalg.pinv(gram, hermitian=True), along[every[:, None], tried])
    rest = left - np.einsum("si,sin->sn", sizes, given.added[tried])
    memory = (rest[:, 1:] * rest[:, :-1]).sum(axis=1) / np.maximum((rest**2).sum(axis=1), 1e-300)
    return clear, given.places[tried], memory


def _falls(along: Values, given: _Regressors) -> Values:
    """(series, tries) by how much each try lowers the residual sum of squares."""
    size = np.maximum(given.gram.diagonal(), 1e-12)
    if given.tried.shape[1] == 1:
        return np.asarray(along**2 / size)
    i, j = given.tried.T
    both = given.gram[i, j]
    room = np.maximum(size[i] * size[j] - both**2, 1e-9 * size[i] * size[j])
    a, b = along[:, i], along[:, j]
    return np.asarray((a * a * size[j] + b * b * size[i] - 2 * a * b * both) / room)
