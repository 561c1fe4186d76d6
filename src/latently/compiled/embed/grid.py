"""Charges spread over a regular grid, and a potential and its gradient read from it, by cubic B-splines."""

import math

from numba import njit


@njit(nogil=True, cache=True, error_model="numpy")
def spline(t):
    """The four cubic B-splines that reach a point at t between two nodes."""
    s, a = 1.0 - t, t * t
    return s * s * s / 6.0, (3.0 * a * t - 6.0 * a + 4.0) / 6.0, (3.0 * (t + a - a * t) + 1.0) / 6.0, a * t / 6.0


@njit(nogil=True, cache=True, error_model="numpy")
def gradient(t):
    """Their derivatives."""
    s, a = 1.0 - t, t * t
    return -0.5 * s * s, 1.5 * a - 2.0 * t, 0.5 + t - 1.5 * a, 0.5 * a


@njit(nogil=True, cache=True, error_model="numpy")
def place(y, origin, per_step):
    """First node of the four that a coordinate reaches, and how far it is between the middle two."""
    x = (y - origin) * per_step
    node = int(math.floor(x))
    return node - 1, x - node


@njit(nogil=True, cache=True, error_model="numpy")
def spread_flat(Y, origin, per_step, first, last, grid):
    """Add a unit charge for each point to a grid with two axes."""
    for i in range(first, last):
        r, t = place(Y[i, 0], origin[0], per_step)
        c, u = place(Y[i, 1], origin[1], per_step)
        a, b = spline(t), spline(u)
        for m in range(4):
            row = grid[r + m]
            row[c] += a[m] * b[0]
            row[c + 1] += a[m] * b[1]
            row[c + 2] += a[m] * b[2]
            row[c + 3] += a[m] * b[3]


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def read_flat(Y, origin, per_step, first, last, grid, scale, force, mass):
    """mass[i] = potential at point i, force[i] = scale times its gradient."""
    for i in range(first, last):
        r, t = place(Y[i, 0], origin[0], per_step)
        c, u = place(Y[i, 1], origin[1], per_step)
        a, da, b, db = spline(t), gradient(t), spline(u), gradient(u)
        value, fx, fy = 0.0, 0.0, 0.0
        for m in range(4):
            row = grid[r + m]
            v0, v1, v2, v3 = row[c], row[c + 1], row[c + 2], row[c + 3]
            across = v0 * b[0] + v1 * b[1] + v2 * b[2] + v3 * b[3]
            value += a[m] * across
            fx += da[m] * across
            fy += a[m] * (v0 * db[0] + v1 * db[1] + v2 * db[2] + v3 * db[3])
        mass[i], force[i, 0], force[i, 1] = value, scale * per_step * fx, scale * per_step * fy


@njit(nogil=True, cache=True, error_model="numpy")
def spread_deep(Y, origin, per_step, first, last, grid):
    """Add a unit charge for each point to a grid with three axes."""
    for i in range(first, last):
        r, t = place(Y[i, 0], origin[0], per_step)
        c, u = place(Y[i, 1], origin[1], per_step)
        d, v = place(Y[i, 2], origin[2], per_step)
        a, b, e = spline(t), spline(u), spline(v)
        for m in range(4):
            for l in range(4):
                row, share = grid[r + m, c + l], a[m] * b[l]
                row[d] += share * e[0]
                row[d + 1] += share * e[1]
                row[d + 2] += share * e[2]
                row[d + 3] += share * e[3]


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def read_deep(Y, origin, per_step, first, last, grid, scale, force, mass):
    """As read_flat, with three axes."""
    for i in range(first, last):
        r, t = place(Y[i, 0], origin[0], per_step)
        c, u = place(Y[i, 1], origin[1], per_step)
        d, v = place(Y[i, 2], origin[2], per_step)
        a, da, b, db, e, de = spline(t), gradient(t), spline(u), gradient(u), spline(v), gradient(v)
        value, fx, fy, fz = 0.0, 0.0, 0.0, 0.0
        for m in range(4):
            for l in range(4):
                row = grid[r + m, c + l]
                v0, v1, v2, v3 = row[d], row[d + 1], row[d + 2], row[d + 3]
                along = v0 * e[0] + v1 * e[1] + v2 * e[2] + v3 * e[3]
                value += a[m] * b[l] * along
                fx += da[m] * b[l] * along
                fy += a[m] * db[l] * along
                fz += a[m] * b[l] * (v0 * de[0] + v1 * de[1] + v2 * de[2] + v3 * de[3])
        unit = scale * per_step
        mass[i], force[i, 0], force[i, 1], force[i, 2] = value, unit * fx, unit * fy, unit * fz
