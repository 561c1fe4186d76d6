"""K-means: nearest centres, their sums, and k-means++.

Rows are taken about an origin, y = x - origin, and centres are given about the same origin. Labels are those of
double precision, the lowest index among equals, whichever way they are found:

* direct: rows in transposed blocks against every centre; for few centres, and for rows with missing values.
* bounded: a row is compared again with a group of centres only where a lower bound of its distance to the group,
  kept from earlier passes, no longer rules the group out. Groups are compared in single precision with a
  rigorous error bound, and what single precision cannot tell apart is decided in double precision.
"""

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def moments(X, count, mean, square):
    """Per column: how many values are observed, their mean, and the sum of squares about it."""
    n, d = X.shape
    for i in range(n):
        for j in range(d):
            x = X[i, j]
            if x == x:
                count[j] += 1.0
                mean[j] += x
    for j in range(d):
        mean[j] /= max(count[j], 1.0)
    for i in range(n):
        for j in range(d):
            t = X[i, j] - mean[j]
            square[j] += t * t if t == t else 0.0


@njit(nogil=True, cache=True)
def fill_block(X, start, size, origin, T, scale):
    """T[j, i] = row start + i about the origin; scale[i] = columns / observed columns (0 if none are)."""
    d = X.shape[1]
    for i in range(size):
        observed = 0.0
        for j in range(d):
            y = X[start + i, j] - origin[j]
            T[j, i] = y
            observed += 1.0 if y == y else 0.0
        scale[i] = d / observed if observed > 0.0 else 0.0


@njit(nogil=True, cache=True)
def block_distances(T, missing, centre, out):
    """out[i] = squared distance of each row of a block to a centre, over the observed coordinates."""
    d, B = T.shape
    for i in range(B):
        out[i] = 0.0
    for j in range(d):
        c = centre[j]
        if missing:
            for i in range(B):
                t = T[j, i] - c
                t = t if t == t else 0.0
                out[i] += t * t
        else:
            for i in range(B):
                t = T[j, i] - c
                out[i] += t * t


@njit(nogil=True, cache=True)
def distances(X, origin, missing, centres, out):
    """out[i, k] = distance of row i to centre k, over the observed coordinates and scaled up to all of them."""
    n, d = X.shape
    B = 128
    T, scale, gap = np.zeros((d, B)), np.zeros(B), np.empty(B)
    for start in range(0, n, B):
        size = min(B, n - start)
        fill_block(X, start, size, origin, T, scale)
        for k in range(centres.shape[0]):
            block_distances(T, missing, centres[k], gap)
            for i in range(size):
                out[start + i, k] = math.sqrt(gap[i] * scale[i])


@njit(nogil=True, cache=True)
def direct(X, weights, origin, missing, centres, labels, costs, weight, first, shares):
    """Label every row by its nearest centre; add up weights, rows about the origin, and the cost.

    `shares` (K, d) takes the weights that each coordinate's mean is over; it is empty without missing values.
    """
    n, d = X.shape
    B = 128
    T, scale, gap = np.zeros((d, B)), np.zeros(B), np.empty(B)
    nearest, owner = np.empty(B), np.empty(B, np.int64)
    total = 0.0
    for start in range(0, n, B):
        size = min(B, n - start)
        fill_block(X, start, size, origin, T, scale)
        for i in range(B):
            nearest[i] = np.inf
            owner[i] = 0
        for k in range(centres.shape[0]):
            block_distances(T, missing, centres[k], gap)
            for i in range(B):
                closer = gap[i] < nearest[i]
                nearest[i] = gap[i] if closer else nearest[i]
                owner[i] = k if closer else owner[i]
        for i in range(size):
            k, w = owner[i], 1.0 if len(weights) == 0 else weights[start + i]
            labels[start + i] = k
            costs[start + i] = nearest[i] * scale[i]
            total += w * costs[start + i]
            if missing:
                add_observed(T[:, i], w, scale[i], k, weight, first, shares)
            else:
                weight[k] += w
                for j in range(d):
                    first[k, j] += w * T[j, i]
    return total


@njit(nogil=True, cache=True)
def add_observed(y, w, scale, k, weight, first, shares):
    """Add a row with missing values to its cluster: the minimiser of the scaled cost weighs it by its scale."""
    weight[k] += w if scale > 0.0 else 0.0
    for j in range(len(y)):
        if y[j] == y[j]:
            first[k, j] += w * scale * y[j]
            shares[k, j] += w * scale


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"})
def fast_square(x, origin, centre):
    """Squared distance, in whatever order of additions is fastest."""
    total = 0.0
    for j in range(len(centre)):
        t = (x[j] - origin[j]) - centre[j]
        total += t * t
    return total


@njit(nogil=True, cache=True)
def strict_square(x, origin, centre):
    """Squared distance in one fixed order, so that equal distances compare as equal wherever they are taken."""
    total = 0.0
    for j in range(len(centre)):
        t = (x[j] - origin[j]) - centre[j]
        total += t * t
    return total


@njit(nogil=True, cache=True)
def bounded(X, weights, origin, unit, centres, groups, drift, labels, bounds, weight, first):
    """As `direct`, for complete rows, given labels (any) and bounds (-inf at first); both are brought up to date.

    unit
        What coordinates are multiplied by before they are put in single precision.
    groups
        middle (G, d), tilt (G, d, L), norm (G, L), radius (G,), members (G, L), place (K,): a point amid each
        group; -2 times the group's centres and their squared norms, all about that point and in single
        precision; the largest norm; the centre in each lane; the lane (g * L + l) of each centre.
    drift (G,)
        How far the centres of a group can have moved since time zero, times `unit`, rounded up.
    bounds (n, G)
        Lower bounds of the distance to the centres of a group other than the row's own, times `unit`, plus
        the drift at the time they were set: bounds - drift hold now.
    """
    n, d = X.shape
    G, L = groups[2].shape
    B = min(2048, n)
    square, gap = np.empty(B), np.empty(B, np.float32)
    rows, count = np.empty((G, B), np.int64), np.empty(G, np.int64)
    flags, failed = np.zeros(8 * ((G + 7) // 8), np.uint8), np.empty(B, np.int64)
    Z, A, out = np.empty((B, d), np.float32), np.empty((B, d), np.float32), np.empty((B, L), np.float32)
    total = 0.0
    for start in range(0, n, B):
        size = min(B, n - start)
        block, owner, limits = X[start : start + size], labels[start : start + size], bounds[start : start + size]
        own_distances(block, origin, unit, centres, owner, square, gap)
        fails = list_failures(gap, drift, limits, flags, failed, rows, count)
        shorten(block, failed[:fails], origin, unit, Z)
        for g in range(G):
            m = count[g]
            if m > 0:
                fetch(Z, rows[g, :m], groups[0][g], A)
                np.dot(A[:m], groups[1][g], out[:m])
                settle(g, rows[g, :m], block, origin, unit, centres, groups, drift, A, out, owner, square, gap, limits)
        total += accumulate(block, weights[start : start + size], origin, owner, square, weight, first)
    return total


@njit(nogil=True, cache=True)
def accumulate(X, weights, origin, owner, square, weight, first):
    """Add rows about the origin to their clusters; returns their cost."""
    total = 0.0
    for i in range(len(X)):
        k, w = owner[i], 1.0 if len(weights) == 0 else weights[i]
        total += w * square[i]
        weight[k] += w
        for j in range(X.shape[1]):
            first[k, j] += w * (X[i, j] - origin[j])
    return total


@njit(nogil=True, cache=True)
def shorten(X, who, origin, unit, Z):
    """Z = the listed rows about the origin, times `unit`, in single precision; other rows of Z are left alone."""
    for i in who:
        for j in range(X.shape[1]):
            Z[i, j] = (X[i, j] - origin[j]) * unit


@njit(nogil=True, cache=True)
def guess(X, origin, unit, tilt, norm, members, labels):
    """Label rows by their nearest centre in single precision; tilt (d, G * L) and norm (G, L) as for `bounded`."""
    n, d = X.shape
    (G, L), B = norm.shape, 256
    Z, out, everyone = np.empty((B, d), np.float32), np.empty((B, G * L), np.float32), np.arange(B)
    for start in range(0, n, B):
        size = min(B, n - start)
        shorten(X[start : start + size], everyone[:size], origin, unit, Z)
        np.dot(Z[:size], tilt, out[:size])
        for i in range(size):
            best, low = 0, np.float32(np.inf)
            for g in range(G):
                value = lowest(out[i, g * L : (g + 1) * L], norm[g])
                if value < low:
                    best, low = g, value
            labels[start + i] = members[best, np.argmin(out[i, best * L : (best + 1) * L])]


@njit(nogil=True, cache=True)
def own_distances(X, origin, unit, centres, owner, square, gap):
    """Squared distance of each row to its own centre, and the distance in single precision, rounded up."""
    for i in range(len(X)):
        square[i] = fast_square(X[i], origin, centres[owner[i]])
        gap[i] = math.sqrt(square[i]) * unit * 1.0000003


@njit(nogil=True, cache=True)
def list_failures(gap, drift, bounds, flags, failed, rows, count):
    """rows[g, :count[g]] = the rows that the bounds do not keep away from group g.

    Returns how many rows fail for any group; `failed` lists them. Flags are looked at eight at a time.
    """
    n, G = bounds.shape
    words = flags.view(np.uint64)
    count[:] = 0
    total = 0
    for i in range(n):
        fails = 0
        for g in range(G):
            flags[g] = bounds[i, g] <= gap[i] + drift[g]
            fails += flags[g]
        if fails > 0:
            failed[total] = i
            total += 1
            for word in range(len(words)):
                if words[word] != 0:
                    for g in range(8 * word, 8 * word + 8):
                        if flags[g] != 0:
                            rows[g, count[g]] = i
                            count[g] += 1
    return total


@njit(nogil=True, cache=True)
def fetch(Z, who, middle, A):
    """A = the listed rows about the middle of a group."""
    for q in range(len(who)):
        i = who[q]
        for j in range(Z.shape[1]):
            A[q, j] = Z[i, j] - middle[j]


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"})
def length(a):
    """Norm of a vector in single precision."""
    total = np.float32(0.0)
    for j in range(len(a)):
        total += a[j] * a[j]
    return np.sqrt(total)


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def lowest(row, base):
    """Add the squared norms to a row of -2 c.x, in place; returns the least of them."""
    least = np.float32(np.inf)
    for l in range(len(row)):
        row[l] += base[l]
        least = min(least, row[l])
    return least


@njit(nogil=True, cache=True)
def settle(g, who, X, origin, unit, centres, groups, drift, A, out, owner, square, gap, bounds):
    """Set the bounds of a group; where a centre of it may be the nearest, decide in double precision.

    A squared distance |x|^2 - 2 c.x + |c|^2 about the group's middle suffers d + 5 roundings of numbers up to
    (|x| + |c|)^2, each of relative size 2^-24; before that, the points themselves were rounded.
    """
    d, L = X.shape[1], out.shape[1]
    middle, norm, radius, place = groups[0], groups[2], groups[3], groups[5]
    share, rounding = np.float32(6.1e-8 * (d + 5.0)), np.float32(6.1e-8)
    shift = rounding * (length(middle[g]) + radius[g]) + np.float32(1e-21)
    for q in range(len(who)):
        i, size = who[q], length(A[q])
        lane = place[owner[i]] - g * L
        if 0 <= lane < L:
            out[q, lane] = np.inf
        wide, slack = size + radius[g], shift + rounding * (size + size)
        base = size * size - share * wide * wide
        low = lowest(out[q], norm[g]) + base
        if low <= (gap[i] + slack) * (gap[i] + slack):
            low = base + choose(g, i, X[i], origin, unit, centres, groups, drift, out[q], base, slack, owner, square, gap, bounds)
        bounds[i, g] = (np.sqrt(max(low, np.float32(0.0))) - slack + drift[g]) * np.float32(0.9999997)


@njit(nogil=True, cache=True)
def choose(g, i, x, origin, unit, centres, groups, drift, row, base, slack, owner, square, gap, bounds):
    """Compare a row's own centre with those of a group in double precision; returns the least of the others' lanes."""
    L = len(row)
    members, place = groups[4], groups[5]
    was = owner[i]
    own, best = was, strict_square(x, origin, centres[was])
    before, nearest = best, np.argmin(row)
    for step in range(L):
        l = nearest if step == 0 else (0 if step == nearest else step)
        if row[l] + base <= (gap[i] + slack) * (gap[i] + slack):
            k = members[g, l]
            new = strict_square(x, origin, centres[k])
            if new < best or (new == best and k < own):
                own, best = k, new
                gap[i] = math.sqrt(best) * unit * 1.0000003
    if own != was:
        owner[i], square[i] = own, best
        left = place[was] // L
        value = np.float32((math.sqrt(before) * unit + drift[left]) * 0.9999994)
        bounds[i, left] = min(bounds[i, left], value)
        row[place[own] - g * L] = np.inf
        if left == g:
            row[place[was] - g * L] = np.float32(before * unit * unit * 0.9999994) - base
    return row.min()
