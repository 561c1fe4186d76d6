"""Conditional probabilities of neighbours: Gaussians as wide as a given perplexity asks."""

import math

from numba import njit


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def moments(gaps, precision, out):
    """out = exp(-precision * gaps); its sum, and the mean and variance of the gaps under it."""
    total, first, second = 0.0, 0.0, 0.0
    for j in range(gaps.shape[0]):
        weight = math.exp(-precision * gaps[j])
        out[j] = weight
        total += weight
        first += weight * gaps[j]
        second += weight * gaps[j] * gaps[j]
    mean = first / total
    return total, mean, max(second / total - mean * mean, 0.0)


@njit(nogil=True, cache=True, error_model="numpy")
def match_entropy(gaps, entropy, out):
    """The precision at which the probabilities of a row have an entropy; Newton's method, held in by bisection.

    The entropy falls from log k to the logarithm of the number of gaps that are zero: beyond that, the nearest it gets.
    """
    precision, low, high = 1.0, 0.0, math.inf
    for _ in range(60):
        total, mean, variance = moments(gaps, precision, out)
        above = math.log(total) + precision * mean - entropy
        if abs(above) < 1e-9 or precision > 1e12 or precision < 1e-12:
            break
        if above > 0.0:
            low = precision
        else:
            high = precision
        fall = precision * precision * variance  # of the entropy with the logarithm of the precision
        step = above / fall if fall > 0.0 else 0.0
        wanted = precision * math.exp(min(max(step, -2.0), 2.0))
        if not low < wanted < high or wanted == precision:
            wanted = 0.5 * (low + high) if high < math.inf else 4.0 * precision
        precision = wanted
    return precision


@njit(nogil=True, cache=True, error_model="numpy")
def conditional(squares, entropy, gaps, out, precisions):
    """out[i, j] = p(j | i) of squared distances (m, k), precisions[i] with the given entropy of row i."""
    m, k = squares.shape
    for i in range(m):
        least = squares[i, 0]
        for j in range(k):
            least = min(least, squares[i, j])
        mean = 0.0
        for j in range(k):
            gaps[j] = squares[i, j] - least
            mean += gaps[j] / k
        if mean == 0.0:
            precisions[i] = 0.0
            for j in range(k):
                out[i, j] = 1.0 / k
            continue
        for j in range(k):
            gaps[j] /= mean
        precisions[i] = match_entropy(gaps, entropy, out[i]) / mean
        total = 0.0
        for j in range(k):
            total += out[i, j]
        for j in range(k):
            out[i, j] /= total
