"""Attraction along the edges of a neighbour graph, Student's t in the map."""

import math

from numba import njit


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def flat(Y, ends, who, p, first, last, out):
    """out[i] = sum_j p_ij (y_i - y_j) / (1 + |y_i - y_j|^2) for points first to last - 1 of a map with two columns."""
    for i in range(first, last):
        x, y = Y[i, 0], Y[i, 1]
        fx, fy = x - x, y - y
        row, values = who[ends[i] : ends[i + 1]], p[ends[i] : ends[i + 1]]
        for e in range(row.shape[0]):
            dx, dy = x - Y[row[e], 0], y - Y[row[e], 1]
            w = values[e] / (1 + (dx * dx + dy * dy))
            fx += w * dx
            fy += w * dy
        out[i, 0], out[i, 1] = fx, fy


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def deep(Y, ends, who, p, first, last, out):
    """The same for three columns and two degrees of freedom: p_ij (y_i - y_j) / (1 + |y_i - y_j|^2 / 2)."""
    for i in range(first, last):
        x, y, z = Y[i, 0], Y[i, 1], Y[i, 2]
        fx, fy, fz = x - x, y - y, z - z
        row, values = who[ends[i] : ends[i + 1]], p[ends[i] : ends[i + 1]]
        for e in range(row.shape[0]):
            dx, dy, dz = x - Y[row[e], 0], y - Y[row[e], 1], z - Y[row[e], 2]
            w = values[e] / (1 + (dx * dx + dy * dy + dz * dz) / 2)
            fx += w * dx
            fy += w * dy
            fz += w * dz
        out[i, 0], out[i, 1], out[i, 2] = fx, fy, fz


@njit(nogil=True, cache=True, error_model="numpy")
def divergence(Y, ends, who, p, freedom, first, last, out):
    """out[i] = sum_j p_ij log(p_ij / k_ij) with k_ij = (1 + |y_i - y_j|^2 / freedom)^(-(freedom + 1) / 2)."""
    for i in range(first, last):
        total = 0.0
        for e in range(ends[i], ends[i + 1]):
            square = 0.0
            for c in range(Y.shape[1]):
                gap = Y[i, c] - Y[who[e], c]
                square += gap * gap
            if p[e] > 0:
                total += p[e] * (math.log(p[e]) + 0.5 * (freedom + 1) * math.log1p(square / freedom))
        out[i] = total
