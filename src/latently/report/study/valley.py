"""A valley between two groups of values along a line: where it lies, and whether chance explains it."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

Values = NDArray[np.float64]
Place = tuple[float, float, float]

_GRID: Final = 256
_WIDTHS: Final = (0.3, 0.5, 0.75, 1.0)  # of a stretch, in distances of a peak from the valley
_BETWEEN: Final = (0.4, 0.5, 0.6)  # where a valley may lie on the way from one group to the other


def counted(a: Values, b: Values, ends: Sequence[float] = ()) -> list[int]:
    """Values of b in stretches of one width: at a peak, in the valley and at the next peak, as a shows them best.

    The deepest valley of a is tried, and the way from the mean of one group to that of the other (`ends`), which is
    known better if rows are few.
    """
    deepest = _deepest(a)
    places = [] if deepest is None else [deepest]
    if len(ends) == 2 and ends[0] != ends[1]:
        low, high = sorted(ends)
        places += [(low, low + share * (high - low), high) for share in _BETWEEN]
    if not places:
        return [0, 0, 0]
    middles = np.repeat(np.array(places), len(_WIDTHS), axis=0)  # (tried, 3)
    widths = np.array([width for place in places for width in _widths(place)])
    best = int(_clear(_inside(np.sort(a), middles, widths)).argmax())
    return [int(count) for count in _inside(np.sort(b), middles[best : best + 1], widths[best : best + 1])[0]]


def valley(counts: Values) -> float:
    """P-value of a valley: both sides must have more."""
    left, middle, right = (int(count) for count in counts)
    return float(max(bdtr(middle, middle + side, 0.5) for side in (left, right)))


def _deepest(a: Values) -> Place | None:
    """Left peak, valley and right peak of smoothed values."""
    low, lower, upper, high = np.quantile(a, [0.001, 0.25, 0.75, 0.999]) if len(a) >= 10 else np.zeros(4)
    if not high > low:
        return None
    counts, edges = np.histogram(a, bins=_GRID, range=(low, high))
    spread = min(a.std(), (upper - lower) / 1.34) or a.std()
    smooth = _smoothed(counts.astype(float), 0.6 * spread * len(a) ** -0.2 / (edges[1] - edges[0]))
    before, after = np.maximum.accumulate(smooth), np.maximum.accumulate(smooth[::-1])[::-1]
    depth = np.minimum(before, after) - smooth
    v = int(depth.argmax())
    if not depth[v] > 0:
        return None
    centres = (edges[1:] + edges[:-1]) / 2
    left, right = float(centres[: v + 1][smooth[: v + 1].argmax()]), float(centres[v:][smooth[v:].argmax()])
    return left, float(centres[v]), right


def _widths(place: Place) -> list[float]:
    left, middle, right = place
    return [share * min(middle - left, right - middle) for share in _WIDTHS]


def _inside(ordered: Values, places: Values, widths: Values) -> NDArray[np.intp]:
    """(tried, 3) how many of the values, in order, lie in stretches about each of three places."""
    half = widths[:, None] / 2
    before = np.searchsorted(ordered, places - half, side="left")
    return np.asarray(np.searchsorted(ordered, places + half, side="right") - before)


def _clear(counts: NDArray[np.intp]) -> Values:
    """How clear valleys are: their lack of rows against the lower side, in standard deviations."""
    side, middle = np.minimum(counts[:, 0], counts[:, 2]), counts[:, 1]
    return np.asarray((side - middle) / np.sqrt(side + middle + 1.0))


def _smoothed(counts: Values, cells: float) -> Values:
    reach = np.arange(-_GRID, _GRID + 1)
    weights = np.exp(-0.5 * (reach / max(cells, 0.5)) ** 2)
    return np.convolve(np.pad(counts, _GRID), weights / weights.sum(), mode="valid")
