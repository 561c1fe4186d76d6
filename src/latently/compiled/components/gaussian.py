"""Gaussian mixtures: log densities of all components and expected statistics, block by block.

Rows come as z = (x - origin) * inverse_scale. Two ways lead to the same numbers:

* by features: every log density is linear in the features [1, z_j, quadratic terms], so a (K, P) matrix of
  coefficients times a (P, B) block of features gives all of them, and responsibilities times features give all
  statistics. Fastest, as long as the means lie within some thousand standard deviations of the origin.
* centred: about each component's own mean, so that nothing cancels, whatever the scales; for diagonal covariances
  and for rows with missing values here, else in `gaussian_wide`.

Functions that only others here call have no wrapper for Python: it would take a fifth of the time to compile.
"""

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def standardise(X, start, n, origin, inverse_scale, Z):
    """Z[j, i] = coordinate j of row start + i; rows are the fast axis, so everything after vectorises."""
    for j in range(X.shape[1]):
        o, s = origin[j], inverse_scale[j]
        for i in range(n):
            Z[j, i] = (X[start + i, j] - o) * s


@njit(
    nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract"}
)
def fill_features(X, start, n, origin, inverse_scale, quadratic, F):
    """F[1:d+1] = z behind F[0] = 1, and then what is quadratic: F[target] sums factor * F[first] * F[second]."""
    first, second, target, factor = quadratic
    for j in range(X.shape[1]):
        o, s = origin[j], inverse_scale[j]
        for i in range(n):
            F[1 + j, i] = (X[start + i, j] - o) * s
    last = np.int64(0)
    for p in range(len(target)):
        a, b, t, c = first[p], second[p], target[p], factor[p]
        if t != last:
            for i in range(F.shape[1]):
                F[t, i] = c * F[a, i] * F[b, i]
        else:
            for i in range(F.shape[1]):
                F[t, i] += c * F[a, i] * F[b, i]
        last = t


@njit(
    nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract"}
)
def elementwise_densities(Z, means, roots, constants, L):
    """L[k, i] for diagonal covariances; Z is (d, B)."""
    K, d = means.shape
    for k in range(K):
        for i in range(L.shape[1]):
            L[k, i] = constants[k]
        for j in range(d):
            m, u = means[k, j], roots[k, 0, j]
            for i in range(L.shape[1]):
                y = (Z[j, i] - m) * u
                L[k, i] -= 0.5 * y * y


@njit(nogil=True, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract", "reassoc"})
def add_elementwise_moments(Z, R, means, N, S1, S2):
    """Add moments about the means, column by column; Z is (d, B)."""
    K, d = means.shape
    for k in range(K):
        for i in range(R.shape[1]):
            N[k] += R[k, i]
        for j in range(d):
            m, s1, s2 = means[k, j], 0.0, 0.0
            for i in range(R.shape[1]):
                gap = Z[j, i] - m
                s1 += R[k, i] * gap
                s2 += R[k, i] * gap * gap
            S1[k, j] += s1
            S2[k, 0, j] += s2


@njit(
    nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract"}
)
def share(L, start, n, weights, powers, top, total, R):
    """R[:, i] = (weighted) responsibilities, zero from n on; returns the (weighted) sum of log normalisers.

    powers
        (B,) scratch as integers, and the same memory as floats.
    """
    bits, scales = powers
    K, B = L.shape
    for i in range(B):
        top[i] = -np.inf
        total[i] = 0.0
    for k in range(K):
        for i in range(B):
            top[i] = L[k, i] if L[k, i] > top[i] else top[i]
    for k in range(K):
        for i in range(B):
            # exp by 2^n times a polynomial in the rest, which vectorises where math.exp does not
            x = L[k, i] - top[i]
            x = x if x > -700.0 else -700.0
            scales[i] = x * 1.4426950408889634 + 6755399441055744.0  # so far out, n is in the last bits
            whole = scales[i] - 6755399441055744.0
            r = (x - whole * 0.693145751953125) - whole * 1.4286068203094172e-06
            q = r * r
            high = (2.755724082809897e-06 * r + 2.480148536466595e-05) + (2.511007e-08 * r + 2.763268316e-07) * q
            middle = (0.00833333333331957 * r + 0.0416666666664877) + (0.000198412698901 * r + 0.00138888889524) * q
            low = (r + 1.0) + (0.1666666666666668 * r + 0.5000000000000019) * q
            R[k, i] = (high * (q * q) + middle) * (q * q) + low
        for i in range(B):
            bits[i] = (bits[i] + 1023) << 52
        for i in range(B):
            R[k, i] *= scales[i]
            total[i] += R[k, i]
    for i in range(B):
        scales[i] = 1.0 / total[i] if i < n else 0.0
    bound = 0.0
    if len(weights) == 0:
        for i in range(0, n, 16):
            product = 1.0  # at most K^16: one logarithm for sixteen rows
            for j in range(i, min(i + 16, n)):
                bound += top[j]
                product *= total[j]
            bound += math.log(product)
    else:
        for i in range(n):
            scales[i] *= weights[start + i]
            bound += weights[start + i] * (top[i] + math.log(total[i]))
    for k in range(K):
        for i in range(B):
            R[k, i] *= scales[i]
    return bound


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def turn(L, n, out, start):
    """out[start + i, k] = L[k, i]."""
    for i in range(n):
        for k in range(out.shape[1]):
            out[start + i, k] = L[k, i]


@njit(
    nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract"}
)
def products(W, F, L):
    """L = W F, two rows of L and eight of F at a time; narrow as these matrices are, BLAS takes half as long again."""
    for k in range(L.shape[0]):
        for i in range(L.shape[1]):
            L[k, i] = 0.0
    even = len(F) - len(F) % 8
    for p in range(0, even, 8):
        for k in range(0, L.shape[0], 2):
            a0, a1, a2, a3 = W[k, p], W[k, p + 1], W[k, p + 2], W[k, p + 3]
            a4, a5, a6, a7 = W[k, p + 4], W[k, p + 5], W[k, p + 6], W[k, p + 7]
            b0, b1, b2, b3 = W[k + 1, p], W[k + 1, p + 1], W[k + 1, p + 2], W[k + 1, p + 3]
            b4, b5, b6, b7 = W[k + 1, p + 4], W[k + 1, p + 5], W[k + 1, p + 6], W[k + 1, p + 7]
            for i in range(L.shape[1]):
                f0, f1, f2, f3 = F[p, i], F[p + 1, i], F[p + 2, i], F[p + 3, i]
                f4, f5, f6, f7 = F[p + 4, i], F[p + 5, i], F[p + 6, i], F[p + 7, i]
                L[k, i] += (a0 * f0 + a1 * f1 + a2 * f2 + a3 * f3) + (a4 * f4 + a5 * f5 + a6 * f6 + a7 * f7)
                L[k + 1, i] += (b0 * f0 + b1 * f1 + b2 * f2 + b3 * f3) + (b4 * f4 + b5 * f5 + b6 * f6 + b7 * f7)
    for p in range(even, len(F), 4):
        for k in range(0, L.shape[0], 2):
            a0, a1, a2, a3 = W[k, p], W[k, p + 1], W[k, p + 2], W[k, p + 3]
            b0, b1, b2, b3 = W[k + 1, p], W[k + 1, p + 1], W[k + 1, p + 2], W[k + 1, p + 3]
            for i in range(L.shape[1]):
                f0, f1, f2, f3 = F[p, i], F[p + 1, i], F[p + 2, i], F[p + 3, i]
                L[k, i] += a0 * f0 + a1 * f1 + a2 * f2 + a3 * f3
                L[k + 1, i] += b0 * f0 + b1 * f1 + b2 * f2 + b3 * f3


@njit(nogil=True, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract", "reassoc"})
def add_products(R, F, S):
    """S += R F', in the same tiles."""
    for p in range(0, F.shape[0], 4):
        for k in range(0, R.shape[0], 2):
            a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = 0.0
            for i in range(R.shape[1]):
                f0, f1, f2, f3 = F[p, i], F[p + 1, i], F[p + 2, i], F[p + 3, i]
                a, b = R[k, i], R[k + 1, i]
                a0 += a * f0
                a1 += a * f1
                a2 += a * f2
                a3 += a * f3
                b0 += b * f0
                b1 += b * f1
                b2 += b * f2
                b3 += b * f3
            S[k, p] += a0
            S[k, p + 1] += a1
            S[k, p + 2] += a2
            S[k, p + 3] += a3
            S[k + 1, p] += b0
            S[k + 1, p + 1] += b1
            S[k + 1, p + 2] += b2
            S[k + 1, p + 3] += b3


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def expect_features(X, weights, origin, inverse_scale, W, quadratic, powers, scratch, S, joint):
    """Add sum_i r_ik features(z_i) to S (K, P); returns the sum of log p(x_i). Or only fill joint (n, K).

    K is even and P a multiple of four: what fills them up has features of zero, and a log density of next to nothing.

    quadratic
        How features are made of two coordinates each: first, second, target and factor of `fill_features`.
    scratch
        F (P, B), its first row ones, L and R (K, B), top and total (B,).
    """
    F, L, R, top, total = scratch
    B = len(top)
    bound = 0.0
    for start in range(0, X.shape[0], B):
        n = min(B, X.shape[0] - start)
        fill_features(X, start, n, origin, inverse_scale, quadratic, F)
        products(W, F, L)
        if len(joint):
            turn(L, n, joint, start)
            continue
        bound += share(L, start, n, weights, powers, top, total, R)
        add_products(R, F, S)
    return bound


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def expect_elementwise(X, weights, origin, inverse_scale, means, roots, constants, powers, N, S1, S2, joint):
    """Add weights N (K,) and moments S1 (K, d), S2 (K, 1, d) about the means, for diagonal covariances.

    Or only fill joint (n, K).
    """
    K, d = means.shape
    B = len(powers[0])
    Z, L, R = np.zeros((d, B)), np.empty((K, B)), np.empty((K, B))
    top, total, bound = np.empty(B), np.empty(B), 0.0
    for start in range(0, X.shape[0], B):
        n = min(B, X.shape[0] - start)
        standardise(X, start, n, origin, inverse_scale, Z)
        elementwise_densities(Z, means, roots, constants, L)
        if len(joint):
            turn(L, n, joint, start)
            continue
        bound += share(L, start, n, weights, powers, top, total, R)
        add_elementwise_moments(Z, R, means, N, S1, S2)
    return bound


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def condition(C, seen, n_seen, U, B, rest):
    """For one covariance C and one pattern: U with U U' = inv(C_oo) in U[:n, :n], B = C_mo inv(C_oo), rest = C_m|o.

    `seen` lists the observed columns first, the missing ones after them. Returns half the log determinant of
    the observed precision.
    """
    d = C.shape[0]
    half_log = 0.0
    # Cholesky of C_oo into the lower triangle of U, then its inverse in place
    for a in range(n_seen):
        for b in range(a + 1):
            s = C[seen[a], seen[b]]
            for c in range(b):
                s -= U[a, c] * U[b, c]
            U[a, b] = math.sqrt(s) if a == b else s / U[b, b]
        half_log -= math.log(U[a, a])
    for a in range(n_seen):
        U[a, a] = 1.0 / U[a, a]
        for b in range(a):
            s = 0.0
            for c in range(b, a):
                s -= U[a, c] * U[c, b]
            U[a, b] = s * U[a, a]
    for i in range(d - n_seen):
        for a in range(n_seen):  # whitened covariance of the missing with the observed, C_mo L'^-1
            s = 0.0
            for c in range(a + 1):
                s += C[seen[n_seen + i], seen[c]] * U[a, c]
            rest[i, a] = s
        for b in range(n_seen):
            s = 0.0
            for a in range(b, n_seen):
                s += rest[i, a] * U[a, b]
            B[i, b] = s
    for i in range(d - n_seen - 1, -1, -1):
        for j in range(i, d - n_seen):
            s = C[seen[n_seen + i], seen[n_seen + j]]
            for a in range(n_seen):
                s -= B[i, a] * C[seen[a], seen[n_seen + j]]
            rest[d + i, j] = rest[d + j, i] = s
    return half_log


@njit(
    nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract"}
)
def observed_densities(Z, means, seen, n_seen, U, constants, G, y, L):
    """L[k, i] = log p(observed part of row i, k); U[k] is lower triangular with U'U the observed precision."""
    width = L.shape[1]
    for k in range(L.shape[0]):
        for i in range(width):
            L[k, i] = constants[k]
        for a in range(n_seen):
            m = means[k, seen[a]]
            for i in range(width):
                G[a, i] = Z[seen[a], i] - m
                y[i] = 0.0
            for b in range(a + 1):
                u = U[k, a, b]
                for i in range(width):
                    y[i] += u * G[b, i]
            for i in range(width):
                L[k, i] -= 0.5 * y[i] * y[i]


@njit(nogil=True, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract", "reassoc"})
def add_observed_moments(Z, R, means, seen, n_seen, G, y, n, s1, s2):
    """Add weight, first and second moments about the means of the observed columns of one block."""
    width = R.shape[1]
    for k in range(R.shape[0]):
        for i in range(width):
            n[k] += R[k, i]
        for a in range(n_seen):
            m, total = means[k, seen[a]], 0.0
            for i in range(width):
                G[a, i] = Z[seen[a], i] - m
                y[i] = R[k, i] * G[a, i]
                total += y[i]
            s1[k, a] += total
            for b in range(a + 1):
                total = 0.0
                for i in range(width):
                    total += y[i] * G[b, i]
                s2[k, a, b] += total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def add_completed(seen, n_seen, B, rest, n, s1, s2, N, S1, S2):
    """Add one component's pattern moments, completed by what the observed columns say of the missing ones."""
    d = S1.shape[0]
    N[0] += n
    full = np.zeros((d, d))
    for a in range(n_seen):
        S1[seen[a]] += s1[a]
        for b in range(n_seen):
            full[seen[a], seen[b]] = s2[a, b] if b <= a else s2[b, a]
    for i in range(d - n_seen):
        row = seen[n_seen + i]
        for a in range(n_seen):
            S1[row] += B[i, a] * s1[a]
            s = 0.0
            for b in range(n_seen):
                s += B[i, b] * full[seen[b], seen[a]]
            full[row, seen[a]] = full[seen[a], row] = s
    for i in range(d - n_seen):
        for j in range(d - n_seen):
            s = n * rest[d + i, j]
            for a in range(n_seen):
                s += B[j, a] * full[seen[n_seen + i], seen[a]]
            full[seen[n_seen + i], seen[n_seen + j]] = s
    for a in range(d):
        for b in range(d):
            S2[a, b] += full[a, b]


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def expect_missing(
    X, weights, origin, inverse_scale, patterns, counts, edges, means, covariances, constants, powers, N, S1, S2, joint
):
    """Moments about the means of incomplete rows, sorted by pattern; also fills joint (n, K) if it has rows.

    patterns (p, d) lists the observed columns of each pattern and then the missing ones, counts (p,) how many
    are observed, edges (p + 1,) where its rows begin. constants (K,) holds the log weights.
    """
    K, d = means.shape
    B = len(powers[0])
    Z, G, L, R = np.zeros((d, B)), np.empty((d, B)), np.empty((K, B)), np.empty((K, B))
    top, total, y = np.empty(B), np.empty(B), np.empty(B)
    U, slopes, rest = np.zeros((K, d, d)), np.zeros((K, d, d)), np.zeros((K, 2 * d, d))
    bound = 0.0
    for p in range(len(counts)):
        seen, n_seen = patterns[p], counts[p]
        volume = 0.0
        for a in range(n_seen):
            volume += math.log(inverse_scale[seen[a]]) - 0.5 * math.log(2 * math.pi)
        level = np.empty(K)
        for k in range(K):
            level[k] = constants[k] + volume + condition(covariances[k], seen, n_seen, U[k], slopes[k], rest[k])
        n, s1, s2 = np.zeros(K), np.zeros((K, d)), np.zeros((K, d, d))
        for start in range(edges[p], edges[p + 1], B):
            m = min(B, edges[p + 1] - start)
            width = min(B, (m + 7) // 8 * 8)
            for a in range(n_seen):
                j = seen[a]
                for i in range(m):
                    Z[j, i] = (X[start + i, j] - origin[j]) * inverse_scale[j]
                for i in range(m, width):
                    Z[j, i] = 0.0
            observed_densities(Z, means, seen, n_seen, U, level, G, y, L[:, :width])
            if len(joint):
                turn(L, m, joint, start)
                continue
            bound += share(L[:, :width], start, m, weights, powers, top, total, R[:, :width])
            add_observed_moments(Z, R[:, :width], means, seen, n_seen, G, y, n, s1, s2)
        if len(joint) == 0:
            for k in range(K):
                add_completed(seen, n_seen, slopes[k], rest[k], n[k], s1[k], s2[k], N[k : k + 1], S1[k], S2[k])
    return bound
