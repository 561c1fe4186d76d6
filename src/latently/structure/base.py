"""What both estimators share: reading items, and answering about them."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from latently.data.tables.matrix import check_weights
from latently.kernel.gram.cholesky import IncompleteCholesky
from latently.learn.estimator.table import read_rows
from latently.learn.estimator.tags import DeclaredTags
from latently.structure.models.base import FittedModel, Items, PairwiseDecoder, PairwiseModel
from latently.structure.models.items import missing_labels
from latently.structure.models.multiclass import MulticlassModel
from latently.structure.own import ItemDecoder, ItemProblem
from latently.structure.problem import PairwiseProblem
from latently.structure.protocol import Array, Decoder, Problem, StructuredModel


@dataclass(frozen=True, eq=False)
class KBest:
    """The best outputs of an item.

    Parameters
    ----------
    outputs
        Outputs, best first.
    scores
        (k,) w . Psi(x, y) of each.
    margins
        (k,) by how much the best one is ahead of each; of the first, by how much it is ahead of the second (infinite
        if it is the only one).
    probabilities
        (k,) p(y | x), of a conditional random field; None otherwise.
    """

    outputs: list[Any]
    scores: Array
    margins: Array
    probabilities: Array | None = None


def ranking(outputs: list[Any], scores: Array, log_partition: float | None = None) -> KBest:
    """The best outputs of an item, with their margins."""
    margins = scores[:1] - scores
    margins[:1] = scores[0] - scores[1] if len(scores) > 1 else np.inf
    chances = None if log_partition is None else np.exp(scores - log_partition)
    return KBest(outputs, scores, margins, chances)


class StructuredEstimator(DeclaredTags, ClassifierMixin, BaseEstimator):
    """Base of estimators of structured outputs.

    A subclass has the parameter `model` and, after a fit, `coef_`.
    """

    model: Any
    coef_: Array
    model_: Any
    _tags: ClassVar[dict[str, Any]] = {"sparse": True}
    _map: IncompleteCholesky | None = None

    # reading

    def _chosen(self) -> Any:
        model = MulticlassModel() if self.model is None else self.model
        if not isinstance(model, PairwiseModel) and not isinstance(model, StructuredModel):
            lacking = [n for n in ("joint_features", "loss", "decode", "decode_with_loss") if not hasattr(model, n)]
            raise TypeError(
                f"model must be a model of latently.structure, or have the methods of StructuredModel; "
                f"{type(model).__name__} lacks {', '.join(lacking)}"
            )
        return model

    def _read(self, X: Any, *, reset: bool) -> Any:
        """X as the model takes it; a table is checked, and its columns are remembered or compared."""
        model = self._chosen() if reset else _model_of(self.model_)
        if not getattr(model, "reads_tables", False):
            return X
        if sparse.issparse(X):
            return sparse.csr_matrix(validate_data(self, X, reset=reset, accept_sparse="csr", dtype=np.float64))
        return np.ascontiguousarray(read_rows(self, X, reset=reset))

    def _problem(
        self, X: Any, y: Any, lengths: Any, *, rescale: str, loss: Any, reset: bool, classes: Any = None
    ) -> Problem:
        """The items of a fit; `model_` is set where it is new."""
        model = self._chosen() if reset else _model_of(self.model_)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        if not isinstance(model, PairwiseModel):
            if lengths is not None:
                raise ValueError("lengths are for models of sequences: give a list of items")
            size = None if reset else len(self.coef_)
            problem = ItemProblem.of(model, X, y, rescale, size)
            self.model_, self.n_features_in_ = model, problem.size
            return problem
        return self._pairwise_problem(model, X, y, lengths, rescale, loss, reset, classes)

    def _pairwise_problem(
        self, model: PairwiseModel, X: Any, y: Any, lengths: Any, rescale: str, loss: Any, reset: bool, classes: Any
    ) -> PairwiseProblem:
        table = self._read(X, reset=reset)
        fixed = model.learn_fixed(y) if reset else self.model_.fixed
        items = model.read(table, lengths, fixed)
        labels = model.labels(y, items)
        if reset:
            found = np.unique(classes) if classes is not None else model.learn_classes(labels, ~missing_labels(labels))
            self.model_ = FittedModel(model, found, items.rows.shape[1], fixed)
            self.classes_, self.n_features_in_ = found, items.rows.shape[1]
        self._check_columns(items)
        truth, known = self.model_.encode(labels, items.layout)
        self.model_.check_allowed(truth, known, items.layout)
        nodes = self.model_.nodes(self._mapped(items, reset=reset))
        costs = model.costs(loss, self.classes_)
        return PairwiseProblem(nodes, truth, None if known.all() else known, costs, rescale)

    def _mapped(self, items: Items, *, reset: bool) -> Items:
        """Items with their features in the space of the kernel, if there is one."""
        return items if self._map is None else replace(items, rows=self._map.transform(_dense(items.rows)))

    def _check_columns(self, items: Items) -> None:
        if items.rows.shape[1] != self.model_.n_features:
            raise ValueError(
                f"X has {items.rows.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.model_.n_features} features as input"
            )

    def _decoder(self, X: Any, lengths: Any = None) -> Decoder:
        check_is_fitted(self, "coef_")
        if not isinstance(self.model_, FittedModel):
            return ItemDecoder(self.model_, X)
        items = self.model_.model.read(self._read(X, reset=False), lengths, self.model_.fixed)
        self._check_columns(items)
        return PairwiseDecoder(self.model_, items, self.model_.nodes(self._mapped(items, reset=False)))

    def _item_weights(self, sample_weight: Any, n_items: int) -> Array:
        found = check_weights(sample_weight, n_items, "item")
        return np.ones(n_items) if found is None else np.asarray(found, dtype=float)

    # answers

    def predict(self, X: Any, lengths: Any = None) -> Any:
        """The best output of each item.

        Parameters
        ----------
        X
            Items, as for `fit`.
        lengths
            Lengths of sequences, if X is a table of all of them.
        """
        return self._decoder(X, lengths).decode(self.coef_)

    def decision_function(self, X: Any, lengths: Any = None) -> Any:
        """Scores w . Psi(x, y).

        Of models of classes (n, K), or (n,) the second less the first if there are two; of all others (n,) the score of
        the best output of each item.
        """
        scores = self._decoder(X, lengths).scores(self.coef_)
        return scores[:, 1] - scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 2 else scores

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, lengths: Any = None) -> float:
        """Share of labels that are right, over all nodes of all items; one less the mean loss of models of your own.

        Parameters
        ----------
        X, y, lengths
            Items and their outputs, as for `fit`; labels that are missing do not count.
        sample_weight
            (n,) weights of the items.
        """
        decoder = self._decoder(X, lengths)
        weights = None if sample_weight is None else self._item_weights(sample_weight, decoder.n_items)
        return decoder.accuracy(self.coef_, y, weights)

    def k_best(self, X: Any, k: int = 2, lengths: Any = None) -> list[KBest]:
        """The k best outputs of each item, with scores and margins.

        Parameters
        ----------
        X, lengths
            Items, as for `fit`.
        k
            How many; fewer where there are not as many outputs.

        Returns
        -------
        list of KBest
            For each item `outputs`, `scores`, `margins`, and `probabilities` if there are some.
        """
        if k < 1:
            raise ValueError(f"k must be at least 1, got {k}")
        outputs, scores = self._decoder(X, lengths).best(self.coef_, k)
        return [ranking(ys, values) for ys, values in zip(outputs, scores, strict=True)]


def _model_of(fitted: Any) -> Any:
    return fitted.model if isinstance(fitted, FittedModel) else fitted


def _dense(rows: Any) -> Array:
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows)
