"""Conditional random field."""

from collections.abc import Callable
from dataclasses import KW_ONLY
from numbers import Real
from typing import Annotated, Any, Self

import numpy as np
from sklearn.utils._param_validation import Interval

from latently.decide.choose import Decision, decide
from latently.learn.checkpoint.checkpoint import checkpointing
from latently.learn.engine.cores import single_threaded_blas
from latently.learn.engine.gradient import ascend
from latently.learn.engine.progress import progress
from latently.learn.estimator.parameters import NON_NEGATIVE, Whole, checked, stores_parameters
from latently.learn.estimator.unconverged import warn_unconverged
from latently.structure.base import KBest, StructuredEstimator, ranking
from latently.structure.models.base import PairwiseDecoder
from latently.structure.protocol import Array
from latently.structure.solve.likelihood import Likelihood

_MEMORY = 8  # steps that L-BFGS remembers: there may be millions of weights


@stores_parameters
class ConditionalRandomField(StructuredEstimator):
    """Conditional random field: p(y | x) is proportional to exp(w . Psi(x, y)).

    Maximises sum_i log p(y_i | x_i) - `|w|^2 / (2 C)` by L-BFGS. Labels that are not known are summed out.

    Parameters
    ----------
    model
        `MulticlassModel` (if None), `MultilabelModel`, `ChainModel`, `TreeModel`, `GraphModel`, or a model of your own
        with `log_partition` and `expected_features` (see `latently.structure.protocol.StructuredModel`).
    C
        How much the likelihood counts against the size of the weights.
    tol
        Converged when the objective rises by less than this per item and no entry of its gradient per item is above the
        square root of it.
    max_iter
        Most iterations.
    verbose
        Whether a bar is drawn, on a terminal.

    Attributes
    ----------
    coef_
        (d,) weights: of features and labels, row by row, then of pairs.
    model_
        The model with what it has learnt about outputs.
    classes_
        Labels.
    objective_
        The penalised log-likelihood.
    trace_
        It after each iteration.
    n_iter_, converged_, reason_
        Iterations, whether the fit has converged, and why it ended.

    Examples
    --------
    >>> import numpy as np
    >>> from latently.structure import ChainModel
    >>> X = [np.array([[1.0, 0.0], [0.1, 0.0], [0.0, 1.0]]), np.array([[0.9, 0.1], [0.0, 0.2]])]
    >>> y = [["a", "a", "b"], ["a", "b"]]
    >>> model = ConditionalRandomField(ChainModel(), C=10.0).fit(X, y)
    >>> model.predict(X)[1]
    array(['a', 'b'], dtype='<U1')
    >>> model.predict_proba(X)[1].round(1)
    array([[1. , 0. ],
           [0.1, 0.9]])
    """

    model: Any = None
    _: KW_ONLY
    C: Annotated[float, Interval(Real, 0.0, None, closed="neither")] = 1.0
    tol: Annotated[float, NON_NEGATIVE] = 1e-6
    max_iter: Whole = 1000
    verbose: Annotated[int | bool, "verbose"] = 0

    @checked
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        lengths: Any = None,
        checkpoint: Any = None,
        every: int = 10,
    ) -> Self:
        """Find the weights.

        Parameters
        ----------
        X
            Items, as the model reads them.
        y
            Their outputs; labels of a chain, tree or graph that are None or NaN are summed out.
        sample_weight
            (n,) weights of the items.
        lengths
            Lengths of sequences, if X is a table of all of them.
        checkpoint
            A folder where the fit is stored after `every` iterations; the same call goes on where it was stopped.
        every
            Iterations between two saves.
        """
        problem = self._problem(X, y, lengths, rescale="margin", loss="hamming", reset=True)
        weights = self._item_weights(sample_weight, problem.n_items)
        objective = Likelihood(problem, weights, self.C)

        def reduce(f: Callable[[Any], Any]) -> Any:
            return f(None)

        options: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter, "memory": _MEMORY}
        bar = progress("random field", self.max_iter, self.verbose)
        with checkpointing(checkpoint, every), single_threaded_blas(), bar as show:
            found = ascend(objective, np.zeros(problem.size), reduce, on_iteration=show, **options)
        self.coef_, self.objective_ = found.params, found.trace[-1]
        self.trace_, self.n_iter_ = np.array(found.trace), found.n_iter
        self.converged_, self.reason_ = found.converged, found.reason
        warn_unconverged(found.reason, "max_iter", self.max_iter)
        return self

    def predict_proba(self, X: Any, lengths: Any = None) -> Any:
        """Marginal probabilities of the labels.

        Of models of classes (n, K); of `MultilabelModel` (n, L), that each label is there; of chains, trees and graphs
        a list of (m, K), or one array if `lengths` were given.
        """
        decoder = self._decoder(X, lengths)
        if not isinstance(decoder, PairwiseDecoder):
            raise TypeError(f"{type(self.model_).__name__} has no marginals: ask k_best for probabilities of outputs")
        return decoder.probabilities(self.coef_)

    def log_likelihood(self, X: Any, y: Any, lengths: Any = None) -> Array:
        """(n,) log p(y | x) of each item; labels that are not known are summed out."""
        self._decoder(X, lengths)  # refuses what was not fitted, and other columns
        problem: Any = self._problem(X, y, lengths, rescale="margin", loss="hamming", reset=False)
        return np.asarray(problem.log_likelihoods(self.coef_))

    def k_best(self, X: Any, k: int = 2, lengths: Any = None) -> list[KBest]:
        """The k best outputs of each item, with scores, margins and probabilities; see `StructuredSVM.k_best`."""
        found = super().k_best(X, k, lengths)
        logs = self._log_partitions(X, lengths)
        return [ranking(best.outputs, best.scores, log) for best, log in zip(found, logs.tolist(), strict=True)]

    def _log_partitions(self, X: Any, lengths: Any) -> Array:
        decoder = self._decoder(X, lengths)
        if not isinstance(decoder, PairwiseDecoder):
            return np.array([self.model_.log_partition(x, self.coef_) for x in X])
        scores = decoder.nodes.scores(self.coef_)
        return decoder.nodes.inference.marginals(*scores, np.ones(decoder.n_items)).log_partition

    def decide(self, X: Any, reward: Any, abstain: Any = None, *, lengths: Any = None) -> Decision:
        """Choose the action of highest expected reward for each node, by its marginal probabilities.

        Parameters
        ----------
        X, lengths
            Items, as for `fit`.
        reward
            Rewards (labels, actions), or by name; see `latently.decide.Reward`.
        abstain
            The price of abstaining; None if that is no option.

        Returns
        -------
        Decision
            The action for each node, one item after the other, with expected rewards and margins.
        """
        belief = self.predict_proba(X, lengths)
        if isinstance(belief, list):
            belief = np.concatenate([own.reshape(-1, own.shape[-1]) for own in belief])
        elif self.model_.fixed.n_nodes:  # indicators of several labels
            belief = np.stack([1.0 - belief, belief], axis=-1).reshape(-1, 2)
        return decide(belief, reward, abstain, states=self.classes_.tolist())
