"""Mixtures over tables: log densities and expected statistics of columns that are independent in a component.

Components are the slow axis of everything, rows the fast one, so that the loops over rows vectorise. NaN is a
missing entry, which adds nothing to a density and nothing to a sum.
"""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def read_column(X, start, n, j, z, seen):
    """Copy an entry per row; missing ones become zero and are marked; whether there are any."""
    absent = False
    for i in range(n):
        x = X[start + i, j]
        if x == x:
            z[i] = x
            seen[i] = 1.0
        else:
            z[i] = 0.0
            seen[i] = 0.0
            absent = True
    return absent


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def numeric_density(X, columns, means, roots, peaks, L):
    """L[k, i] += sum over observed j of peaks[k, j] - ((x_ij - means[k, j]) roots[k, j])^2 / 2."""
    K = means.shape[0]
    B = min(512, X.shape[0])
    z, seen = np.empty(B), np.empty(B)
    for start in range(0, X.shape[0], B):
        n = min(B, X.shape[0] - start)
        for j in range(columns.shape[0]):
            absent = read_column(X, start, n, columns[j], z, seen)
            for k in range(K):
                m, u, p = means[k, j], roots[k, j], peaks[k, j]
                row = L[k, start : start + n]
                if absent:
                    for i in range(n):
                        y = (z[i] - m) * u
                        row[i] += seen[i] * (p - 0.5 * y * y)
                else:
                    for i in range(n):
                        y = (z[i] - m) * u
                        row[i] += p - 0.5 * y * y


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def numeric_moments(X, columns, means, R, weight, first, second):
    """Add observed weights and moments about the means, each (K, m)."""
    K = means.shape[0]
    B = min(512, X.shape[0])
    z, seen = np.empty(B), np.empty(B)
    for start in range(0, X.shape[0], B):
        n = min(B, X.shape[0] - start)
        for j in range(columns.shape[0]):
            read_column(X, start, n, columns[j], z, seen)
            for k in range(K):
                m, w, s1, s2 = means[k, j], 0.0, 0.0, 0.0
                r = R[k, start : start + n]
                for i in range(n):
                    share = r[i] * seen[i]
                    gap = z[i] - m
                    w += share
                    s1 += share * gap
                    s2 += share * gap * gap
                weight[k, j] += w
                first[k, j] += s1
                second[k, j] += s2


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def linear_density(X, columns, slopes, levels, L):
    """L[k, i] += sum over observed j of slopes[k, j] x_ij - levels[k, j]."""
    K = slopes.shape[0]
    B = min(512, X.shape[0])
    z, seen = np.empty(B), np.empty(B)
    for start in range(0, X.shape[0], B):
        n = min(B, X.shape[0] - start)
        for j in range(columns.shape[0]):
            read_column(X, start, n, columns[j], z, seen)
            for k in range(K):
                a, b = slopes[k, j], levels[k, j]
                row = L[k, start : start + n]
                for i in range(n):
                    row[i] += a * z[i] - b * seen[i]


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def linear_sums(X, columns, R, total, weight):
    """Add sums of the observed entries, and their weights, each (K, m)."""
    B = min(512, X.shape[0])
    z, seen = np.empty(B), np.empty(B)
    for start in range(0, X.shape[0], B):
        n = min(B, X.shape[0] - start)
        for j in range(columns.shape[0]):
            read_column(X, start, n, columns[j], z, seen)
            for k in range(R.shape[0]):
                s, w = 0.0, 0.0
                r = R[k, start : start + n]
                for i in range(n):
                    s += r[i] * z[i]
                    w += r[i] * seen[i]
                total[k, j] += s
                weight[k, j] += w


@njit(nogil=True, cache=True)
def read_codes(X, start, n, j, offset, missing, at):
    """Place of each row's category in the table of all columns."""
    for i in range(n):
        x = X[start + i, j]
        at[i] = offset + np.int64(x) if x == x else missing


@njit(nogil=True, cache=True)
def category_density(X, columns, offsets, table, L):
    """L[k, i] += sum over observed j of table[k, offsets[j] + x_ij]; the table's last column is zero."""
    K, missing = table.shape[0], table.shape[1] - 1
    B = min(512, X.shape[0])
    at = np.empty(B, np.uint64)
    for start in range(0, X.shape[0], B):
        n = min(B, X.shape[0] - start)
        for j in range(columns.shape[0]):
            read_codes(X, start, n, columns[j], offsets[j], missing, at)
            for k in range(K):
                row, log_p = L[k, start : start + n], table[k]
                for i in range(n):
                    row[i] += log_p[at[i]]


@njit(nogil=True, cache=True)
def category_counts(X, columns, offsets, R, counts):
    """counts[offsets[j] + x_ij, k] += R[k, i]; what is missing is counted in the last row."""
    K, missing = R.shape[0], counts.shape[0] - 1
    B = min(512, X.shape[0])
    at = np.empty(B, np.uint64)
    shares = np.empty((B, K))
    for start in range(0, X.shape[0], B):
        n = min(B, X.shape[0] - start)
        for k in range(K):
            for i in range(n):
                shares[i, k] = R[k, start + i]
        for j in range(columns.shape[0]):
            read_codes(X, start, n, columns[j], offsets[j], missing, at)
            for i in range(n):
                row = counts[at[i]]
                for k in range(K):
                    row[k] += shares[i, k]
