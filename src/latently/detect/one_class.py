"""One-class support vector machine."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from latently.detect.support import NAMES, KernelDetector, checked_weights, guessed_start
from latently.kernel.base import Array, Kernel
from latently.learn.estimator.parameters import checked

SHARED_CONSTRAINTS: dict[str, list[Any]] = {
    "kernel": [StrOptions(NAMES), callable, Kernel],
    "degree": [Interval(Integral, 0, None, closed="left")],
    "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "tol": [Interval(Real, 0.0, None, closed="neither")],
    "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    "shrinking": ["boolean"],
    "cache_size": [Interval(Real, 0, None, closed="neither")],
    "max_iter": [Interval(Integral, -1, None, closed="left")],
    "contamination": [None, Interval(Real, 0.0, 0.5, closed="right")],
}
_WEIGHTS = "gamma='scale' is one over the variance of all rows, whatever their weights, as in scikit-learn"
EXPECTED_FAILURES = {
    "law_density_integrates_to_one": "scores are not log densities",
    "law_trace_never_falls": "the solver keeps no trace, and tol=0 is refused, as in scikit-learn",
}
ORDER = "the solution is found to within tol, from a start that depends on the order"
WEIGHTED_FAILURES = {
    **{f"check_sample_weight_equivalence_on_{kind}_data": _WEIGHTS for kind in ("dense", "sparse")},
    "law_weights_equal_repeats": _WEIGHTS,
    "law_row_order_does_not_matter": ORDER,
}


class OneClassSVM(KernelDetector):
    """One-class support vector machine: the hyperplane that parts most rows from the origin in feature space.

    Takes the place of scikit-learn's class of the same name, and finds the same solution.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = SHARED_CONSTRAINTS | {"verbose": ["verbose"]}

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        contamination: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.contamination = contamination

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
        things, values = self._begin(X)
        upper = checked_weights(sample_weight, len(values.diagonal))
        start = guessed_start(values, upper, self.nu * float(upper.sum()))
        found = self._solved(values, start, upper)
        self._remember(things, found.alpha)
        self.objective_ = found.objective
        self.n_iter_ = found.n_iter
        self.fit_status_ = int(not found.converged)
        self.intercept_ = np.array([-found.level])
        self._settle(found.slope, found.level)  # the slope of a row is its score
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

    def _expected_failed_checks(self) -> dict[str, str]:
        return EXPECTED_FAILURES | WEIGHTED_FAILURES
