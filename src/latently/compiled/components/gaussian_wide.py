"""Gaussian mixtures of many columns, or with components far from the origin: whitened rows, whose squares are summed.

Each root U, with U U' the precision, is upper triangular, so the first columns of a whitened row U' z take only the
first coordinates. That part of the squared distance comes first, for every component. A component that is out of the
question by then is left out: of the row it would get less than exp(-slack). In many dimensions few are not.

Functions that only others here call have no wrapper for Python: it would take a fifth of the time to compile.
"""

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def standardise(X, start, n, origin, inverse_scale, Z):
    """Z[i, j] = coordinate j of row start + i."""
    for i in range(n):
        for j in range(X.shape[1]):
            Z[i, j] = (X[start + i, j] - origin[j]) * inverse_scale[j]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def turn(Z, at, n, centre, half, T):
    """T[j, i] = coordinate j < half of row at + i, about the centre."""
    for j in range(half):
        for i in range(n):
            T[j, i] = Z[at + i, j] - centre[j]


@njit(
    nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract"}
)
def take_first(T, n, root, offset, constant, y, at, out):
    """out[at + i] = constant - |root T[:, i] - offset|^2 / 2; the root is lower triangular, in tiles of two by four."""
    u, v = y[0], y[1]
    for i in range(n):
        out[at + i] = constant
    for j in range(0, len(root), 2):
        for i in range(n):
            u[i] = -offset[j]
            v[i] = -offset[j + 1]
        for p in range(0, j + 2, 4):
            a0, a1, a2, a3 = root[j, p], root[j, p + 1], root[j, p + 2], root[j, p + 3]
            b0, b1, b2, b3 = root[j + 1, p], root[j + 1, p + 1], root[j + 1, p + 2], root[j + 1, p + 3]
            for i in range(n):
                t0, t1, t2, t3 = T[p, i], T[p + 1, i], T[p + 2, i], T[p + 3, i]
                u[i] += a0 * t0 + a1 * t1 + a2 * t2 + a3 * t3
                v[i] += b0 * t0 + b1 * t1 + b2 * t2 + b3 * t3
        for i in range(n):
            out[at + i] -= 0.5 * (u[i] * u[i] + v[i] * v[i])


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def likeliest(L, n, top, owner):
    """The largest of L[:, i] and where it is."""
    for i in range(n):
        top[i] = -np.inf
        owner[i] = 0
    for k in range(L.shape[0]):
        for i in range(n):
            owner[i] = k if L[k, i] > top[i] else owner[i]
            top[i] = L[k, i] if L[k, i] > top[i] else top[i]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def list_rows(owner, n, k, own, least, values, rows):
    """The rows that component k owns, or those of others that it may have a part in, and how many."""
    m = np.int64(0)
    for i in range(n):
        rows[m] = i
        m += ((owner[i] == k) == own) & (values[i] > least[i])
    return m


@njit(nogil=True, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract", "reassoc"})
def half_square(y, offset):
    """|y - offset|^2 / 2."""
    q = 0.0
    for j in range(len(offset)):
        q += (y[j] - offset[j]) * (y[j] - offset[j])
    return 0.5 * q


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def take_rest(Z, rows, m, centre, root, offset, G, work, out):
    """out[i] -= |root' (z_i - centre) - offset|^2 / 2, for m rows."""
    for q in range(m):
        z, g = Z[rows[q]], G[q]
        for j in range(len(z)):
            g[j] = z[j] - centre[j]
    Y = work[: m * len(offset)].reshape(m, len(offset))
    np.dot(G[:m], root, Y)
    for q in range(m):
        out[rows[q]] -= half_square(Y[q], offset)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def share(L, n, top, total, slack, weights, start):
    """L becomes the (weighted) responsibilities; returns the (weighted) sum of log normalisers."""
    bound = 0.0
    for i in range(n):
        total[i] = 0.0
    for k in range(L.shape[0]):
        for i in range(n):
            gap = L[k, i] - top[i]
            L[k, i] = 0.0
            if gap > -slack:
                L[k, i] = math.exp(gap)
                total[i] += L[k, i]
    for i in range(n):
        w = 1.0 if len(weights) == 0 else weights[start + i]
        bound += w * (top[i] + math.log(total[i]))
        total[i] = w / total[i]
    for k in range(L.shape[0]):
        for i in range(n):
            L[k, i] *= total[i]
    return bound


@njit(
    nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract"}
)
def add_row(z, centre, r, g, s1):
    """Add a row to first moments about the centre; g times g' is what it adds to the second ones."""
    root = math.sqrt(r)
    for j in range(len(centre)):
        gap = z[j] - centre[j]
        s1[j] += r * gap
        g[j] = root * gap


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def add_moments(Z, n, centre, shares, G, square, N, k, s1, s2):
    """Add one component's weight and moments about the centre, from the rows that belong to it at all."""
    m = np.int64(0)
    for i in range(n):
        if shares[i] > 0.0:
            N[k] += shares[i]
            add_row(Z[i], centre, shares[i], G[m], s1)
            m += 1
    if m > 0:
        np.dot(G[:m].T, G[:m], square)
        for i in range(len(square)):
            for j in range(len(square)):
                s2[i, j] += square[i, j]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def densities(Z, n, centres, firsts, lasts, constants, slack, works, top, owner, rows, L):
    """L[k, i] = log density of row i and component k; some may be more where there is a larger one by the slack."""
    (first_roots, first_offsets), (last_roots, last_offsets), (G, T, y, work) = firsts, lasts, works
    half, own_centre, own_root = Z.shape[1] - last_offsets.shape[1], len(centres) > 1, len(last_roots) > 1
    for at in range(0, n, T.shape[1]):
        size = min(T.shape[1], n - at)
        for k in range(L.shape[0]):
            if k == 0 or own_centre:
                turn(Z, at, size, centres[k], half, T)
            take_first(T, size, first_roots[k if own_root else 0], first_offsets[k], constants[k], y, at, L[k])
    likeliest(L, n, top, owner)
    for i in range(n):
        top[i] = -np.inf
    for own in (True, False):
        for k in range(L.shape[0]):
            m = list_rows(owner, n, k, own, top, L[k], rows)
            if m > 0:
                c, r = k if own_centre else 0, k if own_root else 0
                take_rest(Z, rows, m, centres[c], last_roots[r], last_offsets[k], G, work, L[k])
        for i in range(n):
            top[i] = L[owner[i], i] - slack


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def expect(X, weights, origin, inverse_scale, centres, firsts, lasts, constants, slack, scratch, N, S1, S2, joint):
    """Add weights N (K,) and moments S1 (K, d), S2 (K or 1, d, d) about the centres, or only fill joint (n, K).

    centres
        (1, d), or (K, d) if each component has its own.
    firsts
        Transposed roots of the first coordinates (K, or 1 for all, half, half) and whitened means about the centre
        (K, half); half is filled up with zeros to a multiple of four.
    lasts
        Roots of the other whitened coordinates (K or 1, d, rest) and whitened means (K, rest).
    slack
        Infinite if every density is wanted.
    scratch
        Z and G (B, d), T (half, b) zeros, y (2, b), room (B d,), square (d, d), L (K, B), top and total (B,), owner
        and rows (B,).
    """
    Z, G, T, y, work, square, L, top, total, owner, rows = scratch
    works = (G, T, y, work)
    bound = 0.0
    for start in range(0, X.shape[0], len(Z)):
        n = min(len(Z), X.shape[0] - start)
        standardise(X, start, n, origin, inverse_scale, Z)
        densities(Z, n, centres, firsts, lasts, constants, slack, works, top, owner, rows, L)
        for i in range(min(n, len(joint) - start)):
            for k in range(joint.shape[1]):
                joint[start + i, k] = L[k, i]
        if len(joint) == 0:
            likeliest(L, n, top, owner)
            bound += share(L, n, top, total, slack, weights, start)
            for k in range(len(N)):
                centre, s2 = centres[k if len(centres) > 1 else 0], S2[k if len(S2) > 1 else 0]
                add_moments(Z, n, centre, L[k], G, square, N, k, S1[k], s2)
    return bound
