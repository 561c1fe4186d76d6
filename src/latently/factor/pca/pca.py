"""Principal component analysis."""

from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions

from latently.data.open import as_source
from latently.data.sources.chunks import ChunkSource
from latently.data.tables.matrix import check_weights
from latently.distributions.inputs import ColumnError
from latently.distributions.statistics import Moments
from latently.factor.by_sums import LearnsBySums
from latently.factor.moments import moments_of
from latently.factor.pca import dimension, solvers
from latently.factor.pca.answers import Projections, Scores
from latently.factor.pca.missing import by_em
from latently.factor.pca.robust import robust_spectrum
from latently.factor.pca.settings import check_count, chosen_solver, refuse_few, warn_rank
from latently.factor.pca.solvers import Spectrum
from latently.factor.rows import each_row, read_table, verified
from latently.learn.estimator.parameters import CHOICES, Count, Flag, Seed, checked, stores_parameters
from latently.learn.estimator.table import OutOfCoreMixin
from latently.learn.estimator.unconverged import warn_unconverged

Array = NDArray[Any]
Solver = Literal["auto", "full", "covariance_eigh", "arpack", "randomized", "power"]


@stores_parameters
class PCA(Projections, LearnsBySums, OutOfCoreMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Principal component analysis: the orthogonal directions in which the rows vary most.

    Drop-in replacement for scikit-learn's class of the same name. It is a density too: the components explain what
    they do, and the rest is noise of one variance. Rows may have missing values (NaN): EM then fits the density.
    Files, sources of chunks and Dask collections are read in one pass.

    Parameters
    ----------
    n_components
        How many components: a number; a share of the variance (between 0 and 1); "mle", by evidence (Minka 2000);
        "held-out", under which rows that were left out are most probable; "relevant", as many as the target `y` given
        to `fit` needs (Braun, Buhmann and Mueller 2008); None for all.
    copy
        Accepted for scikit-learn's sake: X is never changed.
    whiten
        Whether scores have a variance of one.
    svd_solver
        "covariance_eigh" sums products of columns in one pass; "full" decomposes the rows, to full accuracy;
        "randomized" and "arpack" find a few components of many; "power" finds one after the other. "auto" chooses
        by the shape, as scikit-learn does.
    tol
        For "arpack", "power" and EM; 0 stands for what each of them can reach.
    iterated_power
        Powers of the random block of "randomized": "auto" or a number.
    n_oversamples
        Additional columns of that block.
    power_iteration_normalizer
        Accepted for scikit-learn's sake.
    random_state
        Seed or generator of "randomized", "arpack", "power" and "held-out".
    robust
        Whether rows that stand apart from the others are left out: `distrusted_` says which.
    max_iter
        Iterations at most, where there are any.

    Attributes
    ----------
    components_
        (k, d) directions, the largest entry of each positive.
    explained_variance_, explained_variance_ratio_, singular_values_
        (k,) variance along each, its share of the total, and the root of its sum of squares.
    mean_
        (d,)
    n_components_, n_samples_, n_features_in_
        How many.
    noise_variance_
        Mean variance of the directions left out.
    statistics_
        The sums that the model has learnt, where it learns by sums: `partial_fit`, `forget` and `merge` need them.
    n_iter_, converged_, reason_, trace_
        Of an iterative fit ("power", or EM): steps, whether it converged, why it ended; the log-likelihood of EM.
    distrusted_, distances_
        (n,) with `robust`: rows left out; and how far rows lie from the others, where 1 is too far.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]], dtype=float)
    >>> PCA(n_components=2).fit(X).explained_variance_ratio_
    array([0.992, 0.008])
    >>> X[0, 1] = np.nan
    >>> PCA(n_components=1).fit(X).impute_mean(X)[0].round(2)
    array([-1.  , -0.55])
    """

    _tags: ClassVar[dict[str, Any]] = {
        "sparse": lambda model: model.svd_solver in ("auto", "arpack", "covariance_eigh"),
        "allow_nan": lambda model: not model.robust,
        "transformer_tags.preserves_dtype": ["float64", "float32"],
    }
    _takes_sparse = True

    n_components: Annotated[
        int | float | str | None,
        Interval(Integral, 0, None, closed="left"),
        Interval(RealNotInt, 0, 1, closed="neither"),
        StrOptions({"mle", "held-out", "relevant"}),
        None,
    ] = None
    _: KW_ONLY
    copy: Flag = True
    whiten: Flag = False
    svd_solver: Annotated[Solver, CHOICES] = "auto"
    tol: Annotated[float, Interval(Real, 0, None, closed="left")] = 0.0
    iterated_power: Annotated[int | Literal["auto"], CHOICES, Interval(Integral, 0, None, closed="left")] = "auto"
    n_oversamples: Count = 10
    power_iteration_normalizer: Annotated[Literal["auto", "QR", "LU", "none"], CHOICES] = "auto"
    random_state: Seed = None
    robust: Flag = False
    max_iter: Count = 1000

    # learning

    @checked
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the components of the rows.

        Parameters
        ----------
        X
            Rows; NaN is missing. Sparse rows are not made dense.
        y
            The target that n_components="relevant" asks about; otherwise not used.
        sample_weight
            How often each row counts.
        """
        rows = read_table(self, X, reset=True, accept_sparse=True)
        self._forget_fit()
        if isinstance(rows, ChunkSource):
            return self._fit_source(rows, y)
        weights = check_weights(sample_weight, rows.shape[0])
        refuse_few(rows.shape[0] if weights is None else float(weights.sum()), weights is not None)
        self._fit_svd_solver = chosen_solver(self, rows)
        check_count(self.n_components, rows.shape, self._fit_svd_solver)
        if self.robust:
            return self._fit_robust(rows, y, weights)
        if self._fit_svd_solver == "covariance_eigh":
            moments = moments_of(rows, weights)
            if np.isfinite(np.diagonal(moments.second)).all():
                return self._settle(moments, rows, y, weights)
        rows = verified(rows)
        if not sparse.issparse(rows) and np.isnan(rows).any():
            return self._fit_missing(rows, weights)
        spectrum = solvers.solved(self, self._fit_svd_solver, rows, weights)
        return self._remember(spectrum, dimension.chosen(self, spectrum, rows, y, weights), rows.shape[0], rows.dtype)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Array:
        """Fit, and give the scores of the rows."""
        self.fit(X, y, **fit_params)
        if type(X) is np.ndarray and X.dtype == self.mean_.dtype and not hasattr(self, "trace_"):
            return each_row(X, Scores.of(self), self.n_components_)  # fit has looked at the rows
        return self.transform(X)

    def _needs_rows(self) -> bool:
        return self.robust or self.n_components in ("held-out", "relevant")

    def _without_sums(self) -> str:
        how = f"svd_solver={self._fit_svd_solver!r}" + (", robust=True" if self.robust else "")
        return (
            f"this model was fitted by {how}, or to missing values, and keeps no sums over the rows: fit it to "
            "complete rows with svd_solver='covariance_eigh', or begin with partial_fit"
        )

    # ways to a spectrum

    def _fit_source(self, source: ChunkSource, y: Any) -> Self:
        if self._needs_rows():
            raise ValueError("robust, 'held-out' and 'relevant' look at rows side by side: give a table in memory")
        self._fit_svd_solver = "covariance_eigh"
        moments = moments_of(source)
        check_count(self.n_components, (int(moments.weight), len(moments.centre)), self._fit_svd_solver)
        if np.isfinite(np.diagonal(moments.second)).all():
            return self._settle(moments)
        return self._fit_missing(source, None)

    def _settle(self, moments: Moments, rows: Any = None, y: Any = None, weights: Array | None = None) -> Self:
        """Components from sums over the rows."""
        refuse_few(float(moments.weight), weights is not None)
        self._fit_svd_solver = "covariance_eigh"
        spectrum = solvers.by_moments(moments)
        n = round(float(moments.weight)) if rows is None else rows.shape[0]
        dtype = np.dtype(np.float64) if rows is None else rows.dtype
        self._remember(spectrum, dimension.chosen(self, spectrum, rows, y, weights), n, dtype)
        self.statistics_ = moments
        return self

    def _fit_missing(self, rows: Any, weights: Array | None) -> Self:
        """Components by EM: the model with one factor less than columns is the Gaussian with any covariance."""
        source = as_source(rows, weights)
        d = source.n_columns
        if self.n_components in ("held-out", "relevant"):
            raise ValueError(f"n_components={self.n_components!r} needs complete rows: impute them, or give a number")
        asked: Any = self.n_components
        q = int(asked) if isinstance(asked, Integral) and 0 < int(asked) < d else d - 1
        spectrum = self._by_em(source, q)
        k = dimension.chosen(self, spectrum, None, None, None)
        if 0 < k < q:  # the noise is that of the model with as many factors
            spectrum = self._by_em(source, k)
        dtype = np.dtype(np.float64) if isinstance(rows, ChunkSource) else rows.dtype
        return self._remember(spectrum, k, round(spectrum.weight), dtype)

    def _by_em(self, source: ChunkSource, q: int) -> Spectrum:
        try:
            spectrum, run = by_em(source, q, self.tol, self.max_iter)
        except ColumnError as problem:
            raise self._named(problem) from None
        self.trace_ = list(run.trace)
        return spectrum

    def _fit_robust(self, rows: Any, y: Any, weights: Array | None) -> Self:
        if sparse.issparse(rows):
            raise TypeError("robust=True takes dense rows: use X.toarray()")
        rows = verified(rows)
        if np.isnan(rows).any():
            reason = "has missing values, which robust=True cannot take: use robust=False, or latently.impute.Imputer"
            raise self._named(ColumnError(int(np.isnan(rows).any(axis=0).argmax()), reason))
        every = np.ones(len(rows)) if weights is None else weights
        asked: Any = self.n_components
        asked = min(rows.shape) if asked is None or isinstance(asked, str) else asked
        spectrum, self.distances_ = robust_spectrum(rows.astype(np.float64), every, asked, self.max_iter)
        self.distrusted_ = self.distances_.distrusted
        trusted = ~self.distrusted_
        target = y if y is None or len(y) != len(rows) else np.asarray(y)[trusted]
        k = dimension.chosen(self, spectrum, rows[trusted], target, None if weights is None else weights[trusted])
        return self._remember(spectrum, k, len(rows), rows.dtype)

    # from a spectrum to attributes

    def _remember(self, spectrum: Spectrum, k: int, n: int, dtype: Any) -> Self:
        kept, rest = spectrum.variances[:k], spectrum.variances[k:]
        limit = spectrum.limit
        left = float(rest.mean()) if len(rest) else (spectrum.total - float(kept.sum())) / max(limit - k, 1)
        self.mean_ = spectrum.mean.astype(dtype, copy=False)
        self.components_ = np.ascontiguousarray(spectrum.vectors[:k], dtype=dtype)
        self.explained_variance_ = kept.astype(dtype)
        ratio = kept / spectrum.total if spectrum.total > 0 else np.zeros(k)
        self.explained_variance_ratio_ = ratio.astype(dtype)
        self.singular_values_ = np.sqrt(kept * (spectrum.weight - 1)).astype(dtype)
        self.noise_variance_ = dtype.type(max(left, 0.0) if k < limit else 0.0)
        self.n_components_, self.n_samples_, self.n_iter_ = k, n, spectrum.steps[0]
        if self._fit_svd_solver == "power" or hasattr(self, "trace_"):
            self.converged_ = spectrum.steps[1]
            self.reason_ = "converged" if self.converged_ else "max_iter"
            warn_unconverged(self.reason_, "max_iter", self.max_iter)
        warn_rank(self.n_components, spectrum)
        return self

    def _forget_fit(self) -> None:
        for name in ("statistics_", "distrusted_", "distances_", "trace_", "converged_", "reason_"):
            self.__dict__.pop(name, None)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _expected_failed_checks(self) -> dict[str, str]:
        reason = "rows of weight 0 lie in directions without variance, which are arbitrary, and many here"
        return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}
