"""How many components: by a share of the variance, by evidence, by held-out rows, by what a target needs."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from sklearn.utils import check_random_state

from latently.distributions.statistics import Moments
from latently.factor.moments import moments_of
from latently.factor.pca.solvers import Spectrum
from latently.kernel.gram.relevance import as_targets, two_component_costs

Array = NDArray[Any]
FOLDS = 5


def chosen(model: Any, spectrum: Spectrum, rows: Any, y: Any, weights: Array | None) -> int:
    """How many components, by the setting of the model."""
    asked: Any = model.n_components
    if isinstance(asked, Integral):
        return min(int(asked), len(spectrum.variances))
    if asked is None:
        return len(spectrum.variances)
    if asked == "mle":
        return by_evidence(spectrum.variances, spectrum.weight)
    if asked == "held-out":
        return by_held_out(rows, weights, check_random_state(model.random_state))
    if asked == "relevant":
        return by_target(spectrum, rows, y, weights)
    return by_share(spectrum.variances, spectrum.total, float(asked))


def by_share(variances: Array, total: float, share: float) -> int:
    """Fewest components whose variances are more than a share of the total."""
    ratios = np.cumsum(variances) / total if total > 0 else np.ones(len(variances))
    return min(int(np.searchsorted(ratios, share, side="right")) + 1, len(variances))


def log_evidence(variances: Array, n: float) -> Array:
    """(d - 1,) Laplace approximation to the log evidence of 1 ... d - 1 components, up to a constant (Minka 2000).

    The volume of the orthogonal frames, the likelihood at its maximum, and the width of the posterior there.

    Examples
    --------
    >>> int(log_evidence(np.array([9.0, 6.0, 1.3, 1.0, 0.8]), 100).argmax()) + 1
    2
    """
    d = len(variances)
    size = variances[0] if variances[0] > 0 else 1.0
    spread = np.sort(variances / size)[::-1]
    floor = d * np.finfo(float).eps  # below it a variance is rounding
    k = np.arange(1, d)
    half = (d - k + 1) / 2
    frames = np.cumsum(gammaln(half) - half * np.log(np.pi)) - k * np.log(2)
    noise = np.maximum((spread[::-1].cumsum()[::-1][1:]) / (d - k), floor)  # (d - 1,) mean of those left
    kept = np.cumsum(np.log(np.maximum(spread[:-1], floor)))
    likelihood = -n / 2 * (kept + (d - k) * np.log(noise))
    free = d * k - k * (k + 1) / 2
    width = [_log_curvature(spread, int(q), noise[q - 1], n) for q in k]
    found = frames + likelihood + (free + k) / 2 * np.log(2 * np.pi) - np.array(width) / 2 - k / 2 * np.log(n)
    return np.where(spread[:-1] > floor, found, -np.inf)


def _log_curvature(spread: Array, k: int, noise: float, n: float) -> float:
    """Log determinant of the curvature of the likelihood over the directions of k components."""
    values = np.maximum(spread, np.finfo(float).tiny)
    inverse = 1 / np.where(np.arange(len(values)) < k, values, noise)
    gaps = np.where(np.arange(len(values)) > np.arange(k)[:, None], values[:k, None] - values, 1.0)
    steps = np.where(np.arange(len(values)) > np.arange(k)[:, None], inverse - inverse[:k, None], 1.0)
    pairs = k * len(values) - k * (k + 1) / 2
    tiny = np.finfo(float).tiny
    return float(np.log(np.maximum(gaps, tiny)).sum() + np.log(np.maximum(steps, tiny)).sum() + pairs * np.log(n))


def by_evidence(variances: Array, n: float) -> int:
    """The number of components of highest evidence."""
    if len(variances) < 2:
        return len(variances)
    return int(np.argmax(log_evidence(variances, n))) + 1


def held_out(rows: Any, weights: Array | None, rng: np.random.RandomState) -> Array:
    """(5, d - 1) mean log density of the rows of each fold under 1 ... d - 1 components of the others.

    The rows of a fold are summed once; what is left without them comes from the sums of the others.
    """
    fold = rng.permutation(len(rows)) % FOLDS
    parts = [moments_of(rows[fold == f], None if weights is None else weights[fold == f]) for f in range(FOLDS)]
    scores = np.zeros((FOLDS, rows.shape[1] - 1))
    for f, test in enumerate(parts):
        others = [part for g, part in enumerate(parts) if g != f]
        scores[f] = _fold_score(sum(others[1:], start=others[0]), test) / float(test.weight)
    return scores


def _fold_score(train: Moments, test: Moments) -> Array:
    """(d - 1,) log density of the rows of a fold; -inf where nothing is left for the noise."""
    d = len(train.centre)
    values, vectors = np.linalg.eigh(train.scatter() / float(train.weight))
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    along = np.einsum("ij,ij->j", vectors, test.about(train.mean()).second @ vectors)  # (d,) squares of the fold
    k = np.arange(1, d)
    noise = values[::-1].cumsum()[::-1][1:] / (d - k)
    floor = d * np.finfo(float).eps * values[0]
    safe = np.maximum(noise, np.finfo(float).tiny)
    kept = np.maximum(values[:-1], np.finfo(float).tiny)
    fit = np.cumsum(along[:-1] / kept) + along[::-1].cumsum()[::-1][1:] / safe
    size = np.cumsum(np.log(kept)) + (d - k) * np.log(safe)
    found = -0.5 * (fit + float(test.weight) * (size + d * np.log(2 * np.pi)))
    return np.where(noise > floor, found, -np.inf)


def by_held_out(rows: Any, weights: Array | None, rng: np.random.RandomState) -> int:
    """The fewest components under which held-out rows are as probable as they can be, within one standard error."""
    if rows.shape[1] < 2:
        return 1
    if len(rows) < 2 * FOLDS:
        raise ValueError(f"n_components='held-out' needs at least {2 * FOLDS} rows, but there are {len(rows)}")
    scores = held_out(rows, weights, rng)
    usable = np.isfinite(scores).all(axis=0)
    if not usable.any():
        raise ValueError("the rows lie in a space of one dimension: held-out rows cannot say how many components")
    means = np.where(usable, np.where(usable, scores, 0.0).mean(axis=0), -np.inf)
    best = int(means.argmax())
    short = scores[:, [best]] - np.where(usable, scores, 0.0)
    error = short.std(axis=0, ddof=1) / np.sqrt(FOLDS)
    return int(np.argmax(usable & (short.mean(axis=0) <= error))) + 1


def _centred_targets(y: Any, weights: Array) -> Array:
    """(n, m) columns of a target about their means: classes become indicators."""
    if np.ndim(y) == 0 or len(y) != len(weights):
        raise ValueError(f"y has shape {np.shape(y)}, but X has {len(weights)} rows: give a target for each row")
    columns = as_targets(y)[0]
    if not np.isfinite(columns).all():
        raise ValueError("y contains NaN or inf: leave those rows out, or choose n_components without a target")
    centred = columns - weights @ columns / weights.sum()
    if not np.abs(centred).max() > 1e-14 * float(np.abs(columns).max()):
        raise ValueError("y is constant: no component is relevant to it")
    return np.asarray(centred)


def by_target(spectrum: Spectrum, rows: Any, y: Any, weights: Array | None) -> int:
    """As many components as the target needs."""
    if y is None:
        raise ValueError("n_components='relevant' asks how many components the target needs: give y to fit")
    w = np.ones(rows.shape[0]) if weights is None else weights
    targets = _centred_targets(y, w)
    cross = spectrum.vectors @ (((rows - spectrum.mean) * w[:, None]).T @ targets)
    sizes = np.maximum(spectrum.variances * (spectrum.weight - 1), np.finfo(float).tiny)
    costs = two_component_costs((cross**2).sum(axis=1) / sizes, float((w @ targets**2).sum()), spectrum.weight)
    return int(np.argmin(costs)) + 1
