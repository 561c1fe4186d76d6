"""One-class support vector machine."""

from dataclasses import KW_ONLY
from typing import Annotated, Any, Self

import numpy as np

from latently.detect.read import in_memory
from latently.detect.support import BoundaryDetector, checked_weights, guessed_start
from latently.kernel.base import Array
from latently.learn.estimator.parameters import checked, stores_parameters


@stores_parameters
class OneClassSVM(BoundaryDetector):
    """One-class support vector machine: the hyperplane that parts most rows from the origin in feature space.

    A drop-in replacement for scikit-learn's class of the same name, and finds the same solution.

    Parameters
    ----------
    kernel
        "linear", "poly", "rbf", "sigmoid", "precomputed", a function, or a kernel of `latently.kernel`, with which X
        may be strings or trees.
    degree, gamma, coef0
        Of the kernels by name. gamma "scale" is 1 / (columns times the variance of all values), "auto" 1 / columns.
    tol
        By how much the optimality conditions may be violated.
    nu
        At most this share of the rows is outside, and at least this share are support vectors.
    shrinking
        Whether variables that will stay at their bounds are left out until the others are settled.
    cache_size
        Megabytes for kernel values that are kept.
    verbose
        Accepted for scikit-learn's sake.
    max_iter
        Steps of the solver at most; -1 for as many as it takes.
    contamination
        Share of the rows of the fit that is to be called outliers; where the hyperplane is, if None.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_
        Numbers, rows and weights of the support vectors.
    offset_
        Score at the threshold.
    intercept_
        Minus the offset of the hyperplane.
    objective_
        1/2 a'Ka of the solution.
    n_iter_
        Steps of the solver.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.44], [0.45], [0.46], [1.0]])
    >>> OneClassSVM(gamma="auto").fit(X).predict(X)
    array([-1,  1,  1,  1, -1])
    >>> from latently.kernel import NGramKernel
    >>> words = ["banana", "bananas", "ananas", "banana", "xyzzy"]
    >>> OneClassSVM(kernel=NGramKernel(2, normalize=True), nu=0.5).fit(words).predict(words)[-1]
    np.int64(-1)
    """

    _: KW_ONLY
    verbose: Annotated[bool, "verbose"] = False

    @checked
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the hyperplane.

        Parameters
        ----------
        X
            Rows, or what the kernel reads; with kernel "precomputed" the (n, n) kernel matrix.
        y
            Not used.
        sample_weight
            (n,) weights of the rows: of how much each may add to the solution.
        """
        X, _, sample_weight = in_memory(self, X, None, sample_weight)
        things, values = self._begin(X)
        upper = checked_weights(sample_weight, len(values.diagonal))
        start = guessed_start(values, upper, self.nu * float(upper.sum()))
        found = self._solved(values, start, upper)
        self._remember(things, found.alpha)
        self.objective_ = found.objective
        self.n_iter_ = found.n_iter
        self.fit_status_ = int(not found.converged)
        self.intercept_ = np.array([-found.lowest])
        self._settle(found.gradient, found.lowest)  # a row's gradient is its score; those on the boundary are inside
        return self

    def score_samples(self, X: Any) -> Array:
        """Score (n,) of each row: its inner product with the normal of the hyperplane."""
        return self._inner(X)

    @property
    def coef_(self) -> Array:
        """(1, columns) normal of the hyperplane, for a linear kernel."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        return np.asarray(self.dual_coef_ @ self.support_vectors_)
