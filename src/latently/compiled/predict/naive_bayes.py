"""Naive Bayes: sums per class and log joint densities, in one pass over the rows.

Class codes are 0 to K - 1. An empty `weights` means that every row counts once. NaN is a missing entry, which
adds nothing to any sum and nothing to any log density.
"""

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def block_sums(X, codes, weights, start, stop, weight, total):
    """Sum up the rows start to stop - 1 per class; no entry may be missing."""
    rows = np.zeros(weight.shape[0])
    total[:] = 0.0
    for i in range(start, stop):
        c = codes[i]
        w = weights[i] if weights.shape[0] else 1.0
        rows[c] += w
        for j in range(X.shape[1]):
            total[c, j] += w * X[i, j]
    for c in range(weight.shape[0]):
        weight[c] = rows[c]


@njit(nogil=True, cache=True, error_model="numpy")
def block_sums_observed(X, codes, weights, start, stop, weight, total):
    """Do the same over the observed entries."""
    weight[:] = 0.0
    total[:] = 0.0
    for i in range(start, stop):
        c = codes[i]
        w = weights[i] if weights.shape[0] else 1.0
        for j in range(X.shape[1]):
            x = X[i, j]
            if x == x:
                weight[c, j] += w
                total[c, j] += w * x


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def block_scatter(X, codes, weights, start, stop, mean, scatter):
    """Squares about the class means of the same rows; no entry may be missing."""
    scatter[:] = 0.0
    for i in range(start, stop):
        c = codes[i]
        w = weights[i] if weights.shape[0] else 1.0
        for j in range(X.shape[1]):
            gap = X[i, j] - mean[c, j]
            scatter[c, j] += w * gap * gap


@njit(nogil=True, cache=True, error_model="numpy")
def block_scatter_observed(X, codes, weights, start, stop, mean, scatter):
    """Do the same over the observed entries."""
    scatter[:] = 0.0
    for i in range(start, stop):
        c = codes[i]
        w = weights[i] if weights.shape[0] else 1.0
        for j in range(X.shape[1]):
            gap = X[i, j] - mean[c, j]
            if gap == gap:
                scatter[c, j] += w * gap * gap


@njit(nogil=True, cache=True, error_model="numpy")
def pool(weight, mean, scatter, other_weight, other_mean, other_scatter):
    """Add moments about their own means to others: nothing cancels."""
    for c in range(weight.shape[0]):
        for j in range(weight.shape[1]):
            w = other_weight[c, j]
            if w > 0.0:
                whole = weight[c, j] + w
                gap = other_mean[c, j] - mean[c, j]
                scatter[c, j] += other_scatter[c, j] + gap * gap * weight[c, j] * (w / whole)
                mean[c, j] += gap * (w / whole)
                weight[c, j] = whole


@njit(nogil=True, cache=True, error_model="numpy")
def class_moments(X, codes, weights, rows, weight, mean, scatter):
    """Weight, mean and squares about the mean per class and column (K, d), by blocks of `rows` rows."""
    n = X.shape[0]
    K, d = weight.shape
    w, m, s = np.empty((K, d)), np.empty((K, d)), np.empty((K, d))
    for start in range(0, n, rows):
        stop = min(start + rows, n)
        block_sums(X, codes, weights, start, stop, w, m)
        gaps = False
        for c in range(K):
            for j in range(d):
                gaps = gaps or m[c, j] != m[c, j]
        if gaps:
            block_sums_observed(X, codes, weights, start, stop, w, m)
        for c in range(K):
            for j in range(d):
                m[c, j] = m[c, j] / w[c, j] if w[c, j] > 0.0 else 0.0
        if gaps:
            block_scatter_observed(X, codes, weights, start, stop, m, s)
        else:
            block_scatter(X, codes, weights, start, stop, m, s)
        pool(weight, mean, scatter, w, m, s)


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def gaussian_joint(X, theta, root, peak, constant, out):
    """out[i, k] += constant[k] + sum over observed j of peak[k, j] - ((x_ij - theta_kj) root_kj)^2 / 2."""
    n, d = X.shape
    K = theta.shape[0]
    whole = np.empty(K)
    for k in range(K):
        whole[k] = constant[k] + peak[k].sum()
    for i in range(n):
        for k in range(K):
            q = 0.0
            for j in range(d):
                z = (X[i, j] - theta[k, j]) * root[k, j]
                q += z * z
            if q == q:
                out[i, k] += whole[k] - 0.5 * q
            else:
                out[i, k] += constant[k] + observed_log_density(X[i], theta[k], root[k], peak[k])


@njit(nogil=True, cache=True, error_model="numpy")
def observed_log_density(x, theta, root, peak):
    """Log density of the observed entries of a row under independent Gaussians."""
    total = 0.0
    for j in range(x.shape[0]):
        z = (x[j] - theta[j]) * root[j]
        if z == z:
            total += peak[j] - 0.5 * z * z
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def normalise(joint, log_evidence, probabilities):
    """From log joints (n, K) to the log of their sum (n,) and to probabilities (n, K)."""
    n, K = joint.shape
    for i in range(n):
        top = joint[i, 0]
        for k in range(1, K):
            top = max(top, joint[i, k])
        if top == -np.inf:
            # Impossible under every class: nothing is known, so every class is as good as any other.
            log_evidence[i] = top
            for k in range(K):
                probabilities[i, k] = 1.0 / K
            continue
        total = 0.0
        for k in range(K):
            probabilities[i, k] = math.exp(joint[i, k] - top)
            total += probabilities[i, k]
        for k in range(K):
            probabilities[i, k] /= total
        log_evidence[i] = top + math.log(total)


@njit(nogil=True, cache=True)
def code_range(X, low, high):
    """Smallest and largest entry of each column, missing ones aside."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            x = X[i, j]
            if x < low[j]:
                low[j] = x
            if x > high[j]:
                high[j] = x


@njit(nogil=True, cache=True)
def category_counts(X, codes, weights, offsets, K, counts):
    """counts[offsets[j] + x K + c] += weight, for the observed entries; codes are within their width."""
    for i in range(X.shape[0]):
        c = codes[i]
        w = weights[i] if weights.shape[0] else 1.0
        for j in range(X.shape[1]):
            x = X[i, j]
            if x == x:
                counts[offsets[j] + int(x) * K + c] += w


@njit(nogil=True, cache=True)
def category_joint(X, offsets, widths, table, unseen, out):
    """Add table[offsets[j] + x] to out[i], class by class; a code beyond its column's width adds unseen[j].

    The table and out have a multiple of four columns, so that four classes at a time are summed in registers.
    """
    for i in range(X.shape[0]):
        for k in range(0, out.shape[1], 4):
            a, b, c, d = out[i, k], out[i, k + 1], out[i, k + 2], out[i, k + 3]
            for j in range(X.shape[1]):
                v = X[i, j]
                if v != v:
                    continue
                if v < widths[j]:
                    at = np.uint64(offsets[j] + int(v))
                    a += table[at, k]
                    b += table[at, k + 1]
                    c += table[at, k + 2]
                    d += table[at, k + 3]
                else:
                    a, b, c, d = a + unseen[j], b + unseen[j], c + unseen[j], d + unseen[j]
            out[i, k], out[i, k + 1], out[i, k + 2], out[i, k + 3] = a, b, c, d


@njit(nogil=True, cache=True)
def sparse_counts(indptr, indices, data, codes, weights, totals):
    """totals[c, j] += weight times the entry, over the stored entries of compressed rows."""
    for i in range(indptr.shape[0] - 1):
        c = codes[i]
        w = weights[i] if weights.shape[0] else 1.0
        for at in range(indptr[i], indptr[i + 1]):
            totals[c, np.uint64(indices[at])] += w * data[at]


@njit(nogil=True, cache=True, fastmath={"contract"})
def sparse_joint(indptr, indices, data, coefficients, out):
    """out[i, k] += sum over stored entries of x_ij coefficients[j, k]; K is a multiple of five or of four.

    So many classes at a time are summed in registers while the row's entries are at hand.
    """
    K = out.shape[1]
    for i in range(indptr.shape[0] - 1):
        first, last = np.int64(indptr[i]), np.int64(indptr[i + 1])
        if K % 5 == 0:
            for k in range(0, K, 5):
                a, b, c, d, e = 0.0, 0.0, 0.0, 0.0, 0.0
                for at in range(first, last):
                    x, j = data[at], np.uint64(indices[at])
                    a += x * coefficients[j, k]
                    b += x * coefficients[j, k + 1]
                    c += x * coefficients[j, k + 2]
                    d += x * coefficients[j, k + 3]
                    e += x * coefficients[j, k + 4]
                add_five(out[i], k, a, b, c, d, e)
        else:
            for k in range(0, K, 4):
                a, b, c, d = 0.0, 0.0, 0.0, 0.0
                for at in range(first, last):
                    x, j = data[at], np.uint64(indices[at])
                    a += x * coefficients[j, k]
                    b += x * coefficients[j, k + 1]
                    c += x * coefficients[j, k + 2]
                    d += x * coefficients[j, k + 3]
                add_five(out[i], k, a, b, c, d, 0.0)


@njit(nogil=True, cache=True)
def add_five(row, k, a, b, c, d, e):
    """Add to five entries of a row from the k-th on, or to four at its end."""
    row[k] += a
    row[k + 1] += b
    row[k + 2] += c
    row[k + 3] += d
    if k + 4 < row.shape[0]:
        row[k + 4] += e


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def column_powers(X, weights, centre, third, fourth):
    """Weighted sums over the observed entries of (x_ij - centre_j)^3 and of (x_ij - centre_j)^4."""
    for i in range(X.shape[0]):
        w = weights[i] if weights.shape[0] else 1.0
        for j in range(X.shape[1]):
            gap = X[i, j] - centre[j]
            gap = gap if gap == gap else 0.0
            cube = w * gap * gap * gap
            third[j] += cube
            fourth[j] += cube * gap
