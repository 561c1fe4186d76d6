"""Gaussians of distances, by differences summed one by one."""

from numba import njit


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def exponentials(row, bits, scales):
    """Replace each entry of a row, none of them positive, by its exponential.

    By 2^n times a polynomial in the rest, which vectorises where math.exp does not. `bits` and `scales` are scratch: the
    same memory as integers and as floats.
    """
    for i in range(row.shape[0]):
        x = row[i] if row[i] > -700.0 else -700.0
        scales[i] = x * 1.4426950408889634 + 6755399441055744.0  # so far out, n is in the last bits
        whole = scales[i] - 6755399441055744.0
        r = (x - whole * 0.693145751953125) - whole * 1.4286068203094172e-06
        q = r * r
        high = (2.755724082809897e-06 * r + 2.480148536466595e-05) + (2.511007e-08 * r + 2.763268316e-07) * q
        middle = (0.00833333333331957 * r + 0.0416666666664877) + (0.000198412698901 * r + 0.00138888889524) * q
        low = (r + 1.0) + (0.1666666666666668 * r + 0.5000000000000019) * q
        row[i] = (high * (q * q) + middle) * (q * q) + low
    for i in range(row.shape[0]):
        bits[i] = (bits[i] + 1023) << 52
    for i in range(row.shape[0]):
        row[i] *= scales[i]


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def minus_distances(columns, first, point, row):
    """row[i] = -|x_i - z|^2 for the rows from `first` on; x_i = columns[:, i]."""
    for i in range(row.shape[0]):
        row[i] = 0.0
    for c in range(columns.shape[0]):
        z = point[c]
        column = columns[c, first : first + row.shape[0]]
        for i in range(row.shape[0]):
            gap = column[i] - z
            row[i] -= gap * gap


@njit(nogil=True, cache=True, error_model="numpy")
def gaussians(columns, points, bits, scales, out):
    """out[j, i] = exp(-|x_i - z_j|^2), with x_i = columns[:, i] and z_j = points[j].

    bits, scales
        (B,) scratch as integers, and the same memory as floats.
    """
    n, B = columns.shape[1], bits.shape[0]
    for first in range(0, n, B):
        m = min(B, n - first)
        for j in range(points.shape[0]):
            row = out[j, first : first + m]
            minus_distances(columns, first, points[j], row)
            exponentials(row, bits, scales)


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def gaussian_sums(columns, points, weights, start, stop, bits, scales, row, out):
    """out[i] = sum_j weights_j exp(-|x_i - z_j|^2) for the rows start to stop - 1; `row` (B,) is scratch."""
    B = bits.shape[0]
    for first in range(start, stop, B):
        m = min(B, stop - first)
        total, some = out[first : first + m], row[:m]
        for i in range(m):
            total[i] = 0.0
        for j in range(points.shape[0]):
            minus_distances(columns, first, points[j], some)
            exponentials(some, bits, scales)
            w = weights[j]
            for i in range(m):
                total[i] += w * some[i]
