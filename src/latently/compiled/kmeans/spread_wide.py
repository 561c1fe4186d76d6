"""k-means++ of complete rows that take many multiplications each: candidates are weighed by matrix products.

What the cost falls by with each candidate is taken from products in single precision, which only chooses between
candidates. The cost that is drawn from is that of double precision: it is exactly zero for equal rows.
"""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
def spread(X, weights, origin, unit, draws, centres, Z, norms, nearest, mass, tilt, table, picked, falls):
    """Fill the centres (k, d) after the first; false if no cost is left to draw from.

    unit
        What coordinates are multiplied by before they are put in single precision.
    draws
        (k - 1, tries) numbers from 0 to 1 that say which rows are the candidates.
    Z, norms, nearest, mass
        (n, d + 1) in single precision with ones in the last column, and (n,) to work in.
    tilt, table, picked, falls
        (tries, d + 1) and (tries * B,) in single precision, (tries,) integers and (tries,) to work in.
    """
    narrow(X, origin, unit, Z, norms)
    for i in range(len(X)):
        nearest[i] = np.inf
    for done in range(1, len(centres)):
        join(X, origin, centres[done - 1], centres[done], nearest)
        total = 0.0
        for i in range(len(X)):
            total += nearest[i] * (1.0 if len(weights) == 0 else weights[i])
            mass[i] = total
        if not total > 0.0:
            return False
        for t in range(len(picked)):
            picked[t] = first_above(mass, draws[done - 1, t] * total)
            tilt_row(Z[picked[t]], norms[picked[t]], tilt[t])
            falls[t] = 0.0
        B = len(table) // len(picked)
        for start in range(0, len(X), B):
            stop = min(start + B, len(X))
            values = table[: len(picked) * (stop - start)].reshape(len(picked), stop - start)
            np.dot(tilt, Z[start:stop].T, values)
            add_falls(values, start, norms, nearest, weights, unit * unit, falls)
        best = np.argmax(falls)
        for j in range(X.shape[1]):
            centres[done, j] = X[picked[best], j] - origin[j]
    return True


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"}, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def narrow(X, origin, unit, Z, norms):
    """Put rows about the origin in single precision; also gives their squared norms."""
    for i in range(len(X)):
        norm = 0.0
        for j in range(X.shape[1]):
            y = (X[i, j] - origin[j]) * unit
            Z[i, j] = y
            norm += y * y
        norms[i] = norm


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def tilt_row(z, norm, out):
    """Minus twice a candidate, and its squared norm."""
    for j in range(len(out) - 1):
        out[j] = np.float32(-2.0) * z[j]
    out[len(out) - 1] = norm


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"}, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def join(X, origin, centre, y, nearest):
    """Bring the squared distances to the nearest centre up to date with a new one.

    In two steps, which no other order of subtraction may replace: of equal rows they are zero.
    """
    for i in range(len(X)):
        total = 0.0
        for j in range(X.shape[1]):
            y[j] = X[i, j] - origin[j]
        for j in range(X.shape[1]):
            total += (y[j] - centre[j]) * (y[j] - centre[j])
        nearest[i] = total if total < nearest[i] else nearest[i]


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"}, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def add_falls(values, start, norms, nearest, weights, square_unit, falls):
    """Add by how much each candidate would lower the cost of some rows, times the squared unit."""
    for t in range(len(values)):
        total, row = 0.0, values[t]
        for q in range(len(row)):
            i = start + q
            w = 1.0 if len(weights) == 0 else weights[i]
            fall = nearest[i] * square_unit - (row[q] + norms[i])
            total += w * fall if fall > 0.0 else 0.0
        falls[t] += total


@njit(nogil=True, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def first_above(mass, level):
    """The first row whose cumulative cost is above a level, or the last that has a cost."""
    low, high = 0, len(mass) - 1
    while low < high:
        middle = (low + high) // 2
        if mass[middle] > level:
            high = middle
        else:
            low = middle + 1
    while low > 0 and mass[low] == mass[low - 1]:
        low -= 1  # rounding may point behind the last row that has a cost
    return low
