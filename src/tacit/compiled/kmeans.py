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
            count[j] += 1.0 if x == x else 0.0
            mean[j] += x if x == x else 0.0
    for j in range(d):
        mean[j] /= count[j] if count[j] > 0.0 else 1.0
    for i in range(n):
        for j in range(d):
            t = X[i, j] - mean[j]
            square[j] += t * t if t == t else 0.0


@njit(nogil=True, cache=True)
def fill_block(X, start, size, origin, missing, T, scale):
    """T[j, i] = row start + i about the origin; scale[i] = columns / observed columns (0 if none are)."""
    d = X.shape[1]
    for i in range(size):
        for j in range(d):
            T[j, i] = X[start + i, j] - origin[j]
    for i in range(size):
        observed = float(d)
        if missing:
            for j in range(d):
                observed -= 0.0 if T[j, i] == T[j, i] else 1.0
        scale[i] = d / observed if observed > 0.0 else 0.0


@njit(nogil=True, cache=True)
def block_distances(T, missing, centre, out):
    """out[i] = squared distance of each row of a block to a centre, over the observed coordinates."""
    d, B = T.shape
    out[:] = 0.0
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
def distances(X, origin, missing, centres, T, scale, gap, out):
    """out[i, k] = distance of row i to centre k, over the observed coordinates and scaled up to all of them."""
    n, B = len(X), len(gap)
    for start in range(0, n, B):
        size = min(B, n - start)
        fill_block(X, start, size, origin, missing, T, scale)
        for k in range(len(centres)):
            block_distances(T, missing, centres[k], gap)
            for i in range(size):
                out[start + i, k] = math.sqrt(gap[i] * scale[i])


@njit(nogil=True, cache=True)
def direct(X, weights, origin, missing, centres, scratch, labels, weight, first, share):
    """Label every row by its nearest centre, add up weights and rows about the origin, and return the cost.

    scratch
        T (d, B), and scale, gap, nearest and owner (B,), the last of integers.
    share
        (K, d) what each coordinate's mean is divided by; empty without missing values, when that is the weight.
    """
    n, d = X.shape
    T, scale, gap, nearest, owner = scratch
    B = len(gap)
    total = 0.0
    for start in range(0, n, B):
        size = min(B, n - start)
        fill_block(X, start, size, origin, missing, T, scale)
        nearest[:] = np.inf
        owner[:] = 0
        for k in range(len(centres)):
            block_distances(T, missing, centres[k], gap)
            for i in range(B):
                owner[i] = k if gap[i] < nearest[i] else owner[i]
                nearest[i] = gap[i] if gap[i] < nearest[i] else nearest[i]
        for i in range(size):
            k, w = owner[i], 1.0 if len(weights) == 0 else weights[start + i]
            labels[start + i] = k
            total += w * (nearest[i] * scale[i])
            if missing:
                add_observed(T[:, i], w, scale[i], weight[k : k + 1], first[k], share[k])
            else:
                weight[k] += w
                for j in range(d):
                    first[k, j] += w * T[j, i]
    return total


@njit(nogil=True, cache=True)
def add_observed(y, w, scale, weight, first, share):
    """Add a row with missing values to its cluster: the scaled cost is least if the row counts by its scale."""
    weight[0] += w if scale > 0.0 else 0.0
    for j in range(len(y)):
        seen = y[j] == y[j]
        first[j] += w * scale * y[j] if seen else 0.0
        share[j] += w * scale if seen else 0.0


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
def bounded(X, weights, origin, unit, centres, groups, drift, scratch, labels, bounds, weight, first):
    """As `direct`, for complete rows, given labels (any) and bounds (-inf at first); both are brought up to date.

    unit
        What coordinates are multiplied by before they are put in single precision.
    groups
        middle (G, d), tilt (G, d, L), norm (G, L), radius (G,), members (G, L), place (K,): a point amid each
        group; -2 times the group's centres and their squared norms, all about that point and in single
        precision; the largest norm; the centre in each lane; the lane (g * L + l) of each centre.
    drift
        (G,) how far the centres of a group can have moved since time zero, times `unit`.
    scratch
        square and gap (B,), flags (G rounded up to eights) and the same memory as words, failed (B,),
        rows (G, B), count (G,), Z and A (B, d), out (B, L).
    bounds
        (n, G) lower bounds of the distance to the centres of a group other than the row's own, times `unit`,
        plus the drift at the time they were set, less a millionth for rounding: bounds - drift hold now.
    """
    square, gap, flags, words, failed, rows, count, Z, A, out = scratch
    n, B = len(X), len(gap)
    total = 0.0
    for start in range(0, n, B):
        stop = min(start + B, n)
        block, owner, limits = X[start:stop], labels[start:stop], bounds[start:stop]
        own_distances(block, origin, unit, centres, owner, square, gap)
        fails = list_failures(gap, drift, limits, flags, words, failed, rows, count)
        shorten(block, failed[:fails], origin, unit, Z)
        for g in range(len(count)):
            m = count[g]
            if m > 0:
                fetch(Z, rows[g, :m], groups[0][g], A)
                np.dot(A[:m], groups[1][g], out[:m])
                settle(g, rows[g, :m], block, origin, unit, centres, groups, drift, A, out, owner, square, gap, limits)
        total += accumulate(block, weights[start:stop], origin, owner, square, weight, first)
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
    for q in range(len(who)):
        i = who[q]
        for j in range(X.shape[1]):
            Z[i, j] = (X[i, j] - origin[j]) * unit


@njit(nogil=True, cache=True)
def guess(X, origin, unit, tilt, norm, members, everyone, Z, out, labels):
    """Label rows by their nearest centre in single precision: a first label for `bounded`, right but for ties.

    tilt (d, G * L) and norm (G, L) are as for `bounded`, about the origin; everyone = 0, 1, ... B - 1.
    """
    n, B = len(X), len(Z)
    G, L = norm.shape
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
            labels[start + i] = members[best, lane_of(low, out[i, best * L : (best + 1) * L])]


@njit(nogil=True, cache=True)
def own_distances(X, origin, unit, centres, owner, square, gap):
    """Squared distance of each row to its own centre, and the distance in single precision, rounded up."""
    for i in range(len(X)):
        square[i] = fast_square(X[i], origin, centres[owner[i]])
        gap[i] = math.sqrt(square[i]) * unit * 1.0000003


@njit(nogil=True, cache=True)
def list_failures(gap, drift, bounds, flags, words, failed, rows, count):
    """rows[g, :count[g]] = the rows that the bounds do not keep away from group g.

    Returns how many rows fail for any group; `failed` lists them. Flags are looked at eight at a time.
    """
    n, G = bounds.shape
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
    """Add the squared norms to a row of -2 c.x, in place; returns the least sum."""
    least = np.float32(np.inf)
    for l in range(len(row)):
        row[l] += base[l]
        least = row[l] if row[l] < least else least
    return least


@njit(nogil=True, cache=True)
def lane_of(value, row):
    """First lane that holds a value."""
    for l in range(len(row)):
        if row[l] == value:
            return l
    return 0


@njit(nogil=True, cache=True)
def settle(g, who, X, origin, unit, centres, groups, drift, A, out, owner, square, gap, bounds):
    """Set the bounds of a group; where a centre of it may be the nearest, decide in double precision.

    A squared distance |x|^2 - 2 c.x + |c|^2 about the group's middle suffers d + 5 roundings of numbers up to
    (|x| + |c|)^2, each of relative size 2^-24; before that, the points themselves were rounded.
    """
    d, L = X.shape[1], out.shape[1]
    middle, norm, radius, place = groups[0], groups[2], groups[3], groups[5]
    part, rounding = np.float32(6.1e-8 * (d + 5.0)), np.float32(6.1e-8)
    shift = rounding * (length(middle[g]) + radius[g]) + np.float32(1e-21)
    for q in range(len(who)):
        i, size = who[q], length(A[q])
        lane = place[owner[i]] - g * L
        if 0 <= lane < L:
            out[q, lane] = np.inf
        wide, slack = size + radius[g], shift + rounding * (size + size)
        base = size * size - part * wide * wide
        low = lowest(out[q], norm[g])
        if low + base <= (gap[i] + slack) * (gap[i] + slack):
            low = choose(g, i, low, X[i], origin, unit, centres, groups, drift, out[q], base, slack, owner, square, gap, bounds)
        low = max(low + base, np.float32(0.0))
        bounds[i, g] = (np.sqrt(low) - slack + drift[g]) * np.float32(0.999999)


@njit(nogil=True, cache=True)
def choose(g, i, low, x, origin, unit, centres, groups, drift, row, base, slack, owner, square, gap, bounds):
    """Compare a row's own centre with those of a group in double precision; returns the least of the others' lanes."""
    L = len(row)
    members, place = groups[4], groups[5]
    was = owner[i]
    own, best = was, strict_square(x, origin, centres[was])
    before, nearest = best, lane_of(low, row)
    for step in range(L):
        l = nearest if step == 0 else (0 if step == nearest else step)
        if row[l] + base <= (gap[i] + slack) * (gap[i] + slack):
            k = members[g, l]
            new = strict_square(x, origin, centres[k])
            if new < best or (new == best and k < own):
                own, best = k, new
                gap[i] = math.sqrt(best) * unit * 1.0000003
    if own != was:
        owner[i], square[i] = own, fast_square(x, origin, centres[own])
        left = place[was] // L
        value = np.float32((math.sqrt(before) * unit + drift[left]) * 0.999999)
        bounds[i, left] = min(bounds[i, left], value)
        row[place[own] - g * L] = np.inf
        if left == g:
            row[place[was] - g * L] = np.float32(before * unit * unit * 0.999999 - 1e-6 * abs(base)) - base
    low = np.float32(np.inf)
    for l in range(L):
        low = min(low, row[l])
    return low


@njit(nogil=True, cache=True)
def row_square(x, origin, missing, centre):
    """Squared distance of a row to a centre, over the observed coordinates and scaled up to all of them."""
    if not missing:
        return fast_square(x, origin, centre)
    total, observed = 0.0, 0.0
    for j in range(len(centre)):
        t = (x[j] - origin[j]) - centre[j]
        if t == t:
            total += t * t
            observed += 1.0
    return total * len(centre) / observed if observed > 0.0 else 0.0


@njit(nogil=True, cache=True)
def join(X, weights, origin, missing, centre, index, reach, nearest, owner, mass):
    """Let the rows that are nearer to a new centre join it; mass = weight times distance, in stretches of rows.

    A row cannot be nearer to the new centre if that is at least twice as far from the row's present centre as
    the row is: reach[k] = a quarter of the squared distance between the new centre and centre k.
    """
    stretch = -(-len(X) // len(mass))
    for b in range(len(mass)):
        total = 0.0
        for i in range(b * stretch, min((b + 1) * stretch, len(X))):
            if reach[owner[i]] < nearest[i]:
                square = row_square(X[i], origin, missing, centre)
                if square < nearest[i]:
                    nearest[i], owner[i] = square, index
            total += nearest[i] if len(weights) == 0 else weights[i] * nearest[i]
        mass[b] = total


@njit(nogil=True, cache=True)
def gains(X, weights, origin, missing, points, reach, nearest, owner, gain):
    """gain[t] = how much the total distance to the nearest centre falls if point t becomes a centre."""
    for i in range(len(X)):
        k, w = owner[i], 1.0 if len(weights) == 0 else weights[i]
        for t in range(len(points)):
            if reach[k, t] < nearest[i]:
                fall = nearest[i] - row_square(X[i], origin, missing, points[t])
                gain[t] += w * fall if fall > 0.0 else 0.0
