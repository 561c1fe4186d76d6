"""Dictionary learning: atoms of which every row needs few."""

from collections.abc import Callable
from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from latently.data.open import as_source
from latently.data.sources.chunks import ChunkSource
from latently.factor.checkpoints import NoCheckpoints
from latently.factor.sparse.answers import SparseCodes
from latently.factor.sparse.atoms import CodeSums
from latently.factor.sparse.learning import Learnt, Plan, alternate, coding, refreshed, walks
from latently.factor.sparse.start import Draw, drawing, given_start, svd_start, unit_start
from latently.learn.engine.protocol import Array
from latently.learn.engine.reduce import Reduction, reducing
from latently.learn.estimator.missing import refuse_missing
from latently.learn.estimator.parameters import CHOICES, COUNT, Flag, Seed, Whole, check_parameters, stores_parameters
from latently.learn.estimator.table import OutOfCoreMixin, read_rows, read_source
from latently.learn.estimator.unconverged import warn_unconverged

_PASSES = 20  # over the atoms, once the sums of two models are added
_CHUNK_ROWS = 2048  # codes take so long that small chunks share the work better


@stores_parameters
class DictionaryLearning(
    SparseCodes,
    NoCheckpoints,
    OutOfCoreMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
    """A dictionary of atoms such that every row is made of few of them.

    Codes s and atoms D (the rows of `components_`) minimise

    - without `eta`: the sum of ``|x - s D|^2 / 2 + alpha |s|_1``, with atoms no longer than one (scikit-learn's
      problem);
    - with `eta`: the mean of ``|x - s D|^2 + alpha |s|_1``, plus ``eta |D|_F^2``: atoms that do not pay come to zero.

    Atoms need the rows only through sums that add: A = sum s s' and B = sum s x'. So tables larger than memory, Dask,
    batches (`partial_fit`) and models learnt apart (`merge`) are one arithmetic.

    Parameters
    ----------
    n_components
        Number of atoms; as many as there are columns if None.
    alpha
        Weight of the 1-norm of the codes.
    max_iter, tol
        Iterations at most; converged when the objective falls by less than this share of it.
    fit_algorithm
        Codes at fitting: "lars" (least angle regression) or "cd" (coordinate descent); both solve the same problem.
    transform_algorithm
        Of `transform`: "lasso_lars" or "lasso_cd" (alpha of the fit), "lars", "omp" (number of atoms), "threshold".
    transform_n_nonzero_coefs
        Number of atoms for "lars" and "omp"; a tenth of the columns if None.
    transform_alpha
        Another alpha for `transform`.
    n_jobs
        Threads; all cores if None.
    dict_init
        (k, d) atoms to start from; singular vectors of X if None.
    code_init
        Accepted for scikit-learn's sake: codes are found anew for the atoms of every iteration.
    callback, verbose
        Called every five iterations with a dict of the atoms and the objective; whether to print the objective.
    split_sign
        Whether `transform` gives positive and negative parts apart.
    random_state
        Seed or generator, for rows that take the place of atoms that no code uses.
    positive_code, positive_dict
        Whether codes, atoms may not be negative.
    transform_max_iter
        Steps for the code of one row.
    eta
        Weight of the squared norm of the atoms in place of the limit on their length.
    batch_size
        Rows of a batch, to improve the atoms after each batch rather than after all rows; `max_iter` then counts walks
        through the table.

    Attributes
    ----------
    components_ : (k, d) atoms
    error_ : objective after each iteration
    trace_ : minus the objective, which never falls; not with `batch_size`
    n_iter_ : iterations taken
    converged_, reason_ : whether it converged; why it ended, "converged" or "max_iter"
    statistics_ : the sums that the atoms were made from

    References
    ----------
    Mairal, Bach, Ponce and Sapiro (2009), Online dictionary learning for sparse coding.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> atoms = np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]]) / np.sqrt(2)
    >>> X = rng.laplace(size=(300, 2)) @ atoms
    >>> model = DictionaryLearning(2, alpha=0.1, transform_algorithm="lasso_cd", random_state=0).fit(X)
    >>> np.abs(model.components_ @ atoms.T).max(axis=1).round(2)
    array([1., 1.])
    >>> model.transform(X).shape
    (300, 2)
    """

    _tags: ClassVar[dict[str, Any]] = {"transformer_tags.preserves_dtype": ["float64", "float32"]}
    _is_iterative = True
    _row_verbs: ClassVar[tuple[str, ...]] = ("transform",)

    n_components: Annotated[int | None, COUNT, None] = None
    _: KW_ONLY
    alpha: Annotated[float, Interval(Real, 0, None, closed="left")] = 1
    max_iter: Whole = 1000
    tol: Annotated[float, Interval(Real, 0, None, closed="left")] = 1e-8
    fit_algorithm: Annotated[Literal["lars", "cd"], CHOICES] = "lars"
    transform_algorithm: Annotated[Literal["lasso_lars", "lasso_cd", "lars", "omp", "threshold"], CHOICES] = "omp"
    transform_n_nonzero_coefs: Annotated[int | None, COUNT, None] = None
    transform_alpha: Annotated[float | None, Interval(Real, 0, None, closed="left"), None] = None
    n_jobs: Annotated[int | None, Integral, None] = None
    code_init: Annotated[ArrayLike | None, np.ndarray, None] = None
    dict_init: Annotated[ArrayLike | None, np.ndarray, None] = None
    callback: Annotated[Callable[[dict[str, Any]], Any] | None, callable, None] = None
    verbose: Annotated[bool, "verbose"] = False
    split_sign: Flag = False
    random_state: Seed = None
    positive_code: Flag = False
    positive_dict: Flag = False
    transform_max_iter: Whole = 1000
    eta: Annotated[float | None, Interval(Real, 0, None, closed="neither"), None] = None
    batch_size: Annotated[int | None, COUNT, None] = None

    # learning

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the atoms of the rows.

        Parameters
        ----------
        X
            Table of (rows, columns).
        y
            Not used.
        """
        check_parameters(self)
        source, dtype = self._open(X, reset=True)
        with self._jobs(), reducing(source) as reduce:
            draw = drawing(source, check_random_state(self.random_state))
            start = self._start(reduce, draw)
            found = self._learn(reduce, start, draw)
        self._remember(found, start, dtype)
        self.reason_ = "converged" if found.converged else "max_iter"
        if self.batch_size is None:
            self.trace_ = [-cost for cost in found.costs]
        warn_unconverged(self.reason_, "max_iter", self.max_iter)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, and give the codes of the rows by the algorithm of the fit."""
        self.fit(X, y, **fit_params)
        return self._codes(read_rows(self, X, reset=False), self._fit_coder())

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from a further batch of rows: its sums are added, and the atoms improved.

        The first batch gives the start. Sums of earlier batches are those of their codes at the time.
        """
        check_parameters(self)
        begun, problem = hasattr(self, "components_"), self._problem()
        source, dtype = self._open(X, reset=not begun)
        with self._jobs(), reducing(source) as reduce:
            draw = drawing(source, check_random_state(self.random_state))
            D = np.asarray(self.components_, dtype=np.float64) if begun else self._start(reduce, draw)
            new: CodeSums = reduce(coding(self._fit_coder(), D))
        sums = self.statistics_ + new if begun else new
        better, sums, unused = problem.updated(sums, D)
        cost = problem.cost(sums, better)
        found = Learnt(refreshed(problem, better, unused, draw), sums, [*getattr(self, "error_", []), cost])
        self._remember(found, self.start_ if begun else D, dtype)
        return self

    def merge(self, other: Self) -> Self:
        """Take in what another model has learnt from other rows; both must have started from the same atoms."""
        check_is_fitted(self)
        if type(other) is not type(self):
            raise TypeError(f"cannot merge a {type(other).__name__} into a {type(self).__name__}")
        check_is_fitted(other)
        if not np.array_equal(self.start_, other.start_):
            raise ValueError("the models started from different atoms, so their codes do not add: give one dict_init")
        sums, D = self.statistics_ + other.statistics_, np.asarray(self.components_, dtype=np.float64)
        for _ in range(_PASSES):
            D, sums, _unused = self._problem().updated(sums, D)
        self.statistics_, self.components_ = sums, D.astype(self.components_.dtype)
        return self

    def _open(self, X: Any, *, reset: bool) -> tuple[ChunkSource, Any]:
        """The rows as a source, and their type."""
        if isinstance(X, ChunkSource):
            return read_source(self, X, reset=reset, allow_nan=False), np.float64
        with refuse_missing(type(self).__name__):
            rows = read_rows(self, X, reset=reset)
        return as_source(rows, chunk_rows=_CHUNK_ROWS), rows.dtype

    def _start(self, reduce: Reduction, draw: Draw) -> Array:
        d = self.n_features_in_
        k = d if self.n_components is None else self.n_components
        if self.dict_init is not None:
            return given_start(self.dict_init, k, d)
        start = svd_start(reduce, k)
        return start if self.eta is None and self.batch_size is None else unit_start(start, draw)

    def _learn(self, reduce: Reduction, start: Array, draw: Draw) -> Learnt:
        plan = Plan(self._problem(), self._fit_coder(), draw, float(self.tol), self.max_iter, self._print_progress)
        if self.batch_size is None:
            return alternate(reduce, plan, start)
        return walks(reduce, plan, start, self.batch_size, check_random_state(self.random_state))

    def _print_progress(self, iteration: int, D: Array, cost: float) -> None:
        if self.verbose:
            print(f"iteration {iteration + 1}: objective {cost:.6g}")
        if self.callback is not None and iteration % 5 == 0:
            self.callback({"ii": iteration, "dictionary": D, "current_cost": cost})

    def _remember(self, found: Learnt, start: Array, dtype: Any) -> None:
        self.components_, self.start_ = found.D.astype(dtype), start
        self.error_, self.n_iter_, self.converged_ = found.costs, len(found.costs), found.converged
        self.statistics_ = found.sums
        for name in ("trace_", "reason_"):
            self.__dict__.pop(name, None)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _expected_failed_checks(self) -> dict[str, str]:
        merged = {"law_merge_equals_fit_on_both": "codes of rows learnt apart are those of other atoms"}
        if self.transform_algorithm.startswith("lasso"):
            return merged
        reason = "as in scikit-learn, fit_transform gives the codes of the fit, which are those of the lasso"
        return merged | dict.fromkeys(("check_transformer_general", "check_transformer_data_not_an_array"), reason)
