"""Stress of a map, the pulls that lower it, and isotonic regression."""

import math

from numba import njit


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def pulls(columns, D, W, weighted, first, last, gaps, out, stress, squares):
    """For points first to last - 1: sum_j w_ij (D_ij - d_ij) / d_ij (x_i - x_j), and what they add to the stress.

    columns is the map (k, n), d_ij are its distances; w_ij is 1 unless weighted. stress_i is
    sum_j w_ij (D_ij - d_ij)^2, squares_i is sum_j d_ij^2. gaps has space for n numbers. Points that coincide do not
    pull.
    """
    k, n = columns.shape
    for i in range(first, last):
        for j in range(n):
            gaps[j] = 0.0
        for c in range(k):
            column, here = columns[c], columns[c, i]
            for j in range(n):
                gap = here - column[j]
                gaps[j] += gap * gap
        total, size, row = 0.0, 0.0, D[i]
        if weighted:
            weights = W[i]
            for j in range(n):
                d = math.sqrt(gaps[j])
                missed = row[j] - d
                size += gaps[j]
                total += weights[j] * missed * missed
                gaps[j] = weights[j] * missed / d if d > 0.0 else 0.0
        else:
            for j in range(n):
                d = math.sqrt(gaps[j])
                missed = row[j] - d
                size += gaps[j]
                total += missed * missed
                gaps[j] = missed / d if d > 0.0 else 0.0
        stress[i], squares[i] = total, size
        for c in range(k):
            column, here, pull = columns[c], columns[c, i], 0.0
            for j in range(n):
                pull += gaps[j] * (here - column[j])
            out[c, i] = pull


@njit(nogil=True, cache=True)
def isotonic(values, groups, means, weights, ends, out):
    """Least squares fit to values that rises from group to group (pool adjacent violators); groups are constant.

    Group g is values[groups[g]:groups[g + 1]]. means, weights and ends have space for all groups.
    """
    blocks = 0
    for g in range(groups.shape[0] - 1):
        total = 0.0
        for i in range(groups[g], groups[g + 1]):
            total += values[i]
        weight = float(groups[g + 1] - groups[g])
        mean = total / weight
        while blocks > 0 and means[blocks - 1] >= mean:
            blocks -= 1
            mean = (means[blocks] * weights[blocks] + mean * weight) / (weights[blocks] + weight)
            weight += weights[blocks]
        means[blocks], weights[blocks], ends[blocks] = mean, weight, groups[g + 1]
        blocks += 1
    start = 0
    for b in range(blocks):
        for i in range(start, ends[b]):
            out[i] = means[b]
        start = ends[b]
