"""Hidden Markov chains: forward, backward, smoothing and expected transitions, all sequences in one call.

Linear space with the maximum of each row of log densities taken out: T x K exponentials. Forward and backward do
not wait for each other, so that each may have a thread. For a strictly positive transition matrix that is exact: a
predicted probability never falls below the smallest transition, so an underflow cannot hide what matters later. A
sequence where a row underflows, or where one loses a state of a matrix with zeros, is reported, and is to be done by
`hmm_logs`.

Letters: L (n, K) log densities, b = exp(L - top), a forward rows, g backward rows and then posteriors, A
transitions, At their transpose. `width` is a tuple of K zeros for small K, so that loops over states have a length
that is known when compiling, and () otherwise.

An index of unsigned integers is not checked for counting from the end, which is what matters in loops that only copy.
"""

import math

import numpy as np
from numba import njit

TILE = 64


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def exponentiate(L, width, top, scratch):
    """L becomes exp(L - top), top (n,) the maximum of each row; 3e-308 stands for less, zero for -inf only."""
    n = L.shape[0]
    K = len(width) if len(width) > 0 else L.shape[1]
    for t in range(n):
        m = L[t, 0]
        for k in range(1, K):
            m = L[t, k] if L[t, k] > m else m
        m = m if m > -math.inf else 0.0
        top[t] = m
        for k in range(K):
            L[t, k] -= m
    flat = L.reshape(n * K)
    bits = scratch.view(np.int64)
    for start in range(0, n * K, len(scratch)):
        stop = min(start + len(scratch), n * K)
        for i in range(start, stop):
            # exp by 2^whole times a polynomial in the rest, which vectorises where math.exp does not; adding
            # 1.5 * 2^52 rounds to a whole number and leaves it in the lowest bits
            y = flat[i]
            x = y if y > -708.0 else -708.0
            shifted = x * 1.4426950408889634 + 6755399441055744.0
            scratch[i - start] = shifted
            whole = shifted - 6755399441055744.0
            r = (x - whole * 0.693145751953125) - whole * 1.4286068203094172e-06
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
            flat[i] = p if y > -math.inf else 0.0
        for i in range(stop - start):
            bits[i] = (bits[i] + 1023) << 52
        for i in range(start, stop):
            flat[i] *= scratch[i - start]


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def forward(b, top, lengths, start, A, strict, width, a, logs):
    """Forward rows a of all sequences, each up to a factor; logs (S,) gets log-likelihoods.

    NaN stands for a log-likelihood where an underflow matters. `start` is the distribution of the first state. Rows are
    rescaled only when they have become small.
    """
    K = len(width) if len(width) > 0 else b.shape[1]
    pred, t = np.empty(K), 0
    for q in range(len(lengths)):
        total, safe, c = 0.0, True, 1.0
        for k in range(K):
            pred[k] = start[k]
        for step in range(lengths[q]):
            if step > 0:
                r = a[t - 1, 0]
                for j in range(K):
                    pred[j] = r * A[0, j]
                for i in range(1, K):
                    r = a[t - 1, i]
                    for j in range(K):
                        pred[j] += r * A[i, j]
            c = 0.0
            for k in range(K):
                a[t, k] = pred[k] * b[t, k]
                c += a[t, k]
            if strict:
                for k in range(K):
                    safe = safe and (a[t, k] > 1e-250 * c or min(pred[k], b[t, k]) == 0.0)
            total += top[t]
            if c < 1e-30:
                safe = safe and c > 1e-230
                total += math.log(c)
                r = 1.0 / c
                for k in range(K):
                    a[t, k] *= r
                c = 1.0
            t += 1
        logs[q] = total + math.log(c) if safe else math.nan


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def backward(b, lengths, weights, end, At, strict, width, g, link, safe):
    """Backward rows g of all sequences, each up to a factor; safe (S,) tells where no underflow matters.

    `end` is the backward row to begin with. g[t] is A (b[t + 1] g[t + 1]) link[t] / weight; link ends with zero.
    """
    K = len(width) if len(width) > 0 else b.shape[1]
    w, u = np.empty(K), b.shape[0] - 1
    for q in range(len(lengths) - 1, -1, -1):
        weight = weights[u] if len(weights) > 0 else 1.0
        link[u], safe[q] = 0.0, True
        for k in range(K):
            g[u, k] = end[k]
        for left in range(lengths[q] - 1, -1, -1):
            s = 0.0
            for k in range(K):
                w[k] = b[u, k] * g[u, k]
                s += w[k]
            if strict:
                for k in range(K):
                    safe[q] = safe[q] and (w[k] > 1e-250 * s or min(g[u, k], b[u, k]) == 0.0)
            h = 1.0
            if s < 1e-30:
                safe[q] = safe[q] and s > 1e-230
                h = 1.0 / s
                for k in range(K):
                    w[k] *= h
            u -= 1
            if left > 0:
                link[u] = weight * h
                r = w[0]
                for j in range(K):
                    g[u, j] = r * At[0, j]
                for i in range(1, K):
                    r = w[i]
                    for j in range(K):
                        g[u, j] += r * At[i, j]


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def forward_of_few(b, top, lengths, start, At, width, a, logs):
    """What `forward` does, for few states none of which can be lost; sums over states stay in registers."""
    K, first = len(width), 0
    for q in range(len(lengths)):
        total, safe, c = top[first], True, 0.0
        for k in range(K):
            a[first, k] = start[k] * b[first, k]
            c += a[first, k]
        for t in range(first + 1, first + lengths[q]):
            if c < 1e-30:
                safe = safe and c > 1e-230
                total += math.log(c)
                r = 1.0 / c
                for k in range(K):
                    a[t - 1, k] *= r
            total += top[t]
            c = 0.0
            for j in range(K):
                r = a[t - 1, 0] * At[j, 0]
                for i in range(1, K):
                    r += a[t - 1, i] * At[j, i]
                r *= b[t, j]
                a[t, j] = r
                c += r
        first += lengths[q]
        logs[q] = total + math.log(c) if safe and c > 1e-230 else math.nan


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def backward_of_few(b, lengths, weights, end, A, width, g, link, safe):
    """What `backward` does, for few states none of which can be lost."""
    K, w, last = len(width), np.empty(len(width)), b.shape[0] - 1
    for q in range(len(lengths) - 1, -1, -1):
        weight = weights[last] if len(weights) > 0 else 1.0
        link[last], fine = 0.0, True
        for k in range(K):
            g[last, k] = end[k]
        for u in range(last - 1, last - lengths[q], -1):
            s = 0.0
            for k in range(K):
                w[k] = b[u + 1, k] * g[u + 1, k]
                s += w[k]
            h = 1.0
            if s < 1e-30:
                fine = fine and s > 1e-230
                h = 1.0 / s
                for k in range(K):
                    w[k] *= h
            link[u] = weight * h
            for j in range(K):
                r = w[0] * A[j, 0]
                for i in range(1, K):
                    r += w[i] * A[j, i]
                g[u, j] = r
        safe[q] = fine
        last -= lengths[q]


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def posteriors(a, b, link, weights, width, g, visits, S):
    """g becomes the posterior of each row (times its weight), and is added to visits; zero where a is.

    Adds sum_t f[t - 1]' (b g)[t] to S, which times A are the weighted expected transitions; f is a, scaled.
    """
    if len(width) == 0:
        many_posteriors(a, b, link, weights, g, visits, S)
        return
    n, K = g.shape[0], len(width)
    F, B, G = np.zeros((K, TILE + 1)), np.zeros((K, TILE)), np.zeros((K, TILE))
    total, scale = np.empty(TILE), np.empty(TILE)
    rows_a, rows_b, rows_g = a.reshape(a.size), b.reshape(b.size), g.reshape(g.size)
    for start in range(0, n, TILE):
        m = min(TILE, n - start)
        turn(rows_a, rows_b, rows_g, start, m, K, F, B, G)
        for i in range(TILE):
            total[i] = 0.0
        for k in range(K):
            for i in range(TILE):
                total[i] += G[k, i]
        for i in range(TILE):
            scale[i] = 1.0 / total[i] if total[i] > 0.0 else 0.0
            total[i] = scale[i]
        for i in range(m):
            total[i] *= link[start + i]
            scale[i] *= weights[start + i] if len(weights) > 0 else 1.0
        for k in range(K):
            s = 0.0
            for i in range(TILE):
                G[k, i] *= scale[i]
                s += G[k, i]
                F[k, i + 1] *= total[i]
            visits[k] += s
        add_products(F, B, K, S)
        at = np.uintp(start * K)
        for i in range(m):
            for k in range(K):
                rows_g[at] = G[k, i]
                at += np.uintp(1)
        for k in range(K):
            F[k, 0] = F[k, m]


@njit(nogil=True, cache=True)
def turn(a, b, g, start, m, K, F, B, G):
    """Fill tiles (K, TILE) from m rows of K numbers: F with a, one place on, B with b g, G with a g; zeros behind."""
    at, one = np.uintp(start * K), np.uintp(1)
    for i in range(np.uintp(m)):
        for k in range(K):
            x, y = a[at], g[at]
            F[k, i + one] = x
            B[k, i] = b[at] * y
            G[k, i] = x * y
            at += one
    for i in range(m, TILE):
        for k in range(K):
            F[k, i + 1], B[k, i], G[k, i] = 0.0, 0.0, 0.0


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def add_products(F, B, K, S):
    """S[k, j] += sum_i F[k, i] B[j, i]; two at a time, which share what is loaded."""
    for k in range(K):
        for j in range(0, K - 1, 2):
            s, r = 0.0, 0.0
            for i in range(TILE):
                s += F[k, i] * B[j, i]
                r += F[k, i] * B[j + 1, i]
            S[k, j] += s
            S[k, j + 1] += r
        if K % 2 == 1:
            s = 0.0
            for i in range(TILE):
                s += F[k, i] * B[K - 1, i]
            S[k, K - 1] += s


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def many_posteriors(a, b, link, weights, g, visits, S):
    """What `posteriors` does, for many states; a and b are overwritten."""
    n, K = g.shape
    for t in range(n):
        s = 0.0
        for k in range(K):
            b[t, k] *= g[t, k]
            g[t, k] *= a[t, k]
            s += g[t, k]
        s = 1.0 / s if s > 0.0 else 0.0
        r = s * weights[t] if len(weights) > 0 else s
        s *= link[t]
        for k in range(K):
            g[t, k] *= r
            visits[k] += g[t, k]
            a[t, k] *= s
    S += np.dot(a[: n - 1].T, b[1:])
