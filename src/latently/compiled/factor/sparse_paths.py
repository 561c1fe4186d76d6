"""Sparse codes of many rows by adding one atom after the other: LARS, the lasso's path, orthogonal matching pursuit.

All of them work on the Gram matrix G = D D' of the atoms and on b = D x. L is the Cholesky factor of the Gram matrix of
the atoms in use.
"""

import math

from numba import njit

DEPENDENT = 1e-10  # share of an atom's square that must be left of it beside those in use
ROUNDING = 1e-12


@njit(nogil=True, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy")
def append(G, used, m, j, L):
    """Add the row of atom j to the factor of the m atoms in use; False if it is made up of them."""
    for a in range(m):
        total = G[used[a], j]
        for c in range(a):
            total -= L[a, c] * L[m, c]
        L[m, a] = total / L[a, a]
    left = G[j, j]
    for a in range(m):
        left -= L[m, a] * L[m, a]
    if not left > DEPENDENT * G[j, j]:
        return False
    L[m, m] = math.sqrt(left)
    used[m] = j
    return True


@njit(nogil=True, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy")
def solve(L, m, x):
    """x becomes (L L')^-1 x."""
    for a in range(m):
        total = x[a]
        for c in range(a):
            total -= L[a, c] * x[c]
        x[a] = total / L[a, a]
    for a in range(m - 1, -1, -1):
        total = x[a]
        for c in range(a + 1, m):
            total -= L[c, a] * x[c]
        x[a] = total / L[a, a]


@njit(nogil=True, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy")
def pursue(G, b, most, s, q, used, taken, L, x):
    """Orthogonal matching pursuit of one row: s with at most so many atoms."""
    k, m = len(b), 0
    largest = 0.0
    for j in range(k):
        q[j], s[j], taken[j] = b[j], 0.0, 0
        largest = max(largest, abs(b[j]))
    while m < most:
        best, height = -1, ROUNDING * largest
        for j in range(k):
            if taken[j] == 0 and abs(q[j]) > height:
                best, height = j, abs(q[j])
        if best < 0:
            break
        taken[best] = 1
        if not append(G, used, m, best, L):
            continue
        m += 1
        for a in range(m):
            x[a] = b[used[a]]
        solve(L, m, x)
        for j in range(k):
            q[j] = b[j]
        for a in range(m):
            g, step = G[used[a]], x[a]
            for j in range(k):
                q[j] -= step * g[j]
    for a in range(m):
        s[used[a]] = x[a]


@njit(nogil=True, cache=True, no_cfunc_wrapper=True)
def matching_pursuit(G, B, most, codes, q, used, taken, L, x):
    """Codes (n, k) of rows with B = X D', each with at most so many atoms."""
    for i in range(B.shape[0]):
        pursue(G, B[i], most, codes[i], q, used, taken, L, x)


@njit(nogil=True, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy")
def drop(G, used, m, place, L):
    """Take the atom at a place out of those in use, and factor anew; how many are left."""
    for a in range(place, m - 1):
        used[a] = used[a + 1]
    for a in range(place, m - 1):
        append(G, used, a, used[a], L)
    return m - 1


@njit(nogil=True, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy")
def nearest_join(q, rate, level, positive, taken):
    """Step after which another atom is as correlated as those in use, and which; -1 if none ever is."""
    best, found = math.inf, -1
    for j in range(len(q)):
        if taken[j] == 1 or taken[j] == 2:
            continue
        step = math.inf
        # of an atom that was just dropped, the correlation leaves the bound it was at, and may come to the other one
        if not (taken[j] == 3 and q[j] > 0) and 1.0 - rate[j] > ROUNDING:
            step = (level - q[j]) / (1.0 - rate[j])
        if not positive and not (taken[j] == 3 and q[j] < 0) and 1.0 + rate[j] > ROUNDING:
            step = min(step, (level + q[j]) / (1.0 + rate[j]))
        step = max(step, 0.0)
        if step < best:
            best, found = step, j
    return best, found


@njit(nogil=True, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy")
def walk(G, b, alpha, most, lasso, positive, max_iter, s, q, rate, used, taken, L, x):
    """Least angle regression of one row, down to a correlation of alpha, or with so many atoms; False if out of steps.

    With `lasso`, an atom whose coefficient comes to zero is dropped: the path of the lasso. taken[j] is 1 for atoms in
    use, 2 for those that others make up, 3 for the one that was just dropped.
    """
    k, m = len(b), 0
    level, first = 0.0, -1
    for j in range(k):
        q[j], s[j], taken[j] = b[j], 0.0, 0
        height = b[j] if positive else abs(b[j])
        if height > level and G[j, j] > 0.0:
            level, first = height, j
        elif G[j, j] <= 0.0:
            taken[j] = 2
    if first < 0 or level <= alpha:
        return True
    bottom = ROUNDING * level
    append(G, used, 0, first, L)
    taken[first] = 1
    m, added = 1, 1
    for _ in range(max_iter):
        for a in range(m):
            x[a] = 1.0 if q[used[a]] > 0 else -1.0
        solve(L, m, x)
        for j in range(k):
            rate[j] = 0.0
        for a in range(m):
            g, w = G[used[a]], x[a]
            for j in range(k):
                rate[j] += w * g[j]
        step, join = nearest_join(q, rate, level, positive, taken)
        dropped = -1
        if step >= level - alpha:
            step, join = level - alpha, -1
        if lasso:
            for a in range(m):
                zero = -s[used[a]] / x[a]
                if s[used[a]] != 0.0 and 0.0 < zero < step:
                    step, dropped = zero, a
        for a in range(m):
            s[used[a]] += step * x[a]
        for j in range(k):
            q[j] -= step * rate[j]
            if taken[j] == 3:
                taken[j] = 0
        level -= step
        if dropped >= 0:
            j = used[dropped]
            s[j], taken[j] = 0.0, 3
            m = drop(G, used, m, dropped, L)
            if m == 0:
                return True
            continue
        if join < 0 or level <= max(alpha, bottom) or added >= most:
            return True
        taken[join] = 1 if append(G, used, m, join, L) else 2
        if taken[join] == 1:
            m += 1
            added += 1
    return False


@njit(nogil=True, cache=True, no_cfunc_wrapper=True)
def least_angle(G, B, alpha, most, lasso, positive, max_iter, codes, q, rate, used, taken, L, x):
    """Codes (n, k) of rows with B = X D' by least angle regression; rows that ran out of steps."""
    missed = 0
    for i in range(B.shape[0]):
        if not walk(G, B[i], alpha, most, lasso, positive, max_iter, codes[i], q, rate, used, taken, L, x):
            missed += 1
    return missed
