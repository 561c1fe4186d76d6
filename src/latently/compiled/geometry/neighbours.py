"""The smallest values of each row of a matrix that comes in tiles, and exact distances of the rows they stand for."""

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def shrink(values, places, count, keep):
    """Bring the `keep` smallest of the first `count` values to the front (quickselect); gives their largest."""
    low, high = 0, count - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                places[i], places[j] = places[j], places[i]
                i += 1
                j -= 1
        if keep - 1 <= j:
            high = j
        elif keep - 1 >= i:
            low = i
        else:
            break
    largest = values[0]
    for i in range(1, keep):
        largest = max(largest, values[i])
    return largest


@njit(nogil=True, cache=True)
def any_below(part, limit):
    """Whether a value is below a limit; all are counted, since that is done for several at a time."""
    below = np.int32(0)
    for j in range(part.shape[0]):
        below += np.int32(part[j] < limit)
    return below > 0


@njit(nogil=True, cache=True)
def keep_smallest(scores, first, skip, keep, values, places, counts, limits):
    """Take the columns first, first + 1, ... of some rows: each row keeps candidates below its limit.

    A row has space for more candidates than it keeps; once it is full, the largest ones are dropped and the limit
    falls. skip[r] is a column that row r does not take.
    """
    n_rows, n_columns = scores.shape
    full = values.shape[1]
    for r in range(n_rows):
        row, limit, count, own = scores[r], limits[r], counts[r], skip[r] - first
        for start in range(0, n_columns, 64):
            part = row[start : start + 64]
            if not any_below(part, limit):
                continue
            for j in range(part.shape[0]):
                if part[j] < limit and start + j != own:
                    values[r, count] = part[j]
                    places[r, count] = first + start + j
                    count += 1
                    if count == full:
                        limit = shrink(values[r], places[r], count, keep)
                        count = keep
        counts[r], limits[r] = count, limit


@njit(nogil=True, cache=True)
def finish(values, places, counts, keep, limits):
    """Leave each row its `keep` smallest candidates; limits[r] is then the largest of them, if others were dropped."""
    for r in range(values.shape[0]):
        if counts[r] > keep:
            limits[r] = shrink(values[r], places[r], counts[r], keep)
            counts[r] = keep


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def squared_gaps(X, rows, places, counts, out):
    """out[r, j] = squared distance of the row rows[r] from its j-th candidate in X."""
    for r in range(rows.shape[0]):
        x = rows[r]
        for j in range(counts[r]):
            y = X[places[r, j]]
            total = 0.0
            for c in range(x.shape[0]):
                gap = x[c] - y[c]
                total += gap * gap
            out[r, j] = total


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def all_squared_gaps(X, rows, out):
    """out[r, j] = squared distance of the row rows[r] from the j-th row of X."""
    for r in range(rows.shape[0]):
        x = rows[r]
        for j in range(X.shape[0]):
            y = X[j]
            total = 0.0
            for c in range(x.shape[0]):
                gap = x[c] - y[c]
                total += gap * gap
            out[r, j] = total


@njit(nogil=True, cache=True)
def sort_nearest(values, places, counts, k, take_root, near, who):
    """The k smallest values of each row in their order, equal ones by their place; with square roots if asked."""
    for r in range(values.shape[0]):
        kept = 0
        for j in range(counts[r]):
            value, place = values[r, j], places[r, j]
            if kept == k and (value > near[r, k - 1] or (value == near[r, k - 1] and place > who[r, k - 1])):
                continue
            i = kept if kept < k else k - 1
            while i > 0 and (near[r, i - 1] > value or (near[r, i - 1] == value and who[r, i - 1] > place)):
                near[r, i] = near[r, i - 1]
                who[r, i] = who[r, i - 1]
                i -= 1
            near[r, i] = value
            who[r, i] = place
            kept = min(kept + 1, k)
        if take_root:
            for j in range(k):
                near[r, j] = math.sqrt(near[r, j])
