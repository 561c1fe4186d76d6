"""Shortest paths in a sparse graph by buckets of nodes at about the same distance (delta-stepping)."""

import math

from numba import njit


@njit(nogil=True, cache=True)
def lengths(sources, first, last, starts, nodes, weights, scale, heads, behind, ahead, out):
    """Lengths of the shortest paths from the sources first to last - 1 to all nodes; inf where there is none.

    The edges of node i go to nodes[starts[i]:starts[i + 1]]. Nodes that wait are in a ring of buckets, bucket b for
    lengths from b / scale on; the ring is longer than the longest edge. A bucket is a list that heads begins
    and that behind links; ahead[i] links back, or says that node i does not wait (-2). A node whose length falls
    after it was looked at waits once more, so the lengths are exact for any scale.
    """
    n, ring = starts.shape[0] - 1, heads.shape[0]
    for s in range(first, last):
        row = out[s]
        for i in range(n):
            row[i] = math.inf
            ahead[i] = -2
        row[sources[s]] = 0.0
        heads[0] = sources[s]
        behind[sources[s]] = -1
        ahead[sources[s]] = -1
        queued, turn = 1, 0
        while queued > 0:
            bucket = turn % ring
            node = heads[bucket]
            if node < 0:
                turn += 1
                continue
            heads[bucket] = behind[node]
            if behind[node] >= 0:
                ahead[behind[node]] = -1
            ahead[node] = -2
            queued -= 1
            so_far = row[node]
            for e in range(starts[node], starts[node + 1]):
                other = nodes[e]
                far = so_far + weights[e]
                old = row[other]
                if far < old:
                    row[other] = far
                    here = int(far * scale) % ring
                    if ahead[other] != -2:
                        was = int(old * scale) % ring
                        if was == here:
                            continue
                        if ahead[other] >= 0:
                            behind[ahead[other]] = behind[other]
                        else:
                            heads[was] = behind[other]
                        if behind[other] >= 0:
                            ahead[behind[other]] = ahead[other]
                        queued -= 1
                    behind[other] = heads[here]
                    ahead[other] = -1
                    if heads[here] >= 0:
                        ahead[heads[here]] = other
                    heads[here] = other
                    queued += 1
