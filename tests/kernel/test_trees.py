"""Tree kernel, against Collins and Duffy's example and enumeration of fragments."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latently.kernel import TreeKernel
from latently.kernel.read_tree import read_tree


def test_the_example_of_collins_and_duffy():
    """Collins and Duffy, figure 1: NP(D the)(N apple) has six fragments."""
    assert TreeKernel(decay=1.0)(["NP(D the)(N apple)"]).tolist() == [[6.0]]


def fragments(tree):
    """Every fragment rooted at the root of a tree, and the number of productions in it."""
    if not isinstance(tree, tuple) or len(tree) == 1:
        return []
    options = []
    for child in tree[1:]:
        bare = child if not isinstance(child, tuple) else child[0]
        leaf = not isinstance(child, tuple) or len(child) == 1
        options.append([(("leaf" if leaf else "cut", bare), 0), *fragments(child)])
    return [
        ((tree[0], tuple(part for part, _ in chosen)), 1 + sum(size for _, size in chosen))
        for chosen in product(*options)
    ]


def all_fragments(tree):
    if not isinstance(tree, tuple):
        return Counter()
    total = Counter(fragments(tree))
    for child in tree[1:]:
        total += all_fragments(child)
    return total


def plain(fragment):
    """A fragment without the mark of whether a child without children was a leaf: labels are what counts."""
    label, children = fragment
    return (label, tuple(c[1] if c[0] in ("leaf", "cut") else plain(c) for c in children))


def enumerated(a, b, decay):
    first, second = all_fragments(a), all_fragments(b)
    left, right = Counter(), Counter()
    for (fragment, size), count in first.items():
        left[plain(fragment), size] += count
    for (fragment, size), count in second.items():
        right[plain(fragment), size] += count
    return sum(count * right[key] * decay ** key[1] for key, count in left.items())


# labels of inner nodes and of leaves differ, as in parse trees
leaves = st.sampled_from(["the", "apple", "eats"])
trees = st.recursive(
    st.tuples(st.sampled_from("DN"), leaves),
    lambda inner: st.one_of(st.tuples(st.sampled_from("SV"), inner, inner), st.tuples(st.sampled_from("SV"), inner)),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None)
@given(trees, trees, st.sampled_from([1.0, 0.5]))
def test_enumeration_of_common_fragments(a, b, decay):
    found = TreeKernel(decay=decay)([a, b])
    assert np.isclose(found[0, 1], enumerated(a, b, decay))
    assert np.isclose(found[0, 0], enumerated(a, a, decay))
    assert np.allclose(TreeKernel(decay=decay)([a], [b, a]), [[found[0, 1], found[0, 0]]])
    assert np.allclose(TreeKernel(decay=decay).diag([a, b]), np.diagonal(found))


@settings(max_examples=30, deadline=None)
@given(st.lists(trees, min_size=2, max_size=7), st.booleans(), st.booleans())
def test_positive_semi_definite(forest, normalize, leaves_too):
    values = np.linalg.eigvalsh(TreeKernel(decay=0.5, normalize=normalize, leaves=leaves_too)(forest))
    assert values[0] >= -1e-9 * values[-1]


def test_leaves_can_count_as_fragments():
    """The recursion with c = 1 at leaves: c(D) = c(N) = 2, c(NP) = 9, two leaves."""
    assert TreeKernel(decay=1.0, leaves=True)(["NP(D the)(N apple)"]).tolist() == [[15.0]]


def test_trees_come_as_strings_tuples_and_nltk_objects():
    nltk = pytest.importorskip("nltk")
    text = "(S (NP (D the) (N dog)) (VP (V barks)))"
    tuples = ("S", ("NP", ("D", "the"), ("N", "dog")), ("VP", ("V", "barks")))
    tree = nltk.Tree.fromstring(text)
    assert read_tree(text, "x") == read_tree(tuples, "x") == read_tree(tree, "x")
    assert read_tree("S (NP (D the) (N dog)) (VP (V barks))", "x") == read_tree(text, "x")
    assert len(set(TreeKernel()([text, tuples, tree]).ravel().tolist())) == 1


def test_a_tree_of_one_node():
    assert TreeKernel()(["apple", "(apple)", "(N apple)"])[:2].tolist() == [[0, 0, 0], [0, 0, 0]]
    assert TreeKernel(leaves=True)(["apple"]).tolist() == [[1.0]]
    assert TreeKernel(normalize=True)(["apple", "(N apple)"]).tolist() == [[0, 0], [0, 1]]


def test_deep_and_wide_trees():
    deep = "(a " * 5000 + "x" + ")" * 5000
    wide = ("r", *(f"w{i}" for i in range(2000)))
    assert TreeKernel(decay=0.5)([deep, wide])[1].tolist() == [0.0, 0.5]
    with pytest.raises(ValueError, match="tree 1 has more fragments than a number can hold: use a smaller decay"):
        TreeKernel(decay=1.0)([wide, "(s " + " ".join("(a b)" for _ in range(2000)) + ")"])


@pytest.mark.parametrize(
    ("tree", "error", "message"),
    [
        ("(S (NP the)", ValueError, r"X\[1\] has unbalanced brackets: '\(' at position 0 is not closed"),
        ("(S (NP the)))", ValueError, r"unbalanced brackets: '\)' at position 12 closes nothing"),
        ("S (NP the))", ValueError, r"unbalanced brackets: '\)' at position 10 closes nothing"),
        ("(S a) (S b)", ValueError, "2 trees side by side"),
        ("(S a) b", ValueError, "goes on after the end of its tree, at position 6"),
        ("(S ())", ValueError, "empty pair of brackets, closed at position 4"),
        ("  ", ValueError, "empty string"),
        ((), ValueError, "without a label"),
        ((("a",), "b"), ValueError, "without a label"),
        (3, TypeError, r"X\[1\] is no tree"),
    ],
)
def test_bad_trees_are_named(tree, error, message):
    with pytest.raises(error, match=message):
        TreeKernel()(["(a b)", tree])


def test_other_bad_input_is_named():
    with pytest.raises(TypeError, match="list of trees"):
        TreeKernel()("(a b)")
    with pytest.raises(ValueError, match="decay must be"):
        TreeKernel(decay=2.0)(["(a b)"])
