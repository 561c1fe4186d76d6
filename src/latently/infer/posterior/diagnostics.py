"""Whether chains can be believed: rank-normalised split R-hat and effective sample sizes.

After Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), "Rank-normalization, folding, and localization:
an improved R-hat". Chains come as (chains, draws).
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy import fft
from scipy.special import ndtri
from scipy.stats import rankdata

from latently.infer.factors import Floats


def r_hat(chains: ArrayLike) -> float:
    """Give the potential scale reduction: 1 if all chains agree; above 1.01 they do not.

    Parameters
    ----------
    chains
        Draws, (chains, draws).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> r_hat(rng.normal(size=(4, 1000)))
    1.00
    >>> r_hat(rng.normal(size=(4, 1000)) + [[0], [0], [0], [2]]) > 1.1
    True
    """
    halves = _split(_as_chains(chains))
    folded = np.abs(halves - np.median(halves))
    return max(_plain_r_hat(_normal_scores(halves)), _plain_r_hat(_normal_scores(folded)))


def r_hat_of_each(chains: ArrayLike) -> Floats:
    """Give the potential scale reduction of each chain against all chains together, (chains,).

    Where there are many chains, one that is stuck hardly moves their common R-hat. The worse of its two halves
    counts, so that the largest of many is well above 1 even if all is right: about 1.5 is too much.

    Parameters
    ----------
    chains
        Draws, (chains, draws).

    Examples
    --------
    >>> import numpy as np
    >>> draws = np.random.default_rng(0).normal(size=(100, 500))
    >>> draws[7] += 6
    >>> r_hat(draws) < 1.05, np.flatnonzero(r_hat_of_each(draws) > 1.5).tolist()
    (True, [7])
    """
    halves = _split(_as_chains(chains))
    folded = np.abs(halves - np.median(halves))
    worst = np.maximum(_each_r_hat(_normal_scores(halves)), _each_r_hat(_normal_scores(folded)))
    return np.asarray(worst.reshape(2, -1).max(axis=0))


def effective_sample_size(chains: ArrayLike, kind: str = "bulk") -> float:
    """Give how many independent draws the chains are worth.

    Parameters
    ----------
    chains
        Draws, (chains, draws).
    kind
        "bulk" for the middle of the distribution, "tail" for its 5 % and 95 % quantiles, "mean" for the mean.

    Examples
    --------
    >>> import numpy as np
    >>> effective_sample_size(np.random.default_rng(0).normal(size=(4, 1000))) > 3000
    True
    """
    table = _as_chains(chains)
    if kind == "bulk":
        return _ess(_normal_scores(_split(table)))
    if kind == "mean":
        return _ess(_split(table))
    if kind != "tail":
        raise ValueError(f"kind must be 'bulk', 'tail' or 'mean', got {kind!r}")
    ends = np.quantile(table, [0.05, 0.95])
    return min(_ess(_split((table <= end).astype(float))) for end in ends)


def _as_chains(chains: ArrayLike) -> Floats:
    table = np.asarray(chains, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 1 or table.shape[1] < 4:
        raise ValueError(f"chains need shape (chains, draws) with at least 4 draws, got {table.shape}")
    if not np.all(np.isfinite(table)):
        raise ValueError("chains contain NaN or inf")
    return table


def _split(table: Floats) -> Floats:
    """Cut each chain into halves, so that one that drifts disagrees with itself."""
    half = table.shape[1] // 2
    return np.concatenate([table[:, :half], table[:, -half:]])


def _normal_scores(table: Floats) -> Floats:
    ranks = rankdata(table, method="average").reshape(table.shape)
    return np.asarray(ndtri((ranks - 0.375) / (table.size + 0.25)))


def _plain_r_hat(table: Floats) -> float:
    n = table.shape[1]
    within = table.var(axis=1, ddof=1).mean()
    between = n * table.mean(axis=1).var(ddof=1)
    if within == 0:
        return 1.0 if between == 0 else np.inf
    return float(np.sqrt((between / within + n - 1) / n))


def _each_r_hat(table: Floats) -> Floats:
    """As `_plain_r_hat` of two chains, of which the second is all rows together."""
    n = table.shape[1]
    within = (table.var(axis=1, ddof=1) + table.var(ddof=1)) / 2
    between = n * (table.mean(axis=1) - table.mean()) ** 2 / 2
    if np.ptp(table) == 0:
        return np.ones(len(table))
    return np.asarray(np.sqrt((between / within + n - 1) / n))


def _ess(table: Floats) -> float:
    """Geyer's initial monotone sequence on the autocorrelations of all chains together."""
    m, n = table.shape
    if np.ptp(table) < 1e-300:
        return float(table.size)
    cov = _autocovariance(table)
    within = cov[:, 0].mean() * n / (n - 1)
    total = within * (n - 1) / n + (table.mean(axis=1).var(ddof=1) if m > 1 else 0.0)
    rho = 1 - (within - cov.mean(axis=0)) / total
    rho[0] = 1.0
    pairs = rho[: n - n % 2].reshape(-1, 2).sum(axis=1)
    # the pair sums of a reversible chain are positive and fall: stop at the first that is not positive. The
    # last pairs rest on few products and are left out
    pairs = pairs[: max((n - 3) // 2, 1)]
    positive = np.flatnonzero(pairs <= 0)
    stop = int(positive[0]) if len(positive) else len(pairs)
    falling = np.minimum.accumulate(pairs[:stop])
    last = rho[2 * stop] if 2 * stop < n and rho[2 * stop] > 0 else 0.0
    tau = max(-1 + 2 * falling.sum() + last, 1 / np.log10(m * n))
    return float(m * n / tau)


def _autocovariance(table: Floats) -> Floats:
    n = table.shape[1]
    size = fft.next_fast_len(2 * n, real=True)
    spectrum = fft.rfft(table - table.mean(axis=1, keepdims=True), size, axis=1)
    return np.asarray(fft.irfft(np.abs(spectrum) ** 2, size, axis=1)[:, :n] / n)
