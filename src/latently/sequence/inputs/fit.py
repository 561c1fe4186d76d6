"""Learning transitions that depend on inputs, and reading the inputs of a question."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError

from latently.data.sources.chunks import ChunkSource
from latently.data.sources.sequences import Sequences
from latently.data.tables import frames
from latently.learn.engine.reduce import reducing
from latently.sequence.hmm.base import BaseHMM
from latently.sequence.hmm.fit import FitPlan, run
from latently.sequence.hmm.stored import StoredSequences, read_stored
from latently.sequence.inference.chain import Array, Chain, Ints
from latently.sequence.inputs import transitions as inp
from latently.sequence.inputs.scores import InputCoordinates
from latently.sequence.inputs.table import Columns, Units, as_names, with_intercept
from latently.sequence.model.transitions import check_probabilities


class InputsFit(BaseHMM):
    """`fit` with `inputs=`; without it, all is as in `BaseHMM`."""

    # fit

    def fit(
        self,
        X: Any,
        lengths: Any = None,
        *,
        inputs: Any = None,
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn the parameters by expectation and maximisation.

        Parameters
        ----------
        X
            Rows of all sequences below each other (NaN is missing), or a list of arrays.
        lengths
            Length of each sequence; None for a single one.
        inputs
            Known numbers (n, p) on which the transition into each row depends; or, if X has columns by name (a data
            frame, a file, a Dask collection), names of those that are inputs. Questions then find them by name, too.
        labels
            Known states of the rows, -1 where unknown.
        sample_weight
            Weight of each sequence.
        """
        for name in ("coef_", "input_names_in_", "input_rank_"):
            self.__dict__.pop(name, None)
        if inputs is None:
            return super().fit(X, lengths, labels=labels, sample_weight=sample_weight)
        self._check_for_inputs()
        names = as_names(inputs)
        if names is not None:
            self.input_names_in_ = np.array(names, dtype=object)
        if isinstance(X, ChunkSource):
            return self._fit_inputs(*self._stored_with_inputs(X, names, labels), None, None)
        data = self._read(X, lengths, reset=True)
        known = self._check_labels(labels, len(data.values))
        U = with_intercept(X if names else inputs, len(data.values), names)
        both = Sequences(np.hstack([data.values, U[:, 1:]]), data.lengths)
        columns = Columns.behind(data.values.shape[1], U.shape[1] - 1)
        return self._fit_inputs(both, columns, Units.of(U), known, sample_weight)

    def _check_for_inputs(self) -> None:
        """Refuse settings that have no meaning where transitions depend on inputs."""
        if self._copies() > 1:
            raise ValueError("inputs do not go together with duration: choose one")
        if isinstance(self.startprob, str):
            raise ValueError(f"inputs do not go together with startprob={self.startprob!r}: nothing is stationary")
        rule = self._rule()
        if (rule.transition_prior != 1).any():
            raise ValueError("inputs do not go together with transmat_prior: the transitions are no single matrix")
        if (rule.transition[~np.isnan(rule.transition)] != 0).any():
            raise ValueError("with inputs, transmat fixes zeros only: other transitions depend on the inputs")

    def _stored_with_inputs(
        self, X: ChunkSource, names: tuple[str, ...] | None, labels: Any
    ) -> tuple[StoredSequences, Columns, Units]:
        if names is None:
            raise ValueError(
                "inputs of a table that is not in memory are columns of it, by name: fit(path, inputs=['speed'], ...)"
            )
        data = read_stored(self, X, labels)
        columns = Columns.named(names, data.source.column_names)
        with reducing(data.chunked()) as total:
            return data, columns, Units.from_spread(total(columns.spread_of))

    def _fit_inputs(
        self,
        data: Sequences | StoredSequences,
        columns: Columns,
        units: Units,
        labels: Ints | None,
        weights: ArrayLike | None,
    ) -> Self:
        emitted = columns.emitted_of(np.asarray(data.values, dtype=np.float64))
        seen = Sequences(emitted, data.lengths)
        starts = self._all_starts(seen, labels, lambda: self._input_start(len(units.scale)))
        model = inp.InputModel(self._emission(emitted), self._rule(), columns, units, labels)
        fit: Any = run(model, starts, data, weights, FitPlan(self.tol, self.n_iter, self.verbose))  # type: ignore[arg-type]
        self._store(startprob_=fit.params.start)
        self.coef_, self.input_rank_ = units.back(fit.params.coef), units.rank
        self._store_theta(fit.params.theta)
        self._record_fit(model, fit)
        self._store(transmat_=inp.transition(fit.params.coef, np.eye(len(units.scale))[0]))
        return self

    def _input_start(self, p: int) -> inp.InputParams:
        """Parameters to start from: the transitions are those of `transmat_`, whatever the inputs."""
        A, zeros = np.asarray(self.transmat_), self._rule().transition == 0
        coef = np.zeros((*A.shape, p))
        logs = np.log(np.maximum(A, 1e-6))
        logs -= np.average(logs, axis=1, weights=~zeros)[:, None]
        coef[:, :, 0] = np.where(zeros, -np.inf, logs)
        return inp.InputParams(np.asarray(self.startprob_), coef, self._theta())

    # what the model is

    def transition_at(self, inputs: ArrayLike) -> Array:
        """Transition probabilities (K, K) at given inputs (p,)."""
        self._need_coef()
        u = np.append(1.0, np.atleast_1d(np.asarray(inputs, dtype=np.float64)))
        if u.shape != self.coef_.shape[2:]:
            raise ValueError(f"inputs have {len(u) - 1} columns, but the fit had {self.coef_.shape[2] - 1}")
        return inp.transition(self.coef_, u)

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters."""
        if not self._has("coef_"):
            return super().n_parameters_
        rank: Any = self.__dict__.get("input_rank_", self.coef_.shape[2])
        return inp.count_parameters(self._emission(None), self._rule(), self._input_params(), rank)

    def _need_coef(self) -> None:
        if not self._has("coef_"):
            raise NotFittedError("this model was fitted without inputs: give them to fit")

    def _input_params(self) -> inp.InputParams:
        self._need_coef()
        start = check_probabilities("startprob_", self.startprob_, (self.n_components,))
        return inp.InputParams(start, np.asarray(self.coef_, dtype=np.float64), self._theta())

    def _input_frame(self, U: Array, labels: Ints | None = None) -> tuple[InputCoordinates, Units]:
        params, units = self._input_params(), Units.of(U)
        like = inp.InputParams(params.start, units.of_coef(params.coef), params.theta)
        return InputCoordinates(self._emission(None), self._rule(), units.of_inputs(U), like, labels), units

    def _chain(self) -> Chain:
        if self._has("coef_"):
            raise ValueError(
                "the transitions of this model depend on inputs: give inputs= (score, predict, predict_proba, decode, "
                "sample_paths, filter, fixed_lag, predict_next, stream, sample, aic, bic, icl, standard_errors and "
                "fisher_scores take it)"
            )
        return super()._chain()

    # reading

    def _driven(self, inputs: Any) -> bool:
        """Whether a question is one about transitions that depend on inputs, given now or named at the fit."""
        return inputs is not None or self._has("input_names_in_")

    def _emitted(self, X: Any) -> Any:
        if not self._has("input_names_in_"):
            return X
        names = self.input_names_in_.tolist()
        if not frames.is_frame(X):
            raise ValueError(f"the inputs are columns by name, {names}: give X as a data frame, not {type(X).__name__}")
        present = frames.column_names(X)
        return frames.select(X, [present[j] for j in Columns.named(names, present).emitted])

    def _asked(self, X: Any, lengths: Any, inputs: Any) -> tuple[inp.InputParams, Array, Array, Sequences]:
        """Parameters, log densities, inputs and rows of a question."""
        params, names = self._input_params(), self._names_asked(inputs)
        data = self._read(X, lengths, reset=False)
        U = with_intercept(inputs if names is None else X, len(data.values), names)
        if U.shape[1] != self.coef_.shape[2]:
            raise ValueError(f"inputs have {U.shape[1] - 1} columns, but the fit had {self.coef_.shape[2] - 1}")
        rows = np.asarray(data.values, dtype=np.float64)
        return params, self._emission(None).log_density(params.theta, rows), U, data

    def _names_asked(self, inputs: Any) -> list[str] | None:
        """Names of the inputs of a question: those of the fit, or None if it had none."""
        if not self._has("input_names_in_"):
            if as_names(inputs) is not None:
                raise ValueError("this model was fitted with inputs as numbers: give them as numbers, not by name")
            return None
        names: list[str] = self.input_names_in_.tolist()
        if inputs is not None and list(as_names(inputs) or ()) != names:
            raise ValueError(f"this model finds its inputs by name: give X with the columns {names}, and no inputs")
        return names
