"""Questions to a model whose states have durations of their own."""

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from latently.data.sources.sequences import Sequences
from latently.distributions import Family
from latently.sequence.inference.chain import Array, Chain, Ints
from latently.sequence.inputs.mixin import InputsMixin
from latently.sequence.model.durations import mean_duration, trimmed, warn_of_limit
from latently.sequence.model.semi_markov import SemiRule, check_leaves, expand


class DurationsMixin(InputsMixin):
    """A chain of (state, steps left) in place of a plain one; without `duration`, all is as in `InputsMixin`."""

    def _copies(self) -> int:
        if self.duration is None:
            return 1
        if isinstance(self.max_duration, bool) or self.max_duration != int(self.max_duration) or self.max_duration < 1:
            raise ValueError(f"max_duration must be a whole number of steps from 1 on, got {self.max_duration!r}")
        return int(self.max_duration)

    def _fixed_transitions(self) -> Any:
        """A state with a duration is not followed by itself, unless it is the only one."""
        given, K = super()._fixed_transitions(), self.n_components
        if self.duration is None or K == 1:
            return given
        fixed = np.full((K, K), np.nan) if given is None else np.array(given, dtype=np.float64)
        if fixed.shape == (K, K):
            check_leaves("transmat", fixed)
            fixed[np.diag_indices(K)] = 0.0
        return fixed

    def _learning_rule(self) -> Any:
        rule, fixed = self._rule(), self._fixed_durations()
        if self.duration is None:
            return rule
        if rule.is_stationary:
            raise ValueError("startprob='stationary' is for plain chains, not for states with durations")
        return SemiRule(rule, self.params, fixed)

    def _fixed_durations(self) -> tuple[Family | None, ...]:
        """Fixed distribution of each state's duration, less one; None where it is learnt."""
        given, K = self._fixed("durations"), self.n_components
        if given is None:
            return (None,) * K
        if self.duration is None:
            raise ValueError('fixed["durations"] is for states with durations: give duration a distribution')
        if not isinstance(given, list | tuple) or len(given) != K:
            raise ValueError(f'fixed["durations"] must be a list of {K}, got {given!r}')
        for state, part in enumerate(given):
            if part is not None and not (isinstance(part, Family) and part.is_fitted):
                raise ValueError(
                    f'fixed["durations"] of state {state} needs a distribution with parameters, not {part}'
                )
        return tuple(None if part is None else trimmed(part, self._copies()) for part in given)

    def _chain(self) -> Chain:
        plain = super()._chain()
        if self.duration is None:
            return plain
        if not self._has("durations_"):
            raise NotFittedError("this HiddenMarkovModel has no durations_ yet: call fit, or assign them")
        if len(self.durations_) != self.n_components or not all(part.is_fitted for part in self.durations_):
            raise ValueError(f"durations_ must be {self.n_components} distributions with parameters")
        return expand(plain, tuple(self.durations_), self._copies())

    def _store_chain(self, chain: Any) -> None:
        if self.duration is None:
            super()._store_chain(chain)
        else:
            super()._store_chain(chain.plain)
            self._store(durations_=list(chain.durations))

    def expected_durations(self) -> Array:
        """Expected number of steps (K,) in a state once it is entered."""
        if self.duration is None:
            return super().expected_durations()
        self._params()
        self._warn_of_given_durations()
        return np.array([mean_duration(part, self._copies()) for part in self.durations_])

    def sample(
        self, n_samples: int = 1, random_state: Any = None, currstate: int | None = None, *, inputs: Any = None
    ) -> tuple[Array, Ints]:
        """Draw a sequence from the model; with inputs (n, p) it has as many rows as they have."""
        self._warn_of_given_durations()
        return super().sample(n_samples, random_state, currstate, inputs=inputs)

    def _read(self, X: Any, lengths: Any, reset: bool) -> Sequences:
        if not reset:
            self._warn_of_given_durations()
        return super()._read(X, lengths, reset)

    def _warn_of_given_durations(self) -> None:
        """Warn if durations were assigned of which much lies beyond the longest."""
        given = self.__dict__.get("_given", {}).get("durations_")
        if self.duration is not None and given is not None and given is self.__dict__.get("durations_"):
            warn_of_limit(tuple(self.durations_), self._copies(), self._copies() + 1)

    def _finish(self, model: Any, fit: Any) -> None:
        super()._finish(model, fit)
        if self.duration is not None and self.n_components > 1 and "d" in self.params:
            warn_of_limit(tuple(self.durations_), self._copies(), self._copies())

    def _model(self, X: Array | None = None, labels: Ints | None = None) -> Any:
        if X is not None and self.duration is not None and self.n_components > 1 and "t" in self.params:
            check_leaves("transmat_", np.asarray(self.transmat_))
        return super()._model(X, labels)

    def _plain_model(self, labels: Ints | None = None) -> Any:
        if self.duration is not None:
            raise ValueError("gradients and standard errors are for plain chains, not for states with durations")
        return super()._plain_model(labels)
