"""A whole tree of two-way splits from coded columns, in one call.

Columns are codes in the order of their values; the last code of a column, `n_bins[f]`, stands for a missing value.
Statistics of a bin are weights by class (`y` holds class codes), or sums of the columns of `T` (the first is the
weight itself, or the indicators of the classes of several outputs); with `CHECKS_COUNTS` the number of rows follows.

`general` is None where all columns are numbers, no value is missing and cuts are tried without conditions: what only
other tables need is not compiled then.
"""

import numpy as np
from numba import njit

# places in `whole` (integers of the setting) and `real` (floats)
CRITERION, MAX_DEPTH, MIN_SPLIT, MIN_LEAF, MAX_LEAVES, MAX_FEATURES = 0, 1, 2, 3, 4, 5
RANDOM, CHECKS_COUNTS, BY_CLASS, PLAIN, SORTS = 6, 7, 8, 9, 10
MIN_WEIGHT, MIN_DECREASE, TOTAL_WEIGHT = 0, 1, 2
GINI, ENTROPY, SQUARED, POISSON = 0, 1, 2, 3
# places in `best_i` and `best_f`
FEATURE, CUT, NEXT, MISSING_LEFT, N_LISTED = 0, 1, 2, 3, 4
WORTH, THRESHOLD = 0, 1
EPS = 2.220446049250313e-16
ROUNDING = 1e-12
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_A = np.uint64(0xBF58476D1CE4E5B9)
MIX_B = np.uint64(0x94D049BB133111EB)
BRUIJN = np.uint64(0x03F79D71B4CB0A89)
S27, S30, S31, S58, S63 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(58), np.uint64(63)
ONE, S6 = np.uint64(1), np.uint64(6)
FEW = 32  # rows that are rather sorted than counted
SORTED_ROWS = 1 << 14  # below a node of so many rows each column stays sorted: code << 16 | place, in 32 bits
MOST_CODES = 1 << 16
S16, LOW16 = np.uint32(16), np.uint32(0xFFFF)
LOW_BIT = np.array([
    0, 1, 48, 2, 57, 49, 28, 3, 61, 58, 50, 42, 38, 29, 17, 4, 62, 55, 59, 36, 53, 51, 43, 22, 45, 39, 33, 30, 24, 18,
    12, 5, 63, 47, 56, 27, 60, 41, 37, 16, 54, 35, 52, 21, 44, 32, 23, 11, 46, 26, 40, 15, 34, 20, 31, 10, 25, 14, 19,
    9, 13, 8, 7, 6,
])  # fmt: skip


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cfunc_wrapper=True)
def mixed(seed, step):
    """Give the step-th random 64 bits of a seed."""
    z = seed + GOLDEN * step
    z = (z ^ (z >> S30)) * MIX_A
    z = (z ^ (z >> S27)) * MIX_B
    return z ^ (z >> S31)


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def sink(keys, order, root, n):
    """Let the root of a heap, of which the greatest key is the top, sink to its place."""
    top = order[root]
    while 2 * root + 1 < n:
        child = 2 * root + 1
        if child + 1 < n and (keys[order[child]], order[child]) < (keys[order[child + 1]], order[child + 1]):
            child += 1
        if (keys[order[child]], order[child]) < (keys[top], top):
            break
        order[root] = order[child]
        root = child
    order[root] = top


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def sort_by(keys, n, order):
    """Fill order with 0 to n - 1 by rising keys, equal ones as they come; it compiles faster than numba's sorts."""
    for i in range(n):
        order[i] = i
    for i in range(n // 2 - 1, -1, -1):
        sink(keys, order, i, n)
    for end in range(n - 1, 0, -1):
        order[0], order[end] = order[end], order[0]
        sink(keys, order, np.int64(0), end)  # a plain 0 has a type, and a compilation, of its own


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def weight_of(stats, starts):
    """Weight of the rows behind some statistics."""
    if len(starts) == 1:
        return stats[0]
    total = 0.0
    for k in range(starts[0], starts[1]):
        total += stats[k]
    return total


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cfunc_wrapper=True)
def worth(criterion, s, starts):
    """How much the rows behind statistics agree, so that the sum over branches is to be large."""
    total = 0.0
    if criterion <= ENTROPY:
        for b in range(len(starts) - 1):
            weight, score = 0.0, 0.0
            for k in range(starts[b], starts[b + 1]):
                weight += s[k]
                if criterion == GINI:
                    score += s[k] * s[k]
                elif s[k] > 0:
                    score += s[k] * np.log2(s[k])
            if weight > 0:
                total += score / weight if criterion == GINI else score - weight * np.log2(weight)
        return total / (len(starts) - 1)
    n_out = starts[0]
    for k in range(1, n_out + 1):
        if criterion == SQUARED:
            total += s[k] * s[k] / s[0]
        elif s[k] <= EPS:
            return -np.inf
        else:
            total += s[k] * np.log(s[k] / s[0])
    return total / n_out


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def allowed(left, right, starts, sign, lower, upper):
    """Whether two branches keep a monotone constraint."""
    if len(starts) == 1:
        a, b = left[1] / left[0], right[1] / right[0]
    else:
        a, b = left[1] / weight_of(left, starts), right[1] / weight_of(right, starts)
    return sign * (a - b) <= 0 and lower <= a <= upper and lower <= b <= upper


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def fill(codes, rows, start, stop, f, y, T, w, by_class, counts, hist):
    """Add the statistics of some rows to the bins of a column; y, T and w are in the order of the rows."""
    if by_class:
        for i in range(stop - start):
            hist[codes[rows[start + i], f], y[i]] += w[i]
    elif T.shape[1] == 2:
        for i in range(stop - start):
            c = codes[rows[start + i], f]
            hist[c, 0] += T[i, 0]
            hist[c, 1] += T[i, 1]
    else:
        for i in range(stop - start):
            c = codes[rows[start + i], f]
            for s in range(T.shape[1]):
                hist[c, s] += T[i, s]
    if counts:
        for i in range(start, stop):
            hist[codes[rows[i], f], hist.shape[1] - 1] += 1.0


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def present(codes, rows, start, stop, f, n_bins, bits, keys, order, out):
    """List the codes of a column among some rows, in order; give their number. Of many bins, few rows are sorted."""
    m = stop - start
    words = (n_bins >> 6) + 1
    if words > 4 * m + 8:
        n = 0
        for i in range(m):
            keys[i] = codes[rows[start + i], f]
        sort_by(keys, m, order)
        for i in range(m):
            c = int(keys[order[i]])
            if n == 0 or out[n - 1] != c:
                out[n] = c
                n += 1
        return n
    for i in range(start, stop):
        c = np.uint64(codes[rows[i], f])
        bits[c >> S6] |= ONE << (c & S63)
    n = 0
    for word in range(words):
        x = bits[word]
        bits[word] = 0
        while x:
            low = x & (~x + ONE)
            out[n] = (word << 6) + LOW_BIT[(low * BRUIJN) >> S58]
            n += 1
            x ^= low
    return n


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def filled(codes, rows, start, stop, f, n_bins, y, T, w, by_class, counts, starts, hist, bits, keys, order, bins):
    """Fill the bins of a column, which were zero, and list those that are not empty; the missing one comes last."""
    fill(codes, rows, start, stop, f, y, T, w, by_class, counts, hist)
    if stop - start < n_bins:
        return present(codes, rows, start, stop, f, n_bins, bits, keys, order, bins)
    n = 0
    for c in range(n_bins + 1):
        if weight_of(hist[c], starts) > 0:
            bins[n] = c
            n += 1
    return n


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def beyond(value):
    """What another cut must exceed to be better than one of a value: of equal ones, but for rounding, the first counts.

    Sums of rows and of chunks are rounded in other ways, and give the same tree.
    """
    return value + ROUNDING * abs(value) if value > -np.inf else value


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def scan_gini(hist, bins, n, total, left, right, found):
    """Find the best cut of bins for one output and the Gini index, where nothing else is asked."""
    K, weight = len(left), 0.0
    squares_left, squares_right, wl = 0.0, 0.0, 0.0
    for k in range(K):
        left[k], right[k] = 0.0, total[k]
        weight += total[k]
        squares_right += total[k] * total[k]
    bar = beyond(found[0])
    for i in range(n - 1):
        bin_ = hist[bins[i]]
        for k in range(K):
            h = bin_[k]
            squares_left += h * (2.0 * left[k] + h)
            squares_right -= h * (2.0 * right[k] - h)
            left[k] += h
            right[k] -= h
            wl += h
        value = squares_left / wl + squares_right / (weight - wl)
        if value > bar:
            found[0], found[1] = value, i
            bar = beyond(value)


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def scan_squared(hist, bins, n, total, found):
    """Find the best cut of bins for one output and squared errors, where nothing else is asked."""
    wl, sl = 0.0, 0.0
    bar = beyond(found[0])
    for i in range(n - 1):
        wl += hist[bins[i], 0]
        sl += hist[bins[i], 1]
        sr = total[1] - sl
        value = sl * sl / wl + sr * sr / (total[0] - wl)
        if value > bar:
            found[0], found[1] = value, i
            bar = beyond(value)


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def positive(left, right, total, n_out):
    """Whether both branches have targets above zero, beyond rounding."""
    for k in range(1, n_out + 1):  # noqa: SIM110
        if left[k] <= ROUNDING * total[k] or right[k] <= ROUNDING * total[k]:
            return False
    return True


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def scan(hist, order, n, total, missing, has_missing, whole, real, starts, sign, lower, upper, left, right, at, found):
    """Find the best cut of bins in an order: found gets worth, last place of the left branch, side of the missing.

    With `at` >= 0 that cut alone is tried. Without bins on the right the branch of the missing stands alone.
    """
    criterion, width = whole[CRITERION], hist.shape[1]
    bar = beyond(found[0])
    for side in range(2 if has_missing else 1):
        for s in range(width):
            left[s] = missing[s] if side else 0.0
            right[s] = total[s] - left[s]
        last = n - 1 if side or not has_missing else n
        for i in range(last):
            bin_ = hist[order[i]]
            for s in range(width):
                left[s] += bin_[s]
                right[s] -= bin_[s]
            if i == n - 1:
                for s in range(width):
                    right[s] = missing[s]
            if at >= 0 and i != at:
                continue
            wl, wr = weight_of(left, starts), weight_of(right, starts)
            if wl < real[MIN_WEIGHT] or wr < real[MIN_WEIGHT] or wl <= 0 or wr <= 0:
                continue
            if whole[MIN_LEAF] > 1:
                nl = left[width - 1] if whole[CHECKS_COUNTS] else wl
                nr = right[width - 1] if whole[CHECKS_COUNTS] else wr
                if nl < whole[MIN_LEAF] or nr < whole[MIN_LEAF]:
                    continue
            if criterion == POISSON and not positive(left, right, total, starts[0]):
                continue
            if sign != 0 and not allowed(left, right, starts, sign, lower, upper):
                continue
            value = worth(criterion, left, starts) + worth(criterion, right, starts)
            if value > bar:
                found[0], found[1], found[2] = value, i, side
                bar = beyond(value)


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def by_share(hist, bins, n, k, starts, key, order, out):
    """Put categories in the order of the mean of y, or of the share of class k."""
    for i in range(n):
        key[i] = hist[bins[i], k] / weight_of(hist[bins[i]], starts)
    sort_by(key, n, order)
    for i in range(n):
        out[i] = bins[order[i]]


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def gather(rows, start, stop, y, T, w, by_class, node_y, node_T, node_w, stats):
    """Copy targets and weights of a node's rows side by side, and sum them up; the last entry counts the rows."""
    stats[:] = 0.0
    for i in range(stop - start):
        r = rows[start + i]
        node_w[i] = w[r]
        if by_class:
            node_y[i] = y[r]
            stats[y[r]] += w[r]
        else:
            for s in range(T.shape[1]):
                node_T[i, s] = w[r] * T[r, s]
                stats[s] += node_T[i, s]
    stats[len(stats) - 1] = stop - start


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def impurity_of(stats, starts, criterion, T, w, m):
    """Impurity of a node; T, w are those of its m rows."""
    weight = weight_of(stats, starts)
    if criterion == GINI:
        return 1.0 - worth(criterion, stats, starts) / weight
    if criterion == ENTROPY:
        return -worth(criterion, stats, starts) / weight
    n_out, total = starts[0], 0.0
    for o in range(n_out):
        mean = stats[o + 1] / weight
        for i in range(m):
            value = T[i, o + 1] / w[i]
            if criterion == SQUARED:
                total += w[i] * (value - mean) * (value - mean)
            elif value > 0:
                total += w[i] * value * np.log(value / mean)
    return total / weight / n_out


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def draw_cut(seed, step, lows, highs, bins, n):
    """Draw a threshold between the least and the greatest value; give it and the last bin below."""
    low, high = highs[bins[0]], lows[bins[n - 1]]
    u = np.float64(mixed(seed, step) >> np.uint64(11)) / 9007199254740992.0
    threshold = low + u * (high - low)
    if threshold >= high:
        threshold = low
    at = 0
    while at + 2 < n and lows[bins[at + 1]] <= threshold:
        at += 1
    return threshold, at


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def better(found, f, bins, n, lows, highs, threshold, best_i, best_f):
    """Keep a cut of numbers if it is the best so far."""
    cut = int(found[1])
    if cut < 0:
        return
    best_f[WORTH], best_i[FEATURE], best_i[MISSING_LEFT], best_i[N_LISTED] = found[0], f, int(found[2]), -1
    best_i[CUT] = bins[cut]
    if cut == n - 1:
        best_f[THRESHOLD] = np.inf
        return
    best_f[THRESHOLD] = threshold
    if np.isnan(threshold):
        middle = highs[bins[cut]] / 2 + lows[bins[cut + 1]] / 2
        best_f[THRESHOLD] = middle if middle < lows[bins[cut + 1]] else highs[bins[cut]]


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def better_group(found, f, listed, best_i, best_f, best_list):
    """Keep a group of categories if it is the best so far."""
    cut = int(found[1])
    if cut < 0:
        return
    best_f[WORTH], best_i[FEATURE], best_i[MISSING_LEFT], best_i[N_LISTED] = found[0], f, 0, cut + 1
    for i in range(cut + 1):
        best_list[i] = listed[i]
    best_f[THRESHOLD], best_i[CUT] = 0.0, -1


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def start_from(found, best_f):
    """Let a search begin at what is the best so far."""
    found[0], found[1], found[2] = best_f[WORTH], -1.0, 0.0


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def try_groups(f, hist, bins, n, starts, stats, whole, real, bounds, space, general, best_i, best_f, best_list):
    """Try the groups of categories whose n bins are filled: in the order of the mean of y, or of each class's share."""
    (signs, listed, miss, _), found = general, space[6]
    orders = starts[-1] if len(starts) > 1 and starts[-1] > 2 else 1
    for k in range(orders):
        start_from(found, best_f)
        by_share(hist, bins, n, k + (orders == 1), starts, space[7], space[8], listed)
        scan(hist, listed, n, stats, miss, False, whole, real, starts, signs[f], bounds[0], bounds[1], space[3],
             space[4], -1, found)  # fmt: skip
        better_group(found, f, listed, best_i, best_f, best_list)


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def try_numbers(f, table, n, starts, stats, whole, real, seed, step, bounds, space, general, best_i, best_f):
    """Try the cuts of a column of numbers, some of which may be missing, on the conditions of the setting."""
    _, n_bins, offsets, lows, highs, _ = table
    (hist, bins), (signs, _, miss, _) = (space[0], space[2]), general
    lo, hi, threshold, at, found = lows[offsets[f] :], highs[offsets[f] :], np.nan, -1, space[6]
    start_from(found, best_f)
    has_missing = bins[n - 1] == n_bins[f]
    if has_missing:
        n -= 1
        for s in range(len(miss)):
            miss[s] = hist[n_bins[f], s]
    if whole[RANDOM] and n > 1:
        threshold, at = draw_cut(seed, step, lo, hi, bins, n)
    scan(hist, bins, n, stats, miss, has_missing, whole, real, starts, signs[f], bounds[0], bounds[1], space[3],
         space[4], at, found)  # fmt: skip
    better(found, f, bins, n, lo, hi, threshold, best_i, best_f)


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def is_ordered(f, table, general):
    """Whether a column is of numbers without a monotone constraint."""
    return general is None or (table[5][f] == 0 and general[0][f] == 0)


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def try_bins(f, table, n, starts, stats, whole, real, seed, step, bounds, space, general, best_i, best_f, best_list):
    """Try the cuts of a column whose n bins in `space` are filled."""
    _, n_bins, offsets, lows, highs, is_cat = table
    hist, bins, found = space[0], space[2], space[6]
    if general is None or (whole[PLAIN] and bins[n - 1] != n_bins[f] and is_ordered(f, table, general)):
        start_from(found, best_f)
        if whole[BY_CLASS]:
            scan_gini(hist, bins, n, stats, space[3], space[4], found)
        else:
            scan_squared(hist, bins, n, stats, found)
        better(found, f, bins, n, lows[offsets[f] :], highs[offsets[f] :], np.nan, best_i, best_f)
    elif is_cat[f]:
        try_groups(f, hist, bins, n, starts, stats, whole, real, bounds, space, general, best_i, best_f, best_list)
    else:
        try_numbers(f, table, n, starts, stats, whole, real, seed, step, bounds, space, general, best_i, best_f)


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def sort_few(codes, rows, start, stop, f, n_bins, keys):
    """Sort a few rows by the codes of a column, by insertion; False if a value is missing."""
    for i in range(stop - start):
        c = np.int64(codes[rows[start + i], f])
        if c == n_bins:
            return False
        key = np.uint32((c << 16) | i)
        j = i
        while j > 0 and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key
    return True


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def sort_column(codes, rows, start, stop, f, n_bins, counts, keys):
    """Sort rows by the codes of a column, by counting; False if a value is missing."""
    m = stop - start
    for c in range(n_bins + 1):
        counts[c] = 0
    for i in range(m):
        counts[codes[rows[start + i], f]] += 1
    if counts[n_bins]:
        return False
    upto = 0
    for c in range(n_bins):
        upto += counts[c]
        counts[c] = upto - counts[c]
    for i in range(m):
        c = np.int64(codes[rows[start + i], f])
        keys[counts[c]] = (c << 16) | i
        counts[c] += 1
    return True


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def sort_columns(table, rows, start, stop, T, y, w, by_class, counts, keys, is_sorted, near_T, near_y, general):
    """Sort the rows of a node by each column that can be, and copy their targets; the last list is the places.

    T, y and w are in the order of the rows.
    """
    codes, n_bins = table[0], table[1]
    m, d = stop - start, codes.shape[1]
    for f in range(d):
        is_sorted[f] = n_bins[f] < MOST_CODES and is_ordered(f, table, general)
        if is_sorted[f]:
            is_sorted[f] = sort_column(codes, rows, start, stop, f, n_bins[f], counts, keys[f])
    is_sorted[d] = True
    for i in range(m):
        keys[d, i] = i
        if by_class:
            near_y[i], near_T[i, 0] = y[i], w[i]
        else:
            near_T[i, 0], near_T[i, 1] = T[i, 0], T[i, 1]


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def part_keys(keys, is_sorted, a, b, goes_left, sides, spare):
    """Put the keys of the rows that go left before the others, in every column."""
    last = len(keys) - 1
    for i in range(a, b):
        sides[keys[last, i]] = goes_left[i - a]
    for f in range(len(keys)):
        if not is_sorted[f]:
            continue
        own, left, right = keys[f], a, 0
        for i in range(a, b):
            key = own[i]
            side = np.int64(sides[key & LOW16])
            own[left] = key  # without a branch: either is written over if it is not meant
            spare[right] = key
            left += side
            right += 1 - side
        for i in range(right):
            own[left + i] = spare[i]


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def cut_squared(keys, a, b, near, total, least, found):
    """Find the best cut of sorted rows for squared errors; found has its worth and its last place on the left."""
    wl, sl, at, best, weight, whole = 0.0, 0.0, -1, found[0], total[0], total[1]
    bar = beyond(best)
    for i in range(a, b - least):
        row = keys[i] & LOW16
        wl += near[row, 0]
        sl += near[row, 1]
        if keys[i] >> S16 != keys[i + 1] >> S16 and i - a + 1 >= least:
            sr, wr = whole - sl, weight - wl
            above, below = sl * sl * wr + sr * sr * wl, wl * wr
            if above > bar * below:  # divisions are slow, and few cuts are the best so far
                best, at = above / below, i
                bar = beyond(best)
    found[0], found[1] = best, at


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def cut_gini(keys, a, b, near_y, near, total, least, left, right, found):
    """Find the best cut of sorted rows for the Gini index; found has its worth and its last place on the left."""
    at, best, weight, wl, squares_left, squares_right = -1, found[0], 0.0, 0.0, 0.0, 0.0
    for k in range(len(left)):
        left[k], right[k] = 0.0, total[k]
        weight += total[k]
        squares_right += total[k] * total[k]
    bar = beyond(best)
    for i in range(a, b - least):
        row = keys[i] & LOW16
        k, h = near_y[row], near[row, 0]
        squares_left += h * (2.0 * left[k] + h)
        squares_right -= h * (2.0 * right[k] - h)
        left[k] += h
        right[k] -= h
        wl += h
        if keys[i] >> S16 != keys[i + 1] >> S16 and i - a + 1 >= least:
            wr = weight - wl
            above, below = squares_left * wr + squares_right * wl, wl * wr
            if above > bar * below:
                best, at = above / below, i
                bar = beyond(best)
    found[0], found[1] = best, at


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def search_sorted(f, table, keys, a, b, near_T, near_y, stats, whole, space, best_i, best_f):
    """Try the cuts of a column that is sorted; give whether it varies among the rows."""
    _, _, offsets, lows, highs, _ = table
    found = space[6]
    if keys[a] >> S16 == keys[b - 1] >> S16:
        return False
    found[0] = best_f[WORTH]
    if whole[BY_CLASS]:
        n_classes = len(space[3]) - whole[CHECKS_COUNTS]  # the last entry may count rows
        left, right = space[3][:n_classes], space[4][:n_classes]
        cut_gini(keys, a, b, near_y, near_T, stats, whole[MIN_LEAF], left, right, found)
    else:
        cut_squared(keys, a, b, near_T, stats, whole[MIN_LEAF], found)
    at = int(found[1])
    if at >= 0:
        c, after = np.int64(keys[at] >> S16), np.int64(keys[at + 1] >> S16)
        low, high = highs[offsets[f] + c], lows[offsets[f] + after]
        middle = low / 2 + high / 2
        best_f[WORTH], best_f[THRESHOLD] = found[0], middle if middle < high else low
        best_i[FEATURE], best_i[CUT], best_i[MISSING_LEFT], best_i[N_LISTED] = f, c, 0, -1
    return True


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def sorted_here(f, table, rows, start, stop, counts, keys, general):
    """Sort the rows of a node by a column where that is less work than its bins; give whether that was done."""
    codes, m, size = table[0], stop - start, table[1][f]
    if size >= MOST_CODES or not is_ordered(f, table, general):
        return False
    if m <= FEW:
        return sort_few(codes, rows, start, stop, f, size, keys)
    if m > min(2 * size, MOST_CODES) or size > 16 * m:
        return False
    return sort_column(codes, rows, start, stop, f, size, counts, keys)


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def search(table, rows, start, stop, targets, stats, whole, real, seed, bounds, features, space, general, lists, base,
           best_i, best_f, best_list):  # fmt: skip
    """Find the best split of a node among columns drawn by its seed; with base >= 0 there are sorted columns."""
    keys, is_sorted, near_T, near_y, scratch, counts, its_T, _, _ = lists
    d, m, visited, varied, hist, bins = len(features), stop - start, 0, 0, space[0], space[2]
    best_f[WORTH], best_i[FEATURE] = -np.inf, -1
    for j in range(d):
        features[j] = j
    draws = whole[MAX_FEATURES] < d or whole[RANDOM]
    most = 1 if m == 2 and whole[PLAIN] else whole[MAX_FEATURES]  # two rows can be parted in one way alone
    while visited < d and (visited < most or varied == 0):
        if draws:
            other = visited + int(mixed(seed, np.uint64(visited + 1)) % np.uint64(d - visited))
            features[visited], features[other] = features[other], features[visited]
        f = features[visited]
        visited += 1
        kept = base >= 0 and is_sorted[f]
        if kept or (whole[PLAIN] and sorted_here(f, table, rows, start, stop, counts, scratch, general)):
            a = start - base if kept else 0
            varied += search_sorted(f, table, keys[f] if kept else scratch, a, a + m, near_T if kept else its_T,
                                    near_y if kept else targets[1], stats, whole, space, best_i, best_f)  # fmt: skip
        else:
            n = filled(table[0], rows, start, stop, f, table[1][f], targets[1], targets[0], targets[2][:m],
                       whole[BY_CLASS], whole[CHECKS_COUNTS], targets[3], hist, space[1], space[7], space[8],
                       bins)  # fmt: skip
            varied += n > 1
            if n > 1:
                try_bins(f, table, n, targets[3], stats, whole, real, seed, np.uint64(d + visited), bounds, space,
                         general, best_i, best_f, best_list)  # fmt: skip
            for i in range(n):
                for s in range(hist.shape[1]):
                    hist[bins[i], s] = 0.0


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def add_left(goes_left, n, y, T, w, by_class, left):
    """Sum up the statistics of the rows that go left."""
    left[:] = 0.0
    for i in range(n):
        if not goes_left[i]:
            continue
        if by_class:
            left[y[i]] += w[i]
        else:
            for s in range(T.shape[1]):
                left[s] += T[i, s]


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def significant(goes_left, n, y, T, w, by_class, starts, stats, impurity, left, critical):
    """Whether a split tells more than chance: chi-square of classes by branches, or of the variance."""
    add_left(goes_left, n, y, T, w, by_class, left)
    wl, weight = weight_of(left, starts), weight_of(stats, starts)
    chi, freedom = 0.0, 0
    if len(starts) == 1:
        for s in range(1, starts[0] + 1):
            gap = left[s] / wl - (stats[s] - left[s]) / (weight - wl)
            chi += wl * (weight - wl) / weight * gap * gap
        rest = max(1.0 - chi / (starts[0] * impurity * weight), 1e-300)
        return -weight * np.log(rest) >= critical[1]
    for b in range(len(starts) - 1):
        classes = 0
        for k in range(starts[b], starts[b + 1]):
            if stats[k] > 0:
                expected = stats[k] * wl / weight
                gap = left[k] - expected
                chi += gap * gap / expected + gap * gap / (stats[k] - expected)
                classes += 1
        freedom += classes - 1
    return chi >= critical[freedom]


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def side_of(codes, rows, start, stop, n_bins, best_i, best_list, lookup, goes_left):
    """Say for each row whether it goes left; give how many do."""
    f, n_left = best_i[FEATURE], 0
    if best_i[N_LISTED] >= 0:
        lookup[: n_bins + 1] = 0
        for i in range(best_i[N_LISTED]):
            lookup[best_list[i]] = 1
    for i in range(stop - start):
        c = codes[rows[start + i], f]
        if best_i[N_LISTED] >= 0:
            side = lookup[c] == 1
        elif c == n_bins:
            side = best_i[MISSING_LEFT] == 1
        else:
            side = c <= best_i[CUT]
        goes_left[i] = side
        n_left += side
    return n_left


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def parted(rows, start, stop, goes_left, spare):
    """Put the rows that go left before the others, each in their order."""
    a, b = start, 0
    for i in range(stop - start):
        r = rows[start + i]
        if goes_left[i]:
            rows[a] = r
            a += 1
        else:
            spare[b] = r
            b += 1
    for i in range(b):
        rows[a + i] = spare[i]


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def next_of(gains, n_open, by_gain):
    """Place of the node to split next: the last one, or the one with the highest gain."""
    if not by_gain:
        return n_open - 1
    place = 0
    for i in range(1, n_open):
        if gains[i] > gains[place]:
            place = i
    return place


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def lost_any(codes, rows, start, stop, f, n_bins):
    """Whether a column is missing in any of the rows."""
    for i in range(start, stop):  # noqa: SIM110
        if codes[rows[i], f] == n_bins:
            return True
    return False


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def middle_of(goes_left, n, y, T, w, by_class, starts, stats, left):
    """Mean of the values of two branches, the bound between them."""
    add_left(goes_left, n, y, T, w, by_class, left)
    wl, weight = weight_of(left, starts), weight_of(stats, starts)
    return 0.5 * (left[1] / wl + (stats[1] - left[1]) / (weight - wl))


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def open_child(q, node, start, stop, depth, seed, low, high, frontier, seeds, limit, gains):
    """Enter a node in the frontier."""
    frontier[q, 0], frontier[q, 1], frontier[q, 2], frontier[q, 3] = node, start, stop, depth
    seeds[q], limit[q, 0], limit[q, 1], gains[q] = seed, low, high, np.inf


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def open_children(q, first, start, cut, stop, depth, seed, step, bounds, middle, sign, waiting):
    """Enter both children of a node in the frontier; a monotone column bounds their values by what is between them."""
    frontier, seeds, gains, limit = waiting
    low, high = bounds[0], bounds[1]
    left_high, right_low = (middle, middle) if sign > 0 else (high, low)
    left_low, right_high = (middle, middle) if sign < 0 else (low, high)
    open_child(q, first, start, cut, depth, mixed(seed, step), left_low, left_high, frontier, seeds, limit, gains)
    open_child(q + 1, first + 1, cut, stop, depth, mixed(seed, step + ONE), right_low, right_high, frontier, seeds,
               limit, gains)  # fmt: skip


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def write_leaf(made, node, start, k, weight, impurity, stats, bounds, by_class):
    """Write down a node of k rows as a leaf, its value within the bounds."""
    nodes, floats, sums = made
    nodes[node, 0], nodes[node, 1], nodes[node, 2], nodes[node, 3] = -1, -1, 0, k
    nodes[node, 4], nodes[node, 5], nodes[node, 6], nodes[node, 7] = 0, 0, -1, start
    floats[node, 0], floats[node, 1], floats[node, 2] = 0.0, max(impurity, 0.0), weight
    for s in range(sums.shape[1]):
        sums[node, s] = stats[s]
    if bounds[0] > -np.inf or bounds[1] < np.inf:
        sums[node, 1] = min(max(sums[node, 1] / weight, bounds[0]), bounds[1]) * weight
        sums[node, 0] = weight - sums[node, 1] if by_class else weight


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cfunc_wrapper=True)
def grow_tree(table, rows, targets, whole, real, made, waiting, space, general, own, current,
              columns):  # fmt: skip
    """Grow a tree on `rows`, which end up in the order of the leaves; give the number of nodes.

    `made` gets (nodes, 8) whole numbers: feature, first child, whether a missing value goes left (-1: none is missing),
    rows, nothing, whether the split is one of categories, last code on the left, place of its first row; (nodes, 3)
    floats: threshold, impurity, weight; and (nodes, s) statistics. `waiting` has the root. Other arrays are space to
    work in. Nothing is allocated here, so that no counts of references need to be compiled.
    """
    codes, n_bins = table[0], table[1]
    T, y, w, starts = targets
    nodes, floats, _ = made
    frontier, seeds, gains, limit = waiting  # node, start, stop, depth; seed; gain, infinite if not known; bounds
    node_T, node_y, node_w, _ = own
    goes_left, spare, best_i, best_f, bounds, best_list, stats, features = current
    keys, is_sorted, near_T, near_y, _, counts, _, sides, spare_keys = columns
    left, lookup, width, size, room = space[3], space[5], len(space[3]), len(space[5]), len(sides)
    d, by_class, criterion = codes.shape[1], whole[BY_CLASS] == 1, whole[CRITERION]
    base, end = -1, -1  # columns are sorted below a node from row `base` to row `end`
    n_nodes, n_open, n_leaves, by_gain = np.int64(1), np.int64(1), 0, whole[MAX_LEAVES] > 0
    while n_open:
        p = next_of(gains, n_open, by_gain)
        node, start, stop, depth = frontier[p, 0], frontier[p, 1], frontier[p, 2], frontier[p, 3]
        seed, known, bounds[0], bounds[1] = seeds[p], gains[p] < np.inf, limit[p, 0], limit[p, 1]
        n_open -= 1
        open_child(p, frontier[n_open, 0], frontier[n_open, 1], frontier[n_open, 2], frontier[n_open, 3], seeds[n_open],
                   limit[n_open, 0], limit[n_open, 1], frontier, seeds, limit, gains)  # fmt: skip
        gains[p] = gains[n_open]
        gather(rows, start, stop, y, T, w, by_class, node_y, node_T, node_w, stats)
        if whole[CHECKS_COUNTS]:
            stats[width - 1] = stats[width]
        weight, k = weight_of(stats, starts), stop - start
        impurity = impurity_of(stats, starts, criterion, node_T, node_w, k)
        write_leaf(made, node, start, k, weight, impurity, stats, bounds, by_class)
        full = by_gain and n_leaves + n_open + 2 > whole[MAX_LEAVES]
        n_leaves += 1  # unless it is split
        if (full or depth >= whole[MAX_DEPTH] or k < whole[MIN_SPLIT] or k < 2 * whole[MIN_LEAF]
                or weight < 2 * real[MIN_WEIGHT] or impurity <= EPS):  # fmt: skip
            continue
        if base < 0 or start < base or stop > end:
            base = -1
            if FEW < k <= room and size <= 64 * k:
                sort_columns(table, rows, start, stop, node_T, node_y, node_w, by_class, counts, keys, is_sorted,
                             near_T, near_y, general)  # fmt: skip
                base, end = start, stop
        search(table, rows, start, stop, own, stats, whole, real, seed, bounds, features, space, general, columns, base,
               best_i, best_f, best_list)  # fmt: skip
        f = best_i[FEATURE]
        if f < 0:
            continue
        gain = (best_f[WORTH] - worth(criterion, stats, starts)) / real[TOTAL_WEIGHT]
        n_left = side_of(codes, rows, start, stop, n_bins[f], best_i, best_list, lookup, goes_left)
        if gain + EPS < real[MIN_DECREASE]:
            continue
        if general is not None and len(general[3]) > 0 and not significant(
                goes_left, k, node_y, node_T, node_w, by_class, starts, stats, impurity, left, general[3]):  # fmt: skip
            continue
        n_leaves -= 1
        if by_gain and not known:
            open_child(n_open, node, start, stop, depth, seed, bounds[0], bounds[1], frontier, seeds, limit, gains)
            gains[n_open] = gain
            n_open += 1
            continue
        middle, sign = 0.0, 0
        if general is not None:
            sign = np.int64(general[0][f])
            if sign != 0:
                middle = middle_of(goes_left, k, node_y, node_T, node_w, by_class, starts, stats, left)
        parted(rows, start, stop, goes_left, spare)
        if base >= 0 and depth + 1 < whole[MAX_DEPTH] and max(n_left, k - n_left) >= whole[MIN_SPLIT]:
            part_keys(keys, is_sorted, start - base, stop - base, goes_left, sides, spare_keys)
        nodes[node, 0], nodes[node, 1], nodes[node, 2], nodes[node, 6] = f, n_nodes, best_i[MISSING_LEFT], best_i[CUT]
        floats[node, 0] = best_f[THRESHOLD]
        if best_i[N_LISTED] >= 0:
            nodes[node, 2], nodes[node, 5] = -1, 1
        elif (base >= 0 and is_sorted[f]) or not lost_any(codes, rows, start, stop, f, n_bins[f]):
            nodes[node, 2] = -1
        open_children(n_open, n_nodes, start, start + n_left, stop, depth + 1, seed, np.uint64(4 * d + 7), bounds,
                      middle, sign, waiting)  # fmt: skip
        n_open += 2
        n_nodes += 2
    return n_nodes


@njit(nogil=True, cache=True, _nrt=False, error_model="numpy", no_cfunc_wrapper=True)
def split_sums(H, table, starts, stats, whole, real, seed, features, bounds, space, general, best_i, best_f,
               best_list):  # fmt: skip
    """Find the best split of a node from the bins of all of its columns, H (d, bins, s), as `search` would."""
    n_bins, bins = table[1], space[2]
    d, _, width = H.shape
    for j in range(d):
        features[j] = j
    best_f[WORTH], best_i[FEATURE] = -np.inf, -1
    draws, visited, varied = whole[MAX_FEATURES] < d or whole[RANDOM], 0, 0
    while visited < d and (visited < whole[MAX_FEATURES] or varied == 0):
        if draws:
            other = visited + int(mixed(seed, np.uint64(visited + 1)) % np.uint64(d - visited))
            features[visited], features[other] = features[other], features[visited]
        f, n = features[visited], 0
        visited += 1
        for c in range(n_bins[f] + 1):
            for s in range(width):
                space[0][c, s] = H[f, c, s]
            if weight_of(H[f, c], starts) > 0:
                bins[n] = c
                n += 1
        if n > 1:
            varied += 1
            try_bins(f, table, n, starts, stats, whole, real, seed, np.uint64(d + visited), bounds, space, general,
                     best_i, best_f, best_list)  # fmt: skip
