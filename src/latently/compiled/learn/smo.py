"""Sequential minimal optimisation of a box-constrained quadratic programme with one linear equality.

The matrix of the programme is Q_ij = y_i y_j K_ij; `gradient` is y_i times that of the objective, so that a step of
size t from j to i changes it by t (K_i - K_j), whatever the signs.
"""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def can_rise(i, y, alpha, upper):
    """Whether y_i alpha_i can become larger."""
    return alpha[i] < upper[i] if y[i] > 0.0 else alpha[i] > 0.0


@njit(nogil=True, cache=True)
def can_fall(i, y, alpha, upper):
    """Whether y_i alpha_i can become smaller."""
    return alpha[i] > 0.0 if y[i] > 0.0 else alpha[i] < upper[i]


@njit(nogil=True, cache=True)
def gap(y, alpha, upper, gradient):
    """Largest violation of the KKT conditions: the lowest gradient that can rise below the highest that can fall."""
    low, high = np.inf, -np.inf
    for i in range(y.shape[0]):
        if can_rise(i, y, alpha, upper):
            low = min(low, gradient[i])
        if can_fall(i, y, alpha, upper):
            high = max(high, gradient[i])
    return high - low


@njit(nogil=True, cache=True)
def move(i, j, step, y, alpha, upper):
    """Raise y_i alpha_i and lower y_j alpha_j by the step, or as far as the box allows; returns how far."""
    room_i = upper[i] - alpha[i] if y[i] > 0.0 else alpha[i]
    room_j = alpha[j] if y[j] > 0.0 else upper[j] - alpha[j]
    t = min(step, min(room_i, room_j))
    # whoever is stopped by its bound stands on it exactly
    if t == room_i:
        alpha[i] = upper[i] if y[i] > 0.0 else 0.0
    else:
        alpha[i] += y[i] * t
    if t == room_j:
        alpha[j] = 0.0 if y[j] > 0.0 else upper[j]
    else:
        alpha[j] -= y[j] * t
    return t


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def solve(K, y, upper, alpha, gradient, tol, max_iter):
    """Minimise over all variables of a dense K; alpha and gradient are changed. Returns steps taken and the last gap.

    The pair of each step: the variable that violates most, and the partner with which the objective falls most
    (second-order working sets of Fan, Chen and Lin, 2005).
    """
    n = y.shape[0]
    tiny = 1e-12
    for iteration in range(max_iter):
        i, low = -1, np.inf
        for k in range(n):
            if gradient[k] < low and can_rise(k, y, alpha, upper):
                i, low = k, gradient[k]
        if i < 0:
            return iteration, 0.0
        j, best, high = -1, 0.0, -np.inf
        column, own = K[i], K[i, i]
        for k in range(n):
            excess = gradient[k] - low
            if excess > 0.0 and can_fall(k, y, alpha, upper):
                high = max(high, gradient[k])
                curvature = max(own + K[k, k] - 2.0 * column[k], tiny)
                gain = excess * excess / curvature
                if gain > best:
                    j, best = k, gain
        if j < 0 or high - low < tol:
            return iteration, max(high - low, 0.0)
        curvature = max(own + K[j, j] - 2.0 * column[j], tiny)
        t = move(i, j, (gradient[j] - low) / curvature, y, alpha, upper)
        other = K[j]
        for k in range(n):
            gradient[k] += t * (column[k] - other[k])
    return max_iter, gap(y, alpha, upper, gradient)
