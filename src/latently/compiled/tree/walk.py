"""Rows through a tree: to their leaves, or to many leaves at once with shares.

`kind` is 0 for a leaf, 1 for a threshold, 2 for two groups of
categories, 3 for a branch for each category. Children stand side by side from `first` on; `missing` is the place of the
child that a missing value goes to. Codes of categories are in X as they are; NaN and whatever is not below
`n_categories` is a missing value.
"""

import math

import numpy as np
from numba import njit

BLOCK = 256  # rows that go to their leaves before values are added


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def code_of(x, n_categories):
    """Code of a category, n_categories if it is missing or not known."""
    if math.isnan(x) or x < 0 or x >= n_categories:
        return n_categories
    return int(x)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def listed(lists, start, n, code):
    """Whether a code is in a sorted list."""
    a, b = start, start + n
    while a < b:
        middle = (a + b) >> 1
        if lists[middle] < code:
            a = middle + 1
        else:
            b = middle
    return a < start + n and lists[a] == code


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def branch(x, node, kind, threshold, missing, list_start, list_len, lists, n_categories):
    """Place of the child that a value goes to; -1 if it is missing and nobody knows."""
    if kind[node] == 1:
        if math.isnan(x):
            return missing[node]
        return 0 if x <= threshold[node] else 1
    code = code_of(x, n_categories)
    if kind[node] == 2:
        other = listed(lists, list_start[node], list_len[node], code)
        return 1 - missing[node] if other else missing[node]
    return missing[node] if code == n_categories else code


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def leaf_of(X, i, feature, kind, threshold, first, missing, list_start, list_len, lists, n_categories):
    """Leaf of a row."""
    node = 0
    while kind[node] != 0:
        f = feature[node]
        node = first[node] + branch(
            X[i, f], node, kind, threshold, missing, list_start, list_len, lists, n_categories[f]
        )
    return node


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def leaves(X, feature, kind, threshold, first, missing, list_start, list_len, lists, n_categories, out):
    """Leaf of each row."""
    for i in range(len(X)):
        out[i] = leaf_of(X, i, feature, kind, threshold, first, missing, list_start, list_len, lists, n_categories)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def step(row, node, nodes):
    """Where a row goes from a node; a leaf leads to itself. A place without a sign is not looked at for one."""
    at = nodes[node]
    return np.uint64(at["first"]) + np.uint64(row[at["feature"]] > at["threshold"])


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def leaves_of_eight(X, i, root, nodes, at):
    """Leaves of eight rows, which go down together: what one has to wait for in memory does not hold up the others."""
    a = b = c = d = e = f = g = h = root
    A, B, C, D, E, F, G, H = X[i], X[i + 1], X[i + 2], X[i + 3], X[i + 4], X[i + 5], X[i + 6], X[i + 7]
    moved = True
    while moved:
        p, q, r, s, t, u, v, w = a, b, c, d, e, f, g, h
        a, b, c, d = step(A, p, nodes), step(B, q, nodes), step(C, r, nodes), step(D, s, nodes)
        e, f, g, h = step(E, t, nodes), step(F, u, nodes), step(G, v, nodes), step(H, w, nodes)
        moved = ((a ^ p) | (b ^ q) | (c ^ r) | (d ^ s) | (e ^ t) | (f ^ u) | (g ^ v) | (h ^ w)) != 0
    at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7] = a, b, c, d, e, f, g, h


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def fill_leaves(X, start, n, nodes, at):
    """Leaves of n rows from a start on; every split is a threshold."""
    root = np.uint64(0)
    for i in range(0, n - 7, 8):
        leaves_of_eight(X, start + i, root, nodes, at[i:])
    for i in range(n - n % 8, n):
        node = root
        after = step(X[start + i], node, nodes)
        while after != node:
            node = after
            after = step(X[start + i], node, nodes)
        at[i] = node


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def add_values(X, nodes, single, values, out):
    """Add the values of the leaves of a tree of thresholds.

    A leaf is a node that leads to itself: its threshold is infinite. Where `single` of a leaf is k >= 0 its values are
    zeros but for a one at k, as in the leaves of full trees, and need not be fetched from memory.
    """
    at = np.empty(BLOCK, dtype=np.uint64)
    for start in range(0, len(X), BLOCK):
        n = min(BLOCK, len(X) - start)
        fill_leaves(X, start, n, nodes, at)
        for i in range(n):
            k = np.int64(single[at[i]]) if len(single) else -1
            if k >= 0:
                out[start + i, k] += 1.0
                continue
            for k in range(values.shape[1]):
                out[start + i, k] += values[at[i], k]


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def spread(X, feature, kind, threshold, first, n_children, missing, list_start, list_len, lists, n_categories,
           weight, empty, values, out):  # fmt: skip
    """Add the values of leaves by shares: a row whose value is missing goes down every branch that was not empty.

    A value that leads to a branch which was empty stays where it is.
    """
    stack, shares = np.empty(len(kind), dtype=np.int64), np.empty(len(kind))
    for i in range(len(X)):
        stack[0], shares[0], n = 0, 1.0, 1
        while n:
            n -= 1
            node, share = stack[n], shares[n]
            place = -1
            if kind[node] != 0:
                f = feature[node]
                place = branch(X[i, f], node, kind, threshold, missing, list_start, list_len, lists, n_categories[f])
            if kind[node] == 0 or (place >= 0 and empty[first[node] + place]):
                for k in range(values.shape[1]):
                    out[i, k] += share * values[node, k]
            elif place >= 0:
                stack[n], shares[n] = first[node] + place, share
                n += 1
            else:
                total = 0.0
                for c in range(n_children[node]):
                    total += weight[first[node] + c]
                for c in range(n_children[node]):
                    if weight[first[node] + c] > 0:
                        stack[n], shares[n] = first[node] + c, share * weight[first[node] + c] / total
                        n += 1
