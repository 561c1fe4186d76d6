"""CategoricalHMM and PoissonHMM."""

import warnings
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from latently.distributions.components.categories import CategoryBlock
from latently.distributions.components.counts import CountBlock
from latently.distributions.components.discrete import Values
from latently.learn.estimator.parameters import stores_parameters
from latently.sequence import expected_failures as expected
from latently.sequence.emissions.base import Emission
from latently.sequence.emissions.fast import CategoricalEmission
from latently.sequence.emissions.start import StartData, filled, k_means
from latently.sequence.hmm.base import BaseHMM
from latently.sequence.hmm.fixed import matched
from latently.sequence.inference.chain import Array
from latently.sequence.model.transitions import check_prior, check_probabilities


class NumberOfSymbols:
    """`n_features` of a CategoricalHMM: as given, or as found by a fit; None if it is neither."""

    def __get__(self, model: Any, kind: Any = None) -> int | None:
        own = {} if model is None else model.__dict__
        found: int | None = own.get("_n_symbols", own.get("_n_features"))
        return found

    def __set__(self, model: Any, value: int | None) -> None:
        model.__dict__["_n_features"] = value
        model.__dict__.pop("_n_symbols", None)


@stores_parameters
class CategoricalHMM(BaseHMM):
    """Hidden Markov model whose states emit one of several symbols, coded 0, 1, 2, ...

    A drop-in replacement for hmmlearn's class of this name. NaN is a missing symbol; a code that the model has never
    seen counts as missing, with a warning.

    Parameters
    ----------
    n_components
        Number of states.
    startprob_prior, transmat_prior, emissionprob_prior
        Dirichlet parameters, at least 1 (flat).
    n_features
        Number of symbols; one more than the largest code seen if None.
    algorithm, random_state, n_iter, tol, verbose, implementation
        As in `GaussianHMM`.
    params, init_params
        Letters of what is learnt, and of what gets starting values: s(tart), t(ransitions), e(missions).
    startprob, transmat, n_init, low_memory
        As in `GaussianHMM`.
    fixed
        Parameters that are not learnt, by name: `startprob`, `transmat`, and `emissionprob` with rows of NaN for the
        states whose probabilities are learnt.

    Attributes
    ----------
    startprob_, transmat_, emissionprob_
        Learnt parameters.

    Examples
    --------
    >>> model = CategoricalHMM(2)
    >>> model.startprob_, model.transmat_ = [0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]]
    >>> model.emissionprob_ = [[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]]
    >>> log_prob, states = model.decode([[0], [1], [2]])
    >>> float(round(np.exp(log_prob), 5)), states
    (0.01344, array([1, 0, 0]))
    """

    _tags: ClassVar[dict[str, Any]] = {"positive_only": True, "categorical": True}
    PARAMETERS: ClassVar[dict[str, str]] = {**BaseHMM.PARAMETERS, "e": "emissionprob_"}
    FIXABLE: ClassVar[tuple[str, ...]] = (*BaseHMM.FIXABLE, "emissionprob")

    n_components: int = 1
    startprob_prior: Any = 1.0
    transmat_prior: Any = 1.0
    _: KW_ONLY
    emissionprob_prior: Any = 1.0
    n_features: Any = NumberOfSymbols()
    algorithm: str = "viterbi"
    random_state: Any = None
    n_iter: int = 10
    tol: float = 1e-2
    verbose: Any = False
    params: str = "ste"
    init_params: str = "ste"
    implementation: str = "log"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters as they were given: `n_features` too, even if a fit has found it."""
        return {**super().get_params(deep), "n_features": self.__dict__["_n_features"]}

    def _check_values(self, X: Array, reset: bool) -> Array:
        if X.shape[1] != 1:
            raise ValueError(f"X has {X.shape[1]} features, but a CategoricalHMM reads a single column of codes")
        check_whole(X, "symbols are coded as whole numbers 0, 1, 2, ...")
        C = self.__dict__["_n_features"] if reset else self._params().theta.values.shape[1]
        if C is None:
            return X
        unseen = X >= C
        if unseen.any():
            warnings.warn(
                f"{int(unseen.sum())} symbols such as {X[unseen][0]:g} are unknown to the model, which has codes 0 "
                f"to {C - 1}: they count as missing",
                RuntimeWarning,
                stacklevel=4,
            )
            return np.where(unseen, np.nan, X)
        return X

    def _expected_failed_checks(self) -> dict[str, str]:
        return expected.UNSEEN

    def _check_data(self, n_rows: int, rng: np.random.Generator) -> Array:
        """A column of codes for `latently.checks`: two states with symbols of their own."""
        return (rng.integers(0, 2, size=(n_rows, 1)) + 2 * (np.arange(n_rows)[:, None] // 10 % 2)).astype(np.float64)

    def _table(self) -> Array:
        self._need("emissionprob_")
        table = np.atleast_2d(np.asarray(self.emissionprob_, dtype=np.float64))
        given = self.__dict__["_n_features"]
        C = table.shape[1] if given is None else given
        return check_probabilities("emissionprob_", table, (self.n_components, C))

    def _emission(self, X: Array | None) -> CategoricalEmission:
        shape = (self.n_components, int(np.shape(self.emissionprob_)[-1]))
        possible = ~self._given_zeros("e", shape)
        events = np.where(possible, check_prior("emissionprob_prior", self.emissionprob_prior, shape) - 1, 0.0)
        trials = np.repeat(events.sum(axis=1, keepdims=True), shape[1], axis=1)
        block = CategoryBlock((0,), ("0",), None, events, trials, (shape[1],), possible)
        rows = self._fixed_rows("emissionprob", shape[1])
        for k in np.flatnonzero(~np.isnan(rows).all(axis=1)):
            block = block.with_fixed(len(rows), int(k), (0,), {"probabilities": rows[k]})
        return CategoricalEmission(block, np.arange(self.n_components), "e" in self.params)

    def _plain_emission(self) -> CategoricalEmission:
        return CategoricalEmission(CategoryBlock((0,), ("0",)), np.arange(self.n_components))

    def _theta(self) -> Values:
        return Values(self._table())

    def _start_theta(self, data: StartData, rng: np.random.RandomState) -> dict[str, Any]:
        X = data.X
        filled(X)
        given = self.__dict__["_n_features"]
        C = int(np.nanmax(X)) + 1 if given is None else int(given)
        if "e" not in self.init_params and self._has("emissionprob_"):
            C = int(np.shape(self.emissionprob_)[-1])
        self.__dict__["_n_symbols"] = C
        start = rng.dirichlet(np.full(C, 5.0), size=self.n_components)
        return {"emissionprob_": matched(start, self._fixed_rows("emissionprob", C))}

    def _store_theta(self, theta: Values) -> None:
        self._store(emissionprob_=theta.values)


@stores_parameters
class PoissonHMM(BaseHMM):
    """Hidden Markov model whose states emit counts, each column with its own rate.

    A drop-in replacement for hmmlearn's class of this name. NaN is a missing count.

    Parameters
    ----------
    n_components
        Number of states.
    startprob_prior, transmat_prior
        Dirichlet parameters, at least 1 (flat).
    lambdas_prior, lambdas_weight
        Prior number of events and of rows: a rate is (prior + events) / (weight + rows of the state).
    algorithm, random_state, n_iter, tol, verbose, implementation
        As in `GaussianHMM`.
    params, init_params
        Letters of what is learnt, and of what gets starting values: s(tart), t(ransitions), l(ambdas).
    startprob, transmat, n_init, low_memory
        As in `GaussianHMM`.
    fixed
        Parameters that are not learnt, by name: `startprob`, `transmat`, `lambdas`, with NaN for what is learnt.

    Attributes
    ----------
    startprob_, transmat_, lambdas_
        Learnt parameters.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.r_[np.tile([1, 2, 3], 10), np.tile([19, 20, 21], 10)][:, None]
    >>> np.sort(PoissonHMM(2, random_state=0).fit(X).lambdas_.ravel())
    array([ 2., 20.])
    """

    _tags: ClassVar[dict[str, Any]] = {"positive_only": True, "categorical": True}
    PARAMETERS: ClassVar[dict[str, str]] = {**BaseHMM.PARAMETERS, "l": "lambdas_"}
    FIXABLE: ClassVar[tuple[str, ...]] = (*BaseHMM.FIXABLE, "lambdas")

    n_components: int = 1
    startprob_prior: Any = 1.0
    transmat_prior: Any = 1.0
    lambdas_prior: Any = 0.0
    lambdas_weight: Any = 0.0
    algorithm: str = "viterbi"
    random_state: Any = None
    n_iter: int = 10
    tol: float = 1e-2
    verbose: Any = False
    params: str = "stl"
    init_params: str = "stl"
    implementation: str = "log"

    def _check_values(self, X: Array, reset: bool) -> Array:
        check_whole(X, "counts are whole numbers 0, 1, 2, ...")
        return super()._check_values(X, reset)

    def _n_columns(self) -> int | None:
        return np.shape(self.lambdas_)[1] if self._has("lambdas_") else None

    def _emission(self, X: Array | None) -> Emission:
        shape = (self.n_components, X.shape[1] if X is not None else np.shape(self.lambdas_)[1])
        events, exposure = (
            np.broadcast_to(np.asarray(v, dtype=np.float64), shape) for v in (self.lambdas_prior, self.lambdas_weight)
        )
        block = CountBlock(tuple(range(shape[1])), tuple(map(str, range(shape[1]))), None, events, exposure)
        rates = self._fixed_rows("lambdas", shape[1])
        for k, c in np.argwhere(~np.isnan(rates)).tolist():
            block = block.with_fixed(len(rates), k, (c,), {"rate": rates[k, c]})
        return Emission(block, np.arange(self.n_components), "l" in self.params)

    def _plain_emission(self) -> Emission:
        d = np.shape(self.lambdas_)[1]
        return Emission(CountBlock(tuple(range(d)), tuple(map(str, range(d)))), np.arange(self.n_components))

    def _theta(self) -> Values:
        self._need("lambdas_")
        rates = np.atleast_2d(np.asarray(self.lambdas_, dtype=np.float64))
        if rates.ndim != 2 or len(rates) != self.n_components or rates.size == 0:
            raise ValueError(f"lambdas_ must have {self.n_components} rows, got shape {rates.shape}")
        if not np.isfinite(rates).all() or (rates < 0).any():
            raise ValueError("lambdas_ must be finite and not negative")
        return Values(rates)

    def _start_theta(self, data: StartData, rng: np.random.RandomState) -> dict[str, Any]:
        X = data.X
        if not self._starts("l"):
            return {"lambdas_": None}
        centres = k_means(data, self.n_components, rng)
        jitter = rng.uniform(0.9, 1.1, size=centres.shape)
        start = np.maximum(centres, 0.1 * filled(X).mean(axis=0) + 1e-3) * jitter
        return {"lambdas_": matched(start, self._fixed_rows("lambdas", X.shape[1]))}

    def _store_theta(self, theta: Values) -> None:
        self._store(lambdas_=theta.values)


def check_whole(X: Array, rule: str) -> None:
    """Refuse numbers that are negative or not whole; the error names the first of them."""
    if ((X >= 0) & (np.floor(X) == X)).all():
        return
    negative = X < 0
    wrong = negative if negative.any() else ~np.isnan(X) & (np.floor(X) != X)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        what = "Negative values in data: " if negative.any() else ""
        raise ValueError(f"{what}column {column} of X has {X[row, column]:g} in row {row}, but {rule}")
