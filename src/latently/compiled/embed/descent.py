"""One step of gradient descent with momentum and a gain for each coordinate."""

import math

from numba import njit


@njit(nogil=True, cache=True, error_model="numpy")
def step(Y, attraction, repulsion, pull, push, rate, momentum, longest, velocity, gains):
    """Move the points against the gradient pull * attraction - push * repulsion; gives its squared norm.

    A gain rises by 0.2 where the gradient goes on against the velocity, and falls by a fifth where it has turned. No
    point moves farther than `longest`.
    """
    n, d = Y.shape
    norm = 0.0
    for i in range(n):
        length = 0.0
        for c in range(d):
            g = pull * attraction[i, c] - push * repulsion[i, c]
            norm += g * g
            gain = gains[i, c] + 0.2 if g * velocity[i, c] < 0.0 else gains[i, c] * 0.8
            gains[i, c] = max(gain, 0.01)
            velocity[i, c] = momentum * velocity[i, c] - rate * gains[i, c] * g
            length += velocity[i, c] * velocity[i, c]
        length = math.sqrt(length)
        if length > longest:
            for c in range(d):
                velocity[i, c] *= longest / length
        for c in range(d):
            Y[i, c] += velocity[i, c]
    return norm
