"""One label out of several: the structured view of multi-class classification."""

from dataclasses import dataclass
from typing import Any

from sklearn.utils.validation import column_or_1d

from latently.learn.estimator.classes import read_labels
from latently.structure.inference.isolated import Isolated
from latently.structure.inference.layout import unconnected
from latently.structure.models.base import Fixed, Items, Labels, PairwiseModel
from latently.structure.pairwise import MakeInference


def one_node_each(rows: Any) -> Items:
    """Items of one node without edges."""
    return Items(rows, unconnected(rows.shape[0]), flat=True)


@dataclass(frozen=True)
class MulticlassModel(PairwiseModel):
    """One label for each row: w . Psi(x, y) is x . W[:, y].

    With `StructuredSVM` this is the multi-class support vector machine of Crammer and Singer, with
    `ConditionalRandomField` multinomial logistic regression.

    Parameters
    ----------
    fit_intercept
        Whether features get a column of ones.

    Examples
    --------
    >>> from latently.structure import StructuredSVM
    >>> X, y = [[0.0], [0.2], [5.0], [5.2], [9.0], [9.3]], ["low", "low", "mid", "mid", "high", "high"]
    >>> StructuredSVM(MulticlassModel(), C=10.0, random_state=0).fit(X, y).predict([[0.1], [5.1], [9.9]])
    array(['low', 'mid', 'high'], dtype='<U4')
    """

    fit_intercept: bool = True
    reads_tables = True

    def read(self, X: Any, lengths: Any, fixed: Fixed) -> Items:
        """Rows of a table."""
        if lengths is not None:
            raise ValueError(f"{type(self).__name__} reads one row for each item: there are no lengths")
        return one_node_each(X)

    @property
    def inference(self) -> MakeInference:
        """Every row for itself."""
        return Isolated

    def labels(self, y: Any, items: Items) -> Labels:
        """(n,) labels."""
        found = read_labels(y, "a model of classes")
        if len(found) != len(items.layout.lengths):
            raise ValueError(f"X has {len(items.layout.lengths)} items, but y has {len(found)}")
        return column_or_1d(found)  # type: ignore[no-any-return]

    def learn_fixed(self, y: Any) -> Fixed:
        """No pairs."""
        return Fixed(0)

    def probabilities(self, marginals: Any, items: Items) -> Any:
        """(n, K) probabilities of the classes."""
        return marginals
