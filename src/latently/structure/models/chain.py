"""Sequence labelling: a label for every step, with a score for each pair of neighbours."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from latently.structure.inference.chain import Chains
from latently.structure.inference.layout import Layout
from latently.structure.models.base import Fixed, Items, Labels, PairwiseModel
from latently.structure.models.items import stacked
from latently.structure.pairwise import MakeInference, Shape
from latently.structure.protocol import Ints
from latently.structure.tokens import TokenFeatures


def chain_layout(lengths: Ints) -> Layout:
    """An edge from every node to the next one of its item."""
    nodes = np.arange(int(lengths.sum()))
    later = np.delete(nodes, np.cumsum(lengths) - lengths)
    return Layout(lengths, later - 1, later, np.zeros(len(later), dtype=np.int64), 1)


@dataclass(frozen=True)
class ChainModel(PairwiseModel):
    """A label for every step of a sequence: w . Psi(x, y) = sum_t x_t . W[:, y_t] + sum_t P[y_t-1, y_t].

    X is a list of arrays (steps, features), a list of sparse matrices, a list of token lists (which `tokens` makes
    features of), or a table with `lengths`. y is a list of labels for each sequence, or of all rows with `lengths`. A
    label that is None or NaN is not known: it is latent at the fit.

    Parameters
    ----------
    fit_intercept
        Whether features get a column of ones.
    forbidden
        Pairs (label, next label) that no output may have; (None, label) forbids a label at the first step.
    tokens
        How token lists are made features of; `TokenFeatures()` if None.

    Examples
    --------
    >>> import numpy as np
    >>> from latently.structure import StructuredSVM
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]]
    >>> tagger = StructuredSVM(ChainModel(forbidden=[("V", "D")]), random_state=0).fit(X, y)
    >>> tagger.predict([["a", "dog", "sleeps"]])
    [array(['D', 'N', 'V'], dtype='<U1')]
    """

    fit_intercept: bool = True
    forbidden: Sequence[tuple[Any, Any]] = ()
    tokens: TokenFeatures | None = None

    def read(self, X: Any, lengths: Any, fixed: Fixed) -> Items:
        """Rows of all sequences."""
        rows, found = stacked(X, lengths, self.tokens)
        return Items(rows, chain_layout(found), flat=lengths is not None)

    @property
    def inference(self) -> MakeInference:
        """Viterbi, forward and backward."""
        return Chains

    def shape(self, n_columns: int, classes: Labels, fixed: Fixed) -> Shape:
        """A column of weights for each label, and a table of transitions."""
        K = len(classes)
        if not len(self.forbidden):
            return Shape(n_columns, K, 1)
        allowed, first = np.ones((K, K), dtype=bool), np.ones(K, dtype=bool)
        for before, after in self.forbidden:
            j = _number(after, classes)
            if before is None:
                first[j] = False
            else:
                allowed[_number(before, classes), j] = False
        return Shape(n_columns, K, 1, None, allowed, None if first.all() else first)

    def probabilities(self, marginals: Any, items: Items) -> Any:
        """Marginals (steps, K) of each sequence."""
        return self.outputs(marginals, items)


def _number(label: Any, classes: Labels) -> int:
    found = np.flatnonzero(classes == label)
    if not len(found):
        raise ValueError(f"forbidden names {label!r}, which is none of the labels {classes.tolist()}")
    return int(found[0])
