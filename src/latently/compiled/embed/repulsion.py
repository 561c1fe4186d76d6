"""Repulsion of every point by every other: Student's t in the map."""

import math

from numba import njit


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def flat(X, Y, first, last, force, mass):
    """One degree of freedom, two columns X and Y.

    mass[i] = sum_j k_ij, with itself, and force[i] = sum_j k_ij^2 (y_i - y_j), where k_ij = 1 / (1 + |y_i - y_j|^2).
    """
    for i in range(first, last):
        x, y = X[i], Y[i]
        total, fx, fy = 0.0, 0.0, 0.0
        for j in range(X.shape[0]):
            dx, dy = x - X[j], y - Y[j]
            k = 1.0 / (1.0 + (dx * dx + dy * dy))
            total += k
            fx += k * k * dx
            fy += k * k * dy
        mass[i], force[i, 0], force[i, 1] = total, fx, fy


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def deep(X, Y, Z, first, last, force, mass):
    """Two degrees of freedom, three columns: k_ij = (1 + |y_i - y_j|^2 / 2)^(-3/2), force with k_ij^(5/3)."""
    for i in range(first, last):
        x, y, z = X[i], Y[i], Z[i]
        total, fx, fy, fz = 0.0, 0.0, 0.0, 0.0
        for j in range(X.shape[0]):
            dx, dy, dz = x - X[j], y - Y[j], z - Z[j]
            w = 1.0 / (1.0 + 0.5 * (dx * dx + dy * dy + dz * dz))
            k = w * math.sqrt(w)
            total += k
            fx += k * w * dx
            fy += k * w * dy
            fz += k * w * dz
        mass[i], force[i, 0], force[i, 1], force[i, 2] = total, fx, fy, fz
