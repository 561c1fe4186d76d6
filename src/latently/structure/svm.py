"""Structured support vector machine."""

from contextlib import AbstractContextManager
from dataclasses import KW_ONLY
from functools import partial
from numbers import Real
from typing import Annotated, Any, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from latently.kernel.base import Kernel
from latently.kernel.given import named_kernel
from latently.kernel.gram.cholesky import incomplete_cholesky
from latently.learn.checkpoint.checkpoint import checkpointing
from latently.learn.engine.cores import single_threaded_blas
from latently.learn.engine.progress import drawn
from latently.learn.estimator.parameters import NON_NEGATIVE, Count, Flag, Seed, checked, stores_parameters
from latently.learn.estimator.table import generator
from latently.learn.estimator.unconverged import warn_unconverged
from latently.structure.base import StructuredEstimator, _dense
from latently.structure.models.base import Items
from latently.structure.protocol import Array, Problem
from latently.structure.solve.cutting_plane import CuttingPlane
from latently.structure.solve.frank_wolfe import FrankWolfe
from latently.structure.solve.latent import with_latent_labels
from latently.structure.solve.progress import Hook
from latently.structure.solve.solution import Solution

_FULL = 1e-12  # share of the trace of a kernel matrix that may be missed


@stores_parameters
class StructuredSVM(StructuredEstimator):
    """Structured support vector machine: the true output is to be ahead of every other by a margin.

    Minimises `1/2 |w|^2` + C sum_i max_y [loss(y_i, y) + w . Psi(x_i, y) - w . Psi(x_i, y_i)], or, by slack rescaling,
    C sum_i max_y loss(y_i, y) [1 + w . Psi(x_i, y) - w . Psi(x_i, y_i)]. The optimum is known to within `gap_`.

    Parameters
    ----------
    model
        `MulticlassModel` (if None), `MultilabelModel`, `ChainModel`, `TreeModel`, `GraphModel`, or a model of your own
        (see `latently.structure.protocol.StructuredModel`).
    C
        How much losses count against the size of the weights.
    loss
        "hamming" (the number of wrong labels; steps in the hierarchy, of a `TreeModel` with one), or a matrix (K, K) of
        what it costs to say the second label where the first is true. A model of your own has its own loss.
    rescale
        "margin": the margin is the loss. "slack": the margin is one, and violations count in proportion to the loss.
    solver
        "frank_wolfe": block-coordinate Frank-Wolfe. "cutting_plane": one-slack cutting plane.
    kernel
        "linear", "rbf", "poly", or a kernel of `latently.kernel`, of the features of two nodes; that of two pairs
        (x, y) is its sum over nodes with equal labels, and equal pairs of labels counted as they are. Time grows with
        the cube of the number of nodes.
    tol
        Largest relative duality gap at which the fit has converged.
    max_iter
        Most rounds of the solver.
    average
        Whether the weights are averages over the rounds of Frank-Wolfe, later ones counting more.
    random_state
        Seed of the order in which items are visited.
    verbose
        Whether a bar with the gap is drawn, on a terminal.

    Attributes
    ----------
    coef_
        (d,) weights: of features and labels, row by row, then of pairs.
    model_
        The model with what it has learnt about outputs.
    classes_
        Labels.
    gap_
        Primal less dual objective, as a share of the primal.
    objective_, dual_objective_
        Primal and dual objective.
    trace_
        Dual objective after each round.
    n_iter_, converged_, reason_
        Rounds, whether the gap is small enough, and why the fit ended.

    Examples
    --------
    >>> import numpy as np
    >>> from latently.structure import ChainModel
    >>> X = [np.array([[1.0, 0.0], [0.1, 0.0], [0.0, 1.0]]), np.array([[0.9, 0.1], [0.0, 0.2]])]
    >>> y = [["a", "a", "b"], ["a", "b"]]
    >>> model = StructuredSVM(ChainModel(), C=10.0, random_state=0).fit(X, y)
    >>> model.predict(X), bool(model.gap_ <= 1e-3)
    ([array(['a', 'a', 'b'], dtype='<U1'), array(['a', 'b'], dtype='<U1')], True)
    """

    model: Any = None
    _: KW_ONLY
    C: Annotated[float, Interval(Real, 0.0, None, closed="neither")] = 1.0
    loss: Annotated[Any, StrOptions({"hamming"}), "array-like"] = "hamming"
    rescale: Annotated[str, StrOptions({"margin", "slack"})] = "margin"
    solver: Annotated[str, StrOptions({"frank_wolfe", "cutting_plane"})] = "frank_wolfe"
    kernel: Annotated[Any, StrOptions({"linear", "rbf", "poly"}), Kernel] = "linear"
    tol: Annotated[float, NON_NEGATIVE] = 1e-3
    max_iter: Count = 1000
    average: Flag = False
    random_state: Seed = None
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
            Their outputs; labels of a chain, tree or graph that are None or NaN are latent.
        sample_weight
            (n,) weights of the items.
        lengths
            Lengths of sequences, if X is a table of all of them.
        checkpoint
            A folder where the fit is stored after `every` rounds; the same call goes on where it was stopped.
        every
            Rounds between two saves.
        """
        self._map = None
        problem = self._problem(X, y, lengths, rescale=self.rescale, loss=self.loss, reset=True)
        weights = self._item_weights(sample_weight, problem.n_items)
        with self._storing(checkpoint, every):
            self._keep(self._solved(problem, weights, np.zeros(problem.size)))
        return self

    @checked
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, lengths: Any = None
    ) -> Self:
        """Learn from more items, without looking at those before.

        New weights minimise `1/2 |w - w_before|^2` + C times the losses of the new items: the dual variables of items
        before are left as they are, those of the new ones are best.

        Parameters
        ----------
        X, y, sample_weight, lengths
            As for `fit`.
        classes
            All labels, on the first call; those of y if None.
        """
        if self.kernel != "linear":
            raise ValueError("partial_fit needs kernel='linear': others are built on the items of one fit")
        first = not hasattr(self, "coef_")
        problem = self._problem(X, y, lengths, rescale=self.rescale, loss=self.loss, reset=first, classes=classes)
        start = np.zeros(problem.size) if first else self.coef_
        self._keep(self._solved(problem, self._item_weights(sample_weight, problem.n_items), start))
        return self

    def _storing(self, path: Any, every: int) -> AbstractContextManager[None]:
        return checkpointing(path, every)

    def _solved(self, problem: Problem, weights: Array, start: Array) -> Solution:
        bounds = self.C * weights
        seed = int(generator(self.random_state).randint(2**31 - 1))
        with single_threaded_blas(), drawn("structured SVM", self.max_iter, self.verbose) as draw:

            def show(iteration: int, primal: float, gap: float) -> None:
                if draw is not None:
                    draw(iteration, f"gap {gap:.2g}")

            solve = partial(self._solve, bounds=bounds, start=start, seed=seed, hook=show)
            return with_latent_labels(problem, solve, self.tol)

    def _solve(self, problem: Problem, *, bounds: Array, start: Array, seed: int, hook: Hook) -> Solution:
        algorithm: FrankWolfe | CuttingPlane
        if self.solver == "frank_wolfe":
            algorithm = FrankWolfe(problem, bounds, start, seed=seed, average=self.average)
        else:
            algorithm = CuttingPlane(problem, bounds, start)
        return algorithm.run(self.tol, self.max_iter, hook)

    def _keep(self, found: Solution) -> None:
        self.coef_ = found.w
        self.gap_, self.objective_, self.dual_objective_ = found.gap, found.primal, found.dual
        self.trace_, self.n_iter_ = np.array(found.trace), len(found.trace)
        self.converged_, self.reason_ = found.reason == "converged", found.reason
        warn_unconverged(found.reason, "max_iter", self.max_iter)

    def _mapped(self, items: Items, *, reset: bool) -> Items:
        if reset and not (isinstance(self.kernel, str) and self.kernel == "linear"):
            rows = _dense(items.rows)
            kernel = named_kernel(self.kernel, gamma="scale", degree=3, coef0=1.0, rows=rows)
            self._map = incomplete_cholesky(kernel, rows, tol=_FULL)
        return super()._mapped(items, reset=reset)

    def _expected_failed_checks(self) -> dict[str, str]:
        within = "the optimum is found to within tol, by steps whose order depends on the number of items"
        return {f"check_sample_weight_equivalence_on_{kind}_data": within for kind in ("dense", "sparse")}
