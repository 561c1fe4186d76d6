"""Tree kernel: common subset trees by a bottom-up dynamic programme over pairs of nodes with equal productions."""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def common(a, b, nodes, starts, children, order, order_starts, decay, floor, table):
    """Sum over pairs of nodes of c(v, w) = decay prod_i (1 + c(v_i, w_i)), zero unless the productions are equal.

    Nodes of tree a are the rows starts[a] to starts[a + 1] - 1 of `nodes` (production, first child in `children`,
    number of children, is a leaf), children before their parents; `children` are numbers within the tree.
    order[order_starts[b]:order_starts[b + 1]] are the nodes of b by production. A leaf has c = floor with its like.
    `table` is zero before and after.
    """
    total = 0.0
    low_b, high_b = order_starts[b], order_starts[b + 1]
    base_a, base_b = starts[a], starts[b]
    for v in range(starts[a + 1] - base_a):
        production = nodes[base_a + v, 0]
        left, right = low_b, high_b
        while left < right:
            middle = (left + right) // 2
            if nodes[base_b + order[middle], 0] < production:
                left = middle + 1
            else:
                right = middle
        for k in range(left, high_b):
            w = order[k]
            if nodes[base_b + w, 0] != production:
                break
            value = decay
            if nodes[base_a + v, 3]:
                value = floor
            first_v, first_w = nodes[base_a + v, 1], nodes[base_b + w, 1]
            for i in range(nodes[base_a + v, 2]):
                value *= 1.0 + table[children[first_v + i], children[first_w + i]]
            table[v, w] = value
            total += value
    for v in range(starts[a + 1] - base_a):
        for w in range(starts[b + 1] - base_b):
            table[v, w] = 0.0
    return total


@njit(nogil=True, cache=True)
def block(nodes, starts, children, order, order_starts, decay, floor, offset, first, last, same, out):
    """out[i, j] for rows first to last - 1; columns are the trees from `offset` on, from i on if `same`."""
    longest = 0
    for t in range(starts.shape[0] - 1):
        longest = max(longest, starts[t + 1] - starts[t])
    table = np.zeros((longest, longest))
    for i in range(first, last):
        for j in range(i if same else 0, out.shape[1]):
            out[i, j] = common(i, offset + j, nodes, starts, children, order, order_starts, decay, floor, table)


@njit(nogil=True, cache=True)
def diagonal(nodes, starts, children, order, order_starts, decay, floor, offset, first, last, out):
    """out[i] = kernel of tree offset + i with itself."""
    longest = 0
    for t in range(starts.shape[0] - 1):
        longest = max(longest, starts[t + 1] - starts[t])
    table = np.zeros((longest, longest))
    for i in range(first, last):
        out[i] = common(offset + i, offset + i, nodes, starts, children, order, order_starts, decay, floor, table)
