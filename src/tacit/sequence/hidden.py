"""HiddenMarkovModel: any distribution as emission."""

from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import NotFittedError

from tacit.distributions import Distribution, Gaussian
from tacit.sequence.base import BaseHMM
from tacit.sequence.chain import Array, Ints
from tacit.sequence.families import FamilyEmission, Theta, start_families
from tacit.sequence.start import clusters


class HiddenMarkovModel(BaseHMM):
    """Hidden Markov model whose states emit from distributions of any family.

    Parameters
    ----------
    n_components
        Number of states.
    emission
        A distribution such as ``Gaussian()``, ``Poisson()``, or ``Product([...])`` for columns of several types;
        or a list with one for each state. Distributions of a list that have parameters start from them.
    emission_prior
        Prior of the parameters of each distribution, or None.
    tied
        For each state the number of the emission that it has, where several share one: ``[0, 0, 1]``.
    startprob_prior, transmat_prior
        Dirichlet parameters, at least 1 (flat).
    startprob
        "stationary", or fixed probabilities of the first state with NaN where they are learnt.
    transmat
        Fixed transition probabilities, NaN where they are learnt.
    algorithm
        How `predict` decodes: "viterbi" or "map".
    random_state
        Seed.
    n_iter
        Iterations at most.
    tol
        Converged when the objective rises by less.
    n_init
        Number of starts, of which the best is kept.
    params, init_params
        Letters of what is learnt, and of what gets starting values: s(tart), t(ransitions), e(missions).
    verbose
        Show progress on a terminal.
    checkpoint
        Fit in memory of the order of sqrt(T) K for a sequence of T rows instead of T K; takes longer.

    Attributes
    ----------
    startprob_, transmat_
        Learnt probabilities.
    emissions_
        The distribution of each state.
    converged_, n_iter_, history_
        Whether it converged, in how many iterations, and the objective in each.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.distributions import Poisson
    >>> counts = np.r_[np.tile([1, 2, 3], 10), np.tile([19, 20, 21], 10)][:, None]
    >>> model = HiddenMarkovModel(2, Poisson(), random_state=0).fit(counts)
    >>> np.sort([e.rate[0] for e in model.emissions_])
    array([ 2., 20.])
    """

    PARAMETERS: ClassVar[dict[str, str]] = {**BaseHMM.PARAMETERS, "e": "emissions_"}

    def __init__(
        self,
        n_components: int = 1,
        emission: Any = None,
        *,
        emission_prior: Any = None,
        tied: Any = None,
        startprob_prior: Any = 1.0,
        transmat_prior: Any = 1.0,
        startprob: Any = None,
        transmat: Any = None,
        algorithm: str = "viterbi",
        random_state: Any = None,
        n_iter: int = 200,
        tol: float = 1e-4,
        n_init: int = 1,
        params: str = "ste",
        init_params: str = "ste",
        verbose: Any = False,
        checkpoint: bool = False,
    ) -> None:
        self.n_components = n_components
        self.emission = emission
        self.emission_prior = emission_prior
        self.tied = tied
        self.startprob_prior = startprob_prior
        self.transmat_prior = transmat_prior
        self.startprob = startprob
        self.transmat = transmat
        self.algorithm = algorithm
        self.random_state = random_state
        self.n_iter = n_iter
        self.tol = tol
        self.n_init = n_init
        self.checkpoint = checkpoint
        self.params = params
        self.init_params = init_params
        self.verbose = verbose

    def _owner(self) -> Ints:
        if self.tied is None:
            return np.arange(self.n_components)
        owner = np.asarray(self.tied)
        used = np.unique(owner)
        if owner.shape != (self.n_components,) or not np.array_equal(used, np.arange(len(used))):
            raise ValueError(f"tied must give each of {self.n_components} states an emission 0, 1, ..., got {self.tied}")
        return owner.astype(np.int64)

    def _n_columns(self) -> int | None:
        return self.emissions_[0].n_columns if self._has("emissions_") else None

    def _emission(self, X: Array | None) -> FamilyEmission:
        return FamilyEmission(self._owner(), self.emission_prior, "e" in self.params)

    def _theta(self) -> Theta:
        if not self._has("emissions_"):
            raise NotFittedError("this HiddenMarkovModel has no parameters yet: call fit, or assign them")
        parts: list[Distribution] = list(self.emissions_)
        if len(parts) != self.n_components or not all(part.is_fitted for part in parts):
            raise ValueError(f"emissions_ must be {self.n_components} distributions with parameters")
        owner = self._owner()
        return tuple(parts[int(np.flatnonzero(owner == e)[0])] for e in range(int(owner.max()) + 1))  # type: ignore[misc]

    def _start_theta(self, X: Array, rng: np.random.RandomState) -> dict[str, Any]:
        rows = X[~np.isnan(X).all(axis=1)]
        K = self.n_components
        _, labels, used = clusters(rows, K, rng)
        if len(used) < len(rows):
            # the clustering saw a sample only: fit the start to that sample
            rows = used
        shares = 0.75 * np.eye(K)[labels % K] + 0.25 * rng.dirichlet(np.ones(K), size=len(labels))
        template = Gaussian() if self.emission is None else self.emission
        theta = start_families(template, rows, shares, K, self._owner(), self.emission_prior)
        return {"emissions_": [theta[e] for e in self._owner()]}

    def _store_theta(self, theta: Theta) -> None:
        self._store(emissions_=[theta[e] for e in self._owner()])
