"""K-means: nearest centres, their sums, and k-means++.

Rows are taken about an origin, y = x - origin, and centres are given about the same origin. Labels are those of
double precision, the lowest index among equals, whichever way they are found:

* direct: rows in transposed blocks against every centre; for few centres, and for rows with missing values.
* bounded: a row is compared again with a group of centres only where a lower bound of its distance to the group,
  kept from earlier passes, no longer rules the group out. Groups are compared in single precision with a
  rigorous error bound, and what single precision cannot tell apart is decided in double precision.

Functions that only others here call have no wrapper for Python: it would take a fifth of the time to compile.
"""

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy")
def moments(X, count, mean, square):
    """Per column: how many values are observed, their mean, and the sum of squares about it."""
    n, d = X.shape
    for i in range(n):
        for j in range(d):
            seen = X[i, j] == X[i, j]
            count[j] += 1.0 if seen else 0.0
            mean[j] += X[i, j] if seen else 0.0
    for j in range(d):
        mean[j] /= count[j] if count[j] > 0.0 else 1.0
    for i in range(n):
        for j in range(d):
            t = X[i, j] - mean[j]
            square[j] += t * t if t == t else 0.0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def fill_block(X, start, size, origin, missing, T, scale):
    """T[j, i] = row start + i about the origin; scale[i] = columns / observed columns (0 if none), left if all are."""
    d, tiles = X.shape[1], size - size % 8
    for tile in range(0, tiles, 8):  # eight rows at a time, which the cache likes
        for j in range(d):
            for i in range(tile, tile + 8):
                T[j, i] = X[start + i, j] - origin[j]
    for i in range(tiles, size):
        for j in range(d):
            T[j, i] = X[start + i, j] - origin[j]
    if missing:
        for i in range(size):
            observed = 0.0
            for j in range(d):
                observed += 1.0 if T[j, i] == T[j, i] else 0.0
            scale[i] = d / observed if observed > 0.0 else 0.0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def block_distances(T, d, missing, centre, out):
    """out[i] = squared distance of each row of a block to a centre, over the first d coordinates that it has."""
    out[:] = 0.0
    for j in range(d):
        c = centre[j]
        if missing:
            for i in range(len(out)):
                t = T[j, i] - c
                t = t if t == t else 0.0
                out[i] += t * t
        else:
            for i in range(len(out)):
                t = T[j, i] - c
                out[i] += t * t


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def keep_nearer(k, gap, p, q, a, b, nearest, owner):
    """Add the last two coordinates, p and q, to the distances of centre k = (..., a, b); note where it is nearer."""
    for i in range(len(gap)):
        square = gap[i] + (p[i] - a) * (p[i] - a) + (q[i] - b) * (q[i] - b)
        owner[i] = k if square < nearest[i] else owner[i]
        nearest[i] = square if square < nearest[i] else nearest[i]


@njit(nogil=True, cache=True, error_model="numpy")
def distances(X, origin, missing, centres, scratch, out):
    """out[i, k] = distance of row i to centre k, over the observed coordinates and scaled up to all of them."""
    T, scale, gap = scratch
    n, B = len(X), len(gap)
    for start in range(0, n, B):
        size = min(B, n - start)
        fill_block(X, start, size, origin, missing, T, scale)
        for k in range(len(centres)):
            block_distances(T, X.shape[1], missing, centres[k], gap)
            for i in range(size):
                out[start + i, k] = math.sqrt(gap[i] * scale[i])


@njit(nogil=True, cache=True, error_model="numpy")
def direct(X, weights, origin, missing, centres, scratch, labels, weight, first, share):
    """Label every row by its nearest centre, add up weights and rows about the origin, and return the cost.

    scratch
        T (d + 2, B) whose last two rows are zero, scale (B,) of ones, gap (B,) of zeros, nearest and owner (B,).
    labels
        (n,), or empty if nobody wants them.
    share
        (K, d) what each coordinate's mean is divided by; empty without missing values, when that is the weight.
    """
    n, d = X.shape
    T, scale, gap, nearest, owner = scratch
    B = len(gap)
    m = d if missing or d == 1 else d - 2  # the last two coordinates are added while comparing
    total = 0.0
    for start in range(0, n, B):
        size = min(B, n - start)
        fill_block(X, start, size, origin, missing, T, scale)
        nearest[:] = np.inf
        owner[:] = 0
        for k in range(len(centres)):
            if m > 0:  # otherwise gap stays zero
                block_distances(T, m, missing, centres[k], gap)
            a, b = (centres[k, m], centres[k, m + 1]) if m < d else (0.0, 0.0)
            keep_nearer(k, gap, T[m], T[m + 1], a, b, nearest, owner)
        total += block_cost(nearest, scale, weights[start : start + size], size)
        for i in range(size):
            w = 1.0 if len(weights) == 0 else weights[start + i]
            weight[owner[i]] += w if scale[i] > 0.0 else 0.0
        for i in range(min(size, len(labels))):
            labels[start + i] = owner[i]
        if missing or len(weights) > 0:
            weigh_block(T, start, size, weights, scale, owner, share)
        for j in range(d):
            for i in range(size):
                first[owner[i], j] += T[j, i]
    return total


@njit(
    nogil=True,
    cache=True,
    error_model="numpy",
    fastmath={"reassoc", "contract", "nsz"},
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
)
def block_cost(nearest, scale, weights, size):
    """Sum of weighted, scaled squared distances."""
    total = 0.0
    for i in range(size):
        total += nearest[i] * scale[i] if len(weights) == 0 else weights[i] * nearest[i] * scale[i]
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def weigh_block(T, start, size, weights, scale, owner, share):
    """Multiply rows by weight and scale, zero where missing: the scaled cost is least if a row counts by its scale."""
    for i in range(size):
        w = scale[i] if len(weights) == 0 else weights[start + i] * scale[i]
        for j in range(T.shape[0] - 2):
            seen = T[j, i] == T[j, i]
            T[j, i] = w * T[j, i] if seen else 0.0
            if seen and len(share) > 0:
                share[owner[i], j] += w


@njit(
    nogil=True,
    cache=True,
    error_model="numpy",
    fastmath={"reassoc", "contract", "nsz"},
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
)
def fast_square(y, centre):
    """Squared distance, in whatever order of additions is fastest."""
    total = 0.0
    for j in range(len(centre)):
        total += (y[j] - centre[j]) * (y[j] - centre[j])
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def strict_square(y, centre):
    """Squared distance in one fixed order, so that equal distances compare as equal wherever they are taken."""
    total = 0.0
    for j in range(len(centre)):
        total += (y[j] - centre[j]) * (y[j] - centre[j])
    return total


@njit(nogil=True, cache=True, error_model="numpy")
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


@njit(
    nogil=True,
    cache=True,
    error_model="numpy",
    fastmath={"reassoc", "contract", "nsz"},
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
)
def length(a):
    """Norm of a vector in single precision."""
    total = np.float32(0.0)
    for j in range(len(a)):
        total += a[j] * a[j]
    return np.sqrt(total)


@njit(
    nogil=True,
    cache=True,
    error_model="numpy",
    fastmath={"nnan", "nsz"},
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
)
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


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def seen_square(x, origin, centre):
    """Squared distance of a row to a centre, over the observed coordinates and scaled up to all of them."""
    total, observed = 0.0, 0.0
    for j in range(len(centre)):
        t = (x[j] - origin[j]) - centre[j]
        if t == t:
            total += t * t
            observed += 1.0
    return total * len(centre) / observed if observed > 0.0 else 0.0


@njit(
    nogil=True,
    cache=True,
    error_model="numpy",
    fastmath={"reassoc", "contract", "nsz"},
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
)
def full_square(x, origin, centre):
    """Squared distance of a complete row to a centre."""
    total = 0.0
    for j in range(len(centre)):
        t = (x[j] - origin[j]) - centre[j]
        total += t * t
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def join(X, weights, origin, missing, point, reach, index, nearest, owner, left):
    """k-means++: let rows that are nearer to a point than to their centre join it, as the centre of this index.

    reach
        (K,) a quarter of the squared distance between each centre and the point: a row that is not farther than
        that from its centre cannot be nearer to the point.
    left
        What is left of the cost, in stretches of rows.
    """
    stretch = -(-len(X) // len(left))
    for i in range(len(X)):
        if reach[owner[i]] < nearest[i]:
            square = seen_square(X[i], origin, point) if missing else full_square(X[i], origin, point)
            if square < nearest[i]:
                nearest[i], owner[i] = square, index
        left[i // stretch] += nearest[i] if len(weights) == 0 else weights[i] * nearest[i]


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def gains(X, weights, origin, missing, points, nearest, scratch, falls):
    """k-means++: falls[t] = how much the cost falls if point t becomes a centre.

    points
        (d, T) the points, their squares (d, T), and the sums of these (T,).
    scratch
        Y and M (B, d), P and Q (B, T): a block of rows, 1 where they are observed, and products with the points.
    """
    Y, M, P, Q = scratch
    d, B = X.shape[1], len(Y)
    for start in range(0, len(X), B):
        size = min(B, len(X) - start)
        for i in range(size):
            for j in range(d):
                y = X[start + i, j] - origin[j]
                Y[i, j] = y if y == y else 0.0
        np.dot(Y[:size], points[0], P[:size])
        if missing:
            for i in range(size):
                for j in range(d):
                    M[i, j] = 1.0 if X[start + i, j] == X[start + i, j] else 0.0
            np.dot(M[:size], points[1], Q[:size])
        for i in range(size):
            here, w = nearest[start + i], 1.0 if len(weights) == 0 else weights[start + i]
            own, scale = 0.0, 1.0
            for j in range(d):
                own += Y[i, j] * Y[i, j]
            if missing:
                seen = 0.0
                for j in range(d):
                    seen += M[i, j]
                scale = d / max(seen, 1.0)
            for t in range(len(falls)):
                square = (own - 2.0 * P[i, t] + (Q[i, t] if missing else points[2][t])) * scale
                falls[t] += w * (here - square) if square < here else 0.0
