"""Base of every hidden Markov model: reading sequences, starting and fitting."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from latently.data.sources.chunks import ChunkSource
from latently.data.sources.sequences import Sequences, as_sequences
from latently.decide.mixin import DecideMixin
from latently.learn.engine.em import Fit
from latently.learn.estimator.labels import read_labels
from latently.learn.estimator.parameters import stores_parameters
from latently.learn.estimator.table import OutOfCoreMixin, adopt_columns, note_columns, seeds
from latently.learn.estimator.unconverged import warn_unconverged
from latently.sequence import expected_failures as expected
from latently.sequence.emissions.base import Emission
from latently.sequence.emissions.start import StartData, check_scales
from latently.sequence.hmm.evaluate import EvaluateMixin
from latently.sequence.hmm.filtering import FilterMixin
from latently.sequence.hmm.fit import FitPlan, run, warn_collapsed
from latently.sequence.hmm.fixed import FixedMixin
from latently.sequence.hmm.given import GivenMixin
from latently.sequence.hmm.missing import MissingValuesMixin
from latently.sequence.hmm.online import OnlineMixin
from latently.sequence.hmm.paths import PathMixin
from latently.sequence.hmm.scores import StandardErrorsMixin
from latently.sequence.hmm.stored import StoredSequences, read_stored
from latently.sequence.inference import chain as ch
from latently.sequence.inference.chain import Array, Chain, Ints
from latently.sequence.model.hmm import HmmModel, HmmStatistics, Params
from latently.sequence.model.transitions import ChainRule, check_fixed, check_prior, check_probabilities, random_chain

_log = logging.getLogger("latently.sequence")


@stores_parameters
class BaseHMM(
    OutOfCoreMixin,
    DecideMixin,
    EvaluateMixin,
    PathMixin,
    FilterMixin,
    MissingValuesMixin,
    StandardErrorsMixin,
    OnlineMixin,
    FixedMixin,
    GivenMixin,
    ABC,
):
    """What hidden Markov models have in common; subclasses say what the emissions are.

    A parameter that is assigned before a fit (``model.transmat_ = ...``) is where the fit starts, unless its letter
    is in `init_params`; it is kept by `clone`.
    """

    _tags: ClassVar[dict[str, Any]] = {"allow_nan": True, "target_tags.required": False}
    _row_verbs = ("predict", "predict_proba")
    _is_iterative = True
    _of_sequences = True
    _renamed_parameters: ClassVar[dict[str, str]] = {"checkpoint": "low_memory"}
    """Parameters that had another name in files of earlier versions."""

    _: KW_ONLY
    startprob: Any = None
    transmat: Any = None
    fixed: Any = None
    n_init: int = 1
    low_memory: bool = False

    # what subclasses say

    @abstractmethod
    def _emission(self, X: Array | None) -> Emission:
        """Make the emissions; X is the table at a fit, None when parameters are only used."""

    @abstractmethod
    def _theta(self) -> Any:
        """Collect the parameters of the emissions from the attributes, and check them."""

    @abstractmethod
    def _start_theta(self, data: StartData, rng: np.random.RandomState) -> dict[str, Any]:
        """Starting values of the emissions' attributes, by name."""

    @abstractmethod
    def _store_theta(self, theta: Any) -> None:
        """Set the attributes of the emissions."""

    # reading

    def _read(self, X: Any, lengths: Any, reset: bool) -> Sequences:
        """Sequences of float64 rows; sets or compares the number and names of columns."""
        if not reset:
            self._need("startprob_")
        data = as_sequences(self._emitted(X), lengths)
        table = X if hasattr(X, "shape") and len(np.shape(X)) == 2 else data.values
        if isinstance(X, Sequences) and not reset and "n_features_in_" in self.__dict__:
            adopt_columns(self, [""] * data.values.shape[1], reset=False, named=False)  # these have no names to compare
        elif reset or "n_features_in_" in self.__dict__:
            note_columns(self, table, reset=reset)
        values = self._check_values(np.ascontiguousarray(data.values, dtype=np.float64), reset)
        return data if values is data.values else Sequences(values, data.lengths)

    def _emitted(self, X: Any) -> Any:
        """The table without columns that are not emitted."""
        return X

    def _check_values(self, X: Array, reset: bool) -> Array:
        """Refuse rows that the emissions cannot be."""
        width = self._n_columns()
        if not reset and width is not None and X.shape[1] != width:
            raise ValueError(f"X has {X.shape[1]} features, but this model has {width} features as input")
        return X

    def _n_columns(self) -> int | None:
        return None

    @property
    def n_features(self) -> Any:
        """Number of columns, by hmmlearn's name for it."""
        width = self._n_columns()
        if width is None and "_n_features" not in self.__dict__:
            raise AttributeError(f"this {type(self).__name__} has no parameters yet")
        return self.__dict__["_n_features"] if width is None else width

    @n_features.setter
    def n_features(self, value: Any) -> None:
        self.__dict__["_n_features"] = value

    # model

    def _rule(self) -> ChainRule:
        K = self.n_components
        given = self._fixed_chain("startprob")
        is_stationary = isinstance(given, str)
        if is_stationary and given != "stationary":
            raise ValueError(f"startprob must be 'stationary', probabilities or None, not {given!r}")
        start = check_fixed("startprob", None if is_stationary else given, (K,))
        transition = check_fixed("transmat", self._fixed_transitions(), (K, K))
        start[self._given_zeros("s", (K,)) & np.isnan(start)] = 0.0
        transition[self._given_zeros("t", (K, K)) & np.isnan(transition)] = 0.0
        return ChainRule(
            check_prior("startprob_prior", self.startprob_prior, (K,)),
            check_prior("transmat_prior", self.transmat_prior, (K, K)),
            start,
            transition,
            self.params,
            is_stationary,
        )

    def _model(self, X: Array | None = None, labels: Ints | None = None) -> HmmModel:
        return HmmModel(self._emission(X), self._learning_rule(), labels, self.low_memory, self._copies())

    def _density(self, params: Params, X: Array) -> Callable[[int, int], Array]:
        """Give the function of rows that the algorithms ask for log densities (n, K)."""
        emission = self._plain_emission()
        return lambda a, b: emission.log_density(params.theta, X[a:b])

    def _plain_emission(self) -> Emission:
        """Emissions for densities alone: what is learnt of them, and under which prior, may be left out."""
        return self._emission(None)

    def _fixed_transitions(self) -> Any:
        return self._fixed_chain("transmat")

    def _learning_rule(self) -> Any:
        return self._rule()

    def _copies(self) -> int:
        """How many states of the chain stand for one state of the model."""
        return 1

    def _merged(self, rows: Array) -> Array:
        """Probabilities (n, K) of the model's states from those of the chain's."""
        copies = self._copies()
        return rows if copies == 1 else rows.reshape(len(rows), -1, copies).sum(axis=2)

    def _chain(self) -> Chain:
        K = self.n_components
        self._need("startprob_", "transmat_")
        start = check_probabilities("startprob_", self.startprob_, (K,))
        return Chain(start, check_probabilities("transmat_", self.transmat_, (K, K)))

    def _params(self) -> Params:
        return self._once_checked(lambda: Params(self._chain(), self._theta()))  # type: ignore[no-any-return]

    def _check(self) -> None:
        """Refuse parameters that are no probabilities, or of the wrong shape."""
        self._params()

    # starting

    def _init(self, X: Array, lengths: Any = None, rng: Any = None, labels: Ints | None = None) -> None:
        """Set every parameter that is not given to a starting value."""
        random = check_random_state(self.random_state if rng is None else rng)
        rule = self._rule()
        chain = random_chain(self.n_components, rule, random)
        sizes = np.array([len(X)]) if lengths is None or np.sum(lengths) != len(X) else np.asarray(lengths)
        sizes = np.atleast_1d(sizes)
        fresh = self._start_theta(StartData(X, sizes, labels, not np.isnan(rule.transition).all()), random)
        fresh |= {"startprob_": chain.start, "transmat_": chain.transition}
        wanted = {name: fresh[name] for c, name in self.PARAMETERS.items() if self._needs_init(c)}
        self._store(**wanted)
        if rule.is_stationary:
            self._store(startprob_=ch.stationary(np.asarray(self.transmat_)))
        size = self._model().n_parameters(self._params())
        if X.size < size:
            _log.warning(
                "%d parameters and only %d numbers to learn them from: expect a degenerate solution", size, X.size
            )

    # fit

    def fit(
        self, X: Any, lengths: Any = None, *, labels: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn the parameters by expectation and maximisation.

        Parameters
        ----------
        X
            Rows of all sequences below each other (NaN is missing), or a list of arrays.
        lengths
            Length of each sequence; None for a single one.
        labels
            Known states of the rows, -1 or NaN where unknown.
        sample_weight
            Weight of each sequence.
        """
        if isinstance(X, ChunkSource):
            return self._fit(read_stored(self, X, labels), None, None)
        data = self._read(X, lengths, reset=True)
        known = self._check_labels(labels, len(data.values))
        return self._fit(data, known, sample_weight)

    def _fit(self, data: Sequences | StoredSequences, labels: Ints | None, weights: ArrayLike | None) -> Self:
        starts = self._all_starts(data, labels, self._params)
        model = self._model(np.asarray(data.values, dtype=np.float64), labels)
        if self.n_iter == 0:
            self.converged_, self.n_iter_, self.history_, self.reason_ = False, 0, np.empty(0), "max_iter"
            for name in ("collapsed_", "statistics_"):
                self.__dict__.pop(name, None)
            return self
        plan = FitPlan(self.tol, self.n_iter, self.verbose, self.__dict__.get("_own_monitor"))
        fit = run(model, starts, data, weights, plan)
        self._finish(model, fit)
        return self

    def _all_starts(self, data: Any, labels: Ints | None, params: Callable[[], Any]) -> list[Any]:
        """Parameters of `n_init` starts, each made from what the user gave; the attributes are those of the last."""
        n = len(data.values)
        if self.n_components > n:
            raise ValueError(
                f"n_components is {self.n_components}, more states than the {n} rows (n_samples={n}): use fewer"
            )
        check_scales(data.values, getattr(self, "feature_names_in_", ()))
        given, starts = dict(self.__dict__), []
        for rng in seeds(self.random_state, self.n_init):
            self.__dict__.clear()
            self.__dict__.update(given)
            self._init(data.values, data.lengths, rng, labels)
            starts.append(params())
        return starts

    def _finish(self, model: HmmModel, fit: Fit[Params, HmmStatistics]) -> None:
        self._store_chain(fit.params.chain)
        self._store_theta(fit.params.theta)
        self.statistics_ = fit.stats
        self._record_fit(model, fit)

    def _record_fit(self, model: Any, fit: Fit[Any, Any]) -> None:
        """Record how the fit ended in attributes, and warn if it did not end well."""
        self.converged_, self.n_iter_, self.history_ = fit.converged, fit.n_iter, np.array(fit.trace)
        self.reason_ = fit.reason
        self.collapsed_ = np.array(model.collapsed(fit.params), dtype=np.int64)
        warn_unconverged(fit.reason, "n_iter", self.n_iter)
        if len(self.collapsed_):
            warn_collapsed(self.collapsed_.tolist())

    def _store_chain(self, chain: Chain) -> None:
        self._store(startprob_=chain.start, transmat_=chain.transition)

    def _check_labels(self, labels: ArrayLike | None, n: int) -> Ints | None:
        known = read_labels(labels, n, self.n_components)
        return None if known is None else known.astype(np.int64)

    def _expected_failed_checks(self) -> dict[str, str]:
        return expected.HMM
