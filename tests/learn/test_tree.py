"""Sums as one fixed tree: the same bits however the leaves are shared out."""

from itertools import permutations

import numpy as np
import pytest
from benchmarks.scale_simulation import Network, growth, table
from hypothesis import given, settings
from hypothesis import strategies as st

from latently.learn.engine.tree import joined, plant, root, tree_sum

FLOATS = st.lists(st.floats(-1e6, 1e6).map(lambda x: x / 3), min_size=1, max_size=70)


class Sum:
    """A sum that remembers its brackets."""

    def __init__(self, text):
        self.text = text

    def __add__(self, other):
        return Sum(f"({self.text}{other.text})")


@pytest.mark.parametrize(
    ("n", "brackets"), [(1, "a"), (2, "(ab)"), (3, "((ab)c)"), (5, "(((ab)(cd))e)"), (7, "(((ab)(cd))((ef)g))")]
)
def test_the_tree_is_the_one_that_is_documented(n, brackets):
    assert tree_sum(map(Sum, "abcdefg"[:n])).text == brackets


@settings(max_examples=60, deadline=None)
@given(FLOATS, st.data())
def test_any_sharing_in_any_order_gives_the_same_bits(values, data):
    n = len(values)
    owners = data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    order = data.draw(st.permutations(range(n)))
    held = {owner: {} for owner in set(owners)}
    for leaf in order:
        plant(held[owners[leaf]], (0, leaf), values[leaf], n)
    places = data.draw(st.permutations(sorted(held)))
    middle = joined(n, *(held[place] for place in places[:2]))
    total = root(joined(n, middle, *(held[place] for place in places[2:])))
    assert total == tree_sum(values)


@pytest.mark.parametrize("order", list(permutations(range(5))))
def test_neighbours_are_added_left_to_right_whichever_comes_first(order):
    # statistics add about the centre of the left one, so that the order of two is not the same as the other
    nodes = {}
    for leaf in order:
        plant(nodes, (0, leaf), Sum("abcde"[leaf]), 5)
    assert root(nodes).text == "(((ab)(cd))e)"


def test_rounding_grows_with_the_height_only():
    values = np.full(2**16, 0.1)
    assert abs(tree_sum(values) - 6553.6) <= 16 * np.spacing(6553.6)
    assert abs(sum(values.tolist()) - 6553.6) > 16 * np.spacing(6553.6)


def test_nothing_to_sum_is_an_error():
    with pytest.raises(ValueError, match="no rows"):
        tree_sum([])


def test_on_a_simulated_network_the_tree_grows_with_the_logarithm():
    lines = table([8, 64, 512, 4096], 4, 9_000, Network(dispatch=0.0))
    steps = np.diff([line["tree"] for line in lines])
    assert steps.max() < 2.6 * Network().latency  # eight times the workers cost one level more
    assert lines[-1]["client"] > 5 * lines[-1]["tree"]
    assert growth(lines, "tree")[1] < 0.3 < growth(lines, "client")[1]
