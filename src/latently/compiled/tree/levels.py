"""Rows of a chunk in trees under construction: which node each is in, and the bins of the nodes."""

from numba import njit


@njit(nogil=True, cache=True)
def route(codes, n_bins, first, feature, cut, missing, list_start, list_len, lists, out):
    """Node of each row in a tree that is under construction; `first` of a node is -1 where rows stop.

    Listed codes go to the child that the missing ones do not go to.
    """
    for i in range(len(codes)):
        node = 0
        while first[node] >= 0:
            f = feature[node]
            c, place = codes[i, f], missing[node]
            if list_len[node] > 0:
                for j in range(list_start[node], list_start[node] + list_len[node]):
                    if lists[j] == c:
                        place = 1 - missing[node]
            elif c != n_bins[f]:
                place = 0 if c <= cut[node] else 1
            node = first[node] + place
        out[i] = node


@njit(nogil=True, cache=True)
def add_bins(codes, slots, y, T, w, by_class, counts, H):
    """Add the statistics of rows to the bins of the nodes they are in: H (nodes, d, bins, s); slot -1 is none."""
    for i in range(len(codes)):
        s = slots[i]
        if s < 0 or w[i] <= 0:
            continue
        for f in range(codes.shape[1]):
            bin_ = H[s, f, codes[i, f]]
            if by_class:
                bin_[y[i]] += w[i]
            else:
                for k in range(T.shape[1]):
                    bin_[k] += w[i] * T[i, k]
            if counts:
                bin_[len(bin_) - 1] += 1.0
