"""Sparse codes of many rows by coordinate descent, all of them from one Gram matrix of the atoms."""

import math

from numba import njit

DEPENDENT = 1e-10  # share of an atom's square that must be left of it beside those in use
ROUNDING = 1e-14


@njit(nogil=True, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract"})
def move(step, g, q):
    """Gradient q after a coefficient has changed by a step; g is its row of the Gram matrix."""
    for l in range(len(q)):
        q[l] -= step * g[l]


@njit(nogil=True, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract", "nnan"})
def largest_move(sizes, alpha, positive, s, q, moves):
    """Fill moves with how far each coefficient is from its best, times the square of its atom; the largest of them."""
    low = -math.inf if positive else -alpha
    largest = 0.0
    for j in range(len(q)):
        pull = q[j] + sizes[j] * s[j]
        moves[j] = pull - min(max(pull, low), alpha) - sizes[j] * s[j]
        largest = max(largest, abs(moves[j]))
    return largest


@njit(nogil=True, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy")
def descend(G, sizes, alpha, positive, most, enough, s, q, moves):
    """Change the coefficient that is farthest from its best, again and again; how far the farthest is in the end."""
    for _ in range(most):
        largest = largest_move(sizes, alpha, positive, s, q, moves)
        if largest <= enough:
            return largest
        j = 0
        while abs(moves[j]) != largest:
            j += 1
        step = moves[j] / sizes[j]
        s[j] += step
        if abs(s[j]) < ROUNDING * abs(step):
            s[j] = 0.0
        move(step, G[j], q)
    return largest_move(sizes, alpha, positive, s, q, moves)


@njit(nogil=True, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy")
def target(G, b, alpha, s, active, m, L, x):
    """Coefficients x (m,) that are best for the atoms in use if no sign changes; False if they are dependent."""
    for a in range(m):
        g = G[active[a]]
        total = b[active[a]] - (alpha if s[active[a]] > 0 else -alpha)
        left = g[active[a]]
        for c in range(a):
            entry = g[active[c]]
            for e in range(c):
                entry -= L[a, e] * L[c, e]
            L[a, c] = entry / L[c, c]
            left -= L[a, c] * L[a, c]
            total -= L[a, c] * x[c]
        if not left > DEPENDENT * g[active[a]]:
            return False
        L[a, a] = math.sqrt(left)
        x[a] = total / L[a, a]
    for a in range(m - 1, -1, -1):
        total = x[a]
        for c in range(a + 1, m):
            total -= L[c, a] * x[c]
        x[a] = total / L[a, a]
    return True


@njit(nogil=True, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy")
def settle(G, b, alpha, s, q, active, m, L, x):
    """Best coefficients of the atoms in use, those that come to zero on the way taken out; False if dependent."""
    while m > 0:
        if not target(G, b, alpha, s, active, m, L, x):
            return False
        share, first = 1.0, -1
        for a in range(m):
            now = s[active[a]]
            if now * x[a] <= 0.0 and now / (now - x[a]) < share:
                share, first = now / (now - x[a]), a
        for a in range(m):
            j = active[a]
            step = share * (x[a] - s[j]) if a != first else -s[j]
            s[j] = s[j] + step if a != first else 0.0
            move(step, G[j], q)
        if first < 0:
            return True
        m -= 1
        for a in range(first, m):
            active[a] = active[a + 1]
    return True


@njit(nogil=True, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def code_row(G, sizes, b, alpha, positive, max_iter, tol, s, q, moves, active, L, x):
    """Code s of one row with b = D x, from zero; False if it did not converge.

    Coordinate descent finds the atoms in use, whose coefficients are then solved for together; again and again, until
    no coefficient has far to go. Atoms that are dependent are left to descent alone.
    """
    k = len(b)
    largest = 0.0
    for j in range(k):
        q[j], s[j] = b[j], 0.0
        largest = max(largest, abs(b[j]))
    enough = tol * max(alpha, 1e-6 * largest)
    rough = 0.05 * alpha
    for _ in range(max_iter):
        if descend(G, sizes, alpha, positive, k, max(rough, enough), s, q, moves) <= enough:
            return True
        used = 0
        for j in range(k):
            if s[j] != 0.0:
                active[used] = j
                used += 1
        settle(G, b, alpha, s, q, active, used, L, x)
        rough *= 0.2
    return False


@njit(nogil=True, cache=True, no_cfunc_wrapper=True)
def coordinate_descent(G, sizes, B, alpha, positive, max_iter, tol, codes, q, moves, active, L, x):
    """Codes (n, k) that minimise |x - s D|^2 / 2 + alpha |s|_1 for rows with B = X D'; rows not converged.

    G is D D' and sizes its diagonal. A row has converged when no coefficient could move its gradient by more than tol
    of alpha (or, if that is tiny, of a share of the largest |b|).
    """
    missed = 0
    for i in range(B.shape[0]):
        if not code_row(G, sizes, B[i], alpha, positive, max_iter, tol, codes[i], q, moves, active, L, x):
            missed += 1
    return missed
