"""What else a fitted model knows: slopes, standard errors, missing values, durations."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from tacit.distributions import Categorical
from tacit.sequence import passage, scores
from tacit.sequence.chain import Array
from tacit.sequence.model import Params


class InsightMixin:
    """Fisher scores, standard errors, conditional values of missing entries, expected durations."""

    def fisher_scores(self, X: Any, lengths: Any = None) -> Array:
        """Slope (sequences, parameters) of the log-likelihood of each sequence.

        Parameters are in coordinates without bounds: logits of the start and of the rows of the transition
        matrix, means, logarithms of variances and rates, Cholesky factors of matrices.
        """
        data = self._read(X, lengths, reset=False)  # type: ignore[attr-defined]
        return scores.score_matrix(self._plain_model(), self._params(), data)  # type: ignore[attr-defined]

    def standard_errors(self, X: Any, lengths: Any = None) -> dict[str, Array]:
        """Standard errors of the parameters, from the curvature of the log-likelihood, by attribute name.

        Zero for what is fixed, and for probabilities at their bounds.
        """
        data = self._read(X, lengths, reset=False)  # type: ignore[attr-defined]
        model, params = self._plain_model(), self._params()  # type: ignore[attr-defined]
        return dict(scores.standard_errors(model, params, data, self._natural))

    def _plain_model(self) -> Any:
        if self._copies() > 1:  # type: ignore[attr-defined]
            raise ValueError("slopes and standard errors are for plain chains, not for states with durations")
        return self._model()  # type: ignore[attr-defined]

    def _natural(self, params: Params) -> dict[str, Array]:
        """Parameters by name, as arrays, for the delta method."""
        emission = self._model().emission  # type: ignore[attr-defined]
        return {
            "startprob_": params.chain.start,
            "transmat_": params.chain.transition,
            **natural_emissions(emission, params.theta),
        }

    def expected_durations(self) -> Array:
        """Expected number of steps (K,) in a state once it is entered."""
        return passage.expected_durations(self._chain().transition)  # type: ignore[attr-defined]

    def conditional_mean(self, X: Any, lengths: Any = None) -> Array:
        """The rows with missing entries at their expectation given whole sequences.

        A category is not averaged: it is the most probable one.
        """
        data = self._read(X, lengths, reset=False)  # type: ignore[attr-defined]
        posterior = self.predict_proba(data)  # type: ignore[attr-defined]
        parts = self._model().emission.distributions(self._theta())  # type: ignore[attr-defined]
        filled = data.values.copy()
        for t in np.flatnonzero(np.isnan(filled).any(axis=1)):
            holes, given = _conditionals(parts, filled[t])
            filled[t, holes] = _expected(given, posterior[t])
        return filled

    def conditional_draws(self, X: Any, lengths: Any = None, *, n_draws: int = 1, random_state: Any = None) -> Array:
        """Draws (n_draws, n, d) of the rows, with missing entries drawn from their distribution given all rows."""
        rng = check_random_state(random_state)
        data = self._read(X, lengths, reset=False)  # type: ignore[attr-defined]
        paths = self.sample_paths(data, n_paths=n_draws, random_state=rng)  # type: ignore[attr-defined]
        parts = self._model().emission.distributions(self._theta())  # type: ignore[attr-defined]
        draws = np.repeat(data.values[None], n_draws, axis=0)
        for t in np.flatnonzero(np.isnan(data.values).any(axis=1)):
            holes, given = _conditionals(parts, data.values[t])
            for k in np.unique(paths[:, t]):
                chosen = np.flatnonzero(paths[:, t] == k)
                draws[np.ix_(chosen, [t], holes)] = given[k].sample(len(chosen), rng)[:, None, :]
        return draws


def _conditionals(parts: list[Any], row: Array) -> tuple[Any, list[Any]]:
    """Positions of the holes of a row, and their distribution in each state."""
    holes, seen = np.flatnonzero(np.isnan(row)), np.flatnonzero(~np.isnan(row))
    if not len(seen):
        return holes, parts
    return holes, [part.conditional(seen, row[seen]) for part in parts]


def _expected(given: list[Any], weights: Array) -> Array:
    means = weights @ np.array([part.mean for part in given])
    for column in range(given[0].n_columns):
        singles = [part.marginal(column) for part in given]
        if all(isinstance(single, Categorical) for single in singles):
            size = max(len(single.probabilities) for single in singles)
            table = np.array([np.pad(s.probabilities, (0, size - len(s.probabilities))) for s in singles])
            means[column] = float(np.argmax(weights @ table))
    return np.asarray(means)


def natural_emissions(emission: Any, theta: Any) -> dict[str, Array]:
    """Parameters of the emissions by name: means and variances, or what the states' distributions have."""
    parts = emission.distributions(theta)
    if isinstance(parts[0], Categorical):
        return {"emissionprob_": np.array([part.probabilities for part in parts])}
    return {"means_": emission.means(theta), "variances_": emission.variances(theta)}
