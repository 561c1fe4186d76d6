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
        tilt (G, d + 1, L), widest (G,), members (G * L,), place (K,): -2 times each centre, and its squared norm, in
        single precision; the largest norm of each group; the centre in each lane; the lane of each centre.
    drift
        (G,) how far the centres of a group can have moved since time zero, times `unit`.
    scratch
        Y, Z and A (B, d + 1), the last column of Y and Z one; table (B, L); low, far and gap (B,); square (B,);
        flags (B,) and the same memory as words of eight; who and near (B,).
    bounds
        (G, n or more, a multiple of B) lower bounds of the distance to the centres of a group other than the row's
        own, times `unit`, plus the drift at the time they were set, less a millionth for rounding: bounds - drift
        hold now. Infinite beyond the rows.
    sums
        (K, d + 1) of the weighted rows about the origin, and of the weights.
    """
    tilt, widest, members, place = groups
    Y, Z, A, table, low, far, gap, square, flags, words, who, near = scratch
    B, total = len(gap), 0.0
    for start in range(0, len(X), B):
        size = min(B, len(X) - start)
        own_distances(X, start, size, origin, unit, centres, labels, Y, Z, far, square, gap)
        failures = np.int64(0)
        for g in range(len(tilt)):
            m = list_failures(bounds[g], start, gap, drift[g], flags, words, who)
            failures += m
            if 3 * failures > (g + 1) * size:
                # Where many bounds fail, all are set anew: they hold for longer, and no rows need be picked out.
                m = size
                for i in range(m):
                    who[i] = i
            if m > 0:
                some = Z[:m]
                if m < size:
                    some = A[:m]
                    for q in range(m):
                        a, z = A[q], Z[who[q]]
                        for j in range(len(z)):
                            a[j] = z[j]
                np.dot(some, tilt[g], table[:m])
                settle(
                    g, start, m, Y, unit, centres, table, low, who, near, widest[g], members, place, drift, far,
                    square, gap, labels, bounds,
                )  # fmt: skip
        for i in range(size):
            w = 1.0 if len(weights) == 0 else weights[start + i]
            total += w * square[i]
            y, s = Y[i], sums[labels[start + i]]
            for j in range(len(y)):
                s[j] += w * y[j]
    return total


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"}, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def own_distances(X, start, size, origin, unit, centres, labels, Y, Z, far, square, gap):
    """Rows about the origin, their norms, squared distances to their own centres, and distances, rounded up."""
    for i in range(size):
        x, y, z, norm = X[start + i], Y[i], Z[i], 0.0
        for j in range(len(origin)):
            value = x[j] - origin[j]
            y[j] = value
            z[j] = value * unit
            norm += value * value
        far[i] = math.sqrt(norm) * unit
        square[i] = fast_square(y, centres[labels[start + i]])
        gap[i] = math.sqrt(square[i]) * unit * 1.0000003


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"}, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def fast_square(y, centre):
    """Squared distance, in whatever order of additions is fastest."""
    total = 0.0
    for j in range(len(centre)):
        total += (y[j] - centre[j]) * (y[j] - centre[j])
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def list_failures(limits, start, gap, drift, flags, words, who):
    """The rows that their bounds do not keep away from a group, and how many; flags are looked at eight at a time."""
    m = np.int64(0)
    for i in range(len(flags)):
        flags[i] = limits[start + i] <= gap[i] + drift
    for word in range(len(words)):
        if words[word] != 0:
            for i in range(8 * word, 8 * word + 8):
                who[m] = i
                m += flags[i]
    return m


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def settle(
    g, start, m, Y, unit, centres, table, low, who, near, widest, members, place, drift, far, square, gap, labels,
    bounds,
):  # fmt: skip
    """Set the bounds of a group; where a centre of it may be the nearest, decide in double precision.

    A squared distance |y|^2 - 2 c.y + |c|^2 suffers at most d + 8 roundings of numbers up to (|y| + |c|)^2, each of
    relative size 2^-24; before that, the points themselves were rounded.
    """
    L, first, limits, moved, close = table.shape[1], g * table.shape[1], bounds[g], drift[g], 0.999999
    part, undecided = 6.1e-8 * (Y.shape[1] + 7), np.int64(0)
    for q in range(m):
        i, values = who[q], table[q]
        lane = place[labels[start + i]] - first
        if 0 <= lane < L:
            values[lane] = np.inf
        y, reach = far[i], far[i] + widest
        slack = 6.1e-8 * reach + 1e-21
        low[q] = lowest(values)
        least = root(low[q] + y * y - part * reach * reach) - slack
        limits[start + i] = (least + moved) * close
        near[undecided] = q
        undecided += least - slack <= gap[i]
    for n in range(undecided):
        q = near[n]
        i, values = who[q], table[q]
        y, reach, old = far[i], far[i] + widest, np.int64(labels[start + i])
        slack, error = 6.1e-8 * reach + 1e-21, part * reach * reach
        base = y * y - error
        # Perhaps nearer than the own centre, and not surely farther than the likeliest.
        limit = min(gap[i] + slack, root(low[q] + base + 2.0 * error) + 2.0 * slack)
        own, best = old, strict_square(Y[i], centres[old])
        for l in range(L):
            if values[l] + base <= limit * limit:
                k = members[first + l]
                new = strict_square(Y[i], centres[k])
                if new < best or (new == best and k < own):
                    own, best = k, new
        if own != old:
            # The row leaves its centre, which from now on counts among the others of its group.
            left, h = math.sqrt(square[i]) * unit * close, place[old] // L
            away = (left + drift[h]) * close
            bounds[h, start + i] = away if away < bounds[h, start + i] else bounds[h, start + i]
            labels[start + i], square[i] = own, fast_square(Y[i], centres[own])
            gap[i] = math.sqrt(best) * unit * 1.0000003
            values[place[own] - first] = np.inf
            least = root(lowest(values) + base) - slack
            limits[start + i] = ((left if h == g and left < least else least) + moved) * close


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def root(x):
    """Square root; zero of what rounding has made negative."""
    return math.sqrt(x) if x > 0.0 else 0.0


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"}, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def lowest(values):
    """The least of some values."""
    least = np.float32(np.inf)
    for value in values:
        least = value if value < least else least
    return least


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def strict_square(y, centre):
    """Squared distance in one fixed order, so that equal distances compare as equal wherever they are taken."""
    total = 0.0
    for j in range(len(centre)):
        total += (y[j] - centre[j]) * (y[j] - centre[j])
    return total
