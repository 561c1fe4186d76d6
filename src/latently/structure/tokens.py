"""Features of words in their sentence, hashed: no vocabulary, any language, any number of sentences."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY
from itertools import pairwise
from numbers import Integral
from typing import Annotated, Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction import FeatureHasher
from sklearn.utils._param_validation import Interval

from latently.learn.estimator.parameters import Flag, Whole, checked, stores_parameters


def is_token_list(item: Any) -> bool:
    """Whether an item is a list of strings."""
    return isinstance(item, list | tuple) and len(item) > 0 and all(isinstance(token, str) for token in item)


def word_shape(token: str) -> str:
    """The pattern of a word: X for capitals, x for small letters, d for digits; runs are shortened to two.

    Examples
    --------
    >>> word_shape("McDonald's"), word_shape("1984"), word_shape("NATO")
    ("XxXxx'x", 'dd', 'XX')
    """
    letters = re.sub(r"[^\W\d_]", lambda found: "X" if found[0].isupper() else "x", token)
    shape = re.sub(r"\d", "d", letters)
    return re.sub(r"(.)\1{2,}", r"\1\1", shape)


@stores_parameters
class TokenFeatures(TransformerMixin, BaseEstimator):
    """Features of tokens: the word, its shape, prefixes and suffixes, and the words around it.

    Every feature is a string that is hashed to a column, so there is nothing to learn, and new words are no problem.

    Parameters
    ----------
    n_columns
        Number of columns of the hash table; a power of two is best.
    prefixes, suffixes
        Up to how many characters.
    window
        How many words to each side are features; before the first and after the last word there is a mark.
    shape
        Whether the word's shape (capitals, digits) is a feature.
    lowercase
        Whether words are compared without their capitals.

    Examples
    --------
    >>> X = TokenFeatures(n_columns=1024).fit_transform([["The", "dog", "barks"], ["No"]])
    >>> [x.shape for x in X], X[0].format
    ([(3, 1024), (1, 1024)], 'csr')
    >>> list(TokenFeatures(prefixes=1, suffixes=2, window=1).names(["The", "dog"]))[1]
    ['word=dog', 'shape=xx', 'prefix=d', 'suffix=g', 'suffix=og', '-1=the', '+1=<end>']
    """

    _: KW_ONLY
    n_columns: Annotated[int, Interval(Integral, 1, 2**31 - 1, closed="both")] = 2**16
    prefixes: Whole = 3
    suffixes: Whole = 3
    window: Whole = 1
    shape: Flag = True
    lowercase: Flag = True

    @checked
    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters; there is nothing to learn."""
        return self

    @checked
    def transform(self, X: Sequence[Sequence[str]]) -> list[sparse.csr_matrix]:
        """Features of each sentence, a sparse matrix (tokens, n_columns).

        Parameters
        ----------
        X
            Sentences, each a list of strings.
        """
        for i, sentence in enumerate(X):
            if not is_token_list(sentence):
                what = "is empty: leave it out" if hasattr(sentence, "__len__") and len(sentence) == 0 else "is not one"
                raise ValueError(f"X must be a list of lists of strings, but item {i} of X {what}")
        hasher = FeatureHasher(self.n_columns, input_type="string", alternate_sign=False)
        rows = hasher.transform(names for sentence in X for names in self.names(sentence))
        cuts = np.cumsum([0, *map(len, X)])
        return [rows[a:b] for a, b in pairwise(cuts)]

    def names(self, sentence: Sequence[str]) -> Iterator[list[str]]:
        """The features of each token, as strings."""
        words = [token.lower() if self.lowercase else token for token in sentence]
        for t, (token, word) in enumerate(zip(sentence, words, strict=True)):
            found = [f"word={word}"]
            if self.shape:
                found.append(f"shape={word_shape(token)}")
            found += [f"prefix={word[:n]}" for n in range(1, min(self.prefixes, len(word)) + 1)]
            found += [f"suffix={word[-n:]}" for n in range(1, min(self.suffixes, len(word)) + 1)]
            for step in range(1, self.window + 1):
                found.append(f"-{step}={words[t - step] if t >= step else '<start>'}")
                found.append(f"+{step}={words[t + step] if t + step < len(words) else '<end>'}")
            yield found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return True
