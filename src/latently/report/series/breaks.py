"""Breaks of a series: a change of level, of trend or of variance at one moment, told from what memory alone does.

The largest fall of the residual sum of squares by a step, or by a bend of the line, over all moments is compared with
the same in simulated series that have the memory of this one and no break.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter
from scipy.special import kolmogorov
from scipy.stats import norm

from latently.report.study.rows.order import inflation_of_mean, innovations

Values = NDArray[np.float64]
Kind = Literal["level", "trend", "variance"]

ALARM: Final = 0.001
_LEAST: Final = 30
_SHARE: Final = 0.1  # of the series, at either end, where no break is looked for
_CAUTION: Final = 2.0  # standard errors by which memory is taken to be more than it seems
_SERIES: Final = 150
_MEMORIES: Final = (0.0, 0.3, 0.5, 0.7, 0.85, 0.93, 0.97, 0.995, 1.0)
_MOST: Final = 400  # places that are looked at; longer series are averaged over stretches


@dataclass(frozen=True)
class Break:
    """One break.

    Attributes
    ----------
    kind
        What changes.
    at
        The first place after it.
    before, after
        Level, growth for each step, or standard deviation.
    p
        Chance of as clear a break in a series with the same memory and none.
    """

    kind: Kind
    at: int
    before: float
    after: float
    p: float


def breaks(y: Values, *, rises: bool) -> list[Break]:
    """Find the clearest break of level or trend, and of variance, beyond chance.

    Parameters
    ----------
    y
        (n,) values at even steps without season, none of them missing.
    rises
        Whether the series has a trend: breaks are then looked for beside a line.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=100) + 3 * (np.arange(100) >= 40)
    >>> [(found.kind, found.at) for found in breaks(y, rises=False)]
    [('level', 40)]
    """
    if len(y) < _LEAST or not np.ptp(y) > 0:
        return []
    width = -(-len(y) // _MOST)
    x = y[: len(y) // width * width].reshape(-1, width).mean(axis=1)
    base = np.vander(np.linspace(-1, 1, len(x)), 2 if rises else 1)
    kinds: list[Kind] = ["level", "trend"] if rises else ["level"]
    found = [_tested(x, base, kind) for kind in kinds]
    clear = min((b for b in found if b.p * len(found) < ALARM), key=lambda b: b.p, default=None)
    clear = None if clear is not None and _is_curve(x, clear, rises) else clear
    mean = [] if clear is None else [_told(y, clear, min(clear.at * width, len(y) - 1), rises)]
    varied = _variance(_left(y, mean[0] if mean else None, rises))
    return mean + ([varied] if varied is not None else [])


def _is_curve(x: Values, found: Break, rises: bool) -> bool:
    """Whether a curve with as many parameters leaves as little as the break: then nothing happened at one moment."""
    smooth = np.vander(np.linspace(-1, 1, len(x)), 4 if rises else 3)
    left = x - smooth @ np.linalg.lstsq(smooth, x, rcond=None)[0]
    rest = _left(x, found, rises)
    return float(left @ left) <= float(rest @ rest)


def _inside(n: int) -> slice:
    edge = max(5, round(_SHARE * n))
    return slice(edge, n - edge)


def _columns(n: int, kind: Kind) -> Values:
    """(places, n) a step at each place, or a bend of the line there."""
    t = np.arange(n)
    after = t - t[:, None]
    return np.asarray((after >= 0) if kind == "level" else np.maximum(after, 0), dtype=np.float64)


def _tested(x: Values, base: Values, kind: Kind) -> Break:
    """The clearest break of a kind, with its p-value by series with the same memory."""
    n, rises = len(x), base.shape[1] > 1
    clear, place, r = _clearest(x[None], *_projected(n, kind, rises))
    usual = _chance(n, kind, rises)
    cautious = float(r[0] + _CAUTION * np.sqrt(max(1 - r[0] ** 2, 0.0) / n))
    at = float(np.interp(cautious, usual[:, 0], np.arange(len(usual))))
    mean, scale = (float(np.interp(at, np.arange(len(usual)), usual[:, j])) for j in (1, 2))
    p = float(norm.sf(np.log(max(float(clear[0]), 1e-300)), mean, scale))
    return Break(kind, int(place[0]) + (_inside(n).start or 0), 0.0, 0.0, p)


@lru_cache(maxsize=32)
def _chance(n: int, kind: Kind, rises: bool) -> Values:
    """Of simulated series without a break: the memory they show once their clearest is taken out, and how clear it is.

    Taking out a break takes out memory too; a series is compared with those that show as much afterwards.
    """
    rng, (q, Z, size), made = np.random.default_rng(0), _projected(n, kind, rises), []
    for r in _MEMORIES:
        noise = rng.standard_normal((_SERIES, n))
        noise[:, 1:] *= np.sqrt(1 - r * r) or 1.0
        clear, _, left = _clearest(lfilter([1.0], [1.0, -r], noise, axis=1), q, Z, size)
        made.append([float(np.median(left)), float(np.log(clear).mean()), float(np.log(clear).std())])
    found = np.array(made)
    found[:, 0] = np.maximum.accumulate(found[:, 0])
    return found


@lru_cache(maxsize=32)
def _projected(n: int, kind: Kind, rises: bool) -> tuple[Values, Values, Values]:
    """Base, breaks at all places less what the base explains, and their sums of squares."""
    q = np.linalg.qr(np.vander(np.linspace(-1, 1, n), 2 if rises else 1))[0]
    Z = _columns(n, kind)[_inside(n)]
    Z = Z - (Z @ q) @ q.T
    return q, Z, np.maximum((Z**2).sum(axis=1), 1e-12)


def _clearest(x: Values, q: Values, Z: Values, size: Values) -> tuple[Values, NDArray[np.intp], Values]:
    """Of each series: how clear its clearest break is, where it is, and the memory of what it leaves."""
    left = x - (x @ q) @ q.T
    along = left @ Z.T
    fall = along**2 / size
    total = (left**2).sum(axis=1)
    place = fall.argmax(axis=1)
    most = fall[np.arange(len(x)), place]
    clear = most / np.maximum(total - most, 1e-12 * np.maximum(total, 1e-300))
    rest = left - (along[np.arange(len(x)), place] / size[place])[:, None] * Z[place]
    r = (rest[:, 1:] * rest[:, :-1]).sum(axis=1) / np.maximum((rest**2).sum(axis=1), 1e-300)
    return clear, place, r


def _told(y: Values, found: Break, at: int, rises: bool) -> Break:
    """A break with what changes: the levels about a common line, or the growth before and after."""
    t = np.arange(len(y), dtype=np.float64)
    z = (t >= at).astype(np.float64) if found.kind == "level" else np.maximum(t - at, 0.0)
    base = np.column_stack([np.ones(len(y)), t - t.mean()][: 2 if rises else 1])
    coefs = np.linalg.lstsq(np.column_stack([base, z]), y, rcond=None)[0]
    before = float(coefs[1]) if found.kind == "trend" else float(y[:at].mean())
    return Break(found.kind, at, before, before + float(coefs[-1]), found.p)


def _left(y: Values, found: Break | None, rises: bool) -> Values:
    """What line and break leave."""
    t = np.arange(len(y), dtype=np.float64)
    parts = [np.ones(len(y))] + ([t] if rises else [])
    if found is not None:
        parts.append((t >= found.at).astype(np.float64) if found.kind == "level" else np.maximum(t - found.at, 0.0))
    base = np.column_stack(parts)
    return np.asarray(y - base @ np.linalg.lstsq(base, y, rcond=None)[0])


def _variance(left: Values) -> Break | None:
    """The clearest change of spread of what is new in each step, by the sums of its sizes (Inclan and Tiao's test)."""
    size = np.abs(innovations(left))
    n = len(size)
    if not size.std() > 0:
        return None
    sums, inside = np.cumsum(size - size.mean()) / np.sqrt(n), _inside(n)
    at = int(np.abs(sums[inside]).argmax()) + (inside.start or 0) + 1
    # spread and memory of the sizes beside the break itself, which would hide it
    rest = np.concatenate([size[:at] - size[:at].mean(), size[at:] - size[at:].mean()])
    p = float(kolmogorov(np.abs(sums[inside]).max() / (rest.std() * np.sqrt(inflation_of_mean(rest)) + 1e-300)))
    fresh = innovations(left)
    found = Break("variance", at, float(fresh[:at].std()), float(fresh[at:].std()), p)
    return found if p < ALARM and min(found.before, found.after) > 0 else None
