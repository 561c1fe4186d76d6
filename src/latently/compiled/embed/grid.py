"""Charges spread over a regular grid, and a potential and its gradient read from it, by quintic B-splines."""

import math

from numba import njit


@njit(nogil=True, cache=True, error_model="numpy")
def spline(t):
    """The six quintic B-splines that reach a point at t between two nodes."""
    s, a = 1.0 - t, t * t
    b, c = a * t, a * a
    d = c * t
    return (
        s * s * s * s * s / 120.0,
        (5.0 * d - 20.0 * c + 20.0 * b + 20.0 * a - 50.0 * t + 26.0) / 120.0,
        (-10.0 * d + 30.0 * c - 60.0 * a + 66.0) / 120.0,
        (10.0 * d - 20.0 * c - 20.0 * b + 20.0 * a + 50.0 * t + 26.0) / 120.0,
        (-5.0 * d + 5.0 * c + 10.0 * b + 10.0 * a + 5.0 * t + 1.0) / 120.0,
        d / 120.0,
    )


@njit(nogil=True, cache=True, error_model="numpy")
def gradient(t):
    """Their derivatives."""
    s, a = 1.0 - t, t * t
    b, c = a * t, a * a
    return (
        s * s * s * s / -24.0,
        (25.0 * c - 80.0 * b + 60.0 * a + 40.0 * t - 50.0) / 120.0,
        (-50.0 * c + 120.0 * b - 120.0 * t) / 120.0,
        (50.0 * c - 80.0 * b - 60.0 * a + 40.0 * t + 50.0) / 120.0,
        (-25.0 * c + 20.0 * b + 30.0 * a + 20.0 * t + 5.0) / 120.0,
        c / 24.0,
    )


@njit(nogil=True, cache=True, error_model="numpy")
def bump(t):
    """0 at the nodes, 1 between two of them; and its derivative: how the error of interpolation goes with the place."""
    s = 4.0 * t * (1.0 - t)
    return s * s, 8.0 * s * (1.0 - 2.0 * t)


@njit(nogil=True, cache=True, error_model="numpy")
def place(y, origin, per_step):
    """First node of the six that a coordinate reaches, and how far it is between the middle two."""
    x = (y - origin) * per_step
    node = math.floor(x)
    return int(node) - 2, x - node


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def spread_row(row, share, w):
    """Add a share to six nodes that follow one another."""
    row[0] += share * w[0]
    row[1] += share * w[1]
    row[2] += share * w[2]
    row[3] += share * w[3]
    row[4] += share * w[4]
    row[5] += share * w[5]


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def read_row(row, w):
    """The sum of six nodes that follow one another, each times its weight."""
    return (row[0] * w[0] + row[1] * w[1]) + (row[2] * w[2] + row[3] * w[3]) + (row[4] * w[4] + row[5] * w[5])


@njit(nogil=True, cache=True, error_model="numpy")
def spread_flat(Y, origin, per_step, first, last, grid):
    """Add a unit charge for each point to a grid with two axes."""
    for i in range(first, last):
        r, t = place(Y[i, 0], origin[0], per_step)
        c, u = place(Y[i, 1], origin[1], per_step)
        a, b = spline(t), spline(u)
        for m in range(6):
            spread_row(grid[r + m, c : c + 6], a[m], b)


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def read_flat(Y, origin, per_step, first, last, grid, scale, dips, force, mass):
    """mass[i] = potential at point i, force[i] = scale times its gradient; without what is wrong of its own share.

    A point's own potential should be 1 wherever it is. The splines make it 1 at nodes only, and dips[0] and dips[1]
    less between nodes on one axis and on two: a force that would pin points to the grid.
    """
    for i in range(first, last):
        r, t = place(Y[i, 0], origin[0], per_step)
        c, u = place(Y[i, 1], origin[1], per_step)
        a, da, b, db = spline(t), gradient(t), spline(u), gradient(u)
        value, fx, fy = 0.0, 0.0, 0.0
        for m in range(6):
            row = grid[r + m, c : c + 6]
            across = read_row(row, b)
            value += a[m] * across
            fx += da[m] * across
            fy += a[m] * read_row(row, db)
        (p, dp), (q, dq) = bump(t), bump(u)
        both = dips[1] - 2.0 * dips[0]
        fx += 0.5 * dp * (dips[0] + both * q)
        fy += 0.5 * dq * (dips[0] + both * p)
        mass[i] = value + dips[0] * (p + q) + both * p * q
        force[i, 0], force[i, 1] = scale * per_step * fx, scale * per_step * fy


@njit(nogil=True, cache=True, error_model="numpy")
def spread_deep(Y, origin, per_step, first, last, grid):
    """Add a unit charge for each point to a grid with three axes."""
    for i in range(first, last):
        r, t = place(Y[i, 0], origin[0], per_step)
        c, u = place(Y[i, 1], origin[1], per_step)
        d, v = place(Y[i, 2], origin[2], per_step)
        a, b, e = spline(t), spline(u), spline(v)
        for m in range(6):
            for l in range(6):
                spread_row(grid[r + m, c + l, d : d + 6], a[m] * b[l], e)


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def read_deep(Y, origin, per_step, first, last, grid, scale, dips, force, mass):
    """As read_flat, with three axes."""
    one, two = dips[0], dips[1] - 2.0 * dips[0]
    three = dips[2] - 3.0 * dips[1] + 3.0 * dips[0]
    for i in range(first, last):
        r, t = place(Y[i, 0], origin[0], per_step)
        c, u = place(Y[i, 1], origin[1], per_step)
        d, v = place(Y[i, 2], origin[2], per_step)
        a, da, b, db, e, de = spline(t), gradient(t), spline(u), gradient(u), spline(v), gradient(v)
        value, fx, fy, fz = 0.0, 0.0, 0.0, 0.0
        for m in range(6):
            for l in range(6):
                row = grid[r + m, c + l, d : d + 6]
                along = read_row(row, e)
                value += a[m] * b[l] * along
                fx += da[m] * b[l] * along
                fy += a[m] * db[l] * along
                fz += a[m] * b[l] * read_row(row, de)
        (p, dp), (q, dq), (o, do) = bump(t), bump(u), bump(v)
        fx += 0.5 * dp * (one + two * (q + o) + three * q * o)
        fy += 0.5 * dq * (one + two * (p + o) + three * p * o)
        fz += 0.5 * do * (one + two * (p + q) + three * p * q)
        unit = scale * per_step
        mass[i] = value + one * (p + q + o) + two * (p * q + p * o + q * o) + three * p * q * o
        force[i, 0], force[i, 1], force[i, 2] = unit * fx, unit * fy, unit * fz
