"""Decoding and sampling: from a model to paths and back."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from latently.sequence.inference import chain as ch
from latently.sequence.inference.chain import Array, Ints, parts_of
from latently.sequence.inference.forward_backward import smooth
from latently.sequence.inference.viterbi import best_paths
from latently.sequence.model import runs

ALGORITHMS = ("viterbi", "map")


class PathMixin:
    """Best paths, single states, draws of paths given the data, and draws of data."""

    def decode(
        self, X: Any, lengths: Any = None, algorithm: str | None = None, *, n_best: int | None = None
    ) -> tuple[Any, Any]:
        """Find the most probable states.

        Parameters
        ----------
        X, lengths
            Sequences.
        algorithm
            "viterbi" for the most probable path, "map" for the most probable state of each step by itself; the
            model's own if None.
        n_best
            With a number, that many best paths of each sequence.

        Returns
        -------
        log_prob, states
            Log joint probability of data and path, and the path (n,). With `n_best`, two lists with an entry
            for each sequence: log probabilities (n_best,), best first, and paths (n_best, T), no two the same. There
            are fewer where fewer paths are possible.

        Notes
        -----
        Of paths of a plain chain that are equally probable, that one is the best whose states, read from the last row
        back, have the lowest numbers.

        With durations, a path is the states over time: the last one may go on after the last row, for as long as it
        likes, and the probability of the path is the sum over all of that. The probabilities of all paths sum to the
        likelihood.
        """
        chosen = self._algorithm(algorithm)
        if n_best is not None:
            check_n_best(n_best)
            L, lengths_, chain = self._densities(X, lengths)
            if self._copies() > 1:  # type: ignore[attr-defined]
                return apart(runs.n_best(chain, L, lengths_, n_best))
            return apart([ch.n_best(chain, rows, n_best) for rows in parts_of(L, lengths_)])
        if self._copies() > 1:  # type: ignore[attr-defined]
            L, lengths_, chain = self._densities(X, lengths)
            logs, path = runs.decode(chain, L, lengths_, chosen)
        elif chosen == "viterbi":
            data, params = self._read(X, lengths, reset=False), self._params()  # type: ignore[attr-defined]
            logs, path = best_paths(params.chain, self._density(params, data.values), data.lengths)  # type: ignore[attr-defined]
        else:
            L, lengths_, chain = self._densities(X, lengths)
            path = smooth(chain, lambda a, b: L[a:b].copy(), lengths_).posterior.argmax(axis=1)
            logs = ch.path_log_prob(chain, L, lengths_, path)
        return float(logs.sum()), path

    def _algorithm(self, asked: str | None) -> str:
        chosen: str = self.algorithm if asked is None else asked  # type: ignore[attr-defined]
        if chosen not in ALGORITHMS:
            raise ValueError(f"algorithm must be one of {ALGORITHMS}, not {chosen!r}")
        return chosen

    def _own_states(self, path: Ints) -> Ints:
        """States of the model from those of the chain."""
        copies = self._copies()  # type: ignore[attr-defined]
        return path if copies == 1 else path // copies

    def _densities(self, X: Any, lengths: Any) -> tuple[Array, Ints, Any]:
        data = self._read(X, lengths, reset=False)  # type: ignore[attr-defined]
        params = self._params()  # type: ignore[attr-defined]
        return self._density(params, data.values)(0, len(data.values)), data.lengths, params.chain  # type: ignore[attr-defined]

    def predict(self, X: Any, lengths: Any = None) -> Ints:
        """Most probable states (n,), by the model's algorithm."""
        return np.asarray(self.decode(X, lengths)[1])

    def sample_paths(self, X: Any, lengths: Any = None, *, n_paths: int = 1, random_state: Any = None) -> Ints:
        """Draw paths (n_paths, n) from their posterior distribution given the data."""
        rng = check_random_state(random_state)
        L, lengths_, chain = self._densities(X, lengths)
        drawn = []
        for s, rows in enumerate(parts_of(L, lengths_)):
            try:
                drawn.append(ch.sample_paths(chain, rows, n_paths, rng))
            except ch.ImpossibleSequence as problem:
                raise ch.ImpossibleSequence(s, problem.step) from None
        return self._own_states(np.hstack(drawn))

    def sample(self, n_samples: int = 1, random_state: Any = None, currstate: int | None = None) -> tuple[Array, Ints]:
        """Draw a sequence from the model.

        Parameters
        ----------
        n_samples
            Number of rows.
        random_state
            Seed; the model's own if None.
        currstate
            The first state; drawn if None.

        Returns
        -------
        X, states
            Rows (n_samples, d) and their states (n_samples,).
        """
        if n_samples < 1:
            raise ValueError(f"n_samples must be at least 1, got {n_samples}")
        rng = check_random_state(self.random_state if random_state is None else random_state)  # type: ignore[attr-defined]
        params = self._params()  # type: ignore[attr-defined]
        states = ch.walk(params.chain, n_samples, rng, currstate)
        return self._model().emission.sample(params.theta, states, rng), self._own_states(states)  # type: ignore[attr-defined]


def apart(pairs: list[tuple[Array, Ints]]) -> tuple[list[Array], list[Ints]]:
    """Log probabilities and paths apart, each with an entry for each sequence."""
    return [logs for logs, _ in pairs], [paths for _, paths in pairs]


def check_n_best(n: int) -> None:
    """Refuse a number of best paths that is none."""
    if n < 1:
        raise ValueError(f"n_best must be at least 1, got {n}")
