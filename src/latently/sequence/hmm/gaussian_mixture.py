"""GMMHMM."""

from typing import Any, ClassVar

import numpy as np

from latently.distributions.components.gaussian.limits.constraints import Constraints, read_constraints
from latently.distributions.components.gaussian.limits.fixed import FixedGaussianBlock
from latently.distributions.components.gaussian.mixtures import GaussianMixtures, Mixtures
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.gaussian.prior import GaussianPrior
from latently.distributions.floor import Floor
from latently.distributions.probabilities import filled_rows
from latently.learn.estimator.parameters import stores_parameters
from latently.sequence.emissions.base import Emission
from latently.sequence.emissions.start import StartData, covariance_start, nested_means
from latently.sequence.hmm.base import BaseHMM
from latently.sequence.hmm.fixed import matched_within
from latently.sequence.hmm.gaussian import KINDS, gaussian_block, known
from latently.sequence.inference.chain import Array
from latently.sequence.model.transitions import check_fixed, check_prior, check_probabilities


@stores_parameters
class GMMHMM(BaseHMM):
    """Hidden Markov model whose states emit rows of Gaussian mixtures.

    A drop-in replacement for hmmlearn's class of this name. NaN is a missing entry.

    Parameters
    ----------
    n_components
        Number of states.
    n_mix
        Number of Gaussians in each state's mixture.
    min_covar
        Added to the variances that a fit starts from.
    startprob_prior, transmat_prior, weights_prior
        Dirichlet parameters, at least 1 (flat).
    means_prior, means_weight
        Where the means are expected, and how many rows that is worth.
    covars_prior, covars_weight
        For "diag" and "spherical", shape and scale of inverse Gamma priors of the variances; for "full" and
        "tied", scatter and degrees of freedom of inverse Wishart priors. None is maximum likelihood.
    algorithm, random_state, n_iter, tol, verbose, implementation
        As in `GaussianHMM`.
    covariance_type
        "spherical", "diag", "full", or "tied" (within a state).
    params, init_params
        Letters of what is learnt, and of what gets starting values: s(tart), t(ransitions), m(eans),
        c(ovariances), w(eights).
    startprob, transmat, n_init, low_memory
        As in `GaussianHMM`.
    fixed
        Parameters that are not learnt, by name: `startprob`, `transmat`, `weights`, `means` and `covariances`, in
        the shapes of the attributes, with NaN for what is learnt. A matrix of covariances is fixed as a whole or not
        at all.

    Attributes
    ----------
    startprob_, transmat_, weights_, means_, covars_
        Learnt parameters; weights are (states, n_mix), means (states, n_mix, columns).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([0.0, 5.0, 20.0, 25.0], 20)[:, None] + np.tile([-0.5, 0.5], 40)[:, None]
    >>> model = GMMHMM(2, n_mix=2, random_state=0).fit(X)
    >>> np.sort(model.means_.ravel()).round(3)
    array([ 0.,  5., 20., 25.])
    """

    PARAMETERS: ClassVar[dict[str, str]] = {
        **BaseHMM.PARAMETERS,
        "m": "means_",
        "c": "covars_",
        "w": "weights_",
    }
    FIXABLE: ClassVar[tuple[str, ...]] = (*BaseHMM.FIXABLE, "weights", "means", "covariances")

    n_components: int = 1
    n_mix: int = 1
    min_covar: float = 1e-3
    startprob_prior: Any = 1.0
    transmat_prior: Any = 1.0
    weights_prior: Any = 1.0
    means_prior: Any = 0.0
    means_weight: Any = 0.0
    covars_prior: Any = None
    covars_weight: Any = None
    algorithm: str = "viterbi"
    covariance_type: str = "diag"
    random_state: Any = None
    n_iter: int = 10
    tol: float = 1e-2
    verbose: Any = False
    params: str = "stmcw"
    init_params: str = "stmcw"
    implementation: str = "log"

    def _n_columns(self) -> int | None:
        return np.shape(self.means_)[-1] if self._has("means_") else None

    @property
    def _kind(self) -> Any:
        """Kind of covariance of the Gaussians: "tied" is within a state, one full matrix for each."""
        return "full" if self.covariance_type == "tied" else self.covariance_type

    def _emission(self, X: Array | None) -> Emission:
        d = X.shape[1] if X is not None else np.shape(self.means_)[-1]
        inner = gaussian_block(d, self._kind, self._prior(d), None if X is None else Floor.of(X), self.params)
        if found := self._constraints(d):
            inner = FixedGaussianBlock(**vars(inner), constraints=found)
        weights = check_prior("weights_prior", self.weights_prior, (self.n_components, self.n_mix))
        is_tied = self.covariance_type == "tied"
        fixed = self._fixed_weights()
        block = GaussianMixtures(inner.columns, inner.names, inner, is_tied, weights, self.params, fixed)
        return Emission(block, np.arange(self.n_components))

    def _plain_emission(self) -> Emission:
        inner = gaussian_block(np.shape(self.means_)[-1], self._kind)
        return Emission(GaussianMixtures(inner.columns, inner.names, inner), np.arange(self.n_components))

    def _constraints(self, d: int) -> Constraints | None:
        """What is fixed of the K * M Gaussians; None if nothing is."""
        given, G, M = dict[str, Array](), self.n_components * self.n_mix, self.n_mix
        if self._fixed("means") is not None:
            given["means"] = self._fixed_rows("means", M, d).reshape(G, d)
        if self._fixed("covariances") is not None:
            given["covariances"] = self._by_gaussian(self._fixed_rows("covariances", *self._covariance_shape(d)))
        return read_constraints(given, None, None, kind=self._kind, k=G, d=d)

    def _fixed_weights(self) -> Array:
        """(K, M) fixed weights, NaN where they are learnt."""
        return check_fixed('fixed["weights"]', self._fixed("weights"), (self.n_components, self.n_mix))

    def _covariance_shape(self, d: int) -> tuple[int, ...]:
        """Of the covariances of a state."""
        M = self.n_mix
        shapes = {"full": (M, d, d), "tied": (d, d), "diag": (M, d), "spherical": (M,)}
        if self.covariance_type not in shapes:
            raise ValueError(f"covariance_type must be one of {KINDS}, not {self.covariance_type!r}")
        return shapes[self.covariance_type]

    def _by_gaussian(self, covars: Array) -> Array:
        """Covariances of the states as those of K * M Gaussians."""
        if self.covariance_type == "tied":
            return np.repeat(covars, self.n_mix, axis=0)
        return covars.reshape(-1, *covars.shape[2:])

    def _prior(self, d: int) -> GaussianPrior:
        K, M = self.n_components, self.n_mix
        location = np.broadcast_to(np.asarray(self.means_prior, dtype=np.float64), (K, M, d)).reshape(K * M, d)
        kappa = np.broadcast_to(np.asarray(self.means_weight, dtype=np.float64), (K, M)).reshape(K * M, 1)
        if self.covariance_type in ("full", "tied"):
            scatter, power = self._matrix_prior(d)
        else:
            scatter, power = self._column_prior(d)
        return GaussianPrior(np.zeros(()), location, kappa, scatter, power)

    def _matrix_prior(self, d: int) -> tuple[Array, Array]:
        """Scatter and power of the covariances; what is said of one that is tied is shared out to its Gaussians."""
        K, M = self.n_components, self.n_mix
        tied = self.covariance_type == "tied"
        G, flat = (K, -(M + d + 1.0)) if tied else (K * M, -(d + 2.0))
        scatter = np.asarray(0.0 if self.covars_prior is None else self.covars_prior, dtype=np.float64)
        scatter = scatter * np.eye(d) if scatter.ndim == 0 else scatter.reshape(-1, d, d)
        nu = np.asarray(flat if self.covars_weight is None else self.covars_weight, dtype=np.float64)
        scatter, power = (
            np.broadcast_to(scatter, (G, d, d)),
            np.broadcast_to(nu.reshape(-1) - flat, (G,))[:, None, None],
        )
        return (np.repeat(scatter / M, M, axis=0), np.repeat(power / M, M, axis=0)) if tied else (scatter, power)

    def _column_prior(self, d: int) -> tuple[Array, Array]:
        """Scatter and power of the variances."""
        shape, diag = (self.n_components, self.n_mix, d), self.covariance_type == "diag"
        flat = -1.5 if diag else -(d + 2.0) / 2
        alpha = _columns(flat if self.covars_prior is None else self.covars_prior, shape).reshape(-1, d)
        beta = _columns(0.0 if self.covars_weight is None else self.covars_weight, shape).reshape(-1, d)
        return (2 * beta, 2 * (alpha - flat)) if diag else (2 * beta.mean(axis=1), 2 * (alpha - flat).mean(axis=1))

    def _theta(self) -> Mixtures:
        self._need("weights_", "means_", "covars_")
        K, M, kind = self.n_components, self.n_mix, self.covariance_type
        weights = check_probabilities("weights_", self.weights_, (K, M))
        means = np.asarray(self.means_, dtype=np.float64)
        if means.ndim != 3 or means.shape[:2] != (K, M) or not np.isfinite(means).all():
            raise ValueError(f"means_ must have shape ({K}, {M}, columns), got {means.shape}")
        d, covars = means.shape[2], np.asarray(self.covars_, dtype=np.float64)
        if covars.shape != (K, *self._covariance_shape(d)):
            raise ValueError(f"covars_ have shape {covars.shape}, which is not that of {kind!r} for these means")
        matrices = kind in ("full", "tied")
        if not np.isfinite(covars).all() or ((np.linalg.eigvalsh(covars) if matrices else covars) <= 0).any():
            raise ValueError(f"covars_ of kind {kind!r} must be positive{' definite' if matrices else ''}")
        own = GaussianParams.in_own_units(self._kind, means.reshape(K * M, d), self._by_gaussian(covars))
        return Mixtures(weights, own)

    def _start_theta(self, data: StartData, rng: np.random.RandomState) -> dict[str, Any]:
        X = data.X
        K, M, kind = self.n_components, self.n_mix, self.covariance_type
        each = self._covariance_shape(X.shape[1])
        if self._starts("m"):
            means = matched_within(nested_means(data, K, M, rng), self._fixed_rows("means", M, X.shape[1]))
        else:
            means = np.asarray(self.means_, dtype=np.float64)
        flat = covariance_start(X, means, self._kind, K if kind == "tied" else K * M, self.min_covar)
        covars = known(self._fixed("covariances"), flat.reshape(K, *each))
        weights = filled_rows(np.full((K, M), 1 / M), self._fixed_weights())
        return {"weights_": weights, "means_": means, "covars_": covars}

    def _store_theta(self, theta: Mixtures) -> None:
        K, M = theta.weights.shape
        covars = theta.parts.covariances
        covars = covars[::M] if self.covariance_type == "tied" else covars.reshape(K, M, *covars.shape[1:])
        self._store(weights_=theta.weights, means_=theta.parts.means.reshape(K, M, -1), covars_=covars)


def _columns(value: Any, shape: tuple[int, int, int]) -> Array:
    """Spread a number, (K, M) or (K, M, d) over states, components and columns."""
    array = np.asarray(value, dtype=np.float64)
    return np.broadcast_to(array[..., None] if array.ndim == 2 else array, shape)
