"""Whether a series has a trend: a line beyond what memory does, or steps that go one way."""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from latently.report.series.chance import Sought, clearest

Values = NDArray[np.float64]
TREND_ALARM: Final = 0.002
_WANDERS: Final = 0.9  # memory of what a line leaves, from which on only the steps tell of a trend
_LEAST_FOR_MEMORY: Final = 24  # values; fewer do not tell how much a value tells of the next
_MOST_PLACES: Final = 400  # of which a line is looked for; longer series are averaged over stretches


def trend_p(y: Values) -> float:
    """P-value of a trend: of a line beyond what memory does, of steps that go one way on average, or nearly always."""
    if not np.ptp(y) > 0:
        return 1.0
    if len(y) < _LEAST_FOR_MEMORY:
        return _steps_p(np.diff(y))
    rising = min(1.0, 2 * _steps_p(np.diff(y)))
    x = np.arange(len(y)) - (len(y) - 1) / 2
    left = y - y.mean() - float(x @ y / (x @ x)) * x
    if _left_by_a_step(y - y.mean()) * len(y) ** (1 / len(y)) < float(left @ left):  # a step has a moment more
        return rising  # or a change of level, which the breaks tell
    width = -(-len(y) // _MOST_PLACES)
    means = y[: len(y) // width * width].reshape(-1, width).mean(axis=1)
    return min(rising, 2 * _drift_p(np.diff(y)), clearest(means, Sought(len(means), "line"))[1])


def wanders(y: Values) -> bool:
    """Whether a series has so much memory beside a line that only its steps could tell of a trend."""
    x = np.arange(len(y)) - (len(y) - 1) / 2
    return memory(y - y.mean() - float(x @ y / (x @ x)) * x) > _WANDERS


def _drift_p(steps: Values) -> float:
    """P-value that the steps of a series have mean 0, whatever their memory (Newey and West's error).

    A series that wanders has a trend if its steps go one way on average; of one that returns to a line they say little.
    """
    n, d = len(steps), steps - steps.mean()
    lags = max(1, int(4 * (n / 100) ** (2 / 9)))
    memories = [float(d[k:] @ d[: n - k]) / n for k in range(lags + 1)]
    spread = memories[0] + 2 * sum((1 - k / (lags + 1)) * r for k, r in enumerate(memories) if k)
    spread = max(spread, memories[0] / (lags + 1))
    if not spread > 0:
        return 1.0
    return float(2 * stats.t.sf(abs(float(steps.mean())) / np.sqrt(spread / n), max(n / (lags + 1) - 1, 1)))


def _steps_p(steps: Values) -> float:
    """P-value that a series goes up as often as down, of as many steps as the signs of these are worth.

    It sees a series that rises nearly always, by however much.
    """
    free = max(int(_worth(np.sign(steps))), 1)
    often = max(float((steps > 0).mean()), float((steps < 0).mean()))
    return min(1.0, 2 * float(stats.binom.sf(round(often * free) - 1, free, 0.5)))


def _left_by_a_step(centred: Values) -> float:
    """Sum of squares that the best single change of level leaves."""
    n, sums = len(centred), np.cumsum(centred)[:-1]
    before = np.arange(1, n)
    return float(centred @ centred - (sums**2 * (1 / before + 1 / (n - before))).max())


def memory(x: Values) -> float:
    """Correlation of neighbours, between 0 and 0.995; by as much more as it is too low about a line, on average."""
    centred = x - x.mean()
    total = float(centred @ centred)
    if total <= 0:
        return 0.0
    r = float(centred[1:] @ centred[:-1] / total)
    return float(np.clip(r + (2 + 4 * r) / len(x), 0.0, 0.995))


def _worth(x: Values) -> float:
    """How many independent values a series with memory is worth."""
    r = memory(x)
    return len(x) * (1 - r) / (1 + r)
