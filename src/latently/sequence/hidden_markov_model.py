"""HiddenMarkovModel: any distribution as emission."""

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from latently.distributions import ColumnError, Distribution, Gaussian
from latently.distributions.components.family import FamilyBlock
from latently.distributions.components.family_answers import Members
from latently.distributions.floor import Floor
from latently.learn.estimator.parameters import stores_parameters
from latently.sequence.emissions.base import Emission
from latently.sequence.emissions.start import StartData, clusters, start_families
from latently.sequence.hmm.base import BaseHMM
from latently.sequence.hmm.fixed import nearest
from latently.sequence.inference.chain import Array, Ints
from latently.sequence.model.semi_markov import start_durations
from latently.sequence.semi_markov import DurationsMixin


@stores_parameters
class HiddenMarkovModel(DurationsMixin):
    """Hidden Markov model whose states emit from distributions of any family.

    Parameters
    ----------
    n_components
        Number of states.
    emission
        A distribution such as ``Gaussian()``, ``Poisson()``, or ``Product([...])`` for columns of several types; its
        name, as "von_mises"; or a list with one for each state. Distributions of a list that have parameters start
        from them.
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
    fixed
        Parameters that are not learnt, by name: `startprob` and `transmat` with NaN for what is learnt, and
        `emissions` and `durations`, lists with a distribution, or None where it is learnt, for each state.
    duration
        Distribution of how long a state lasts, less one (``Poisson()``: one step and a Poisson number of further
        ones; ``Categorical()``: any), or a list with one for each state. States are then never followed by
        themselves: a hidden semi-Markov model. None is a plain chain.
    max_duration
        No state lasts longer: the distributions are cut there, and what is left is rescaled to sum to one. A fit warns
        if that cuts off much. The work of a step grows with its square.
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
        Letters of what is learnt, and of what gets starting values: s(tart), t(ransitions), e(missions),
        d(urations).
    verbose
        Show progress on a terminal.
    low_memory
        Fit in memory of the order of sqrt(T) K for a sequence of T rows instead of T K; takes longer.

    Attributes
    ----------
    startprob_, transmat_
        Learnt probabilities.
    emissions_
        The distribution of each state.
    coef_
        Coefficients (K, K, 1 + inputs) of the transitions, intercepts first, if `fit` was given inputs; an impossible
        transition has the intercept -inf. `transmat_` is then that at the mean of the inputs.
    input_names_in_, input_rank_
        Names of the inputs, if `fit` was given names, and how many of them (and a constant) are independent.
    durations_
        The distribution of each state's duration, less one, if `duration` is given; before it is cut at
        `max_duration`, as everything that is computed from it is.
    converged_, n_iter_, history_
        Whether it converged, in how many iterations, and the objective in each (also by the name `trace_`).
    collapsed_
        States that have shrunk onto single values, as far as the resolution of the data lets them; empty if all is
        well.

    Examples
    --------
    >>> import numpy as np
    >>> from latently.distributions import Poisson
    >>> counts = np.r_[np.tile([1, 2, 3], 10), np.tile([19, 20, 21], 10)][:, None]
    >>> model = HiddenMarkovModel(2, Poisson(), random_state=0).fit(counts)
    >>> np.sort([e.rate[0] for e in model.emissions_])
    array([ 2., 20.])

    A machine that runs faster in the evening, where the transitions depend on the time of the day:

    >>> import pandas as pd
    >>> late = np.tile(np.repeat([0.0, 1.0], 12), 5)
    >>> table = pd.DataFrame({"speed": 5 * np.r_[0, late[:-1]] + np.tile([0.0, 0.5, 1.0], 40), "late": late})
    >>> model = HiddenMarkovModel(2, random_state=0).fit(table, inputs=["late"])
    >>> means = np.ravel([e.mean for e in model.emissions_])
    >>> slow, fast = np.argsort(means)
    >>> bool(model.transition_at([1.0])[slow, fast] > model.transition_at([0.0])[slow, fast])
    True
    """

    PARAMETERS: ClassVar[dict[str, str]] = {
        **BaseHMM.PARAMETERS,
        "e": "emissions_",
        "d": "durations_",
    }
    FIXABLE: ClassVar[tuple[str, ...]] = (*BaseHMM.FIXABLE, "emissions", "durations")

    n_components: int = 1
    emission: Any = None
    _: KW_ONLY
    emission_prior: Any = None
    tied: Any = None
    startprob_prior: Any = 1.0
    transmat_prior: Any = 1.0
    duration: Any = None
    max_duration: int = 30
    algorithm: str = "viterbi"
    random_state: Any = None
    n_iter: int = 200
    tol: float = 1e-4
    params: str = "sted"
    init_params: str = "sted"
    verbose: Any = False

    def _owner(self) -> Ints:
        if self.tied is None:
            return np.arange(self.n_components)
        owner = np.asarray(self.tied)
        used = np.unique(owner)
        if owner.shape != (self.n_components,) or not np.array_equal(used, np.arange(len(used))):
            raise ValueError(
                f"tied must give each of {self.n_components} states an emission 0, 1, ..., got {self.tied}"
            )
        return owner.astype(np.int64)

    def __sklearn_is_fitted__(self) -> bool:
        return all(self._has(name) for name in ("startprob_", "transmat_", "emissions_"))

    def _n_columns(self) -> int | None:
        return self.emissions_[0].n_columns if self._has("emissions_") else None

    def _emission(self, X: Array | None) -> Emission:
        d = self.emissions_[0].n_columns if X is None else X.shape[1]
        floor = None if X is None else Floor.of(X)
        block = FamilyBlock(
            tuple(range(d)), tuple(map(str, range(d))), widths=(0,) * d, prior=self.emission_prior, floor=floor
        )
        for e, given in self._fixed_emissions().items():
            block = block.with_fixed(int(self._owner().max()) + 1, e, block.columns, given)
        return Emission(block, np.repeat(self._owner(), self._copies()), "e" in self.params)

    def _fixed_emissions(self) -> dict[int, Distribution]:
        """Fixed distributions, by the number of the emission."""
        given = self._fixed("emissions")
        if given is None:
            return {}
        if not isinstance(given, list | tuple) or len(given) != self.n_components:
            raise ValueError(f'fixed["emissions"] must be a list of {self.n_components}, got {given!r}')
        found: dict[int, Distribution] = {}
        for state, (owner, part) in enumerate(zip(self._owner().tolist(), given, strict=True)):
            if part is None:
                continue
            if not isinstance(part, Distribution) or not part.is_fitted:
                raise ValueError(
                    f'fixed["emissions"] of state {state} needs a distribution with parameters, not {part}'
                )
            if found.setdefault(owner, part) is not part:
                raise ValueError(f'fixed["emissions"] of state {state} differs from that of a state that it is tied to')
        return found

    def _theta(self) -> Members:
        self._need("emissions_")
        parts: list[Distribution] = list(self.emissions_)
        if len(parts) != self.n_components or not all(part.is_fitted for part in parts):
            raise ValueError(f"emissions_ must be {self.n_components} distributions with parameters")
        owner = self._owner()
        return Members(tuple(parts[int(np.flatnonzero(owner == e)[0])] for e in range(int(owner.max()) + 1)))

    def _start_theta(self, data: StartData, rng: np.random.RandomState) -> dict[str, Any]:
        rows = data.X[~np.isnan(data.X).all(axis=1)]
        K = self.n_components
        centres, labels, used = clusters(rows, K, rng)
        labels = np.argsort(data.arrange(centres))[labels]
        if len(used) < len(rows):
            # the clustering saw a sample only: fit the start to that sample
            rows = used
        shares = 0.75 * np.eye(K)[labels] + 0.25 * rng.dirichlet(np.ones(K), size=len(labels))
        template = Gaussian() if self.emission is None else self.emission
        try:
            theta = start_families(template, rows, shares, K, self._owner(), self.emission_prior, Floor.of(data.X))
        except ColumnError as problem:
            n = len(rows)
            raise ValueError(f"{problem}; there is n_samples={n}" if n == 1 else str(problem)) from None
        members = self._with_fixed(list(theta.members))
        found: dict[str, Any] = {"emissions_": [members[e] for e in self._owner()], "durations_": None}
        if self.duration is not None:
            start = start_durations(self.duration, K, self._copies(), data.lengths)
            pairs = zip(self._fixed_durations(), start, strict=True)
            found["durations_"] = [part if fixed is None else fixed for fixed, part in pairs]
        return found

    def _with_fixed(self, members: list[Any]) -> list[Any]:
        """Emissions to start from, in the order nearest to those that are fixed, which are put in their place."""
        given = self._fixed_emissions()
        if not given:
            return members
        means = np.array([np.ravel(m.mean) for m in members])
        places = np.full(means.shape, np.nan)
        for e, part in given.items():
            if part.n_columns != means.shape[1]:
                raise ValueError(f'fixed["emissions"]: {part} has {part.n_columns} columns, X has {means.shape[1]}')
            places[e] = part.mean
        order = nearest(means, places)
        return [given.get(e, members[order[e]]) for e in range(len(members))]

    def _needs_init(self, letter: str) -> bool:
        return super()._needs_init(letter) and (letter != "d" or self.duration is not None)

    def _store_theta(self, theta: Members) -> None:
        self._store(emissions_=[theta.members[e] for e in self._owner()])
