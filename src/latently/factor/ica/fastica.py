"""FastICA: a fixed point of a nonlinear contrast."""

import warnings
from dataclasses import KW_ONLY
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Options, StrOptions

from latently.factor.ica.ascent.contrast import Contrast, Nonlinearity
from latently.factor.ica.ascent.fixed_point import deflation, parallel, reloaded
from latently.factor.ica.base import IndependentComponents, Separation
from latently.factor.ica.gaussianity import non_gaussianity
from latently.factor.ica.start import start_of
from latently.factor.ica.white_data import WhiteData
from latently.factor.ica.whitening import Whitening, whitening_of
from latently.learn.engine.protocol import Array
from latently.learn.estimator.parameters import CHOICES, COUNT, NON_NEGATIVE, Count, Seed, stores_parameters


@stores_parameters
class FastICA(IndependentComponents):
    """Independent components by fixed points of a nonlinear contrast.

    Each step is one sum over the rows, on all threads; the result is the same for any number of them. Components come
    in a fixed order: those that explain most of the data first, each with the largest entry of its column of `mixing_`
    positive.

    Parameters
    ----------
    n_components
        Number of components; None for as many as there are columns (or the rank of the data, if that is less).
    algorithm
        "parallel": all components at once, "deflation": one after the other; without `w_init`, those that the data
        settle best come first (Nordhausen et al. 2011).
    whiten
        "unit-variance": sources have variance one. "arbitrary-variance": they have variance one over the number of
        rows. False: X is white already, and is neither centred nor turned.
    fun
        Contrast: "logcosh", "exp", "cube" (kurtosis), or a function of an array that gives g and the mean of g'
        over the last axis.
    fun_args
        Arguments of the function; "logcosh" has `alpha` between 1 and 2.
    max_iter, tol
        Steps at most; converged when no component turns by more than this.
    w_init
        (k, k) start; drawn from a normal distribution if None.
    whiten_solver
        "svd", which also serves where columns are almost collinear, or "eigh".
    random_state
        Seed or generator for the start.

    Attributes
    ----------
    components_ : (k, d) maps centred rows to sources
    mixing_ : (d, k) maps sources to centred rows
    mean_ : (d,)
    whitening_ : (k, d) maps centred rows to white coordinates of variance one
    n_iter_ : steps taken (with "deflation", the most of any component)
    converged_ : whether it converged

    Examples
    --------
    >>> import numpy as np
    >>> t = np.linspace(0, 8, 2000)
    >>> S = np.c_[np.sin(2 * t), np.sign(np.sin(3 * t))]
    >>> X = S @ np.array([[1.0, 0.5], [2.0, 1.0]]).T + np.array([[0.0, 1.0]]) * S
    >>> model = FastICA(random_state=0).fit(X)
    >>> np.abs(np.corrcoef(model.transform(X).T, S.T)[:2, 2:]).max(axis=1).round(2)
    array([1., 1.])
    """

    _opening = "FastICA did not converge. Consider increasing tolerance or the maximum number of iterations."
    _is_iterative = True

    n_components: Annotated[int | None, COUNT, None] = None
    _: KW_ONLY
    algorithm: Annotated[Literal["parallel", "deflation"], CHOICES] = "parallel"
    whiten: Annotated[Any, StrOptions({"arbitrary-variance", "unit-variance"}), Options(bool, {False})] = (
        "unit-variance"
    )
    fun: Annotated[str | Nonlinearity, StrOptions({"logcosh", "exp", "cube"}), callable] = "logcosh"
    fun_args: Annotated[dict[str, Any] | None, dict, None] = None
    max_iter: Count = 200
    tol: Annotated[float, NON_NEGATIVE] = 1e-4
    w_init: Annotated[ArrayLike | None, "array-like", None] = None
    whiten_solver: Annotated[Literal["eigh", "svd"], CHOICES] = "svd"
    random_state: Seed = None

    def _whitening(self, reduce: Any) -> Whitening:
        if self.whiten:
            return whitening_of(reduce, self.n_components, self.whiten_solver)
        if self.n_components is not None:
            warnings.warn("Ignoring n_components with whiten=False.", UserWarning, stacklevel=2)
        return Whitening.none(self.n_features_in_, reduce(lambda chunk: chunk.n_rows))

    def _separate(self, data: WhiteData, start: Array | None) -> Separation:
        one_by_one = reloaded if self.w_init is None else deflation  # a start that is given says the order, too
        solve = parallel if self.algorithm == "parallel" else one_by_one
        begin = start_of(self.w_init, data.n_components, self.random_state) if start is None else start
        W, n_iter, converged = solve(data, self._contrast(), begin, self.tol, self.max_iter)
        return Separation(W, n_iter, converged, non_gaussianity(data, W))

    def _contrast(self) -> Contrast:
        options = self.fun_args or {}
        alpha = options.get("alpha", 1.0)
        if not 1 <= alpha <= 2:
            raise ValueError("alpha must be in [1,2]")
        return Contrast(self.fun, float(alpha), options)

    def _centre(self) -> Any:
        return self.mean_ if self.whiten else 0.0

    def _remember(self, found: Separation, whitening: Whitening, dtype: Any) -> None:
        super()._remember(found, whitening, dtype)
        if not self.whiten:
            del self.mean_, self.whitening_
        elif self.whiten == "arbitrary-variance":
            size = np.asarray(np.sqrt(whitening.rows), dtype=dtype)
            self.components_, self.mixing_ = self.components_ / size, self.mixing_ * size
