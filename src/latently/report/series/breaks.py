"""Breaks of a series: changes of level, of trend or of variance at one moment, told from what memory alone does.

They are found one after the other, each beside those found before; two at once, where neither is clear alone.
"""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import kolmogorov

from latently.report.series.chance import Kind as OfMean
from latently.report.series.chance import Sought, base, clearest, regressor
from latently.report.series.rising import TREND_ALARM
from latently.report.study.rows.order import inflation_of_mean, innovations

Values = NDArray[np.float64]
Kind = Literal["level", "trend", "variance"]

ALARM: Final = 0.001  # of all that is tried at a time for a break of level or trend
_ALARM_OF_VARIANCE: Final = 0.001
_TIMES: Final = 1.25  # ratio of standard deviations that is worth telling
_LEAST: Final = 30
_MOST_BREAKS: Final = 3
_MOST: Final = 400  # places that are looked at; longer series are averaged over stretches
_NEAR: Final = 40  # a break is looked for more closely within so large a part of the series


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
    strength
        Share of the variance that nothing but this break explains; of a variance 1 less the smaller ratio.
    """

    kind: Kind
    at: int
    before: float
    after: float
    p: float
    strength: float


@dataclass(frozen=True)
class Breaks:
    """The breaks of a series.

    Attributes
    ----------
    found
        Those of level or trend in the order of time, then that of variance.
    rises
        Whether the series has a trend beside them; what steps explain is none.
    """

    found: list[Break]
    rises: bool


def breaks(y: Values, *, rises: bool, tests: float = 1.0) -> Breaks:
    """Find breaks of level or trend, and of variance, beyond chance.

    Parameters
    ----------
    y
        (n,) values at even steps without season, none of them missing.
    rises
        Whether the series has a trend: breaks are then looked for beside a line.
    tests
        By how much p-values are raised, since other series are looked at too.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=100) + 3 * (np.arange(100) >= 40)
    >>> [(found.kind, found.at) for found in breaks(y, rises=False).found]
    [('level', 40)]
    """
    if len(y) < _LEAST or not np.ptp(y) > 0:
        return Breaks([], rises)
    width = -(-len(y) // _MOST)
    x = y[: len(y) // width * width].reshape(-1, width).mean(axis=1)
    found = _one_by_one(x, rises, tests)
    if rises and found.known and not _still_rises(x, found):
        without = _one_by_one(x, False, tests)
        found, rises = (without, False) if without.known else (found, rises)
    found = _closer(y, _Found(len(y), rises, tuple((k, at * width) for k, at in found.known), found.p), width)
    varied = _variance(_left(y, found), tests)
    return Breaks(_told(y, found) + ([varied] if varied is not None else []), rises)


@dataclass(frozen=True)
class _Found:
    """Breaks of level or trend, with the p-value of each."""

    n: int
    rises: bool
    known: tuple[tuple[OfMean, int], ...] = ()
    p: tuple[float, ...] = ()

    def base(self) -> Values:
        """A constant, a line if there is a trend or a bend of it, and the breaks."""
        bent = any(kind == "trend" for kind, _ in self.known)
        return base(Sought(self.n, "level", rises=self.rises or bent, known=self.known))


def _one_by_one(x: Values, rises: bool, tests: float) -> _Found:
    found = _Found(len(x), rises)
    while len(found.known) < _MOST_BREAKS:
        more = _next(x, found, tests)
        if more is None:
            break
        found = _closer(x, more, max(len(x) // _NEAR, 1))
    return _Found(len(x), rises) if _is_curve(x, found) else found


def _next(x: Values, found: _Found, tests: float) -> _Found | None:
    """With the clearest break besides, or two that are clearer than that one twice; None if chance explains them."""
    room = min(_MOST_BREAKS - len(found.known), 2)
    tried = (_clearest(x, found, count, tests) for count in range(1, room + 1))
    clear = [each for each in tried if each is not None]
    if not clear:
        return None
    one, two = clear[0], clear[-1]
    return two if two.p[-1] < one.p[-1] ** 2 else one


def _clearest(x: Values, found: _Found, count: int, tests: float) -> _Found | None:
    """With so many steps or bends at once; bends of a line also where the series as a whole has no trend."""
    ways: set[tuple[OfMean, bool]] = {("level", found.rises), ("trend", found.rises), ("trend", True)}
    tried = [(kind, rises, *clearest(x, Sought(len(x), kind, count, rises, found.known))) for kind, rises in ways]
    kind, rises, places, p = min(tried, key=lambda each: each[3])
    if p * 2 * len(ways) * tests >= ALARM:
        return None
    more: tuple[tuple[OfMean, int], ...] = tuple((kind, int(place)) for place in places)
    return _Found(found.n, rises, found.known + more, found.p + (p,) * count)


def _closer(y: Values, found: _Found, width: int) -> _Found:
    """Each break at the place within so many steps where the least is left beside the others."""
    if width < 2 and len(found.known) < 2:
        return found
    known = list(found.known)
    for j, (kind, at) in enumerate(found.known):
        others = _Found(found.n, found.rises, (*known[:j], *known[j + 1 :]))
        places = range(max(at - width, 1), min(at + width + 1, found.n - 1))
        q = np.linalg.qr(others.base())[0]
        rest = y - q @ (q.T @ y)
        added = np.array([regressor(found.n, kind, place) for place in places])
        added -= (added @ q) @ q.T
        fall = (added @ rest) ** 2 / np.maximum((added**2).sum(axis=1), 1e-12)
        known[j] = (kind, places[int(fall.argmax())])
    return _Found(found.n, found.rises, tuple(known), found.p)


def _still_rises(x: Values, found: _Found) -> bool:
    """Whether the series has a trend beside its steps."""
    if any(kind == "trend" for kind, _ in found.known):
        return True
    return clearest(x, Sought(len(x), "line", known=found.known))[1] < TREND_ALARM


def _left(y: Values, found: _Found) -> Values:
    columns = found.base()
    return np.asarray(y - columns @ np.linalg.lstsq(columns, y, rcond=None)[0])


def _is_curve(x: Values, found: _Found) -> bool:
    """Whether a curve with as many parameters leaves as little as the breaks: then nothing happened at one moment."""
    smooth = np.vander(np.linspace(-1, 1, len(x)), 1 + found.rises + 2 * len(found.known))
    left = x - smooth @ np.linalg.lstsq(smooth, x, rcond=None)[0]
    rest = _left(x, found)
    return float(left @ left) <= float(rest @ rest)


def _told(y: Values, found: _Found) -> list[Break]:
    """The breaks in the order of time with what changes: the level there, or the growth."""
    columns = found.base()
    coefs = np.linalg.lstsq(columns, y, rcond=None)[0]
    fitted, sizes = columns @ coefs, coefs[columns.shape[1] - len(found.known) :]
    growth = float(coefs[1]) / found.n if columns.shape[1] > 1 + len(found.known) else 0.0
    made = []
    for j in np.argsort([at for _, at in found.known], kind="stable"):
        (kind, at), size = found.known[j], float(sizes[j])
        before = growth if kind == "trend" else float(fitted[at - 1])
        growth += size if kind == "trend" else 0.0
        others = _Found(found.n, found.rises, found.known[:j] + found.known[j + 1 :])
        gone = float(np.var(_left(y, others)) - np.var(_left(y, found))) / float(np.var(y))
        told: Kind = "trend" if kind == "trend" else "level"
        made.append(Break(told, at, before, before + size, found.p[j], gone))
    return made


def _variance(left: Values, tests: float) -> Break | None:
    """The clearest change of spread of what is new in each step, by the sums of its sizes (Inclan and Tiao's test)."""
    fresh = innovations(left)
    size, n = np.abs(fresh), len(fresh)
    if not size.std() > 0:
        return None
    edge = max(5, n // 10)
    sums = np.abs(np.cumsum(size - size.mean())[edge : n - edge]) / np.sqrt(n)
    at = int(sums.argmax()) + edge + 1
    # spread and memory of the sizes beside the break itself, which would hide it
    rest = np.concatenate([size[:at] - size[:at].mean(), size[at:] - size[at:].mean()])
    p = float(kolmogorov(sums.max() / (rest.std() * np.sqrt(inflation_of_mean(rest)) + 1e-300)))
    before, after = float(fresh[:at].std()), float(fresh[at:].std())
    low, high = sorted((before, after))
    if p * tests >= _ALARM_OF_VARIANCE or not low > 0 or high < _TIMES * low:
        return None
    return Break("variance", at, before, after, p, 1 - low / high)
