"""From scores to tail probabilities, thresholds and probabilities of being an outlier."""

from dataclasses import dataclass

import numpy as np
from sklearn.isotonic import IsotonicRegression

from latently.kernel.base import Array

_ROUNDING = 1e-9  # of scores


@dataclass(frozen=True, eq=False)
class Tails:
    """What scores are usual.

    Parameters
    ----------
    scores
        (n,) scores of rows, the lowest first.
    knots, probabilities
        (k,) scores, and the probability of being an outlier there: it falls as the score rises.

    Examples
    --------
    >>> tails = Tails.of(np.arange(99.0))
    >>> tails.probability(np.array([-5.0, 49.5, 200.0]))
    array([0.01, 0.51, 1.  ])
    >>> tails.threshold(0.05)
    4.0
    """

    scores: Array
    knots: Array
    probabilities: Array

    @classmethod
    def of(cls, scores: Array, y: Array | None = None) -> "Tails":
        """Tails of the scores of rows; labelled ones (1 belongs, -1 outlier) say what probabilities are."""
        if y is None:
            return cls(np.sort(scores), *_from_excess(np.sort(scores)))
        if len(y) != len(scores) or not np.isin(y, (-1, 0, 1)).all():
            raise ValueError("y has a label for each row: 1 belongs, -1 outlier, 0 unknown")
        usual = np.sort(scores[y >= 0] if (y < 0).any() else scores)
        both = (y == 1).any() and (y == -1).any()
        return cls(usual, *(_from_labels(scores[y != 0], y[y != 0]) if both else _from_excess(usual)))

    def probability(self, scores: Array) -> Array:
        """Chance that a usual row scores as low: rank among the scores and itself."""
        # a row of the fit may score differently in the last digits when it is asked about again
        below = np.searchsorted(self.scores, scores + _ROUNDING * (np.abs(scores) + np.ptp(self.scores)), side="right")
        return np.asarray((1.0 + below) / (1.0 + len(self.scores))).clip(max=1.0)

    def threshold(self, rate: float) -> float:
        """Score below which at most this share of usual rows falls."""
        if not 0 < rate < 1:
            raise ValueError(f"a false-alarm rate is above 0 and below 1, got {rate}")
        k = int(np.floor(rate * (len(self.scores) + 1)))
        if k == 0:
            raise ValueError(
                f"{len(self.scores)} rows are too few for a false-alarm rate of {rate}: take {int(1 / rate)} or more"
            )
        return float(self.scores[min(k, len(self.scores)) - 1])

    def outlier_probability(self, scores: Array) -> Array:
        """Probability of being an outlier."""
        return np.asarray(np.interp(scores, self.knots, self.probabilities))


def lower_quantile(scores: Array, share: float, weights: Array | None = None) -> float:
    """The score below which at most this share of the weight lies.

    Examples
    --------
    >>> lower_quantile(np.array([3.0, 1.0, 2.0, 4.0]), 0.25)
    2.0
    """
    order = np.argsort(scores, kind="stable")
    each = np.ones(len(scores)) if weights is None or not len(weights) else weights
    below = np.cumsum(each[order]) - each[order]
    last = int(np.flatnonzero(below <= share * each.sum() * (1 + 1e-12))[-1])
    return float(scores[order[last]])


def _from_labels(scores: Array, y: Array) -> tuple[Array, Array]:
    """Share of outliers as a falling function of the score (isotonic regression)."""
    fitted = IsotonicRegression(increasing=False, out_of_bounds="clip").fit(scores, (y < 0).astype(float))
    return np.asarray(fitted.X_thresholds_), np.asarray(fitted.y_thresholds_)


def _from_excess(scores: Array) -> tuple[Array, Array]:
    """One less the local false-discovery rate: rows in the lower tail beyond what an exponential tail leads to expect.

    The tail of usual rows is continued from the half of the scores next to the median on its lower side; more
    rows than that, at scores so low, are outliers. The rate is made monotone by pooling neighbours.
    """
    n = len(scores)
    middle = float(np.median(scores))
    depth = middle - scores[scores < middle][::-1]  # (m,) how far below the median, the least first
    if len(depth) < 4 or depth[-1] <= 0:
        return np.array([middle]), np.zeros(1)
    cut = max(int(0.8 * len(depth)), 2)  # from the median to the lowest tenth: outliers are beyond it
    scale = (depth[:cut].sum() + (len(depth) - cut) * depth[cut - 1]) / cut  # mean of an exponential, censored there
    expected = 0.5 * n * np.exp(-depth / max(scale, np.finfo(float).tiny))  # usual rows at least so deep
    between = -np.diff(np.append(expected, 0.0))  # usual rows from each depth on to the next
    rate = IsotonicRegression(increasing=False).fit_transform(depth, between)
    chance = np.clip(1.0 - rate, 0.0, 1.0)
    return np.append((middle - depth)[::-1], middle), np.append(chance[::-1], 0.0)
