"""What the boundary methods share: the kernel, the solver, and scores through support vectors."""

import warnings
from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from latently.data.tables.matrix import as_matrix
from latently.detect.base import Detector
from latently.detect.read import column_names, read_table
from latently.detect.reasons.predictions import Reasons
from latently.kernel.base import Array, Kernel, length, take
from latently.kernel.given import FunctionKernel, Sigmoid, named_kernel
from latently.kernel.gram.eigen import warn_indefinite
from latently.kernel.gram.expansion import Expansion
from latently.kernel.gram.values import KernelValues, kernel_values
from latently.kernel.vector import VectorKernel, reads_tables
from latently.learn.estimator.parameters import NON_NEGATIVE, Flag, Whole, stores_parameters
from latently.learn.qp import MatrixGram, Solution, minimise

NAMES = {"linear", "poly", "rbf", "sigmoid", "precomputed"}
KernelName = Annotated[Any, StrOptions(NAMES), callable, Kernel]
Gamma = Annotated[Any, StrOptions({"scale", "auto"}), NON_NEGATIVE]
Number = Annotated[float, Interval(Real, None, None, closed="neither")]
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
_LOOK = 1000  # rows that are looked at to see whether a kernel is positive semi-definite
_GUIDE = 500  # rows that a first guess of the outliers is measured with


class KernelDetector(Detector):
    """Base of detectors that know their rows through a kernel only.

    A subclass has the parameters kernel, degree, gamma and coef0.
    """

    _tags: ClassVar[dict[str, Any]] = {
        "pairwise": lambda model: isinstance(model.kernel, str) and model.kernel == "precomputed",
        "sparse": True,
    }

    kernel: Any
    degree: int
    gamma: Any
    coef0: float

    def _is_stored(self, X: Any) -> bool:
        compared = _compared(self.kernel) if isinstance(self.kernel, Kernel) else "rows"
        if isinstance(X, str | bytes) and compared != "rows":
            raise TypeError(f"{self.kernel!r:.60} compares {compared}: give a list of them, not {X!r:.40} alone")
        return super()._is_stored(X)

    def _things(self, X: Any, *, reset: bool) -> Any:
        """What is compared: a table of floats, or whatever the kernel reads (strings, trees)."""
        if isinstance(self.kernel, Kernel) and not reads_tables(self.kernel):
            if length(X) == 0:
                raise ValueError("X has 0 sample(s): there is nothing to learn from")
            return X
        return read_table(self, X, reset=reset)

    def _begin(self, X: Any) -> tuple[Any, KernelValues | MatrixGram]:
        """Things of the fit, and their kernel values; remembers the kernel, and what the columns are."""
        things = self._things(X, reset=True)
        self._reasons = None
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            if things.shape[0] != things.shape[1]:
                raise ValueError(f"a precomputed kernel matrix is square, got shape {things.shape}")
            self._kernel: Kernel | None = None
            matrix = np.ascontiguousarray(things, dtype=float)
            warn_indefinite(_part(matrix), "the precomputed kernel matrix", stacklevel=6)
            return things, MatrixGram(matrix)
        table = isinstance(things, np.ndarray) and things.ndim == 2 and hasattr(self, "n_features_in_")
        if table:
            things = np.asarray(things, dtype=float)
            self._reasons = Reasons.of(things, column_names(self, things.shape[1]))
        named = named_kernel(
            self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0, rows=things if table else None
        )
        self._kernel = named.adapted(things)
        if not isinstance(self._kernel, VectorKernel) or isinstance(self._kernel, FunctionKernel | Sigmoid):
            some = take(things, np.arange(min(length(things), _LOOK)))
            warn_indefinite(self._kernel(some), f"the kernel {self._kernel!r:.60}", stacklevel=6)
        return things, kernel_values(self._kernel, things)


@stores_parameters
class BoundaryDetector(KernelDetector):
    """Base of boundaries that a quadratic programme finds: its parameters, its solver, and scores by support vectors.

    `OneClassSVM` says what the parameters are.
    """

    _: KW_ONLY
    kernel: KernelName = "rbf"
    degree: Whole = 3
    gamma: Gamma = "scale"
    coef0: Number = 0.0
    tol: Annotated[float, Interval(Real, 0.0, None, closed="neither")] = 1e-3
    nu: Annotated[float, Interval(Real, 0.0, 1.0, closed="right")] = 0.5
    shrinking: Flag = True
    cache_size: Annotated[float, Interval(Real, 0, None, closed="neither")] = 200
    max_iter: Annotated[int, Interval(Integral, -1, None, closed="left")] = -1
    contamination: Annotated[float | None, None, Interval(Real, 0.0, 0.5, closed="right")] = None

    def _solved(self, values: Any, start: Array, upper: Array, **terms: Any) -> Solution:
        found = minimise(
            values, start, upper, tol=self.tol, shrinking=self.shrinking, cache_mb=self.cache_size,
            max_iter=None if self.max_iter < 0 else self.max_iter, **terms,
        )  # fmt: skip
        self.converged_, self.reason_ = found.converged, "converged" if found.converged else "max_iter"
        if not found.converged:
            warnings.warn(
                f"Solver terminated early (max_iter={self.max_iter}): the KKT conditions are violated by "
                f"{found.gap:.2g}, with tol={self.tol}. Consider pre-processing your data with StandardScaler or "
                "MinMaxScaler.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return found

    def _remember(self, things: Any, weights: Array) -> None:
        """Keep what scores need: the things with weight."""
        self.support_ = np.flatnonzero(weights).astype(np.int32)
        self.dual_coef_ = weights[None, self.support_]
        self.n_support_ = np.array([len(self.support_)], dtype=np.int32)
        self.shape_fit_ = things.shape if hasattr(things, "shape") else (length(things),)
        self.support_vectors_ = take(things, self.support_) if self._kernel is not None else np.empty((0, 0))
        if self._kernel is not None:
            self._expansion = Expansion(self._kernel, self.support_vectors_, weights[self.support_])

    def _inner(self, X: Any) -> Array:
        """(n,) inner products of new things with the weighted sum of the support vectors."""
        check_is_fitted(self)
        things = self._things(X, reset=False)
        if self._kernel is None:
            return np.asarray(np.asarray(things)[:, self.support_] @ self.dual_coef_[0])
        return np.asarray(self._expansion(things))

    def _expected_failed_checks(self) -> dict[str, str]:
        return EXPECTED_FAILURES | WEIGHTED_FAILURES


def _compared(kernel: Kernel) -> str:
    """What a kernel reads one by one; a sum or a product, what the kernels in it do."""
    inner = [value for value in kernel.get_params(deep=False).values() if isinstance(value, Kernel)]
    return next((found for found in map(_compared, inner) if found != "rows"), kernel.compares)


def _part(matrix: Array) -> Array:
    some = np.unique(np.linspace(0, len(matrix) - 1, min(len(matrix), _LOOK)).astype(int))
    return np.asarray(matrix[np.ix_(some, some)])


def guessed_start(values: Any, upper: Array, total: float) -> Array:
    """Give the weight to rows that are least like some others: close to the solution for outliers."""
    n = len(upper)
    some = np.sort(np.random.default_rng(0).permutation(n)[:_GUIDE]).astype(np.int64)
    alike = values.dot(np.arange(n), some, np.ones(len(some)))
    order = np.argsort(alike - 0.5 * values.diagonal * len(some), kind="stable")
    filled = np.cumsum(upper[order])
    start = np.zeros(n)
    start[order] = np.clip(total - (filled - upper[order]), 0.0, upper[order])
    return start


def checked_weights(sample_weight: Any, n: int) -> Array:
    """(n,) weights; ones if None."""
    if sample_weight is None:
        return np.ones(n)
    weights = np.asarray(sample_weight, dtype=float)
    weights = np.full(n, float(weights)) if weights.ndim == 0 else weights
    if weights.shape != (n,):
        raise ValueError(f"sample_weight and X have incompatible shapes: {weights.shape} for {n} rows")
    as_matrix(weights[:, None], name="sample_weight")
    if not (weights > 0).any():
        raise ValueError("Invalid input - all samples have zero or negative weights.")
    return np.asarray(np.maximum(weights, 0.0))
