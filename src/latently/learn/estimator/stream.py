"""Learning from batches that never end: old rows fade, and rows that the model did not expect are reported."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from latently.distributions.statistics import Additive

# Fields of statistics that say where or of what kind, not how much.
_NOT_SUMS: Final = frozenset({"centre", "kind", "frame", "shape", "n_symbols"})
_WARM: Final = 10  # batches before a batch can count as drift


@dataclass(frozen=True)
class StreamRecord:
    """What one batch of a stream was like, as the model saw it before it learnt from it.

    Attributes
    ----------
    batch
        Number of the batch, from 0 on.
    rows
        How many rows it had.
    log_likelihood
        Mean log-likelihood of its rows (for k-means, minus the mean squared distance); NaN for the first batch.
    expected
        What the batches before let expect: their mean, with old ones faded.
    spread
        Their standard deviation about it.
    drift
        Whether the log-likelihood fell below what was expected by more than the alarm allows.
    """

    batch: int
    rows: int
    log_likelihood: float
    expected: float
    spread: float
    drift: bool


def stream(
    model: Any, batches: Iterable[Any], *, forgetting: float = 1.0, alarm: float = 6.0, **first: Any
) -> Iterator[StreamRecord]:
    """Learn from batch after batch with `partial_fit`, old statistics fading, and report how well each was predicted.

    Nothing that grows with the number of batches is kept. The batches are taken one by one as the records are asked
    for, so they may never end.

    Parameters
    ----------
    model
        Anything with `partial_fit` whose statistics add: mixtures, k-means, naive Bayes, linear regression.
    batches
        Tables, or pairs (X, y).
    forgetting
        What is left of the weight of earlier rows after each batch; 1 forgets nothing. In the long run the model has
        learnt from the last 1 / (1 - forgetting) batches.
    alarm
        How many standard deviations below what is expected make a drift.
    first
        Given to the first `partial_fit`, such as the `classes` of a classifier.

    Yields
    ------
    StreamRecord
        One for each batch.

    Examples
    --------
    >>> import numpy as np
    >>> from latently.cluster import GaussianMixture
    >>> rng = np.random.default_rng(0)
    >>> batches = (rng.normal(0 if t < 40 else 3, 1, size=(100, 1)) for t in range(60))
    >>> records = list(stream(GaussianMixture(1), batches, forgetting=0.9))
    >>> [record.batch for record in records if record.drift][0]
    40
    """
    if not 0 < forgetting <= 1:
        raise ValueError(f"forgetting must be above 0 and at most 1, got {forgetting}")
    if not alarm > 0:
        raise ValueError(f"alarm must be positive, got {alarm}")
    usual = _Usual(forgetting)
    for number, batch in enumerate(batches):
        X, y = batch if isinstance(batch, tuple) and len(batch) == 2 else (batch, None)
        score = math.nan if number == 0 and not _knows(model) else _score(model, X, y)
        drift = usual.count >= _WARM and score < usual.mean - alarm * usual.spread
        record = StreamRecord(number, len(X), score, usual.mean, usual.spread, bool(drift))
        fade(model, forgetting)
        model.partial_fit(*((X,) if y is None else (X, y)), **({} if number else first))
        usual = usual.after(score)
        yield record


@dataclass(frozen=True)
class _Usual:
    """Faded mean and variance of what has been seen."""

    keep: float
    count: int = 0
    weight: float = 0.0
    mean: float = math.nan
    variance: float = 0.0

    @property
    def spread(self) -> float:
        return math.sqrt(self.variance)

    def after(self, value: float) -> "_Usual":
        if not math.isfinite(value):
            return self
        if not self.count:
            return replace(self, count=1, weight=1.0, mean=value)
        weight = self.keep * self.weight + 1
        gap = value - self.mean
        # what is rare must not hide what comes after it: a gap counts as at most a few of the usual ones
        gap = max(min(gap, 3 * self.spread), -3 * self.spread) if self.count >= _WARM and self.variance > 0 else gap
        variance = (1 - 1 / weight) * (self.variance + gap**2 / weight)
        return replace(self, count=self.count + 1, weight=weight, mean=self.mean + gap / weight, variance=variance)


def fade(model: Any, share: float) -> None:
    """Take the weight of what a model has learnt down to a share of it; nothing if it has learnt nothing."""
    if share == 1 or not _knows(model):
        return
    if hasattr(model, "_fade"):
        model._fade(share)
    elif hasattr(model, "statistics_"):
        model.statistics_ = faded(model.statistics_, share)
    else:
        raise TypeError(f"{type(model).__name__} keeps no statistics that could fade: use forgetting=1")


def faded(stats: Any, share: float) -> Any:
    """Statistics of the same rows, each with a share of its weight.

    Examples
    --------
    >>> from latently.distributions.statistics import Moments
    >>> moments = Moments(np.array([4.0]), np.array([10.0]), np.array([2.0]), np.array([8.0]))
    >>> faded(moments, 0.5).weight, faded(moments, 0.5).mean()
    (array([2.]), array([10.5]))
    """
    if isinstance(stats, Additive):
        sums = [f.name for f in fields(stats) if f.name not in _NOT_SUMS]
        return replace(stats, **{name: faded(getattr(stats, name), share) for name in sums})
    if isinstance(stats, tuple):
        return tuple(faded(part, share) for part in stats)
    if isinstance(stats, Mapping):
        return {key: faded(part, share) for key, part in stats.items()}
    return stats * share


def _knows(model: Any) -> bool:
    return hasattr(model, "statistics_") or hasattr(model, "cluster_centers_")


def _score(model: Any, X: Any, y: Any) -> float:
    """Mean log-likelihood of the rows of a batch."""
    if y is None:
        if hasattr(model, "score_samples"):
            return float(np.mean(model.score_samples(X)))
        return float(model.score(X)) / len(X)
    if hasattr(model, "log_predictive"):
        return float(np.mean(model.log_predictive(X, y)))
    joint: npt.NDArray[np.float64] = model.predict_joint_log_proba(X)
    return float(np.mean(joint[np.arange(len(joint)), np.searchsorted(model.classes_, np.asarray(y))]))
