"""Gaussian mixtures and rows with missing values, each with a pattern of its own: what is missing given what is seen.

Everything is read off the precisions P. With v = P (z - m), z - m zero where values are missing, what is missing has
the mean m - inv(P_hh) v_h and the covariance inv(P_hh), so the work for a row grows with its missing values.
Many rows go side by side, which vectorises.

Rows stand in the order of their number of missing values, in a frame where the data are centred and scaled. `columns`
(n, d) lists the observed columns of each row and then its missing ones, `counts` (n,) how many are observed, `volume`
(n,) is the constant part of its log density. `precisions` has one matrix for all components, or one for each.
"""

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def invert(A, n, root, out):
    """out = inv(A) of the first n rows, root its lower triangular W with W'W = inv(A); returns log |A|, or NaN."""
    log_det = 0.0
    for a in range(n):
        for b in range(a + 1):
            s = A[a, b]
            for c in range(b):
                s -= out[a, c] * out[b, c]
            if a > b:
                out[a, b] = s / out[b, b]
            elif s > 0.0:
                out[a, a] = math.sqrt(s)
            else:
                return math.nan
        log_det += 2.0 * math.log(out[a, a])
    for a in range(n):
        for b in range(a):
            root[a, b] = 0.0
        for c in range(a):
            for b in range(c + 1):
                root[a, b] -= out[a, c] * root[c, b]
        for b in range(a):
            root[a, b] /= out[a, a]
        root[a, a] = 1.0 / out[a, a]
    for a in range(n):
        for b in range(a + 1):
            out[a, b] = 0.0
        for c in range(a + 1):
            for b in range(c + 1):
                out[c, b] += root[a, c] * root[a, b]
    for a in range(n):
        for b in range(a):
            out[b, a] = out[a, b]
    return log_det


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def invert_many(A, m, W, logs):
    """The same for many matrices side by side: A (m, m, B), of which the lower triangle counts, becomes its inverse."""
    B = A.shape[2]
    logs[:] = 0.0
    for a in range(m):
        for b in range(a + 1):
            x = A[a, b]
            for c in range(b):
                u, v = A[a, c], A[b, c]
                for i in range(B):
                    x[i] -= u[i] * v[i]
            if b < a:
                for i in range(B):
                    x[i] *= A[b, b, i]
        for i in range(B):  # the diagonal takes the reciprocal, so that nothing else is divided
            logs[i] += math.log(A[a, a, i])
            A[a, a, i] = 1.0 / math.sqrt(A[a, a, i])
    for a in range(m):
        for b in range(a):
            x = W[a, b]
            x[:] = 0.0
            for c in range(b, a):
                u, v = A[a, c], W[c, b]
                for i in range(B):
                    x[i] -= u[i] * v[i]
            for i in range(B):
                x[i] *= A[a, a, i]
        for i in range(B):
            W[a, a, i] = A[a, a, i]
    for a in range(m):
        for b in range(a + 1):
            x = A[a, b]
            x[:] = 0.0
            for c in range(a, m):
                u, v = W[c, a], W[c, b]
                for i in range(B):
                    x[i] += u[i] * v[i]


@njit(nogil=True, cache=True)
def find_missing(columns, counts, start, n, absent):
    """absent[a, i] = the a-th missing column of row start + i, -1 if there are fewer; returns the most of a row."""
    d, most = columns.shape[1], 0
    absent[:] = -1
    for i in range(n):
        known = counts[start + i]
        most = max(most, d - known)
        for a in range(d - known):
            absent[a, i] = columns[start + i, known + a]
    return most


@njit(nogil=True, cache=True)
def gather(P, absent, m, A):
    """A[:, :, i] = P_hh of row i, lower triangle, filled up with ones on the diagonal."""
    for a in range(m):
        for b in range(a + 1):
            for i in range(absent.shape[1]):
                A[a, b, i] = P[absent[a, i], absent[b, i]] if absent[a, i] >= 0 else (1.0 if a == b else 0.0)


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def complete(Z, start, n, mean, P, absent, m, inverse, D, V, H, level):
    """D = z - mean with the missing values at their conditional means; takes half the squared distance from `level`."""
    d, B = Z.shape[1], absent.shape[1]
    v, y = H[:m], H[m:]
    for i in range(n):
        for j in range(d):
            D[i, j] = Z[start + i, j] - mean[j]
    for a in range(m):
        for i in range(n):
            if absent[a, i] >= 0:
                D[i, absent[a, i]] = 0.0
    np.dot(D, P, V)
    for i in range(n):
        q = 0.0
        for j in range(d):
            q += D[i, j] * V[i, j]
        level[i] -= 0.5 * q
    for a in range(m):
        for i in range(B):
            v[a, i] = V[i, absent[a, i]] if absent[a, i] >= 0 else 0.0
    for a in range(m):
        y[a] = 0.0
        for b in range(m):
            row = inverse[max(a, b), min(a, b)]
            for i in range(B):
                y[a, i] += row[i] * v[b, i]
        for i in range(B):
            level[i] += 0.5 * y[a, i] * v[a, i]
            if absent[a, i] >= 0:
                D[i, absent[a, i]] = -y[a, i]


@njit(nogil=True, cache=True)
def normalise(L, n, shares, R):
    """R[:, i] = exp(L[:, i]) normalised, times the row's share; returns the sum of the log normalisers, so weighed."""
    K, bound = R.shape[0], 0.0
    for i in range(n):
        top = L[0, i]
        for k in range(1, K):
            top = max(top, L[k, i])
        total = 0.0
        for k in range(K):
            R[k, i] = math.exp(L[k, i] - top)
            total += R[k, i]
        for k in range(K):
            R[k, i] *= shares[i] / total
        bound += shares[i] * (top + math.log(total))
    return bound


@njit(nogil=True, cache=True)
def describe(start, n, mean, D, absent, m, inverse, completed, spread):
    """completed = mean + D; spread = the variance of a missing value, zero where there is none."""
    for i in range(n):
        for j in range(len(mean)):
            completed[start + i, j] = mean[j] + D[i, j]
            spread[start + i, j] = 0.0
        for a in range(m):
            if absent[a, i] >= 0:
                spread[start + i, absent[a, i]] = inverse[a, a, i]


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def add_moments(D, R, n, kept, scaled, S1, S2):
    """Add first and second moments of completed rows; returns their weight.

    Rows with no share to speak of are left out: with many columns that is most of them in most components.
    """
    d, weight, rows = D.shape[1], 0.0, 0
    for i in range(n):
        if R[i] > 1e-18:
            weight += R[i]
            for j in range(d):
                kept[rows, j] = D[i, j]
                scaled[rows, j] = R[i] * D[i, j]
                S1[j] += scaled[rows, j]
            rows += 1
    if rows:
        block = np.dot(scaled[:rows].T, kept[:rows])
        for a in range(d):
            for b in range(d):
                S2[a, b] += block[a, b]
    return weight


@njit(nogil=True, cache=True)
def add_unknown(R, n, absent, m, inverse, unknown, S2):
    """Add what the missing values vary about their conditional means."""
    unknown[:] = 0.0
    for a in range(m):
        for b in range(a + 1):
            for i in range(n):
                if absent[a, i] >= 0:
                    unknown[absent[a, i], absent[b, i]] += R[i] * inverse[a, b, i]
    for a in range(len(unknown)):
        for b in range(a):
            S2[a, b] += unknown[a, b]
            S2[b, a] += unknown[a, b]
        S2[a, a] += unknown[a, a]


@njit(nogil=True, cache=True)
def block_rows(n, T, M):
    """Rows of a block: few, since all have the work of the one that misses most; fewer if that is very much."""
    return max(1, min(64, n, 500000 // max(1, T * M * M)))


@njit(nogil=True, cache=True)
def expect(
    Z, shares, columns, counts, volume, means, precisions, constants, given, N, S1, S2, joint, completed, spread
):
    """Add weights N (K,) and moments S1 (K, d), S2 (K or 1, d, d) about the means; returns the sum of log p(x_i).

    constants (K,) holds log weights and half the log determinants of the precisions. Responsibilities are those that
    given (K, n), weights included, if there are any. If joint (n, K) has rows, it is filled with log p(x_i, k) in
    place of all that; and so are completed (K, n, d), rows with missing values at the conditional means, and spread
    (K, n, d), the variances of the missing values, if they have rows.
    """
    (K, d), T = means.shape, precisions.shape[0]
    M = d - counts[-1]  # the last row has the most missing values
    B = block_rows(Z.shape[0], T, M)
    inverses, logs, absent = np.empty((T, M, M, B)), np.empty((T, B)), np.empty((M, B), np.int64)
    W, H, V, scaled = np.empty((M, M, B)), np.empty((2 * M, B)), np.empty((B, d)), np.empty((B, d))
    D, L, R, unknown = np.zeros((K, B, d)), np.empty((K, B)), np.empty((K, B)), np.empty((d, d))
    bound = 0.0
    for start in range(0, Z.shape[0], B):
        n = min(B, Z.shape[0] - start)
        m = find_missing(columns, counts, start, n, absent)
        for k in range(K):
            t = min(k, T - 1)
            if k == t:
                gather(precisions[t], absent, m, inverses[t])
                invert_many(inverses[t], m, W, logs[t])
            for i in range(n):
                L[k, i] = constants[k] + volume[start + i] - 0.5 * logs[t, i]
            complete(Z, start, n, means[k], precisions[t], absent, m, inverses[t], D[k], V, H, L[k])
            if completed.shape[1]:
                describe(start, n, means[k], D[k], absent, m, inverses[t], completed[k], spread[k])
        if joint.shape[1]:
            for i in range(n):
                for k in range(K):
                    joint[start + i, k] = L[k, i]
            continue
        if given.shape[1]:
            for k in range(K):
                for i in range(n):
                    R[k, i] = given[k, start + i]
        else:
            bound += normalise(L, n, shares[start : start + n], R)
        for k in range(K):
            N[k] += add_moments(D[k], R[k], n, V, scaled, S1[k], S2[min(k, T - 1)])
        for t in range(T):  # one covariance is as unknown in every component
            add_unknown(R[t] if T == K else shares[start : start + n], n, absent, m, inverses[t], unknown, S2[t])
    return bound


@njit(nogil=True, cache=True)
def colour(columns, counts, precisions, chosen, noise):
    """Turn standard normal noise (n, d) at the missing values of a row into that of the chosen component."""
    d = columns.shape[1]
    A, root, inverse, raw = np.empty((d, d)), np.empty((d, d)), np.empty((d, d)), np.empty(d)
    for i in range(len(counts)):
        known = counts[i]
        absent, P = columns[i, known:], precisions[min(chosen[i], len(precisions) - 1)]
        for a in range(d - known):
            raw[a] = noise[i, absent[a]]
            for b in range(a + 1):
                A[a, b] = P[absent[a], absent[b]]
        invert(A, d - known, root, inverse)
        for b in range(d - known):
            s = 0.0
            for a in range(b, d - known):
                s += root[a, b] * raw[a]
            noise[i, absent[b]] = s


@njit(nogil=True, cache=True)
def maximise(N, S1, S2, strength, unit, weights, means, C):
    """Weights, means and covariances from moments about the means, `strength` rows of variances `unit` among them."""
    (K, d), T = means.shape, C.shape[0]
    total = 0.0
    for k in range(K):
        total += N[k]
    for t in range(T):
        for a in range(d):
            for b in range(d):
                C[t, a, b] = S2[t, a, b]
    for k in range(K):
        weights[k] = N[k] / total
        if N[k] < 1e-14:
            continue
        for a in range(d):
            for b in range(d):
                C[min(k, T - 1), a, b] -= S1[k, a] * S1[k, b] / N[k]
        for a in range(d):
            means[k, a] += S1[k, a] / N[k]
    for t in range(T):
        prior = strength * (K if T < K else 1)
        mass = (total if T < K else N[t]) + prior
        for a in range(d):
            C[t, a, a] += prior * unit[a]
            for b in range(a + 1):
                C[t, a, b] = C[t, b, a] = 0.5 * (C[t, a, b] + C[t, b, a]) / mass


@njit(nogil=True, cache=True)
def unit_energy(P, unit):
    """tr(P U) - log |U| - d: what variances U cost under a precision."""
    total = 0.0
    for a in range(len(P)):
        total += P[a, a] * unit[a] - math.log(unit[a]) - 1.0
    return total


@njit(nogil=True, cache=True)
def climb(Z, shares, columns, counts, volume, strength, unit, weights, means, C, tol, goal, N, S1, S2, centre, trace):
    """EM until the objective rises by less than tol per row; fills all that comes after `goal`.

    C is (1, d, d) for one covariance of all components. It gives up where the objective would not reach `goal` in
    another ten steps like the last. trace (max_iter, 2) takes the log-likelihood and the objective of every iteration.
    Returns the number of iterations, negative if a covariance ceased to be one.
    """
    (K, d), T = means.shape, C.shape[0]
    P, root, constants = np.empty_like(C), np.empty((d, d)), np.empty(K)
    nothing, none, rows = np.empty((K, 0)), np.empty((K, 0, 0)), 0.0
    for i in range(len(shares)):
        rows += shares[i]
    for step in range(trace.shape[0]):
        prior = 0.0
        for t in range(T):
            log_det = invert(C[t], d, root, P[t])
            if not log_det < math.inf:
                return -step
            constants[t] = -0.5 * log_det
            prior -= 0.5 * strength * (K if T < K else 1) * (log_det + unit_energy(P[t], unit))
        for k in range(K - 1, -1, -1):
            constants[k] = constants[min(k, T - 1)] + math.log(max(weights[k], 1e-300))
        N[:], S1[:], S2[:] = 0.0, 0.0, 0.0
        for k in range(K):
            for j in range(d):
                centre[k, j] = means[k, j]
        trace[step, 0] = expect(
            Z, shares, columns, counts, volume, means, P, constants, nothing, N, S1, S2, nothing, none, none
        )
        trace[step, 1] = trace[step, 0] + prior
        maximise(N, S1, S2, strength, unit, weights, means, C)
        if step:
            rise = trace[step, 1] - trace[step - 1, 1]
            if abs(rise) < tol * rows or trace[step, 0] + 10 * rise < goal:
                return step + 1
    return trace.shape[0]
