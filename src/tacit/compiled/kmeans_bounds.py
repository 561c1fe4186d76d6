"""K-means with bounds: a row is compared again only with the groups of centres that may hold its nearest.

Rows are taken about an origin, y = x - origin, and centres are given about the same origin. A group is passed over
where a lower bound of the row's distance to it, kept from earlier passes, rules it out. Groups are compared in
single precision with a rigorous error bound, and what single precision cannot tell apart is decided in double
precision: labels are those of `kmeans.direct`, the lowest index among equals.

Functions that only others here call have no wrapper for Python: it would take a fifth of the time to compile.
"""

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def bounded(X, weights, origin, unit, centres, groups, drift, scratch, labels, bounds, sums):
    """As `direct`, for complete rows, given labels (any) and bounds (-inf at first); both are brought up to date.

    unit
        What coordinates are multiplied by before they are put in single precision.
    groups
        tilt (G, d + 1, L), size (G,), members (G * L,), place (K,): -2 times each centre, and its squared norm, in
        single precision; the largest norm of each group; the centre in each lane; the lane of each centre.
    drift
        (G,) how far the centres of a group can have moved since time zero, times `unit`.
    scratch
        Y (B, d), Z and A (B, d + 1), the last column of Z one; table (B, L); low, far and gap (B,); square (B,);
        flags (B,) and the same memory as words of eight; who and near (B,).
    bounds
        (G, n) lower bounds of the distance to the centres of a group other than the row's own, times `unit`,
        plus the drift at the time they were set, less a millionth for rounding: bounds - drift hold now.
    sums
        (K, d + 1) of the weighted rows about the origin, and of the weights.
    """
    tilt, size, members, place = groups
    Y, Z, A, table, low, far, gap, square, flags, words, who, near = scratch
    d, B = X.shape[1], len(gap)
    total = 0.0
    for start in range(0, len(X), B):
        stop = min(start + B, len(X))
        rows, owner = X[start:stop], labels[start:stop]
        own_distances(rows, origin, unit, centres, owner, Y, Z, far, square, gap)
        failures = 0
        for g in range(len(tilt)):
            m = list_failures(bounds[g, start:stop], gap, drift[g], flags, words, who)
            failures += m
            if 3 * failures > (g + 1) * len(rows):
                # Where many bounds fail, all are set anew: they hold for longer, and no rows need be picked out.
                m = len(rows)
                for i in range(m):
                    who[i] = i
            if m > 0:
                some = Z[:m]
                if m < len(rows):
                    some = A[:m]
                    for q in range(m):
                        a, z = A[q], Z[who[q]]
                        for j in range(len(z)):
                            a[j] = z[j]
                np.dot(some, tilt[g], table[:m])
                lowest_others(table, who[:m], owner, place, g * table.shape[1], low)
                settle(
                    g, Y, unit, centres, table, low, who[:m], near, size[g], members, place, drift, far,
                    square, gap, owner, bounds, start,
                )  # fmt: skip
        for i in range(len(rows)):
            w = 1.0 if len(weights) == 0 else weights[start + i]
            total += w * square[i]
            y, s = Y[i], sums[owner[i]]
            s[d] += w
            for j in range(d):
                s[j] += w * y[j]
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def own_distances(rows, origin, unit, centres, owner, Y, Z, far, square, gap):
    """Rows about the origin, their norms, squared distances to their own centres, and distances, rounded up."""
    for i in range(len(rows)):
        x, y, z = rows[i], Y[i], Z[i]
        for j in range(len(origin)):
            y[j] = x[j] - origin[j]
            z[j] = (x[j] - origin[j]) * unit
        far[i] = length(z, len(origin))
        square[i] = fast_square(y, centres[owner[i]])
        gap[i] = math.sqrt(square[i]) * unit * 1.0000003


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"}, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def length(z, d):
    """Norm of the first d coordinates in single precision."""
    total = np.float32(0.0)
    for j in range(d):
        total += z[j] * z[j]
    return np.sqrt(total)


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"}, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def fast_square(y, centre):
    """Squared distance, in whatever order of additions is fastest."""
    total = 0.0
    for j in range(len(centre)):
        total += (y[j] - centre[j]) * (y[j] - centre[j])
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def list_failures(limits, gap, drift, flags, words, who):
    """The rows that their bounds do not keep away from a group, and how many; flags are looked at eight at a time."""
    m = 0
    for i in range(len(limits)):
        flags[i] = limits[i] <= gap[i] + drift
    for word in range((len(limits) + 7) // 8):
        if words[word] != 0:
            for i in range(8 * word, 8 * word + 8):
                if flags[i] != 0 and i < len(limits):
                    who[m] = i
                    m += 1
    return m


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"}, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def lowest_others(table, who, owner, place, first, low):
    """The least value of each row of the table but for the lane of the row's own centre, which becomes infinite."""
    L = table.shape[1]
    for q in range(len(who)):
        lane = place[owner[who[q]]] - first
        if 0 <= lane < L:
            table[q, lane] = np.inf
    for q in range(len(who)):
        values, least = table[q], np.float32(np.inf)
        for l in range(L):
            least = values[l] if values[l] < least else least
        low[q] = least


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def settle(
    g, Y, unit, centres, table, low, who, near, size, members, place, drift, far, square, gap, owner,
    bounds, start,
):  # fmt: skip
    """Set the bounds of a group; where a centre of it may be the nearest, decide in double precision.

    A squared distance |y|^2 - 2 c.y + |c|^2 suffers at most d + 8 roundings of numbers up to (|y| + |c|)^2, each of
    relative size 2^-24; before that, the points themselves were rounded.
    """
    part, rounding, tiny = np.float32(6.1e-8 * (Y.shape[1] + 8.0)), np.float32(6.1e-8), np.float32(1e-21)
    close, zero, moved, limits = np.float32(0.999999), np.float32(0.0), drift[g], bounds[g, start:]
    undecided = 0
    for q in range(len(who)):
        i = who[q]
        slack = rounding * (size + far[i]) + tiny
        least = low[q] + (far[i] * far[i] - part * (far[i] + size) * (far[i] + size))
        near[undecided] = q
        undecided += 1 if least <= (gap[i] + slack) * (gap[i] + slack) else 0
        least = least if least > zero else zero
        limits[i] = (np.sqrt(least) - slack + moved) * close
    L = table.shape[1]
    for q in near[:undecided]:
        i, values = who[q], table[q]
        slack = rounding * (size + far[i]) + tiny
        base = far[i] * far[i] - part * (far[i] + size) * (far[i] + size)
        old = np.int64(owner[i])
        own, best = old, strict_square(Y[i], centres[old])
        for sweep in range(2):  # the likeliest first: it rules out most of the others
            for l in range(L):
                likeliest = values[l] == low[q]
                if likeliest == (sweep == 0) and values[l] + base <= (gap[i] + slack) * (gap[i] + slack):
                    k = members[g * L + l]
                    new = strict_square(Y[i], centres[k])
                    if new < best or (new == best and k < own):
                        own, best = k, new
                        gap[i] = math.sqrt(best) * unit * 1.0000003
        if own != old:
            # The row leaves its centre, which from now on counts among the others of its group.
            left, h = np.float32(math.sqrt(square[i]) * unit) * close, place[old] // L
            away = (left + drift[h]) * close
            bounds[h, start + i] = away if away < bounds[h, start + i] else bounds[h, start + i]
            owner[i], square[i] = own, fast_square(Y[i], centres[own])
            least = left * left if h == g else np.float32(np.inf)
            for l in range(L):
                if members[g * L + l] != own and values[l] + base < least:
                    least = values[l] + base
            least = least if least > zero else zero
            limits[i] = (np.sqrt(least) - slack + moved) * close


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def strict_square(y, centre):
    """Squared distance in one fixed order, so that equal distances compare as equal wherever they are taken."""
    total = 0.0
    for j in range(len(centre)):
        total += (y[j] - centre[j]) * (y[j] - centre[j])
    return total
