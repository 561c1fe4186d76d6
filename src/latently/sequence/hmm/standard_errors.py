"""What else a fitted model knows: gradients, standard errors, durations."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from latently.sequence.hmm import scores
from latently.sequence.inference.chain import Array, Ints
from latently.sequence.markov import long_run
from latently.sequence.model.hmm import Params


class StandardErrorsMixin:
    """Fisher scores, standard errors, expected durations."""

    def fisher_scores(self, X: Any, lengths: Any = None) -> Array:
        """Gradient (sequences, parameters) of the log-likelihood of each sequence.

        Parameters are in coordinates without bounds: logits of the start and of the rows of the transition
        matrix, means, logarithms of variances and rates, Cholesky factors of matrices.
        """
        data = self._read(X, lengths, reset=False)  # type: ignore[attr-defined]
        return scores.score_matrix(self._plain_model(), self._params(), data)  # type: ignore[attr-defined]

    def standard_errors(
        self, X: Any, lengths: Any = None, *, labels: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> dict[str, Array]:
        """Standard errors of the parameters, from the curvature of the objective, by attribute name.

        Zero for what is fixed, and for probabilities at their bounds. It takes a fit at its optimum, of the same
        rows, labels and weights: use a small `tol` and enough iterations.

        Parameters
        ----------
        X, lengths
            The sequences that were fitted.
        labels
            Known states of the rows, -1 where unknown, if the fit had them.
        sample_weight
            Weight of each sequence, if the fit had them.
        """
        data = self._read(X, lengths, reset=False)  # type: ignore[attr-defined]
        known = self._check_labels(labels, len(data.values))  # type: ignore[attr-defined]
        frame = scores.Coordinates(self._plain_model(known), self._params())  # type: ignore[attr-defined]
        return scores.standard_errors(frame, data, self._natural, sample_weight)

    def _plain_model(self, labels: Ints | None = None) -> Any:
        if self._copies() > 1:  # type: ignore[attr-defined]
            raise ValueError("gradients and standard errors are for plain chains, not for states with durations")
        return self._model(None, labels)  # type: ignore[attr-defined]

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
        return long_run.expected_durations(self._chain().transition)  # type: ignore[attr-defined]


def natural_emissions(emission: Any, theta: Any) -> dict[str, Array]:
    """Parameters of the emissions by name: means and variances, or what the states' distributions have."""
    parts = emission.distributions(theta)
    if hasattr(parts[0], "n_categories"):
        return {"emissionprob_": np.array([part.probabilities for part in parts])}
    return {"means_": emission.means(theta), "variances_": emission.variances(theta)}
