"""InfoMax: maximum likelihood of independent sources."""

from dataclasses import KW_ONLY
from typing import Annotated, Any, Literal

from numpy.typing import ArrayLike

from latently.factor.ica.ascent.fixed_point import orthogonal
from latently.factor.ica.ascent.likelihood import Likelihood
from latently.factor.ica.ascent.quasi_newton import natural_gradient, quasi_newton
from latently.factor.ica.base import IndependentComponents, Separation
from latently.factor.ica.gaussianity import non_gaussianity
from latently.factor.ica.start import start_of
from latently.factor.ica.white_data import WhiteData
from latently.factor.ica.whitening import Whitening
from latently.learn.engine.protocol import Array
from latently.learn.estimator.parameters import CHOICES, COUNT, NON_NEGATIVE, Count, Flag, Seed, stores_parameters


@stores_parameters
class InfoMax(IndependentComponents):
    """Independent components by maximum likelihood, which is maximum transfer of information.

    Unlike `FastICA` and `JADE`, sources need not be uncorrelated in the sample: their correlation is part of the
    likelihood. Order and sign of components are fixed as in `FastICA`.

    Parameters
    ----------
    n_components
        Number of components; None for as many as there are columns (or the rank of the data, if that is less).
    algorithm
        "quasi-newton": limited-memory BFGS, preconditioned by the curvature of independent sources. "natural-gradient":
        W <- W - rate (E[psi(y) y'] - 1) W, with a rate that adapts itself; simple, and much slower.
    extended
        Whether sources may have light tails as well as heavy ones: each has a density exp(-y^2 / 2) cosh(y)^(-s), and
        the sign s is found from the data. Without it all have the density 1 / cosh(y).
    max_iter, tol
        Steps at most; converged when no entry of the relative gradient is larger.
    w_init
        (k, k) start on white data; a random rotation if None.
    random_state
        Seed or generator for the start.

    Attributes
    ----------
    components_ : (k, d) maps centred rows to sources
    mixing_ : (d, k) maps sources to centred rows
    mean_ : (d,)
    whitening_ : (k, d) maps centred rows to white coordinates
    signs_ : (k,) 1 for sources with heavy tails, -1 for those with light ones
    loss_ : minus the mean log-likelihood of white rows
    n_iter_ : steps taken
    converged_ : whether it converged

    References
    ----------
    Bell and Sejnowski (1995); Lee, Girolami and Sejnowski (1999); Ablin, Cardoso and Gramfort (2018), Faster
    independent component analysis by preconditioning with Hessian approximations.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> S = np.c_[rng.uniform(-1, 1, 3000), rng.laplace(size=3000)]
    >>> model = InfoMax(random_state=0).fit(S @ np.array([[2.0, 1.0], [1.0, 1.0]]).T)
    >>> model.signs_, model.converged_
    (array([ 1., -1.]), True)
    """

    _is_iterative = True

    n_components: Annotated[int | None, COUNT, None] = None
    _: KW_ONLY
    algorithm: Annotated[Literal["quasi-newton", "natural-gradient"], CHOICES] = "quasi-newton"
    extended: Flag = True
    max_iter: Count = 500
    tol: Annotated[float, NON_NEGATIVE] = 1e-7
    w_init: Annotated[ArrayLike | None, "array-like", None] = None
    random_state: Seed = None

    def _separate(self, data: WhiteData, start: Array | None) -> Separation:
        solve = quasi_newton if self.algorithm == "quasi-newton" else natural_gradient
        likelihood = Likelihood(data, self.extended)
        begin = start_of(self.w_init, data.n_components, self.random_state) if start is None else start
        begin = orthogonal(begin) if self.w_init is None else begin
        end = solve(likelihood, begin, self.tol, self.max_iter)
        strength = non_gaussianity(data, end.point.W)
        return Separation(end.point.W, end.n_iter, end.converged, strength, {"signs_": end.point.signs}, end.point.loss)

    def _remember(self, found: Separation, whitening: Whitening, dtype: Any) -> None:
        super()._remember(found, whitening, dtype)
        self.loss_ = found.loss
