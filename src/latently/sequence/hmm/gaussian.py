"""GaussianHMM."""

from typing import Any, ClassVar

import numpy as np

from latently.distributions.components.gaussian.block import GaussianBlock
from latently.distributions.components.gaussian.limits.constraints import read_constraints
from latently.distributions.components.gaussian.limits.fixed import FixedGaussianBlock
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.gaussian.prior import GaussianPrior
from latently.distributions.floor import Floor
from latently.learn.estimator.parameters import stores_parameters
from latently.sequence.emissions.fast import GaussianEmission
from latently.sequence.emissions.start import StartData, covariance_start, filled, k_means
from latently.sequence.hmm.base import BaseHMM
from latently.sequence.hmm.fixed import matched
from latently.sequence.inference.chain import Array


@stores_parameters
class GaussianHMM(BaseHMM):
    """Hidden Markov model whose states emit Gaussian rows.

    A drop-in replacement for hmmlearn's class of this name. NaN is a missing entry, at a fit and afterwards.

    Parameters
    ----------
    n_components
        Number of states.
    covariance_type
        "spherical", "diag", "full" or "tied".
    min_covar
        Added to the variances that a fit starts from.
    startprob_prior, transmat_prior
        Dirichlet parameters, at least 1 (flat).
    means_prior, means_weight
        Where the means are expected, and how many rows that is worth.
    covars_prior, covars_weight
        Scatter that is added to each state's own (times the identity, for matrices, if it is a number), and its
        weight.
    algorithm
        How `predict` decodes: "viterbi" or "map".
    random_state
        Seed.
    n_iter
        Iterations at most.
    tol
        Converged when the objective rises by less.
    verbose
        Show progress on a terminal.
    params, init_params
        Letters of what is learnt, and of what gets starting values: s(tart), t(ransitions), m(eans),
        c(ovariances).
    implementation
        Accepted for compatibility; there is one implementation, which is both fast and safe.
    startprob
        "stationary", or fixed probabilities of the first state with NaN where they are learnt.
    transmat
        Fixed transition probabilities, NaN where they are learnt.
    fixed
        Parameters that are not learnt, by name, as in `GaussianMixture`: `startprob`, `transmat`, `means` and
        `covariances`, with NaN for what is learnt. A matrix of covariances is fixed as a whole or not at all.
    n_init
        Number of starts, of which the best is kept.
    low_memory
        Fit in memory of the order of sqrt(T) K for a sequence of T rows instead of T K; takes longer.

    Attributes
    ----------
    startprob_, transmat_, means_, covars_
        Learnt parameters; `covars_` are matrices, except for "diag" and "full", as in hmmlearn.
    converged_, n_iter_, history_
        Whether it converged, in how many iterations, and the objective in each (also by the name `trace_`).
    collapsed_
        States that have shrunk onto single values, as far as the resolution of the data lets them; empty if all is
        well.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.r_[np.zeros(20), np.full(20, 9.0)][:, None] + np.tile([-0.5, 0.5], 20)[:, None]
    >>> model = GaussianHMM(2, random_state=0).fit(X)
    >>> np.sort(model.means_.ravel())
    array([0., 9.])
    >>> int(np.abs(np.diff(model.predict(X))).sum())
    1
    """

    PARAMETERS: ClassVar[dict[str, str]] = {**BaseHMM.PARAMETERS, "m": "means_", "c": "covars_"}
    FIXABLE: ClassVar[tuple[str, ...]] = (*BaseHMM.FIXABLE, "means", "covariances")

    n_components: int = 1
    covariance_type: str = "diag"
    min_covar: float = 1e-3
    startprob_prior: Any = 1.0
    transmat_prior: Any = 1.0
    means_prior: Any = 0
    means_weight: Any = 0
    covars_prior: Any = 1e-2
    covars_weight: Any = 1
    algorithm: str = "viterbi"
    random_state: Any = None
    n_iter: int = 10
    tol: float = 1e-2
    verbose: Any = False
    params: str = "stmc"
    init_params: str = "stmc"
    implementation: str = "log"

    # attributes

    def _has(self, name: str) -> bool:
        return ("_covars_" if name == "covars_" else name) in self.__dict__

    @property
    def covars_(self) -> Array:
        """Covariances: (K, d, d), for "tied" as well as "spherical" and "diag" written out."""
        if "_covars_" not in self.__dict__:
            raise AttributeError(f"this {type(self).__name__} has no covars_ yet")
        if self.covariance_type == "full":
            return self._covars_
        return self._gaussians().matrices

    @covars_.setter
    def covars_(self, value: Any) -> None:
        self._covars_ = check_covars(value, self.covariance_type, self.n_components)

    def _n_columns(self) -> int | None:
        return np.shape(self.means_)[1] if self._has("means_") else None

    # model

    def _emission(self, X: Array | None) -> GaussianEmission:
        d = X.shape[1] if X is not None else np.shape(self.means_)[1]
        floor = None if X is None else Floor.of(X)
        block: GaussianBlock = gaussian_block(d, self.covariance_type, self._prior(d), floor, self.params)
        given = {name: self._fixed(name) for name in ("means", "covariances") if self._fixed(name) is not None}
        if found := read_constraints(given, None, None, kind=block.kind, k=self.n_components, d=d):
            block = FixedGaussianBlock(**vars(block), constraints=found)
        complete = X is not None and not np.isnan(X.sum())
        return GaussianEmission(block, np.arange(self.n_components), complete=complete)

    def _plain_emission(self) -> GaussianEmission:
        d = np.shape(self.means_)[1]
        return GaussianEmission(gaussian_block(d, self.covariance_type), np.arange(self.n_components))

    def _prior(self, d: int) -> GaussianPrior:
        K, kind = self.n_components, self.covariance_type
        location = np.broadcast_to(np.asarray(self.means_prior, dtype=np.float64), (K, d))
        kappa = np.broadcast_to(np.asarray(self.means_weight, dtype=np.float64), (K,))[:, None]
        scatter = np.asarray(self.covars_prior, dtype=np.float64)
        if kind in ("full", "tied"):
            scatter = scatter * np.eye(d) if scatter.ndim == 0 else scatter
            power = np.maximum(np.asarray(self.covars_weight) - d, 0.0)
            if kind == "full":
                power = np.broadcast_to(power, (K,))[:, None, None]
            return GaussianPrior(np.zeros(()), location, kappa, scatter, np.asarray(power))
        if scatter.ndim == 1 and len(scatter) == K and kind == "spherical":
            scatter = scatter[:, None]
        power = np.broadcast_to(np.maximum(np.asarray(self.covars_weight) - 1.0, 0.0), (K, d))
        scatter = np.broadcast_to(scatter, (K, d))
        if kind == "spherical":
            scatter, power = scatter.sum(axis=1), power.sum(axis=1)
        return GaussianPrior(np.zeros(()), location, kappa, scatter, power)

    def _theta(self) -> GaussianParams:
        self._need("means_", "covars_")
        return self._gaussians()

    def _gaussians(self) -> GaussianParams:
        means = np.asarray(self.means_, dtype=np.float64)
        if means.ndim != 2 or len(means) != self.n_components or not np.isfinite(means).all():
            raise ValueError(f"means_ must be {self.n_components} rows of finite numbers, got shape {means.shape}")
        d, covars = means.shape[1], np.asarray(self._covars_, dtype=np.float64)
        if self.covariance_type == "spherical":
            covars = np.broadcast_to(covars.reshape(self.n_components, -1), means.shape).mean(axis=1)
        elif covars.shape[-1] != d or covars.shape[-2:] not in ((d, d), (self.n_components, d)):
            raise ValueError(f"covars_ have shape {covars.shape}, but the means have {d} columns")
        return GaussianParams.in_own_units(self.covariance_type, means, np.ascontiguousarray(covars))  # type: ignore[arg-type]

    def _start_theta(self, data: StartData, rng: np.random.RandomState) -> dict[str, Any]:
        X = data.X
        if self.covariance_type not in KINDS:
            raise ValueError(f"covariance_type must be one of {KINDS}, not {self.covariance_type!r}")
        K, found = self.n_components, dict[str, Any]()
        if self._starts("m"):
            found["means_"] = matched(k_means(data, K, rng), self._fixed_rows("means", X.shape[1]))
        if self._starts("c"):
            start = covariance_start(X, filled(X).mean(axis=0), self.covariance_type, K, self.min_covar)
            found["covars_"] = known(self._fixed("covariances"), start)
        return found

    def _store_theta(self, theta: GaussianParams) -> None:
        self._store(means_=theta.means)
        self._covars_ = theta.covariances.copy()


KINDS = ("spherical", "diag", "full", "tied")


def gaussian_block(
    d: int, kind: Any, prior: GaussianPrior | None = None, floor: Floor | None = None, learn: str = "mc"
) -> GaussianBlock:
    """Gaussian components of all columns of a table."""
    return GaussianBlock(tuple(range(d)), tuple(map(str, range(d))), kind, prior, None, floor, learn)


def known(fixed: Any, start: Array) -> Array:
    """Starting values with what is fixed in its place, if that is of their shape."""
    given = np.asarray(np.nan if fixed is None else fixed, dtype=np.float64)
    return np.where(np.isnan(given), start, given) if given.shape in ((), start.shape) else start


def check_covars(value: Any, kind: str, K: int) -> Array:
    """Give covariances in the shape of their kind, and refuse those that are none."""
    covars = np.array(value, dtype=np.float64)
    if kind not in KINDS:
        raise ValueError(f"covariance_type must be one of {KINDS}, not {kind!r}")
    if kind == "spherical" and covars.size == K:
        covars = covars.reshape(K)
    if kind == "tied":
        covars, K = covars[None] if covars.ndim == 2 else covars, 1
    if covars.ndim == 0 or len(covars) != K or (kind in ("tied", "full") and covars.ndim != 3):
        raise ValueError(f"covars_ of kind {kind!r} have shape {covars.shape}, which does not fit {K} states")
    matrices = covars if kind in ("tied", "full") else covars[..., None, None]
    if not np.isfinite(covars).all() or not np.allclose(matrices, np.swapaxes(matrices, -1, -2)):
        raise ValueError(f"covars_ of kind {kind!r} must be finite and symmetric")
    if (np.linalg.eigvalsh(matrices) <= 0).any():
        raise ValueError(f"covars_ of kind {kind!r} must be positive (definite)")
    return covars[0] if kind == "tied" else covars
