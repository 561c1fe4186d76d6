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
def bounded(X, weights, origin, unit, centres, groups, drift, scratch, labels, bounds, weight, first):
    """As `direct`, for complete rows, given labels (any) and bounds (-inf at first); both are brought up to date.

    unit
        What coordinates are multiplied by before they are put in single precision.
    groups
        middle (G, d), tilt (G, d, L), norm (G, L), size (G, 2), members (G * L,), place (K,), and flat = tilt
        (d, G * L), norm (G, L): a point amid each group; -2 times the group's centres and their squared norms,
        all about that point and in single precision; the largest norm, and that plus the norm of the middle;
        the centre in each lane; the lane of each centre; tilt and norm of all centres about the origin.
    drift
        (G,) how far the centres of a group can have moved since time zero, times `unit`.
    scratch
        Y (B, d), square and gap (B,), flags (G rounded up to eights) and the same memory as words,
        failed (B,), rows (G, B), count (G,), Z and A (B, d), out (B, L), table (any, G * L),
        low (G,), nowhere (d,) zeros.
    bounds
        (n, G) lower bounds of the distance to the centres of a group other than the row's own, times `unit`,
        plus the drift at the time they were set, less a millionth for rounding: bounds - drift hold now.
    """
    Y, square, gap, flags, words, failed, rows, count, Z, A, out, table, low, nowhere = scratch
    middle, tilt, norm, size, members, place, flat = groups
    n, B = len(X), len(gap)
    total = 0.0
    for start in range(0, n, B):
        stop = min(start + B, n)
        owner, limits = labels[start:stop], bounds[start:stop]
        own_distances(X[start:stop], origin, unit, centres, owner, Y, square, gap)
        fails = list_failures(gap, drift, limits, flags, words, failed, rows, count)
        shorten(Y, failed[:fails], unit, Z)
        pairs = 0
        for g in range(len(count)):
            pairs += count[g]
        if 3 * pairs > (stop - start) * len(count):
            for some in range(0, fails, len(table)):
                who = failed[some : min(some + len(table), fails)]
                fetch(Z, who, nowhere, A)
                everywhere(who, Y, A, unit, centres, flat, members, place, drift, table, low, owner, square, limits)
        else:
            for g in range(len(count)):
                m = count[g]
                if m > 0:
                    fetch(Z, rows[g, :m], middle[g], A)
                    np.dot(A[:m], tilt[g], out[:m])
                    settle(
                        g, rows[g, :m], Y, unit, centres, norm[g], size[g], members, place, drift,
                        A, out, owner, square, gap, limits,
                    )  # fmt: skip
        total += accumulate(Y, weights[start:stop], owner, square, weight, first)
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def own_distances(X, origin, unit, centres, owner, Y, square, gap):
    """Rows about the origin, squared distance to their own centre, and the distance in single precision, rounded up."""
    for i in range(len(X)):
        for j in range(X.shape[1]):
            Y[i, j] = X[i, j] - origin[j]
        square[i] = fast_square(Y[i], centres[owner[i]])
        gap[i] = math.sqrt(square[i]) * unit * 1.0000003


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"}, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def fast_square(y, centre):
    """Squared distance, in whatever order of additions is fastest."""
    total = 0.0
    for j in range(len(centre)):
        total += (y[j] - centre[j]) * (y[j] - centre[j])
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def accumulate(Y, weights, owner, square, weight, first):
    """Add rows to their clusters; returns their cost."""
    total = 0.0
    for i in range(len(owner)):
        k, w = owner[i], 1.0 if len(weights) == 0 else weights[i]
        total += w * square[i]
        weight[k] += w
        for j in range(Y.shape[1]):
            first[k, j] += w * Y[i, j]
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def list_failures(gap, drift, bounds, flags, words, failed, rows, count):
    """rows[g, :count[g]] = the rows that the bounds do not keep away from group g.

    Returns how many rows fail for any group; `failed` lists them. Flags are looked at eight at a time.
    """
    n, G = bounds.shape
    total = 0
    for g in range(G):
        count[g] = 0
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


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def shorten(Y, who, unit, Z):
    """Z = the listed rows times `unit`, in single precision; other rows of Z are left alone."""
    for i in who:
        for j in range(Y.shape[1]):
            Z[i, j] = Y[i, j] * unit


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def fetch(Z, who, middle, A):
    """A = the listed rows about the middle of a group."""
    for q in range(len(who)):
        for j in range(Z.shape[1]):
            A[q, j] = Z[who[q], j] - middle[j]


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"}, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def length(a):
    """Norm of a vector in single precision."""
    total = np.float32(0.0)
    for j in range(len(a)):
        total += a[j] * a[j]
    return np.sqrt(total)


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"}, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def lowest(row, norm):
    """The least of -2 c.y + |c|^2."""
    least = np.float32(np.inf)
    for l in range(len(row)):
        value = row[l] + norm[l]
        least = value if value < least else least
    return least


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def settle(g, who, Y, unit, centres, norm, size, members, place, drift, A, out, owner, square, gap, bounds):
    """Set the bounds of a group; where a centre of it may be the nearest, decide in double precision.

    A squared distance |y|^2 - 2 c.y + |c|^2 about the group's middle suffers d + 5 roundings of numbers up to
    (|y| + |c|)^2, each of relative size 2^-24; before that, the points themselves were rounded.
    """
    L = len(norm)
    part, rounding, tiny = np.float32(6.1e-8 * (Y.shape[1] + 5.0)), np.float32(6.1e-8), np.float32(1e-21)
    for q in range(len(who)):
        i, row, far = who[q], out[q], length(A[q])
        own = np.int64(owner[i])
        lane = place[own] - g * L
        if 0 <= lane < L:
            row[lane] = np.inf
        slack = rounding * (size[1] + far + far) + tiny
        base = far * far - part * (far + size[0]) * (far + size[0])
        low = lowest(row, norm)
        if low + base <= (gap[i] + slack) * (gap[i] + slack):
            a, b = g * L, g * L + L
            k, near = choose(Y[i], own, gap[i], unit, centres, members[a:b], row, norm, base, slack, low)
            if k != own:
                # The row leaves its centre, which from now on counts among the others of its group.
                owner[i] = k
                left = np.float32(math.sqrt(square[i]) * unit * 0.999999)
                square[i], gap[i] = fast_square(Y[i], centres[k]), near
                value = (left + drift[place[own] // L]) * np.float32(0.999999)
                bounds[i, place[own] // L] = min(bounds[i, place[own] // L], value)
                row[place[k] - g * L] = np.inf
                low = lowest(row, norm)
                if 0 <= lane < L:
                    low = min(low, left * left * np.float32(0.999999) - base - np.float32(1e-6) * abs(base))
        low = max(low + base, np.float32(0.0))
        bounds[i, g] = (np.sqrt(low) - slack + drift[g]) * np.float32(0.999999)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def choose(y, own, gap, unit, centres, members, row, norm, base, slack, low):
    """The nearest of a row's own centre (-1 if none) and those of a group, in double precision; the first of equals."""
    best = strict_square(y, centres[own]) if own >= 0 else np.inf
    for sweep in range(2):  # the likeliest first: it rules out most of the others
        for l in range(len(row)):
            value = row[l] + norm[l]
            if (value == low) == (sweep == 0) and value + base <= (gap + slack) * (gap + slack):
                new = strict_square(y, centres[members[l]])
                if new < best or (new == best and members[l] < own):
                    own, best = members[l], new
                    gap = np.float32(math.sqrt(best) * unit * 1.0000003)
    return own, gap


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def strict_square(y, centre):
    """Squared distance in one fixed order, so that equal distances compare as equal wherever they are taken."""
    total = 0.0
    for j in range(len(centre)):
        total += (y[j] - centre[j]) * (y[j] - centre[j])
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def everywhere(who, Y, A, unit, centres, flat, members, place, drift, table, low, owner, square, bounds):
    """Where most bounds of the listed rows fail: compare them with all centres at once; A are these rows."""
    tilt, norm, wide = flat
    np.dot(A[: len(who)], tilt, table[: len(who)])
    part, rounding, tiny = np.float32(6.1e-8 * (Y.shape[1] + 5.0)), np.float32(6.1e-8), np.float32(1e-21)
    for q in range(len(who)):
        i, far = who[q], length(A[q])
        slack = rounding * (far + wide) + tiny
        base = far * far - part * (far + wide) * (far + wide)
        k = nearest_of_all(Y[i], unit, centres, table[q], norm, members, place, base, slack, low)
        owner[i] = k
        square[i] = fast_square(Y[i], centres[k])
        for g in range(len(low)):
            least = low[g] + base
            least = least if least > np.float32(0.0) else np.float32(0.0)
            bounds[i, g] = (np.sqrt(least) - slack + drift[g]) * np.float32(0.999999)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def nearest_of_all(y, unit, centres, row, norm, members, place, base, slack, low):
    """Nearest centre of a row, decided in double precision; low[g] = the least of the others of each group."""
    G, L = norm.shape
    h = 0
    for g in range(G):
        low[g] = lowest(row[g * L : g * L + L], norm[g])
        h = g if low[g] < low[h] else h
    own, gap = np.int64(-1), np.float32(np.inf)
    for step in range(G + 1):  # the likeliest group first
        g = h if step == 0 else step - 1
        if (step == 0 or g != h) and low[g] + base <= (gap + slack) * (gap + slack):
            a, b = g * L, g * L + L
            own, gap = choose(y, own, gap, unit, centres, members[a:b], row[a:b], norm[g], base, slack, low[g])
    row[place[own]] = np.inf
    h = place[own] // L
    low[h] = lowest(row[h * L : h * L + L], norm[h])
    return own
