"""Decoding and sampling: from a model to paths and back."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from tacit.sequence import chain as ch
from tacit.sequence.chain import Array, Ints
from tacit.sequence.sweep import smooth

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
            for each sequence: log probabilities (n_best,), best first, and paths (n_best, T). There are fewer
            where fewer paths are possible.
        """
        L, lengths_, chain = self._densities(X, lengths)
        if n_best is not None:
            if n_best < 1:
                raise ValueError(f"n_best must be at least 1, got {n_best}")
            pairs = [ch.n_best(chain, rows, n_best) for rows in np.split(L, np.cumsum(lengths_)[:-1])]
            return [p[0] for p in pairs], [p[1] // self._copies() for p in pairs]  # type: ignore[attr-defined]
        chosen = self.algorithm if algorithm is None else algorithm
        if chosen not in ALGORITHMS:
            raise ValueError(f"algorithm must be one of {ALGORITHMS}, not {chosen!r}")
        if chosen == "viterbi":
            logs, path = ch.viterbi(chain, L, lengths_)
            self._check_possible(logs, L, lengths_, chain)
        else:
            path = smooth(chain, lambda a, b: L[a:b].copy(), lengths_).posterior.argmax(axis=1)
            logs = ch.path_log_prob(chain, L, lengths_, path)
        return float(logs.sum()), path // self._copies()  # type: ignore[attr-defined]

    def _check_possible(self, logs: Array, L: Array, lengths: Ints, chain: ch.Chain) -> None:
        for s in np.flatnonzero(np.isneginf(logs)):
            first = int(lengths[:s].sum())
            raise ch.ImpossibleSequence(int(s), ch.log_forward(chain, L[first : first + lengths[s]])[1])

    def _densities(self, X: Any, lengths: Any) -> tuple[Array, Ints, ch.Chain]:
        data = self._read(X, lengths, reset=False)  # type: ignore[attr-defined]
        params = self._params()  # type: ignore[attr-defined]
        return self._model().log_density(params, data.values), data.lengths, params.chain  # type: ignore[attr-defined]

    def predict(self, X: Any, lengths: Any = None) -> Ints:
        """Most probable states (n,), by the model's algorithm."""
        return np.asarray(self.decode(X, lengths)[1])

    def sample_paths(self, X: Any, lengths: Any = None, *, n_paths: int = 1, random_state: Any = None) -> Ints:
        """Draw paths (n_paths, n) from their posterior distribution given the data."""
        rng = check_random_state(random_state)
        L, lengths_, chain = self._densities(X, lengths)
        parts = np.split(L, np.cumsum(lengths_)[:-1])
        return np.hstack([ch.sample_paths(chain, rows, n_paths, rng) for rows in parts]) // self._copies()  # type: ignore[attr-defined]

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
        return self._model().emission.sample(params.theta, states, rng), states // self._copies()  # type: ignore[attr-defined]
