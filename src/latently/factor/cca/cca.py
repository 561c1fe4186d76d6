"""Canonical correlation analysis."""

from collections.abc import Sequence
from dataclasses import KW_ONLY
from itertools import pairwise
from numbers import Real
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, TransformerMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from latently.data.sources.chunks import ChunkSource
from latently.data.tables.matrix import check_weights
from latently.distributions.statistics import Moments
from latently.factor.cca.answers import CanonicalAnswers
from latently.factor.cca.inputs import (
    any_missing,
    are_ordinary,
    as_view,
    expected_moments,
    is_flat,
    is_list_of_views,
    is_out_of_core,
    open_views,
    views_moments,
)
from latently.factor.cca.limits import check_rank, check_rows, view_name
from latently.factor.cca.views import ILL, Views, by_moments, by_rows, mean_correlations, solved
from latently.factor.moments import few_threads, less, moments_of
from latently.factor.rows import read_table
from latently.learn.estimator.parameters import CHOICES, Count, Flag, checked, stores_parameters
from latently.learn.estimator.table import read_source
from latently.learn.estimator.tags import DeclaredTags

Array = NDArray[Any]


@stores_parameters
class CCA(DeclaredTags, CanonicalAnswers, MultiOutputMixin, RegressorMixin, TransformerMixin, BaseEstimator):
    """Canonical correlation analysis: directions of two (or more) views of the same rows that vary together.

    Has the parameters and attributes of scikit-learn's class of the same name, but is exact: correlations do not
    depend on a number of iterations. With more than two views, given as a list, the sum of the scores of all views
    has the greatest variance (MAXVAR, also known as generalised CCA). Missing values (NaN) are taken care of by EM.

    Parameters
    ----------
    n_components
        How many pairs of directions.
    scale
        Whether columns are divided by their standard deviations. This changes weights, and correlations only if
        `reg` is not 0.
    reg
        Between 0 and 1, one for all views or one for each: covariances within a view become (1 - reg) C + reg I.
        With more columns than rows, correlations without it are all 1.
    solver
        "qr" decomposes the rows (QR, then SVD), "moments" sums products of columns in one pass, "auto" takes
        sums and turns to the rows where columns are so collinear that sums would cost digits.
    max_iter, tol, copy
        Accepted for scikit-learn's sake.

    Attributes
    ----------
    canonical_correlations_
        (k,) correlations of the pairs of scores of the rows learnt; of more views, the mean over pairs of views.
    pair_correlations_
        (k, m, m) correlations between the scores of all m views.
    x_rotations_, y_rotations_
        (d, k) weights of the centred and scaled columns; scores have variance one.
    x_weights_, y_weights_
        The same, each of length one.
    x_loadings_, y_loadings_
        (d, k) covariances of the scaled columns with the scores.
    rotations_, loadings_, means_, scales_
        The same of all views, as lists.
    coef_, intercept_
        Regression of Y on X through the pairs of scores, as `predict` uses it.
    statistics_
        Sums over the rows, which `partial_fit`, `forget` and `merge` go on from.

    Examples
    --------
    >>> from sklearn.datasets import load_linnerud
    >>> X, Y = load_linnerud(return_X_y=True)
    >>> model = CCA(n_components=3).fit(X, Y)
    >>> model.canonical_correlations_.round(4)
    array([0.7956, 0.2006, 0.0726])
    >>> model.wilks().p_values.round(3)
    array([0.064, 0.949, 0.775])
    """

    _tags: ClassVar[dict[str, Any]] = {
        "regressor_tags.poor_score": True,
        "target_tags.required": True,
        "allow_nan": True,
    }

    n_components: Count = 2
    _: KW_ONLY
    scale: Flag = True
    reg: Annotated[float | Sequence[float], Interval(Real, 0, 1, closed="both"), "array-like"] = 0.0
    solver: Annotated[Literal["auto", "qr", "moments"], CHOICES] = "auto"
    max_iter: Count = 500
    tol: Annotated[float, Interval(Real, 0, None, closed="left")] = 1e-6
    copy: Flag = True

    # learning

    @checked
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        columns: Sequence[str] | None = None,
        filters: Any = None,
    ) -> Self:
        """Find the directions.

        Parameters
        ----------
        X
            First view; or a list of all views, with y None. Of a table that is not in memory: its path, or a Dask
            collection.
        y
            Second view. Of a table that is not in memory: the names of its columns, or another Dask collection.
        sample_weight
            How often each row counts.
        columns, filters
            Of a table that is not in memory: columns of the first view (all others if None), and rows to take.
        """
        if is_out_of_core(X) or isinstance(X, ChunkSource):
            return self._settle(self._source_moments(X, y, columns, filters, sample_weight, reset=True))
        tables = self._read(X, y, reset=True)
        weights = check_weights(sample_weight, len(tables[0]))
        check_rows(len(tables[0]) if weights is None else float(weights.sum()), self._edges, self.n_components)
        moments = views_moments(tables, weights)
        if not are_ordinary(moments) and any_missing(tables):
            return self._settle(expected_moments(np.hstack(tables), weights))
        return self._settle(moments, self._views(moments, tables, weights))

    fit.takes_out_of_core = True  # type: ignore[attr-defined]

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, and give the scores of all views."""
        return self.fit(X, y, **fit_params).transform(X, y)

    @checked
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more complete rows; as if all had been given to `fit`."""
        first = not hasattr(self, "statistics_")
        new = self._moments(X, y, sample_weight, reset=first)
        return self._settle(new if first else self.statistics_ + new)

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Undo the learning of rows; rows never learnt are an error, and change nothing."""
        check_is_fitted(self)
        return self._settle(less(self.statistics_, self._moments(X, y, sample_weight, reset=False)))

    def merge(self, other: Self) -> Self:
        """Take in what another model has learnt, as if its rows had been learnt here."""
        check_is_fitted(self)
        if type(other) is not type(self):
            raise TypeError(f"cannot merge a {type(other).__name__} into a {type(self).__name__}")
        check_is_fitted(other)
        if self._edges != other._edges:
            raise ValueError(f"the views have other numbers of columns: {self._edges} and {other._edges}")
        return self._settle(self.statistics_ + other.statistics_)

    def _read(self, X: Any, Y: Any, *, reset: bool) -> list[Array]:
        """Tables of all views; the columns of the first are those that the estimator knows by name.

        The values of arrays are not looked at: sums show whether they are finite, and `any_missing` which are not.
        """
        if is_list_of_views(X, Y):
            if len(X) < 2:
                raise ValueError("one view alone is given: canonical correlations need two or more")
            X, rest = X[0], list(X[1:])
        elif Y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        else:
            rest = [Y]
        first = read_table(self, X, reset=reset)
        m = len(rest) + 1
        tables = [first, *(as_view(view, view_name(i + 1, m), len(first)) for i, view in enumerate(rest))]
        edges = np.cumsum([0, *(table.shape[1] for table in tables)]).tolist()
        if reset:
            self._edges, self._flat = edges, len(rest) == 1 and is_flat(rest[0])
        elif edges != self._edges:
            raise ValueError(f"the views have {np.diff(edges)} columns, but had {np.diff(self._edges)} at the fit")
        return tables

    def _moments(self, X: Any, Y: Any, sample_weight: Any, *, reset: bool) -> Moments:
        tables = self._read(X, Y, reset=reset)
        moments = views_moments(tables, check_weights(sample_weight, len(tables[0])))
        if not are_ordinary(moments) and any_missing(tables):
            raise ValueError("partial_fit and forget need complete rows: fit takes care of missing values")
        return moments

    def _source_moments(
        self, X: Any, Y: Any, columns: Sequence[str] | None, filters: Any, weights: Any, *, reset: bool
    ) -> Moments:
        source, width = open_views(X, Y, columns, filters, weights)
        self._edges, self._flat = [0, width, source.n_columns], isinstance(Y, str) or getattr(Y, "ndim", 2) == 1
        source = read_source(self, source, reset=reset, allow_nan=False)
        self.n_features_in_ = width
        if (names := getattr(self, "feature_names_in_", None)) is not None:
            self.feature_names_in_ = names[:width]
        return moments_of(source)

    # from sums to directions

    def _views(self, moments: Moments, tables: Sequence[Array], weights: Array | None) -> Views:
        """Views from the sums, or from the rows where those are few or the sums too coarse."""
        few = len(tables[0]) <= max(table.shape[1] for table in tables) + 1
        if self.solver == "qr" or (self.solver == "auto" and few):
            return self._by_rows(tables, weights, moments)
        with few_threads(moments):
            views = by_moments(self._scaled(moments), self._edges)
        if self.solver == "auto" and max(basis.condition for basis in views.bases) > ILL:
            return self._by_rows(tables, weights, moments)
        return views

    def _by_rows(self, tables: Sequence[Array], weights: Array | None, moments: Moments) -> Views:
        mean, scale = moments.mean(), self._scale(moments)
        root = 1.0 if weights is None else np.sqrt(weights)[:, None]
        parts = zip(tables, self._edges[:-1], self._edges[1:], strict=True)
        return by_rows([(table - mean[a:b]) / scale[a:b] * root for table, a, b in parts], float(moments.weight))

    def _scale(self, moments: Moments) -> Array:
        sd = np.sqrt(np.maximum(np.diagonal(moments.scatter()), 0.0) / (float(moments.weight) - 1))
        rounding = 8 * np.finfo(float).eps * np.abs(moments.mean())
        return np.where(sd > rounding, sd, np.inf) if self.scale else np.where(sd > rounding, 1.0, np.inf)

    def _scaled(self, moments: Moments) -> Array:
        scale = self._scale(moments)
        return np.asarray(moments.scatter() / (float(moments.weight) - 1) / scale / scale[:, None])

    def _settle(self, moments: Moments, views: Views | None = None) -> Self:
        """Directions from sums over the rows, or from views that the rows were decomposed into."""
        check_rows(float(moments.weight), self._edges, self.n_components)
        R = self._scaled(moments)
        with few_threads(moments):
            views = by_moments(R, self._edges) if views is None else views
            check_rank([len(basis.variances) for basis in views.bases], self.n_components)
            found = solved(R, self._edges, views, self._reg(len(views.bases)))
        self._remember(moments, R, *found)
        return self

    def _reg(self, m: int) -> list[float]:
        given = np.broadcast_to(np.asarray(self.reg, dtype=np.float64), (m,)).tolist()
        if not all(0 <= c <= 1 for c in given):
            raise ValueError(f"reg must be between 0 and 1, got {self.reg}")
        return [float(c) for c in given]

    def _remember(self, moments: Moments, R: Array, rotations: list[Array], pairs: Array, strength: Array) -> None:
        mean, scale, k = moments.mean(), self._scale(moments), self.n_components
        parts = [slice(a, b) for a, b in pairwise(self._edges)]
        self.statistics_, self._every = moments, rotations
        self._all_correlations = np.clip(pairs[:, 0, 1], 0, 1) if len(parts) == 2 else strength
        self.rotations_ = [r[:, :k] for r in rotations]
        self.pair_correlations_ = pairs[:k]
        self.canonical_correlations_ = mean_correlations(pairs[:k])
        self.loadings_ = [R[p, p] @ r for p, r in zip(parts, self.rotations_, strict=True)]
        self.means_ = [mean[p] for p in parts]
        self.scales_ = [np.where(np.isfinite(scale[p]), scale[p], 1.0) for p in parts]
        self.n_iter_ = [1] * k
        self._name_two()

    def _name_two(self) -> None:
        """The names that scikit-learn has for two views."""
        for i, view in enumerate("xy"):
            setattr(self, f"{view}_rotations_", self.rotations_[i])
            setattr(self, f"{view}_weights_", self.rotations_[i] / np.linalg.norm(self.rotations_[i], axis=0))
            setattr(self, f"{view}_loadings_", self.loadings_[i])
        along = self.x_rotations_ * self.canonical_correlations_
        self.coef_ = (along @ self.y_loadings_.T * self.scales_[1]).T / self.scales_[0]
        self.intercept_ = self.means_[1] - self.coef_ @ self.means_[0]
