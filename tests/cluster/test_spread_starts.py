"""Starts by k-means++: every sequence of rows comes up as often as enumeration says, weights included."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from latently.data.sources.chunks import ArraySource
from latently.learn import reducing
from latently.learn.engine.start import spread_rows
from latently.learn.kmeans.rows import CHUNK_ROWS, frame_of
from latently.learn.kmeans.start import spread_start

X = np.array([[0.0, 0.0], [1.0, 0.2], [3.0, 1.0], [3.5, -2.0], [-1.0, 2.0]])
WEIGHTS = np.array([1.0, 6.0, 0.5, 2.0, 0.1])
DRAWS = 3000


def squares():
    return ((X[:, None] - X) ** 2).sum(axis=2)


def chance(sequence, weights):
    """Probability of a sequence of starts, where of 2 + floor(log k) candidates the one that helps most is kept."""
    gaps, tries = squares(), 2 + int(np.log(len(sequence)))
    value = weights[sequence[0]] / weights.sum()
    for done in range(1, len(sequence)):
        nearest = gaps[list(sequence[:done])].min(axis=0)
        p = weights * nearest / (weights * nearest).sum()
        left = np.minimum(nearest, gaps) @ weights  # (n,) cost with each row as a further centre
        hit = 0.0
        for candidates in product(range(len(X)), repeat=tries):
            if candidates[int(np.argmin(left[list(candidates)]))] == sequence[done]:
                hit += float(np.prod(p[list(candidates)]))
        value *= hit
    return value


def by_kmeans(weights, k, seed):
    """Places of the rows that a K-means starts from."""
    source = ArraySource(X, None if weights is None else weights, CHUNK_ROWS)
    with reducing(source) as reduce:
        frame = frame_of(reduce, ("a", "b"))
    rng = np.random.RandomState(seed)
    for _ in range(DRAWS):
        found = spread_start(X, source, frame, k, rng) + frame.origin
        yield tuple(((found[:, None] - X) ** 2).sum(axis=2).argmin(axis=1).tolist())


def by_rows(weights, k, seed):
    """The same for the starts of mixtures."""
    rng = np.random.RandomState(seed)
    for _ in range(DRAWS):
        yield tuple(spread_rows(X, np.ones(5) if weights is None else weights, k, rng).tolist())


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["even", "weighted"])
@pytest.mark.parametrize("draws", [by_kmeans, by_rows])
def test_starts_come_up_as_often_as_they_should(draws, weights, k):
    places = list(permutations(range(5), k))
    expected = DRAWS * np.array([chance(place, np.ones(5) if weights is None else weights) for place in places])
    assert expected.sum() == pytest.approx(DRAWS)  # a row is never drawn twice
    found = list(draws(weights, k, seed=0))
    counts = np.array([found.count(place) for place in places])
    rare = expected < 5
    pooled = [np.append(part[~rare], part[rare].sum()) for part in (counts, expected)]
    kept = pooled[1] > 0
    assert stats.chisquare(pooled[0][kept], pooled[1][kept]).pvalue > 1e-3
