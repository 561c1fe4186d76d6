"""One long sequence of diagonal Gaussian emissions with few states, a block of rows at a time, all in one go.

Rows of a block lie in tiles of K + 1 lines of TILE numbers, one after another in flat memory: rows are the fast axis,
so that everything but the two recursions vectorises, and what lies where is known to the compiler. Recursions hold
their row in a tuple, that is in registers. b has densities over exp(top), and top; p what is predicted for each row
from those before it, g what those behind it say about its state, each up to a factor, and then the factor by which it
was scaled. Forward and backward are the same walk, in two directions.

`row` is a tuple of K zeros, which tells K to the compiler. What is exact, and when, is said in `hmm`.
"""

import math

import numpy as np
from numba import njit
from numba.cpython.unsafe.tuple import tuple_setitem

TILE = 64


@njit(
    nogil=True, cache=True, error_model="numpy", fastmath={"contract"}, no_cpython_wrapper=True, no_cfunc_wrapper=True
)
def turn(X, first, Z):
    """Z[j, i] = X[first + i, j] as far as there are rows, and zero behind; gives how many there are."""
    n, d = min(TILE, X.shape[0] - first), X.shape[1]
    for j in range(d):
        for i in range(n):
            Z[j, i] = X[first + i, j]
        for i in range(n, TILE):
            Z[j, i] = 0.0
    return n


@njit(
    nogil=True, cache=True, error_model="numpy", fastmath={"contract"}, no_cpython_wrapper=True, no_cfunc_wrapper=True
)
def power(y):
    """exp(y) for y up to zero, 3e-308 for less than that; made of what vectorises.

    It is 2^whole times a polynomial in the rest; adding 1.5 * 2^52 rounds to a whole number and leaves it in the lowest
    bits.
    """
    x = y if y > -708.0 else -708.0
    shifted = x * 1.4426950408889634 + 6755399441055744.0
    whole = shifted - 6755399441055744.0
    r = (x - whole * 0.693145751953125) - whole * 1.4286068203094172e-06
    s = r * r
    q = s * s
    low = (0.5 + r * (1.0 / 6)) + s * (1.0 / 24 + r * (1.0 / 120))
    middle = (1.0 / 720 + r * (1.0 / 5040)) + s * (1.0 / 40320 + r * (1.0 / 362880))
    high = (1.0 / 3628800 + r * (1.0 / 39916800)) + s * (1.0 / 479001600)
    p = (1.0 + r) + s * (low + q * (middle + q * high))
    return p * np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)


@njit(
    nogil=True,
    cache=True,
    error_model="numpy",
    fastmath={"contract", "reassoc"},
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
)
def fill(X, means, roots, constants, K, Z, T, b):
    """b becomes densities exp(constants[k] - sum_j ((x_j - means[k, j]) roots[k, j])^2), with the largest taken out.

    Gives the sum of what was taken out.
    """
    total = 0.0
    for first in range(0, X.shape[0], TILE):
        n = turn(X, first, Z)
        for k in range(K):
            c, m, r = constants[k], means[k, 0], roots[k, 0]
            for i in range(TILE):
                z = (Z[0, i] - m) * r
                T[k * TILE + i] = c - z * z
            for j in range(1, X.shape[1]):
                m, r = means[k, j], roots[k, j]
                for i in range(TILE):
                    z = (Z[j, i] - m) * r
                    T[k * TILE + i] -= z * z
        at = np.uintp(first * (K + 1))
        powers(K, T, at, b)
        at += np.uintp(K * TILE)
        for i in range(n):
            total += b[at + np.uintp(i)]
    return total


@njit(
    nogil=True, cache=True, error_model="numpy", fastmath={"contract"}, no_cpython_wrapper=True, no_cfunc_wrapper=True
)
def powers(K, T, at, b):
    """Fill the tile of b that begins at a place with exp(T - top), and top, the largest of each row."""
    for i in range(TILE):
        top = T[i]
        for k in range(1, K):
            top = T[k * TILE + i] if T[k * TILE + i] > top else top
        b[at + np.uintp(K * TILE + i)] = top
        for k in range(K):
            b[at + np.uintp(k * TILE + i)] = power(T[k * TILE + i] - top)


@njit(
    nogil=True, cache=True, error_model="numpy", fastmath={"contract"}, no_cpython_wrapper=True, no_cfunc_wrapper=True
)
def walk(n, step, b, M, row, start, out, after, edge):
    """Go through n rows by a step of 1 or -1: out[t] is the row come to, which times b[t] and M is the next one.

    `after` is the row behind the last one, and `edge` the last one times b. Gives the log of all factors taken out, and
    the smallest of them: an underflow matters if that is tiny.
    """
    K, total, least, c, factor, now = len(row), 0.0, 1.0, 1.0, 0.0, row
    for k in range(K):
        row = tuple_setitem(row, k, start[k])
    t = 0 if step > 0 else n - 1
    for _ in range(n):
        at = np.uintp((t // TILE) * ((K + 1) * TILE) + t % TILE)
        t += step
        c = 0.0
        for k in range(K):
            out[at + np.uintp(k * TILE)] = row[k]
            now = tuple_setitem(now, k, row[k] * b[at + np.uintp(k * TILE)])
            c += now[k]
        out[at + np.uintp(K * TILE)] = factor
        factor = 1.0
        if c < 1e-30:
            least = min(least, c)
            total += math.log(c)
            factor = 1.0 / c
            c = 1.0
            for k in range(K):
                now = tuple_setitem(now, k, now[k] * factor)
        for j in range(K):
            r, s = now[0] * M[j, 0], 0.0
            for k in range(1, K - 1, 2):
                s += now[k] * M[j, k]
                r += now[k + 1] * M[j, k + 1]
            if K % 2 == 0:
                s += now[K - 1] * M[j, K - 1]
            row = tuple_setitem(row, j, r + s)
    s = 0.0
    for k in range(K):
        s += row[k]
    for k in range(K):
        after[k], edge[k] = row[k] / s, now[k]
    return total + math.log(c), min(least, c)


@njit(
    nogil=True,
    cache=True,
    error_model="numpy",
    fastmath={"contract", "reassoc"},
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
)
def finish(X, means, row, p, b, g, Z, T, sums):
    """Posteriors of all rows, and what is summed over rows, which `sums` (2 + K + 2 d, K) is set to.

    That is: posteriors; posterior of the first row; for each j, f[t - 1, k] (b g)[t, j], which times A are expected
    transitions, where f is p b, scaled; and first and second moments about the means, for each column.
    """
    K, d = len(row), X.shape[1]
    for r in range(2 + K + 2 * d):
        for k in range(K):
            sums[r, k] = 0.0
    for k in range(K):
        T[3 * K * TILE + k] = 0.0
    for first in range(0, X.shape[0], TILE):
        n = turn(X, first, Z)
        posteriors(n, row, p, b, g, np.uintp(first * (K + 1)), T, sums)
        if first == 0:
            for k in range(K):
                sums[1, k] = T[2 * K * TILE + k * TILE]
        transitions(n, row, T, sums)
        for k in range(K):
            for j in range(d):
                m, s, q = means[k, j], 0.0, 0.0
                for i in range(TILE):
                    z = Z[j, i] - m
                    r = T[(2 * K + k) * TILE + i] * z
                    s += r
                    q += r * z
                sums[2 + K + j, k] += s
                sums[2 + K + d + j, k] += q


@njit(
    nogil=True,
    cache=True,
    error_model="numpy",
    fastmath={"contract", "reassoc"},
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
)
def posteriors(n, row, p, b, g, at, T, sums):
    """Tiles in T, for n rows: f = p b, scaled, then b g, then posteriors; zeros behind."""
    K, visits = len(row), row
    for i in range(TILE):
        total = 0.0
        for k in range(K):
            place = at + np.uintp(k * TILE + i)
            y, z = b[place], g[place]
            x = p[place] * y
            T[k * TILE + i] = x
            T[(K + k) * TILE + i] = y * z
            T[(2 * K + k) * TILE + i] = x * z
            total += x * z
        r = 1.0 / total
        s = r * g[at + np.uintp(K * TILE + i)]
        for k in range(K):
            T[k * TILE + i] *= s
            T[(2 * K + k) * TILE + i] *= r
    for k in range(3 * K):
        for i in range(n, TILE):
            T[k * TILE + i] = 0.0
    for i in range(TILE):
        for k in range(K):
            visits = tuple_setitem(visits, k, visits[k] + T[(2 * K + k) * TILE + i])
    for k in range(K):
        sums[0, k] += visits[k]


@njit(
    nogil=True,
    cache=True,
    error_model="numpy",
    fastmath={"contract", "reassoc"},
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
)
def transitions(n, row, T, sums):
    """Add f[t - 1, k] (b g)[t, j] of a tile of n rows; f of the row before the tile is behind the three tiles of T."""
    K, last = len(row), 3 * len(row) * TILE
    for k in range(K):
        found, r = row, T[last + k]
        for j in range(K):
            found = tuple_setitem(found, j, r * T[(K + j) * TILE])
        for i in range(TILE - 1):
            r = T[k * TILE + i]
            for j in range(K):
                found = tuple_setitem(found, j, found[j] + r * T[(K + j) * TILE + i + 1])
        for j in range(K):
            sums[2 + j, k] += found[j]
        T[last + k] = T[k * TILE + n - 1]


@njit(
    nogil=True,
    cache=True,
    error_model="numpy",
    fastmath={"contract", "reassoc"},
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
)
def link(A, edge, head, K, sums):
    """Turn what is summed for transitions into their number, with that from one block to the next one."""
    total = 0.0
    for k in range(K):
        for j in range(K):
            total += edge[k] * A[k, j] * head[j]
    for k in range(K):
        for j in range(K):
            sums[2 + j, k] = A[k, j] * (sums[2 + j, k] + (edge[k] * head[j] / total if total > 0.0 else 0.0))


@njit(nogil=True, cache=True, error_model="numpy")
def pass_block(
    filling, forward, backward, finishing, block, X, densities, A, At, row, b, p, g, entries, ends, scratch, sums, logs
):
    """Whatever is to do with a block: fill it, go forward, go backward, take its posteriors.

    entries and ends (2, blocks + 1, K): where to start at a block, forward or backward, and the rows at its edges;
    those behind the last block are zero. told[block] (4,) gets the log-likelihood of the densities, of the chain, and
    the smallest factors forward and backward. scratch has 3 K + 1 + d lines of TILE numbers.
    """
    n, K = X.shape[0], len(row)
    means, roots, constants = densities
    T, Z = scratch[: (3 * K + 1) * TILE], scratch[(3 * K + 1) * TILE :].reshape(X.shape[1], TILE)
    if filling:
        logs[block, 0] = fill(X, means, roots, constants, K, Z, T, b)
    if forward:
        after, edge = entries[0, block + 1], entries[1, block]
        logs[block, 1], logs[block, 2] = walk(n, 1, b, At, row, entries[0, block], p, after, edge)
    if backward:
        after, edge = ends[0, block], ends[1, block]
        _, logs[block, 3] = walk(n, -1, b, A, row, ends[0, block + 1], g, after, edge)
    if finishing:
        finish(X, means, row, p, b, g, Z, T, sums[block])
        link(A, entries[1, block], ends[1, block + 1], K, sums[block])


@njit(nogil=True, cache=True, error_model="numpy")
def climb(X, lengths, weights, chain, excess, densities, prior, least, learn, tol, row, centre, sums, trace):
    """EM for short sequences: all of its steps, as `em` would take them; gives their number.

    Gives -1 where a step is not plain: a state without rows, a variance below `least` (d,), an underflow, a transition
    that is (nearly) impossible. start, A, means and variances (K, d) are changed in place.

    excess are the Dirichlet parameters of start and transitions, less one; prior is location, kappa, scatter and power,
    all (K, d); learn tells what is learnt of start, transitions, means and variances, and whether a state has one
    variance for all columns. trace (steps, 2) gets log-likelihood and objective; centre (K, d) and sums
    (2 + K + 2 d, K), see `finish`, are those of the last step.
    """
    (start, A), (means, variances), K, d = chain, densities, len(row), X.shape[1]
    size, first, T = -(-lengths.max() // TILE) * TILE * (K + 1), 0, np.empty((3 * K + 1) * TILE)
    b, p, g, Z = np.empty(size), np.empty(size), np.empty(size), np.empty((d, TILE))
    after, edge, last, none, ones = np.empty(K), np.empty(K), np.empty(K), np.zeros(K), np.ones(K)
    roots, constants, part = np.empty((K, d)), np.empty(K), np.empty_like(sums)
    for step in range(len(trace)):
        centre[:], sums[:], trace[step], first = means, 0.0, 0.0, 0
        At = np.ascontiguousarray(A.T)
        for k in range(K):
            constants[k] = -0.5 * d * math.log(2 * math.pi)
            for j in range(d):
                constants[k] -= 0.5 * math.log(variances[k, j])
                roots[k, j] = math.sqrt(0.5 / variances[k, j])
        for q in range(len(lengths)):
            rows, w = X[first : first + lengths[q]], weights[q]
            first += lengths[q]
            top = fill(rows, means, roots, constants, K, Z, T, b)
            log, ahead = walk(len(rows), 1, b, At, row, start, p, after, edge)
            _, behind = walk(len(rows), -1, b, A, row, ones, g, after, last)
            if not min(ahead, behind) > 1e-230:
                return -1
            finish(rows, means, row, p, b, g, Z, T, part)
            link(A, edge, none, K, part)
            trace[step, 0] += w * (top + log)
            for r in range(sums.shape[0]):
                for k in range(K):
                    sums[r, k] += w * part[r, k]
        trace[step, 1] = trace[step, 0] + log_prior(start, A, excess, means, variances, prior)
        if not math.isfinite(trace[step, 1]):
            return -1
        if not (
            improve_chain(sums, start, A, excess, learn) and improve_gaussians(sums, means, variances, prior, learn)
        ):
            return -1
        for j in range(d):
            if learn[3] and variances[:, j].min() < least[j]:
                return -1
        if step > 0 and trace[step, 1] - trace[step - 1, 1] < tol:
            return step + 1
    return len(trace)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def log_prior(start, A, excess, means, variances, prior):
    """Log prior of chain and Gaussians, up to a constant."""
    (K, d), total, (location, kappa, scatter, power) = means.shape, 0.0, prior
    for k in range(K):
        total += excess[0][k] * math.log(start[k]) if excess[0][k] > 0 and start[k] > 0 else 0.0
        for j in range(K):
            total += excess[1][k, j] * math.log(A[k, j]) if excess[1][k, j] > 0 else 0.0
        for j in range(d):
            spread = scatter[k, j] + kappa[k, j] * (means[k, j] - location[k, j]) ** 2
            total -= 0.5 * (power[k, j] * math.log(variances[k, j]) + spread / variances[k, j])
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def improve_chain(sums, start, A, excess, learn):
    """Start and transitions that are best for these sums; whether all of them can be."""
    K = len(start)
    if learn[0]:
        for k in range(K):
            start[k] = sums[1, k] + excess[0][k]
        total = start.sum()
        if not total > 0:
            return False
        start /= total
    if learn[1]:
        for k in range(K):
            for j in range(K):
                A[k, j] = sums[2 + j, k] + excess[1][k, j]
            total = A[k].sum()
            if not total > 0:
                return False
            for j in range(K):
                A[k, j] /= total
    return A.min() >= 1e-100


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def improve_gaussians(sums, means, variances, prior, learn):
    """Means and variances that are best for these sums, which are about the means; whether all states have rows."""
    (K, d), (location, kappa, scatter, power) = means.shape, prior
    few = 1e-8 * sums[0].max()
    for k in range(K):
        n, spread, mass = sums[0, k], 0.0, 0.0
        if not n > few:
            return False
        for j in range(d):
            first, second = sums[2 + K + j, k], sums[2 + K + d + j, k]
            mean = means[k, j] + first / n
            if learn[2]:
                means[k, j] = mean + kappa[k, j] / (n + kappa[k, j]) * (location[k, j] - mean)
            gap, pull = mean - means[k, j], means[k, j] - location[k, j]
            left = max(second - first / n * first, 0.0) + n * gap * gap + scatter[k, j] + kappa[k, j] * pull * pull
            spread, mass = spread + left, mass + n + power[k, j]
            if learn[3]:
                variances[k, j] = left / (n + power[k, j])
        if learn[3] and learn[4]:
            variances[k] = spread / mass
    return True
