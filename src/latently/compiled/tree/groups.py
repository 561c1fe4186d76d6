"""Categories among the rows of nodes."""

from numba import njit


@njit(nogil=True, cache=True)
def list_codes(codes, rows, starts, stops, features, seen, lengths, lists):
    """List the sorted codes of a column among some rows, for one node after the other; `seen` holds zeros."""
    n = 0
    for g in range(len(features)):
        low, high, before = len(seen), -1, n
        for i in range(starts[g], stops[g]):
            c = codes[rows[i], features[g]]
            seen[c] = 1
            low, high = min(low, c), max(high, c)
        for c in range(low, high + 1):
            if seen[c]:
                seen[c] = 0
                lists[n] = c
                n += 1
        lengths[g] = n - before
