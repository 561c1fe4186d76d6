"""From log p(x, component) to the probabilities of the components, block by block."""

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def share(joint, powers, scratch, out, norms):
    """out[i, k] = p(component k | row i), and norms[i] = log p(row i), from joint (n, K); empty ones are not wanted.

    powers
        (B,) scratch as integers, and the same memory as floats.
    scratch
        L (K, B), top and total (B,).
    """
    L, top, total = scratch
    B, K = len(top), joint.shape[1]
    for start in range(0, len(joint), B):
        n = min(B, len(joint) - start)
        for i in range(n):
            for k in range(K):
                L[k, i] = joint[start + i, k]
        exponentiate(L, powers, top, total)
        for i in range(min(n, len(norms) - start)):
            norms[start + i] = top[i] + math.log(total[i])
        for i in range(min(n, len(out) - start)):
            for k in range(K):
                out[start + i, k] = L[k, i] / total[i]


@njit(
    nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract"}
)
def exponentiate(L, powers, top, total):
    """L = exp(L - top), where top[i] is the largest of L[:, i], and their total."""
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
            gap = L[k, i] - (top[i] if top[i] > -np.inf else 0.0)
            x = gap if gap > -700.0 else -700.0
            scales[i] = x * 1.4426950408889634 + 6755399441055744.0  # so far out, n is in the last bits
            whole = scales[i] - 6755399441055744.0
            r = (x - whole * 0.693145751953125) - whole * 1.4286068203094172e-06
            q = r * r
            high = (2.755724082809897e-06 * r + 2.480148536466595e-05) + (2.511007e-08 * r + 2.763268316e-07) * q
            middle = (0.00833333333331957 * r + 0.0416666666664877) + (0.000198412698901 * r + 0.00138888889524) * q
            low = (r + 1.0) + (0.1666666666666668 * r + 0.5000000000000019) * q
            value = (high * (q * q) + middle) * (q * q) + low
            L[k, i] = value if gap > -700.0 else 0.0
        for i in range(B):
            bits[i] = (bits[i] + 1023) << 52
        for i in range(B):
            L[k, i] *= scales[i]
            total[i] += L[k, i]
