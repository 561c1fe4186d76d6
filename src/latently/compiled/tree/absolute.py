"""The best split of a node by absolute errors: rows in the order of a column, with the medians of both sides.

Columns are codes in the order of their values; code `lost[f]` stands for a missing value, which is tried on both sides.
"""

import numpy as np
from numba import njit

ROUNDING = 1e-12
FEW = 32  # rows that are sorted by insertion


@njit(nogil=True, cache=True, error_model="numpy")
def sort_rows(places, n_places, counts, order):
    """Fill order with the rows by rising places (from 0 to n_places), equal ones as they come."""
    m = len(places)
    if m <= FEW:
        for i in range(m):
            j = i
            while j > 0 and places[order[j - 1]] > places[i]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = i
        return
    counts[: n_places + 2] = 0
    for i in range(m):
        counts[places[i] + 1] += 1
    for c in range(n_places):
        counts[c + 1] += counts[c]
    for i in range(m):
        order[counts[places[i]]] = i
        counts[places[i]] += 1


@njit(nogil=True, cache=True, error_model="numpy")
def add_errors(y, w, ranks, by_rank, order, is_back, weights, sums, errors, medians):
    """Add the absolute error about the median of the first i + 1 rows of an order to errors[i]; give the medians.

    `is_back` reads the order from its end. A Fenwick tree over the ranks of y finds each median in log(rows) steps.
    """
    m, high, W, S = len(y), 1, 0.0, 0.0
    while 2 * high <= m:
        high *= 2
    for j in range(m + 1):
        weights[j], sums[j] = 0.0, 0.0
    for i in range(m):
        r = order[m - 1 - i] if is_back else order[i]
        W += w[r]
        S += w[r] * y[r]
        j = ranks[r] + 1
        while j <= m:
            weights[j] += w[r]
            sums[j] += w[r] * y[r]
            j += j & -j
        place, below, total, step = 0, 0.0, 0.0, high
        while step:
            if place + step <= m and below + weights[place + step] < 0.5 * W:
                place += step
                below += weights[place]
                total += sums[place]
            step >>= 1
        medians[i] = by_rank[min(place, m - 1)]
        errors[i] += medians[i] * below - total + (S - total) - medians[i] * (W - below)


@njit(nogil=True, cache=True, error_model="numpy")
def scan(places, order, w, left, right, low_medians, high_medians, limits, only, sign, bounds, best):
    """Find the cut between places with the least error: best gets error and last place on the left; whether it did."""
    m, wl, total, found = len(places), 0.0, 0.0, False
    for i in range(m):
        total += w[i]
    for i in range(m - 1):
        wl += w[order[i]]
        here = places[order[i]]
        if here == places[order[i + 1]] or (only >= 0 and here != only):
            continue
        if i + 1 < limits[0] or m - i - 1 < limits[0] or wl < limits[1] or total - wl < limits[1]:
            continue
        a, b = low_medians[i], high_medians[m - 2 - i]
        if sign != 0 and (sign * (a - b) > 0 or min(a, b) < bounds[0] or max(a, b) > bounds[1]):
            continue
        error = left[i] + right[m - 2 - i]
        if error < best[0] - ROUNDING * error:  # the first of equal ones
            best[0], best[1], found = error, here, True
    return found


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def best_split(codes, columns, lost, only, y, w, ranks, limits, signs, bounds, best):
    """Find the best cut of the columns: best gets its error, last place on the left, column, side of the missing.

    Codes (m, d) are those of the node's rows, y (outputs, m) with ranks; limits are least rows and weight of a branch.
    Missing values have the first place if they go left (side 1) and the last one otherwise; codes count from 1.
    With `only[f]` >= 0 that cut of the column alone is tried.
    """
    m, n_out = len(w), len(y)
    places, order, counts = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(codes.max() + 4, np.int64)
    left, right, by_rank = np.empty(m), np.empty(m), np.empty((n_out, m))
    weights, sums, low, high = np.empty(m + 1), np.empty(m + 1), np.empty(m), np.empty(m)
    for o in range(n_out):
        for i in range(m):
            by_rank[o, ranks[o, i]] = y[o, i]
    for f in columns:
        for side in range(1, -1, -1):
            n_lost, most = 0, 0
            for i in range(m):
                c = np.int64(codes[i, f]) + 1
                if c == lost[f] + 1:
                    n_lost += 1
                    c = 0 if side else c
                places[i] = c
                most = max(most, c)
            sort_rows(places, most, counts, order)
            for i in range(m):
                left[i], right[i] = 0.0, 0.0
            for o in range(n_out):
                add_errors(y[o], w, ranks[o], by_rank[o], order, False, weights, sums, left, low)
                add_errors(y[o], w, ranks[o], by_rank[o], order, True, weights, sums, right, high)
            at = only[f] + 1 if only[f] >= 0 else -1
            if scan(places, order, w, left, right, low, high, limits, at, signs[f], bounds, best):
                best[2], best[3] = f, side if n_lost else 0
            if n_lost == 0:
                break
