"""Nonlinear statistics of independent component analysis: one pass over white data, block by block.

White data come as blocks (n_blocks, k, B) with the rows of the table as the fast axis, so that everything vectorises;
k is a multiple of four, and what fills it up is zero. Of a block, Y = W Z, then g(Y) and its derivative, then
g(Y) Z': all of it while the block is in the cache.
"""

import math

import numpy as np
from numba import njit

LOG2E = 1.4426950408889634
LN2_HIGH = 0.693145751953125
LN2_LOW = 1.42860682030941723212e-6
LOGCOSH, EXP, CUBE = 0, 1, 2


@njit(
    nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract"}
)
def exponential(a):
    """exp(a) for a <= 0, to 3e-16; below exp(-80) it is exp(-80). No branch, so that a loop over it vectorises."""
    a = max(a, -80.0)
    k = np.floor(a * LOG2E + 0.5)
    r = a - k * LN2_HIGH - k * LN2_LOW
    p = 1.0 / 479001600
    p = p * r + 1.0 / 39916800
    p = p * r + 1.0 / 3628800
    p = p * r + 1.0 / 362880
    p = p * r + 1.0 / 40320
    p = p * r + 1.0 / 5040
    p = p * r + 1.0 / 720
    p = p * r + 1.0 / 120
    p = p * r + 1.0 / 24
    p = p * r + 1.0 / 6
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return p * np.int64((np.int64(k) + 1023) << 52).view(np.float64)


@njit(
    nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract"}
)
def log_one_plus(u):
    """log(1 + u) for 0 <= u <= 1, to 3e-16: 2 artanh(s) with s = u / (2 + u) <= 1/3, by its series."""
    s = u / (2.0 + u)
    q = s * s
    p = 1.0 / 33
    p = p * q + 1.0 / 31
    p = p * q + 1.0 / 29
    p = p * q + 1.0 / 27
    p = p * q + 1.0 / 25
    p = p * q + 1.0 / 23
    p = p * q + 1.0 / 21
    p = p * q + 1.0 / 19
    p = p * q + 1.0 / 17
    p = p * q + 1.0 / 15
    p = p * q + 1.0 / 13
    p = p * q + 1.0 / 11
    p = p * q + 1.0 / 9
    p = p * q + 1.0 / 7
    p = p * q + 1.0 / 5
    p = p * q + 1.0 / 3
    p = p * q + 1.0
    return 2.0 * s * p


@njit(
    nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract"}
)
def products(W, Z, Y):
    """Y = W Z, two rows of Y and four of Z at a time."""
    for k in range(0, Y.shape[0], 2):
        for i in range(Y.shape[1]):
            Y[k, i] = 0.0
            Y[k + 1, i] = 0.0
        for p in range(0, Z.shape[0], 4):
            a0, a1, a2, a3 = W[k, p], W[k, p + 1], W[k, p + 2], W[k, p + 3]
            b0, b1, b2, b3 = W[k + 1, p], W[k + 1, p + 1], W[k + 1, p + 2], W[k + 1, p + 3]
            for i in range(Y.shape[1]):
                z0, z1, z2, z3 = Z[p, i], Z[p + 1, i], Z[p + 2, i], Z[p + 3, i]
                Y[k, i] += a0 * z0 + a1 * z1 + a2 * z2 + a3 * z3
                Y[k + 1, i] += b0 * z0 + b1 * z1 + b2 * z2 + b3 * z3


@njit(nogil=True, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract", "reassoc"})
def add_products(R, Z, S):
    """S += R Z', in tiles of four by four."""
    for k in range(0, R.shape[0], 4):
        for p in range(0, Z.shape[0], 4):
            a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = 0.0
            c0 = c1 = c2 = c3 = d0 = d1 = d2 = d3 = 0.0
            for i in range(R.shape[1]):
                z0, z1, z2, z3 = Z[p, i], Z[p + 1, i], Z[p + 2, i], Z[p + 3, i]
                a, b, c, d = R[k, i], R[k + 1, i], R[k + 2, i], R[k + 3, i]
                a0 += a * z0
                a1 += a * z1
                a2 += a * z2
                a3 += a * z3
                b0 += b * z0
                b1 += b * z1
                b2 += b * z2
                b3 += b * z3
                c0 += c * z0
                c1 += c * z1
                c2 += c * z2
                c3 += c * z3
                d0 += d * z0
                d1 += d * z1
                d2 += d * z2
                d3 += d * z3
            S[k, p] += a0
            S[k, p + 1] += a1
            S[k, p + 2] += a2
            S[k, p + 3] += a3
            S[k + 1, p] += b0
            S[k + 1, p + 1] += b1
            S[k + 1, p + 2] += b2
            S[k + 1, p + 3] += b3
            S[k + 2, p] += c0
            S[k + 2, p + 1] += c1
            S[k + 2, p + 2] += c2
            S[k + 2, p + 3] += c3
            S[k + 3, p] += d0
            S[k + 3, p + 1] += d1
            S[k + 3, p + 2] += d2
            S[k + 3, p + 3] += d3


@njit(nogil=True, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract", "reassoc"})
def nonlinearity(y, n, kind, alpha):
    """Put g(y) in place of the first n entries of y; the sum of the derivative."""
    total = 0.0
    if kind == LOGCOSH:
        for i in range(n):
            u = exponential(-2.0 * alpha * abs(y[i]))
            t = math.copysign((1.0 - u) / (1.0 + u), y[i])
            y[i] = t
            total += t * t
        return alpha * (n - total)
    if kind == EXP:
        for i in range(n):
            q = y[i] * y[i]
            e = exponential(-0.5 * q)
            y[i] = y[i] * e
            total += (1.0 - q) * e
        return total
    for i in range(n):
        q = y[i] * y[i]
        y[i] = y[i] * q
        total += q
    return 3.0 * total


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def contrast_sums(blocks, n, W, kind, alpha, scratch, cross, derivative):
    """Add sum_i g(W z_i) z_i' to cross (m, k), and sum_i g'(W z_i) to derivative (m,), over the first n rows.

    W is (m, k), m a multiple of four; scratch is (m, B).
    """
    B = blocks.shape[2]
    for b in range(blocks.shape[0]):
        left = min(B, n - b * B)
        products(W, blocks[b], scratch)
        for j in range(W.shape[0]):
            derivative[j] += nonlinearity(scratch[j], left, kind, alpha)
        add_products(scratch, blocks[b], cross)


@njit(nogil=True, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract", "reassoc"})
def log_cosh(y, n, sums):
    """Put tanh(y) in place of the first n entries of y; add to sums those of log cosh, tanh', tanh' y^2."""
    values = derivatives = curvatures = 0.0
    for i in range(n):
        a = abs(y[i])
        u = exponential(-2.0 * a)
        t = (1.0 - u) / (1.0 + u)
        values += a + log_one_plus(u)
        d = 1.0 - t * t
        derivatives += d
        curvatures += d * a * a
        y[i] = math.copysign(t, y[i])
    sums[0] += values - n * 0.6931471805599453
    sums[1] += derivatives
    sums[2] += curvatures


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def likelihood_sums(blocks, n, W, scratch, cross, sums):
    """Add sum_i tanh(W z_i) z_i' to cross (k, k), and to sums (k, 3) those of log cosh y, tanh' y, tanh'(y) y^2."""
    B = blocks.shape[2]
    for b in range(blocks.shape[0]):
        left = min(B, n - b * B)
        products(W, blocks[b], scratch)
        for j in range(W.shape[0]):
            log_cosh(scratch[j], left, sums[j])
        add_products(scratch, blocks[b], cross)
