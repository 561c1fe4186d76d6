"""The k best outputs by repeated search, for any exact decode (Lawler's partition)."""

import heapq
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.structure.inference.layout import Layout, score_of
from latently.structure.protocol import Array


def ranked(kind: Callable[[Layout], Any], layout: Layout, U: Array, P: Array, k: int) -> list[NDArray[Any]]:
    """The k best labels of each item; `kind` makes the inference of a layout."""
    found = []
    for item in range(len(layout.lengths)):
        part, nodes = layout.take(np.array([item]))
        found.append(_ranked_of_one(kind(part), part, np.array(U[nodes]), P, k))
    return found


def _ranked_of_one(inference: Any, layout: Layout, U: Array, P: Array, k: int) -> NDArray[Any]:
    """The best, then the best of all others, which are parted by the first node where they differ from it."""
    number, heap, found = count(), list[Any](), list[NDArray[Any]]()

    def push(scores: Array, fixed: int) -> None:
        labels = inference.decode(scores, P)
        value = float(score_of(layout, scores, P, labels)[0])
        if value > -np.inf:
            heapq.heappush(heap, (-value, next(number), labels, scores, fixed))

    push(U, 0)
    while heap and len(found) < k:
        _, _, labels, scores, fixed = heapq.heappop(heap)
        found.append(labels)
        for node in range(fixed, len(labels)):
            other = scores.copy()
            other[node, labels[node]] = -np.inf
            if np.isfinite(other[node]).any():
                push(other, node)
            kept = scores[node, labels[node]]
            scores[node] = -np.inf
            scores[node, labels[node]] = kept
    return np.array(found)
