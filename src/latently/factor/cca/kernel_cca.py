"""Kernel canonical correlation analysis."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from itertools import pairwise
from numbers import Real
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from latently.data.tables.matrix import as_matrix, check_weights
from latently.factor.cca.inputs import is_flat, views_moments
from latently.factor.cca.views import by_moments, mean_correlations, solved
from latently.kernel import RBF, Kernel, Linear, Polynomial
from latently.kernel.base import length
from latently.kernel.gram import IncompleteCholesky, Nystroem, incomplete_cholesky, nystroem
from latently.kernel.vector import VectorKernel
from latently.learn.estimator.parameters import CHOICES, Count, Seed, checked, stores_parameters
from latently.learn.estimator.table import read_rows
from latently.learn.estimator.tags import DeclaredTags

Array = NDArray[np.float64]
FEW_ROWS = 1000
"""Rows up to which the regularisation is ten times that of more."""
Named = Literal["linear", "rbf", "poly"]
_NAMED: dict[str, type[Kernel]] = {"linear": Linear, "rbf": RBF, "poly": Polynomial}


@stores_parameters
class KernelCCA(DeclaredTags, RegressorMixin, TransformerMixin, BaseEstimator):
    """Canonical correlations of functions: what two views of the same things have in common, linear or not.

    Each view is written in features whose inner products are the values of its kernel, or close to them: pivoted
    incomplete Cholesky decomposition or Nystroem's approximation, so no matrix of all pairs of rows is made. With the
    linear kernel this is `CCA` without scaling.

    Parameters
    ----------
    n_components
        How many pairs of functions.
    kernel
        "rbf", "linear", "poly", or a kernel of `latently.kernel`; a list gives each view its own. Views may be whatever
        the kernel compares: rows of a table, strings, trees.
    reg
        Between 0 and 1: covariances of features become (1 - reg) C + reg I. Without it, a kernel that can tell all
        rows apart finds correlations of one in anything. None is 0.01 up to 1000 rows and 0.001 for more: kappa / 2
        in the K + (n kappa / 2) I of Bach and Jordan (2002), with the kappa of 0.02 and 0.002 that their program for
        kernel ICA has for Gaussian kernels.
    approximation
        "cholesky" takes the rows that are worst described so far; "nystroem" takes rows at random, and is faster.
    max_features
        Features of a view at most.
    tol
        "cholesky" ends when this share of the kernel's trace is missed.
    random_state
        Seed of "nystroem".

    Attributes
    ----------
    canonical_correlations_
        (k,) correlations of the pairs of scores of the rows learnt.
    reg_
        Regularisation of each view.
    n_samples_, n_features_
        Number of rows, and of features of each view.
    missed_
        Share of the kernel's trace that the features of each view miss; "cholesky" only.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, 2 * np.pi, 300)
    >>> X, Y = np.cos(angle)[:, None], np.sin(angle)[:, None]  # uncorrelated, but x^2 + y^2 = 1
    >>> from latently.factor import CCA
    >>> bool(CCA(n_components=1).fit(X, Y).canonical_correlations_[0] < 0.1)
    True
    >>> model = KernelCCA(n_components=1).fit(X, Y)
    >>> bool(model.canonical_correlations_[0] > 0.95), model.transform(X, Y)[1].shape
    (True, (300, 1))
    """

    _tags: ClassVar[dict[str, Any]] = {
        "regressor_tags.poor_score": True,
        "target_tags.required": True,
        "target_tags.multi_output": True,
    }

    n_components: Count = 1
    _: KW_ONLY
    kernel: Annotated[Named | Kernel | Sequence[Named | Kernel], StrOptions(set(_NAMED)), Kernel, list, tuple] = "rbf"
    reg: Annotated[float | Sequence[float] | None, Interval(Real, 0, 1, closed="both"), "array-like", None] = None
    approximation: Annotated[Literal["cholesky", "nystroem"], CHOICES] = "cholesky"
    max_features: Count = 300
    tol: Annotated[float, Interval(Real, 0, 1, closed="left")] = 1e-6
    random_state: Seed = None

    @checked
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the functions.

        Parameters
        ----------
        X, y
            The two views: one row (or string, or tree) of each for every case.
        sample_weight
            How often each case counts.
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        kernels = self._kernels()
        self._flat = isinstance(kernels[1], VectorKernel) and is_flat(y)
        views = self._read(X, 0, kernels[0], reset=True), self._read(y, 1, kernels[1], reset=True)
        n = length(views[0])
        if length(views[1]) != n:
            raise ValueError(
                f"inconsistent numbers of samples: X has {n} rows and y has {length(views[1])}; a row of each view "
                "must be about the same case"
            )
        weights = check_weights(sample_weight, n)
        found = [self._features(kernel, view) for kernel, view in zip(kernels, views, strict=True)]
        self._maps = [one[0] for one in found]
        self.missed_ = [one[2] for one in found]
        self._solve([one[1] for one in found], weights)
        self._target = self._expected(views[1], found[1][1], weights) if isinstance(kernels[1], VectorKernel) else None
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Array:
        """Fit, and give the scores of the first view, as a pipeline expects."""
        return np.asarray(self.fit(X, y, **fit_params).transform_view(X, 0))

    def _kernels(self) -> list[Kernel]:
        given: list[Any] = list(self.kernel) if isinstance(self.kernel, list | tuple) else [self.kernel] * 2
        if len(given) != 2:
            raise ValueError(f"there are two views, but {len(given)} kernels")
        return [_NAMED[kernel]() if isinstance(kernel, str) else kernel for kernel in given]

    def _read(self, X: Any, view: int, kernel: Kernel, *, reset: bool) -> Any:
        """Rows of a view as numbers where the kernel compares numbers; anything else as it is."""
        if not isinstance(kernel, VectorKernel):
            return X
        rows = read_rows(self, X, reset=reset, allow_nan=True) if view == 0 else _target(X)
        if np.isnan(rows).any():
            column = int(np.isnan(rows).any(axis=0).argmax())
            raise ValueError(
                f"column 'x{column}' of {'X' if view == 0 else 'y'} contains NaN, which kernels cannot compare: fill "
                "it with latently.impute.Imputer, or use latently.factor.CCA, which takes missing values"
            )
        return rows.astype(np.float64, copy=False)

    def _features(self, kernel: Kernel, view: Any) -> tuple[Any, Array, float]:
        """What maps things to features, the features (n, r) of the rows learnt, and the share of the trace missed."""
        if self.approximation == "nystroem":
            made = nystroem(kernel, view, self.max_features, random_state=self.random_state)
            return made, made.transform(view), 0.0
        found = incomplete_cholesky(kernel, view, rank=self.max_features, tol=self.tol)
        total = float((found.factor**2).sum()) + found.residual
        # of the factor, new things need the rows of the pivots alone
        small = replace(found, factor=found.factor[found.pivots], pivots=np.arange(len(found.pivots)))
        return small, found.factor, found.residual / total if total > 0 else 0.0

    def _solve(self, features: list[Array], weights: Array | None) -> None:
        moments = views_moments(features, weights)
        if not float(moments.weight) > 1:
            raise ValueError(f"a correlation needs more than 1 sample, but there is n_samples = {moments.weight:g}")
        edges = np.cumsum([0, *(part.shape[1] for part in features)]).tolist()
        R = moments.scatter() / (float(moments.weight) - 1)
        views = by_moments(R, edges)
        rank = min(len(basis.variances) for basis in views.bases)
        if self.n_components > rank:
            raise ValueError(
                f"n_components={self.n_components}, but a view varies in {rank} independent directions of feature "
                "space only (its columns are constant, or its rows few): ask for fewer components"
            )
        default = 0.01 if len(features[0]) <= FEW_ROWS else 0.001
        self.reg_ = np.broadcast_to(default if self.reg is None else np.asarray(self.reg, float), (2,)).tolist()
        rotations, pairs, _ = solved(R, edges, views, self.reg_)
        mean, k = moments.mean(), self.n_components
        self.rotations_ = [r[:, :k] for r in rotations]
        self._means = [mean[a:b] for a, b in pairwise(edges)]
        self.canonical_correlations_ = mean_correlations(pairs[:k])
        self.n_samples_, self.n_features_ = len(features[0]), [part.shape[1] for part in features]

    def _expected(self, rows: Array, features: Array, weights: Array | None) -> tuple[Array, Array]:
        """Mean of the columns of the second view, and how they vary (k, q) with its scores."""
        w = np.full(len(rows), 1 / len(rows)) if weights is None else weights / weights.sum()
        mean = w @ rows
        scores = (features - self._means[1]) @ self.rotations_[1]
        return mean, scores.T @ ((rows - mean) * w[:, None])

    # answers

    def transform(self, X: Any, y: Any = None) -> Any:
        """(n, k) scores of things of the first view; with y, those of both."""
        scores = self.transform_view(X, 0)
        return scores if y is None else (scores, self.transform_view(y, 1))

    def transform_view(self, X: Any, view: int) -> Array:
        """(n, k) scores of things of one view, 0 or 1."""
        check_is_fitted(self)
        made: IncompleteCholesky | Nystroem = self._maps[view]
        things = self._read(X, view, made.kernel, reset=False)
        return np.asarray((made.transform(things) - self._means[view]) @ self.rotations_[view])

    def predict(self, X: Any) -> Array:
        """Columns of the second view that the scores of the first let expect, if it is a table."""
        scores = self.transform_view(X, 0)
        if self._target is None:
            raise ValueError("the second view is no table of numbers: there is nothing to predict; use transform")
        mean, coef = self._target
        found = mean + scores * self.canonical_correlations_ @ coef
        return np.asarray(found[:, 0] if self._flat else found)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the scores of the first view: kernelcca0, kernelcca1, ..."""
        check_is_fitted(self)
        return np.array([f"kernelcca{i}" for i in range(self.n_components)], dtype=object)

    def _expected_failed_checks(self) -> dict[str, str]:
        reason = "the width of the kernel is the median distance of the rows, whatever their weights"
        return {"check_sample_weight_equivalence_on_dense_data": reason}


def _target(X: Any) -> NDArray[Any]:
    return as_matrix(np.asarray(X)[:, None] if is_flat(X) else X, allow_nan=True, name="y")
