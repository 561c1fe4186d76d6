"""Joint diagonalisation of symmetric matrices by Jacobi rotations."""

import math

from numba import njit


@njit(nogil=True, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract", "reassoc"})
def best_angle(a, b, c):
    """Angle that makes the sum of squares of what is off the diagonal least, for the pairs [[a, c], [c, b]]."""
    on = off = both = 0.0
    for m in range(len(a)):
        difference, twice = a[m] - b[m], 2.0 * c[m]
        on += difference * difference
        off += twice * twice
        both += difference * twice
    more = on - off
    return 0.5 * math.atan2(2.0 * both, more + math.sqrt(more * more + 4.0 * both * both))


@njit(nogil=True, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract"})
def turn(x, y, c, s):
    """Turn the pairs (x, y) by the angle with cosine c and sine s."""
    for m in range(len(x)):
        u, v = x[m], y[m]
        x[m] = c * u + s * v
        y[m] = c * v - s * u


@njit(nogil=True, cache=True, no_cfunc_wrapper=True)
def rotate_pairs(M, V, least):
    """One rotation for each pair of coordinates, in place; the largest angle.

    M (k, k, m) holds m symmetric matrices, the number of the matrix as the fast axis; V (k, k) collects the rotations:
    V M V' is diagonal in the end. Angles below `least` are left alone.
    """
    k = M.shape[0]
    largest = 0.0
    for p in range(k - 1):
        for q in range(p + 1, k):
            angle = best_angle(M[p, p], M[q, q], M[p, q])
            largest = max(largest, abs(angle))
            if abs(angle) <= least:
                continue
            c, s = math.cos(angle), math.sin(angle)
            for r in range(k):
                turn(M[p, r], M[q, r], c, s)
            for r in range(k):
                turn(M[r, p], M[r, q], c, s)
            turn(V[p], V[q], c, s)
    return largest
