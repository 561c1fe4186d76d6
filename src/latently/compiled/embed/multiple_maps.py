"""Forces of several maps whose similarities are added up, each pair weighted by both its points."""

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy")
def forces(Y, shares, P, first, last, pull, push, pull_shares, push_shares, mass):
    """Fill the sums of points first to last - 1, over all other points j.

    k_m = 1 / (1 + |y_i - y_j|^2) in map m, s_m = share of i times share of j in map m, n = sum_m s_m k_m:
    pull[m, i] = sum_j p_ij / n * s_m k_m^2 (y_i - y_j), pull_shares[i, m] = sum_j p_ij / n * (share of j) k_m;
    push and push_shares are the same without p_ij / n. mass[i] = sum_j n.
    """
    maps, n, d = Y.shape
    similar = np.empty(maps)
    for i in range(first, last):
        total = 0.0
        for m in range(maps):
            pull_shares[i, m] = push_shares[i, m] = 0.0
            for c in range(d):
                pull[m, i, c] = push[m, i, c] = 0.0
        for j in range(n):
            if j == i:
                continue
            both = 0.0
            for m in range(maps):
                square = 0.0
                for c in range(d):
                    gap = Y[m, i, c] - Y[m, j, c]
                    square += gap * gap
                similar[m] = 1.0 / (1.0 + square)
                both += shares[i, m] * shares[j, m] * similar[m]
            total += both
            p = P[i, j] / both if both > 0.0 else 0.0
            for m in range(maps):
                k, share = similar[m], shares[j, m]
                pull_shares[i, m] += p * share * k
                push_shares[i, m] += share * k
                weight = shares[i, m] * share * k * k
                for c in range(d):
                    gap = weight * (Y[m, i, c] - Y[m, j, c])
                    pull[m, i, c] += p * gap
                    push[m, i, c] += gap
        mass[i] = total


@njit(nogil=True, cache=True, error_model="numpy")
def similarities(Y, shares, first, last, out):
    """out[i, j] = sum_m s_m k_m, zero for a point and itself."""
    maps, n, d = Y.shape
    for i in range(first, last):
        for j in range(n):
            both = 0.0
            for m in range(maps):
                square = 0.0
                for c in range(d):
                    gap = Y[m, i, c] - Y[m, j, c]
                    square += gap * gap
                both += shares[i, m] * shares[j, m] / (1.0 + square)
            out[i - first, j] = both if i != j else 0.0


@njit(nogil=True, cache=True, error_model="numpy")
def divergence(similar, P, first, last, out):
    """out[i] = sum_j p_ij log(p_ij / n_ij); similar has the rows from `first` on."""
    for i in range(first, last):
        total = 0.0
        for j in range(P.shape[1]):
            if P[i, j] > 0.0:
                total += P[i, j] * math.log(P[i, j] / max(similar[i - first, j], 1e-300))
        out[i] = total
