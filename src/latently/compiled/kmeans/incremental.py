"""Lloyd's passes that look again only at rows whose nearest centre may have changed.

A row keeps a lower bound of how much farther its second nearest centre is than its nearest (Hamerly). It shrinks by how
far the centres move; while it is positive the row keeps its centre, and is not even read. Rows that change take their
part of the sums along with them, so a pass costs what changes, not what is there.

Rows are taken about an origin, y = x - origin, and are complete. Centres C (K, D) are about the same origin, with a
zero for the coordinate that rows do not have, and an even number of them: the last may stand where nothing is.

Where a row takes many multiplications, distances come from a matrix product in single precision, with a rigorous error
bound; what that cannot tell apart is decided in double precision, so labels are the same either way. `fast` is what
the product works in, or None: then it is not even compiled.

fast
    tilt (K, d + 1) and widest (1,) to be filled by `pack`; Z (B, d + 1) with ones in the last column, norms (B,) and
    table (K * B,); least, other and near (B,). All but norms and widest are in single precision, `near` in integers.
"""

import math

import numpy as np
from numba import njit

FEW = 8  # up to so many centres, products are sums row by row


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def advance(X, weights, origin, unit, C, shift, scratch, fast, labels, slack, sums, counts):
    """Bring labels, bounds and sums up to date with the centres; returns the sum of w |y|^2 of rows that are new.

    unit
        What distances are multiplied by before they are put in single precision.
    shift
        (K,) by how much the bounds of a centre's rows shrink, times `unit`, in single precision.
    scratch
        A block, T (D, B), one, two, first, second and owner (B,); who and flags (B,).
    labels
        (n,) centre of each row, -1 for a row that is new.
    slack
        (n,) lower bounds, times `unit`, in single precision; not above zero for rows to be looked at.
    sums
        (K, D + 1) of the weighted rows about the origin, and of the weights; exactly zero without rows.
    counts
        (K,) number of rows.
    """
    block, who, flags = scratch
    B, m, total = len(who), 0, 0.0
    if fast is not None:
        pack(C, unit, fast[0], fast[1])
    for start in range(0, len(X), B):
        size = min(B, len(X) - start)
        for i in range(size):
            left = slack[start + i] * np.float32(0.9999998) - shift[labels[start + i]]
            slack[start + i] = left
            flags[i] = left <= np.float32(0.0)
        for i in range(size):
            if flags[i]:
                who[m] = start + i
                m += 1
                if m == B:
                    total += look(X, weights, origin, unit, C, block, fast, who[:m], labels, slack, sums, counts)
                    m = 0
    if m > 0:
        total += look(X, weights, origin, unit, C, block, fast, who[:m], labels, slack, sums, counts)
    for k in range(len(counts)):
        if counts[k] == 0:
            for j in range(sums.shape[1]):
                sums[k, j] = 0.0
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def look(X, weights, origin, unit, C, block, fast, who, labels, slack, sums, counts):
    """Compare some rows with every centre; those that change take their part of the sums along."""
    T, one, two, first, second, owner = block
    d, last, total = X.shape[1], sums.shape[1] - 1, 0.0
    if fast is None:
        for q in range(len(who)):
            x = X[who[q]]
            for j in range(d):
                T[j, q] = x[j] - origin[j]
        nearest_two(T, C, one, two, first, second, owner)
        for q in range(len(first)):
            one[q] = (math.sqrt(second[q]) * 0.999999999999 - math.sqrt(first[q])) * unit
    else:
        nearest_by_product(X, who, origin, unit, C, fast, one, owner)
    for q in range(len(who)):
        i = who[q]
        slack[i] = np.float32(min(one[q] * 0.9999998, 1e30))
        new, old = owner[q], labels[i]
        if new == old:
            continue
        w, x = 1.0 if len(weights) == 0 else weights[i], X[i]
        labels[i] = new
        counts[new] += 1
        sums[new, last] += w
        add_row(x, origin, w, sums[new])
        if old >= 0:
            counts[old] -= 1
            sums[old, last] -= w
            add_row(x, origin, -w, sums[old])
        else:
            total += w * square_about(x, origin)
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def add_row(x, origin, w, out):
    """Add a weighted row about the origin."""
    for j in range(len(x)):
        out[j] += w * (x[j] - origin[j])


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"}, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def square_about(x, origin):
    """Squared distance of a row to the origin."""
    total = 0.0
    for j in range(len(x)):
        total += (x[j] - origin[j]) * (x[j] - origin[j])
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def pack(C, unit, tilt, widest):
    """Minus twice each centre, and its squared norm, in single precision; and the largest norm, rounded up."""
    d, most = tilt.shape[1] - 1, 0.0
    for k in range(len(tilt)):
        square = 0.0
        for j in range(d):
            c = C[k, j] * unit
            tilt[k, j] = -2.0 * c
            square += c * c
        tilt[k, d] = square
        most = max(most, square)
    widest[0] = math.sqrt(most) * 1.000001


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def nearest_by_product(X, who, origin, unit, C, fast, gap, owner):
    """The nearest centre of some rows, the first of equals, and a lower bound of how much farther the next one is.

    gap
        The bound, times `unit`.
    """
    tilt, widest, Z, norms, table, least, other, near = fast
    m = len(who)
    narrow(X, who, origin, unit, Z, norms)
    values = table[: len(tilt) * m].reshape(len(tilt), m)
    if len(tilt) <= FEW:
        few_products(tilt, Z, values)
    else:
        np.dot(tilt, Z[:m].T, values)
    two_least(values, least, other, near)
    # A squared distance |y|^2 - 2 c.y + |c|^2 suffers some d roundings of numbers up to (|y| + |c|)^2.
    bound_gaps(m, 6.1e-8 * (X.shape[1] + 16), widest[0], norms, least, other, gap)
    for q in range(m):
        owner[q] = near[q]
        if not gap[q] > 0.0:
            gap[q], owner[q] = settle(X[who[q]], origin, C, len(tilt))
            gap[q] *= unit


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"}, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def narrow(X, who, origin, unit, Z, norms):
    """Put rows about the origin in single precision; also gives their squared norms."""
    for q in range(len(who)):
        i, norm = who[q], 0.0
        for j in range(X.shape[1]):
            y = (X[i, j] - origin[j]) * unit
            Z[q, j] = y
            norm += y * y
        norms[q] = norm


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"}, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def few_products(tilt, Z, values):
    """Products of rows with a few centres, for which BLAS would make room for more."""
    for q in range(values.shape[1]):
        for k in range(len(tilt)):
            total = np.float32(0.0)
            for j in range(tilt.shape[1]):
                total += tilt[k, j] * Z[q, j]
            values[k, q] = total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def bound_gaps(m, part, widest, norms, least, other, gap):
    """Bounds of the gaps, which are not positive where single precision cannot tell."""
    for q in range(m):
        reach = math.sqrt(norms[q]) + widest
        error = part * reach * reach
        low, high = other[q] + norms[q] - error, least[q] + norms[q] + error
        far, near = math.sqrt(low if low > 0.0 else 0.0), math.sqrt(high if high > 0.0 else 0.0)
        gap[q] = far - near - 1e-6 * reach - 1e-18


@njit(nogil=True, cache=True, fastmath={"nsz"}, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def two_least(values, least, other, near):
    """The least value of each column, the next one, and where the least is."""
    m = values.shape[1]
    for q in range(m):
        least[q] = other[q] = np.inf
        near[q] = 0
    for k in range(len(values)):
        row, here = values[k], np.int32(k)
        for q in range(m):
            value, before = row[q], least[q]
            rest = before if value < before else value
            other[q] = rest if rest < other[q] else other[q]
            near[q] = here if value < before else near[q]
            least[q] = value if value < before else before


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def settle(x, origin, C, K):
    """How much nearer the nearest centre is than the next one, and which it is, in double precision."""
    first, second, own = np.inf, np.inf, 0
    for k in range(K):
        total = 0.0
        for j in range(len(x)):
            y = x[j] - origin[j]
            total += (y - C[k, j]) * (y - C[k, j])
        if total < first:
            first, second, own = total, first, k
        elif total < second:
            second = total
    return math.sqrt(second) * 0.999999999999 - math.sqrt(first), own


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def label(X, weights, origin, unit, C, fast, scratch, labels, sums):
    """Label every row by its nearest centre, add up rows and weights, and return the cost; all by products.

    scratch
        gap (B,); owner and who (B,) integers; y (d,).
    labels
        (n,), or empty if nobody wants them.
    sums
        (K, D + 1) of the weighted rows about the origin, and of the weights; empty if nobody wants them.
    """
    gap, owner, who, y = scratch
    last, cost = C.shape[1], 0.0
    pack(C, unit, fast[0], fast[1])
    for start in range(0, len(X), len(who)):
        m = min(len(who), len(X) - start)
        for q in range(m):
            who[q] = start + q
        nearest_by_product(X, who[:m], origin, unit, C, fast, gap, owner)
        own_squares(X, start, m, origin, C, owner, y, gap)
        for q in range(m):
            w = 1.0 if len(weights) == 0 else weights[start + q]
            cost += w * gap[q]
            if len(sums) > 0:
                sums[owner[q], last] += w
                add_row(X[start + q], origin, w, sums[owner[q]])
        for q in range(min(m, len(labels) - start)):
            labels[start + q] = owner[q]
    return cost


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"}, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def own_squares(X, start, m, origin, C, owner, y, out):
    """Squared distances of rows to their own centres; in two steps, which no other order of subtraction may replace."""
    for q in range(m):
        k, total = owner[q], 0.0
        for j in range(X.shape[1]):
            y[j] = X[start + q, j] - origin[j]
        for j in range(X.shape[1]):
            total += (y[j] - C[k, j]) * (y[j] - C[k, j])
        out[q] = total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def nearest_two(T, C, one, two, first, second, owner):
    """Squared distances to the nearest and the second nearest centre, and which the nearest is, the first of equals."""
    last = len(T) - 2
    for i in range(len(first)):
        first[i] = second[i] = np.inf
        owner[i] = 0
        one[i] = two[i] = 0.0
    for k in range(0, len(C), 2):
        for j in range(0, last, 2):
            p, q, a, b, c, d = T[j], T[j + 1], C[k, j], C[k, j + 1], C[k + 1, j], C[k + 1, j + 1]
            for i in range(len(first)):
                one[i] = (0.0 if j == 0 else one[i]) + (p[i] - a) * (p[i] - a) + (q[i] - b) * (q[i] - b)
                two[i] = (0.0 if j == 0 else two[i]) + (p[i] - c) * (p[i] - c) + (q[i] - d) * (q[i] - d)
        p, q, a, b, c, d = T[last], T[last + 1], C[k, last], C[k, last + 1], C[k + 1, last], C[k + 1, last + 1]
        for i in range(len(first)):
            least = one[i] + (p[i] - a) * (p[i] - a) + (q[i] - b) * (q[i] - b)
            other = two[i] + (p[i] - c) * (p[i] - c) + (q[i] - d) * (q[i] - d)
            nearer = least if other >= least else other
            farther = other if other >= least else least
            mark = k + 1 if other < least else k
            middle = first[i] if first[i] > nearer else nearer
            rest = second[i] if second[i] < farther else farther
            owner[i] = mark if nearer < first[i] else owner[i]
            first[i] = nearer if nearer < first[i] else first[i]
            second[i] = middle if middle < rest else rest


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def climb(
    X, weights, origin, unit, C, shift, moved, scratch, fast, labels, slack, sums, counts, tol, least, costs
):  # fmt: skip
    """Passes and means until the squared movement of the centres is at most `tol`, or for as many as there are costs.

    shift, moved
        (K,) of zeros in single and in double precision, to work in.
    least
        Share of the sum of squares that the cost has to be, for it to be told from sums without loss of digits.
    costs
        (most + 1,) cost at the start of each iteration; last of all, the squared movement of the last one.

    Returns
    -------
    int
        How many iterations; negative if the last of them came to a cost that is too small to be told, or to a cluster
        without rows, and is to be done again in another way.
    """
    total, most = 0.0, len(costs) - 1
    for step in range(most):
        total += advance(X, weights, origin, unit, C, shift, scratch, fast, labels, slack, sums, counts)
        cost = cost_of(total, C, sums)
        costs[step] = cost
        if cost < least * total or not cost < np.inf:
            return -step - 1
        for k in range(len(counts)):
            if counts[k] == 0 or not sums[k, sums.shape[1] - 1] > 0.0:
                return -step - 1
        costs[most] = move(C, sums, unit, shift, moved)
        if costs[most] <= tol:
            return step + 1
    return most


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def cost_of(total, C, sums):
    """Sum of weighted squared distances of rows to their centres, from sums about the origin."""
    K, D = len(sums), sums.shape[1] - 1
    cost = total
    for k in range(K):
        inner, square = 0.0, 0.0
        for j in range(D):
            inner += C[k, j] * sums[k, j]
            square += C[k, j] * C[k, j]
        cost += square * sums[k, D] - 2.0 * inner
    return cost


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def move(C, sums, unit, shift, moved):
    """Put centres at the means of their rows; gives the squared movement of all, and how bounds shrink by it."""
    K, D, total = len(sums), sums.shape[1] - 1, 0.0
    for k in range(K):
        moved[k] = 0.0
        for j in range(D):
            mean = sums[k, j] / sums[k, D]
            moved[k] += (mean - C[k, j]) ** 2
            C[k, j] = mean
        total += moved[k]
    shrink(moved, unit, shift)
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def shrink(moved, unit, shift):
    """shift[k] = how far centre k and the farthest moving of the others have moved, rounded up; squares are given."""
    far, next_far, which = 0.0, 0.0, -1
    for k in range(len(moved)):
        if moved[k] > far or which < 0:
            far, next_far, which = moved[k], far, k
        elif moved[k] > next_far:
            next_far = moved[k]
    for k in range(len(moved)):
        others = next_far if k == which else far
        shift[k] = np.float32((math.sqrt(moved[k]) + math.sqrt(others)) * unit * 1.0000003 + 1e-37)


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def follow(X, weights, origin, unit, C, moved, shift, total, scratch, fast, labels, slack, sums, counts):
    """One pass after centres have moved by the root of `moved` (K,): the sum of w |y|^2 of all rows, and the cost."""
    shrink(moved, unit, shift)
    total += advance(X, weights, origin, unit, C, shift, scratch, fast, labels, slack, sums, counts)
    return total, cost_of(total, C, sums)
