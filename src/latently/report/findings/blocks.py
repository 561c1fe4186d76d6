"""From many dependent pairs of columns to few findings: blocks that move together, and columns that go with one."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

Values = NDArray[np.float64]
_TOGETHER: Final = 0.45  # one less the mean strength in a block
_LEAST_BLOCK: Final = 3
_BESIDE: Final = 0.3  # strength of links to half of a block, from which a column is told beside it
_MOST_BESIDE: Final = 3
_SAME, _LEAST_TWINS = 0.95, 2  # correlation of columns that are nearly the same, and pairs of them told together
_SHARE: Final = 0.6  # links of a column that are told with its strongest one
_MOST_SPOKES: Final = 7
_LEAST: Final = 0.1  # strength of a link that is told
_MOST: Final = 8


@dataclass(frozen=True)
class Block:
    """Columns told in one finding, by their places.

    Attributes
    ----------
    columns
        All of them; the hub first, if there is one. Of a block the closest pairs first.
    lead
        The two that are told in detail.
    strength
        Mean strength in a block; of a hub that of its strongest link.
    surprise
        How far the links do not follow from stronger ones, 0 to 1.
    hub
        Whether the first column goes with each of the others; otherwise all of them move together.
    beside
        Columns with an order that go with most of a block, the strongest first.
    twins
        Whether the columns are pairs, each of two that are nearly the same, the first with the second and so on.
    """

    columns: tuple[int, ...]
    lead: tuple[int, int]
    strength: float
    surprise: float
    hub: bool
    beside: tuple[int, ...] = ()
    twins: bool = False


def blocks(strengths: Values, correlations: Values, ordered: NDArray[np.bool_]) -> list[Block]:
    """Group links between columns, the strongest groups first.

    Parameters
    ----------
    strengths
        (d, d) strength of each link, 0 where there is none.
    correlations
        (d, d) size of the correlation of each link, by which columns move together.
    ordered
        (d,) whether a column has an order, so that it can move with others.

    Examples
    --------
    >>> links = np.zeros((5, 5))
    >>> for i, j, r in [(0, 1, 0.9), (0, 2, 0.8), (1, 2, 0.85), (3, 4, 0.4)]:
    ...     links[i, j] = links[j, i] = r
    >>> [block.columns for block in blocks(links, links, np.ones(5, dtype=bool))]
    [(0, 1, 2), (3, 4)]
    """
    left = np.where(strengths >= _LEAST, strengths, 0.0)
    found = []
    groups = _together(correlations, ordered)
    grouped = np.concatenate(groups) if groups else np.zeros(0, dtype=np.intp)
    for members in groups:
        inner = correlations[np.ix_(members, members)]
        mean = float(inner.sum() / (len(members) * (len(members) - 1)))
        columns = tuple(int(members[i]) for i in _closest_first(inner))
        beside = _beside(left, members, np.setdiff1d(np.flatnonzero(ordered), grouped))
        found.append(Block(columns, (columns[0], columns[1]), mean, 1.0, False, beside))
        both = np.array([*members, *beside])
        left[np.ix_(members, both)] = left[np.ix_(both, members)] = 0.0
    pairs = _twins(correlations, ordered, grouped)
    if len(pairs) >= _LEAST_TWINS:
        columns = tuple(k for pair in pairs for k in pair)
        mean = float(np.mean([correlations[i, j] for i, j in pairs]))
        found.append(Block(columns, pairs[0], mean, 1.0, False, twins=True))
        for i, j in pairs:
            left[i, j] = left[j, i] = 0.0
    echo = _echo(strengths)
    while left.max(initial=0.0) > 0 and len(found) < _MOST + 4:
        found.append(_star(left, strengths, ordered, echo))
    return sorted(found, key=lambda block: -block.strength * block.surprise)[:_MOST]


def _together(strengths: Values, ordered: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """Ordered columns whose links are strong on average."""
    places = np.flatnonzero(ordered & (strengths.max(axis=0, initial=0.0) > 0))
    if len(places) < _LEAST_BLOCK:
        return []
    apart = 1 - np.clip(strengths[np.ix_(places, places)], 0.0, 1.0)
    np.fill_diagonal(apart, 0.0)
    labels = fcluster(linkage(squareform(apart, checks=False), "average"), _TOGETHER, "distance")
    groups = [places[labels == label] for label in np.unique(labels)]
    return [group for group in groups if len(group) >= _LEAST_BLOCK]


def _twins(correlations: Values, ordered: NDArray[np.bool_], grouped: NDArray[np.intp]) -> list[tuple[int, int]]:
    """Pairs of columns with an order, in no block, that are nearly the same, the closest first."""
    free = ordered.copy()
    free[grouped] = False
    near = np.argwhere(np.triu(correlations >= _SAME, 1) & free & free[:, None])
    order = np.argsort([-correlations[i, j] for i, j in near], kind="stable")
    pairs = list[tuple[int, int]]()
    for i, j in near[order]:
        if not {int(i), int(j)} & {k for pair in pairs for k in pair}:
            pairs.append((int(i), int(j)))
    return pairs


def _closest_first(inner: Values) -> list[int]:
    """Places in a block: the closest pair, then the closest of those that are left, and so on."""
    left, order = inner.copy(), list[int]()
    while len(order) < len(inner) - 1:
        pair = [int(place) for place in np.unravel_index(int(left.argmax()), left.shape)]
        order += pair
        left[pair], left[:, pair] = -1.0, -1.0
    return [*order, *(j for j in range(len(inner)) if j not in order)]


def _beside(left: Values, members: NDArray[np.intp], others: NDArray[np.intp]) -> tuple[int, ...]:
    """Columns outside that go with most of a block."""
    middle = np.median(left[np.ix_(others, members)], axis=1)
    order = np.argsort(-middle, kind="stable")[:_MOST_BESIDE]
    return tuple(int(others[i]) for i in order if middle[i] >= _BESIDE)


def _echo(strengths: Values) -> Values:
    """(d, d) how strong each link would be if it came by way of one other column alone."""
    d = len(strengths)
    echo = np.zeros((d, d))
    for k in range(d):
        np.maximum(echo, np.outer(strengths[k], strengths[k]), out=echo)
    return echo


def _star(left: Values, strengths: Values, ordered: NDArray[np.bool_], echo: Values) -> Block:
    """The strongest link that is left, with the other links of that end of it which has more of them."""
    i, j = (int(place) for place in np.unravel_index(int(left.argmax()), left.shape))
    limit = _SHARE * left[i, j]
    size = [((left[end] >= limit).sum(), not ordered[end]) for end in (i, j)]
    hub, lead = (i, j) if size[0] >= size[1] else (j, i)
    spokes = [int(k) for k in np.argsort(-left[hub], kind="stable")[:_MOST_SPOKES] if left[hub, k] >= limit]
    spokes = [lead, *(k for k in spokes if k != lead)][:_MOST_SPOKES]
    strength = float(strengths[i, j])
    surprise = 1.0 - 0.5 * min(float(echo[i, j]) / strength, 1.0)
    left[hub, spokes] = left[spokes, hub] = 0.0
    return Block((hub, *spokes), (hub, lead), strength, surprise, True)
