"""How sure it is that canonical correlations are more than chance."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, f

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WilksTest:
    """Tests that the correlation in question, and all smaller ones, are zero; one entry for each correlation.

    Attributes
    ----------
    correlations : (r,) canonical correlations
    wilks : (r,) Wilks' lambda: the product of 1 - correlation^2 from this one on
    f, df1, df2, p_values : (r,) Rao's approximation by an F distribution
    chi2, df, chi2_p_values : (r,) Bartlett's approximation by a chi-square distribution
    """

    correlations: Array
    wilks: Array
    f: Array
    df1: Array
    df2: Array
    p_values: Array
    chi2: Array
    df: Array
    chi2_p_values: Array


@dataclass(frozen=True, eq=False)
class PermutationTest:
    """As `WilksTest`, with the distribution of Wilks' lambda found by shuffling the rows of one view.

    Attributes
    ----------
    wilks, p_values : (r,)
    n_permutations : how many shuffles
    """

    wilks: Array
    p_values: Array
    n_permutations: int


def wilks_test(correlations: Array, n: float, p: int, q: int) -> WilksTest:
    """Test the correlations of two views with p and q independent columns, from n rows.

    Examples
    --------
    >>> found = wilks_test(np.array([0.79560815, 0.20055604, 0.07257029]), 20, 3, 3)
    >>> found.f.round(2), found.p_values.round(4)
    (array([2.05, 0.18, 0.08]), array([0.0635, 0.9491, 0.7748]))
    """
    if n - 1 <= p + q:
        raise ValueError(
            f"{n:g} rows are too few for this test of views with {p} and {q} columns: use permutation_test, or reg"
        )
    k = np.arange(len(correlations))
    left = np.log1p(-np.minimum(correlations**2, 1 - 1e-16))
    log_wilks = left[::-1].cumsum()[::-1]
    a, b = p - k, q - k
    df1 = (a * b).astype(np.float64)
    square = a**2 + b**2 - 5
    t = np.where((square > 0) & (df1 > 2), np.sqrt(np.maximum(df1**2 - 4, 1) / np.maximum(square, 1)), 1.0)
    df2 = (n - 1.5 - (p + q) / 2) * t - df1 / 2 + 1
    root = np.exp(log_wilks / t)
    F = (1 - root) / root * df2 / df1
    statistic = -(n - 1 - (p + q + 1) / 2) * log_wilks
    return WilksTest(
        correlations, np.exp(log_wilks), F, df1, df2, f.sf(F, df1, df2), statistic, df1, chi2.sf(statistic, df1)
    )


def permutation_test(x: Array, y: Array, n_permutations: int, rng: np.random.Generator) -> PermutationTest:
    """Test pairs of scores by shuffling the rows of y; what earlier pairs explain is left out (Winkler et al. 2020).

    Parameters
    ----------
    x, y
        (n, p) and (n, q) scores of the pairs in order, orthonormal within each view.
    n_permutations
        How many shuffles.
    rng
        Source of the shuffles.
    """
    r = min(x.shape[1], y.shape[1])
    observed = _log_wilks(x.T @ y, r)
    count = np.ones(r)
    for _ in range(n_permutations):
        count += _log_wilks(x.T @ y[rng.permutation(len(y))], r) <= observed + 1e-12
    p_values = np.maximum.accumulate(count / (n_permutations + 1))
    return PermutationTest(np.exp(observed), p_values, n_permutations)


def orthonormal(rows: Array, rotations: Array) -> Array:
    """(n, p) orthonormal basis of the centred columns of a view: the scores first, then what they leave over."""
    scores = rows @ rotations
    basis, triangle = np.linalg.qr(scores)
    basis *= np.sign(np.diagonal(triangle))
    left, singular, _ = np.linalg.svd(rows - basis @ (basis.T @ rows), full_matrices=False)
    size = np.linalg.norm(rows)
    return np.hstack([basis, left[:, singular > 1e-10 * size]])


def _log_wilks(cross: Array, r: int) -> Array:
    """(r,) log of Wilks' lambda of the pairs from each one on."""
    values = [np.linalg.svd(cross[k:, k:], compute_uv=False) for k in range(r)]
    return np.array([np.log1p(-np.minimum(v**2, 1 - 1e-16)).sum() for v in values])
