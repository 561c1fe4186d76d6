"""Steps of block-coordinate Frank-Wolfe on planes that have been found before.

Plane p has an offset, a sparse direction (CSR: `pointer`, `index`, `value`) and a weight alpha[p]; those of block b are
members[first[b]] to members[first[b + 1] - 1]. The weights of a block sum to its bound; what is left
(`rest`) belongs to the true output, whose plane is zero.
"""

from numba import njit


@njit(nogil=True, cache=True)
def dot(p, pointer, index, value, w):
    """w . direction of plane p; nothing if p is -1, the plane of the true output."""
    total = 0.0
    if p >= 0:
        for e in range(pointer[p], pointer[p + 1]):
            total += value[e] * w[index[e]]
    return total


@njit(nogil=True, cache=True)
def add(p, factor, pointer, index, value, w):
    """w += factor times the direction of plane p."""
    if p >= 0:
        for e in range(pointer[p], pointer[p + 1]):
            w[index[e]] += factor * value[e]


@njit(nogil=True, cache=True)
def squared_distance(p, q, pointer, index, value, scratch):
    """Squared distance of the directions of two planes; scratch (d,) is zero before and after."""
    add(p, 1.0, pointer, index, value, scratch)
    add(q, -1.0, pointer, index, value, scratch)
    total = 0.0
    for r in (p, q):
        if r >= 0:
            for e in range(pointer[r], pointer[r + 1]):
                total += scratch[index[e]] ** 2
                scratch[index[e]] = 0.0
    return total


@njit(nogil=True, cache=True)
def improve(order, first, members, pointer, index, value, offset, n_steps, alpha, rest, w, scratch):
    """Exact steps between two planes in each block of `order`; gives the gaps that the blocks had, summed.

    A step moves weight from the plane with the lowest value that has some to the one with the highest value, as far as
    the dual objective rises.
    """
    total = 0.0
    for b in order:
        for step in range(n_steps):
            best, worst, high, low = -1, -1, 0.0, 0.0
            has_worst = rest[b] > 0.0
            gap, bound = 0.0, rest[b]
            for m in range(first[b], first[b + 1]):
                p = members[m]
                g = offset[p] - dot(p, pointer, index, value, w)
                gap -= alpha[p] * g
                bound += alpha[p]
                if g > high:
                    best, high = p, g
                if alpha[p] > 0.0 and (not has_worst or g < low):
                    worst, low, has_worst = p, g, True
            if step == 0:
                total += gap + bound * high
            if best == worst or high <= low:
                break
            squares = squared_distance(best, worst, pointer, index, value, scratch)
            most = rest[b] if worst < 0 else alpha[worst]
            move = most if squares * most <= high - low else (high - low) / squares
            if best >= 0:
                alpha[best] += move
            else:
                rest[b] += move
            if worst >= 0:
                alpha[worst] = alpha[worst] - move if move < most else 0.0
            else:
                rest[b] = rest[b] - move if move < most else 0.0
            add(best, move, pointer, index, value, w)
            add(worst, -move, pointer, index, value, w)
    return total
