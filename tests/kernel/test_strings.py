"""String kernels, against published values, scikit-learn's counts and enumeration."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from latently.kernel import NGramKernel, SubsequenceKernel
from latently.learn import threads

SENTENCES = ["science is organized knowledge", "wisdom is organized life"]
TEXTS = ["abracadabra", "a cab", "", "ab", "zebra crossing", "abra", "aaaa", "ünïcödé ab"]


@pytest.mark.parametrize(
    ("n", "value"), [(1, 0.8487), (2, 0.5798137), (3, 0.4784548), (4, 0.4388705), (5, 0.4057452), (6, 0.369156)]
)
def test_subsequence_kernel_of_lodhi_and_kernlab(n, value):
    """Lodhi et al. 2002 and kernlab, normalised, decay 0.5."""
    found = SubsequenceKernel(n, decay=0.5, normalize=True)(SENTENCES)
    assert np.isclose(found[0, 1], value, atol=5e-5 if n == 1 else 5e-8)
    assert np.allclose(np.diagonal(found), 1)


def test_the_example_of_lodhi():
    """Lodhi et al. 2002, section 3: k(car, cat) = decay^4, k(car, car) = k(cat, cat) = 2 decay^4 + decay^6."""
    found = SubsequenceKernel(2, decay=0.7)(["cat", "car"])
    assert np.allclose(found, [[2 * 0.7**4 + 0.7**6, 0.7**4], [0.7**4, 2 * 0.7**4 + 0.7**6]])


def enumerated_subsequences(s, t, n, decay):
    total = 0.0
    for i in combinations(range(len(s)), n):
        for j in combinations(range(len(t)), n):
            if all(s[a] == t[b] for a, b in zip(i, j, strict=True)):
                total += decay ** (i[-1] - i[0] + 1 + j[-1] - j[0] + 1)
    return total


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text("abc", max_size=7), min_size=2, max_size=3), st.integers(1, 4), st.floats(0.1, 1.0))
def test_subsequences_by_enumeration(texts, n, decay):
    found = SubsequenceKernel(n, decay=decay)(texts)
    expected = [[enumerated_subsequences(s, t, n, decay) for t in texts] for s in texts]
    assert np.allclose(found, expected)
    assert np.allclose(SubsequenceKernel(n, decay=decay).diag(texts), np.diagonal(expected))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text("ab", max_size=6), min_size=2, max_size=4), st.integers(1, 3))
def test_normalised_kernels_by_enumeration(texts, n):
    """Every pair of places is looked at; a text in which there is nothing to compare has zeros."""
    spectrum = [
        [sum(s[i : i + n] == t[j : j + n] for i in range(len(s) - n + 1) for j in range(len(t) - n + 1)) for t in texts]
        for s in texts
    ]
    subsequences = [[enumerated_subsequences(s, t, n, 0.6) for t in texts] for s in texts]
    for kernel, plain in ((NGramKernel, spectrum), (SubsequenceKernel, subsequences)):
        decay = {"decay": 0.6} if kernel is SubsequenceKernel else {}
        own = np.sqrt(np.diagonal(plain))
        size = np.outer(own, own)
        expected = np.divide(plain, size, out=np.zeros(size.shape), where=size > 0)
        assert np.allclose(kernel(n, **decay)(texts), plain)
        assert np.allclose(kernel(n, normalize=True, **decay)(texts), expected)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_ngrams_are_products_of_scikit_learns_counts(n):
    counts = CountVectorizer(analyzer="char", ngram_range=(n, n), lowercase=False).fit_transform(TEXTS).toarray()
    k = NGramKernel(n)
    assert np.array_equal(k(TEXTS), counts @ counts.T)
    assert np.array_equal(k(TEXTS[:3], TEXTS[3:]), (counts @ counts.T)[:3, 3:])
    assert np.array_equal(k.diag(TEXTS), (counts * counts).sum(axis=1))
    many = CountVectorizer(analyzer="char", ngram_range=(1, n), lowercase=False).fit_transform(TEXTS).toarray()
    assert np.array_equal(NGramKernel(n, shortest=1)(TEXTS), many @ many.T)


def test_frequent_and_rare_ngrams_are_counted_alike(monkeypatch):
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("abcdefgh"), p=np.arange(8, 0, -1) / 36, size=60)) for _ in range(50)]
    usual = NGramKernel(3)(texts)
    for share in (-1.0, 2.0):  # all by the product, none by it
        monkeypatch.setattr("latently.kernel.strings._FREQUENT", share)
        assert np.array_equal(NGramKernel(3)(texts), usual)
        assert np.array_equal(NGramKernel(3)(texts[:7], texts), usual[:7])


def test_ngrams_at_the_same_place():
    """The formula of the aligned kernel: sum over i of [x_i..i+n-1 = z_i..i+n-1]."""
    k = NGramKernel(2, position="same")
    expected = [
        [sum(s[i : i + 2] == t[i : i + 2] for i in range(min(len(s), len(t)) - 1)) for t in TEXTS] for s in TEXTS
    ]
    assert np.array_equal(k(TEXTS), np.maximum(expected, 0))
    assert np.array_equal(k.diag(TEXTS), np.maximum(np.diagonal(expected), 0))


def test_long_ngrams_are_exact():
    """Numbers of n-grams do not overflow, whatever their length."""
    a, b = "x" * 50 + "y" * 50, "y" * 50 + "x" * 50
    assert NGramKernel(50)([a, b]).tolist() == [[51.0, 2.0], [2.0, 51.0]]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text("abcd", max_size=12), min_size=2, max_size=8), st.booleans())
def test_string_kernels_are_positive_semi_definite(texts, normalize):
    for k in (
        NGramKernel(2, normalize=normalize), NGramKernel(2, position="same", normalize=normalize),
        SubsequenceKernel(2, decay=0.6, normalize=normalize),
    ):  # fmt: skip
        values = np.linalg.eigvalsh(k(texts))
        assert values[0] >= -1e-9 * max(values[-1], 1.0)


def test_normalised_values_and_empty_strings():
    K = NGramKernel(2, normalize=True)(TEXTS)
    plain = NGramKernel(2)(TEXTS)
    scale = np.sqrt(np.diagonal(plain))
    assert np.allclose(K[0, 5], plain[0, 5] / scale[0] / scale[5])
    assert K[2].tolist() == [0.0] * len(TEXTS)  # the empty string
    assert NGramKernel(2, normalize=True).diag(TEXTS).tolist() == [1, 1, 0, 1, 1, 1, 1, 1]
    assert SubsequenceKernel(3, normalize=True)(["", ""]).tolist() == [[0, 0], [0, 0]]


def test_tokens_are_as_good_as_letters():
    words = [text.split() for text in SENTENCES]
    assert NGramKernel(2)(words).tolist() == [[3.0, 1.0], [1.0, 3.0]]
    assert NGramKernel(1)([[1, 2, 2], (2,)]).tolist() == [[5.0, 2.0], [2.0, 1.0]]


def test_threads_change_nothing():
    rng = np.random.default_rng(1)
    texts = ["".join(rng.choice(list("abc"), 30)) for _ in range(70)]
    for k in (NGramKernel(2), SubsequenceKernel(3), NGramKernel(2, position="same")):
        with threads(1):
            alone = k(texts)
        with threads(3):
            assert np.array_equal(k(texts), alone)


@pytest.mark.parametrize(
    ("k", "texts", "error", "message"),
    [
        (NGramKernel(0), TEXTS, ValueError, "n must be"),
        (NGramKernel(2, shortest=3), TEXTS, ValueError, "shortest must be"),
        (NGramKernel(2, position="left"), TEXTS, ValueError, "position must be"),
        (SubsequenceKernel(2, decay=0.0), TEXTS, ValueError, "decay must be"),
        (SubsequenceKernel(2, decay=1.5), TEXTS, ValueError, "decay must be"),
        (NGramKernel(2), "abc", TypeError, "list of strings"),
        (NGramKernel(2), ["abc", 3.0], TypeError, r"X\[1\] is no string"),
    ],
)
def test_bad_input_is_named(k, texts, error, message):
    with pytest.raises(error, match=message):
        k(texts)


def test_the_spectrum_kernel_has_mlpacks_values():
    """Of the p-spectrum kernel in mlpack's tests, p = 3, whose n-grams hold no blank."""
    words = ["hello", "jello", "mellow", "mellow jello"]
    K = NGramKernel(3)(words)
    expected = np.array([[3, 2, 2, 4], [2, 3, 2, 5], [2, 2, 4, 6], [4, 5, 6, 11 + 3]])  # three of 14 hold the blank
    assert np.array_equal(K, expected)
    lengths = np.sqrt(np.diag(expected))
    assert np.allclose(NGramKernel(3, normalize=True)(words), expected / lengths / lengths[:, None])


def test_large_counts_are_exact():
    """Beyond what single precision holds: 5000^2 pairs of equal symbols."""
    assert NGramKernel(1)(["a" * 5000, "a" * 4999]).tolist() == [[25_000_000, 24_995_000], [24_995_000, 24_990_001]]
