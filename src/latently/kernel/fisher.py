"""Fisher kernel: two things are alike if they would change the parameters of a model in the same way."""

from copy import copy
from dataclasses import KW_ONLY
from functools import singledispatch
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from latently.data.tables import frames
from latently.kernel.base import Array, Kernel
from latently.learn.estimator.parameters import stores_parameters

Information = Literal["empirical", "diagonal", "exact", "none"]
_KINDS = ("empirical", "diagonal", "exact", "none")
_ROUNDING = 1e-8  # share of the largest eigenvalue below which a direction of parameters says nothing


@runtime_checkable
class HasFisherScores(Protocol):
    """A fitted model with the gradient of each item's log-likelihood in its parameters."""

    def fisher_scores(self, X: Any) -> Array:
        """(n, P) gradients of log p(x) in the free parameters."""


@singledispatch
def fisher_scores(model: Any, X: Any) -> Array:
    """Gradients (n, P) of the log density of each row (or sequence) in the parameters of a fitted model.

    A model answers by itself if it has a method `fisher_scores`, as all mixtures and hidden Markov models of latently
    have. Others can be added: `fisher_scores.register(MyModel)`.

    Examples
    --------
    >>> from latently.cluster import GaussianMixture
    >>> X = np.array([[0.0], [1.0], [2.0], [9.0], [11.0]])
    >>> mixture = GaussianMixture(1, reg_covar=0).fit(X)
    >>> fisher_scores(mixture, X).shape  # of the mean and the variance; the one weight is not free
    (5, 2)
    >>> bool(np.allclose(fisher_scores(mixture, X).sum(axis=0), 0))  # zero at the maximum
    True
    """
    if isinstance(model, HasFisherScores):
        return np.asarray(model.fisher_scores(*_sequences(X)), dtype=float)
    raise TypeError(
        f"{type(model).__name__} has no method fisher_scores(X): give one to it, or register a function for its class "
        "(latently.kernel.fisher.fisher_scores.register)"
    )


class FeatureKernel(Kernel):
    """Inner products of features that are read from things."""

    def _matrix(self, X: Any, Y: Any) -> Array:
        return np.asarray(X @ (X if Y is None else Y).T)

    def _diagonal(self, X: Any) -> Array:
        return np.asarray((X * X).sum(axis=1))


@stores_parameters
class FisherKernel(FeatureKernel):
    """Inner product of the gradients of the log-likelihood, in the metric of the Fisher information.

    k(x, y) = g(x)' I^-1 g(y), with g(x) the gradient of log p(x) in the parameters (Jaakkola and Haussler, 1999).

    Parameters
    ----------
    model
        A fitted mixture or hidden Markov model of latently, or anything with a method `fisher_scores(X)`.
    information
        How I is found. "empirical": the mean of g g' over the rows of Y, those that a model is fitted to, or of X if
        there is no Y. "diagonal": its diagonal, where parameters are many beside rows. "exact": its
        expectation under the model, by `n_draws` draws from it. "none": I is the identity.
    n_draws, random_state
        Of "exact".
    normalize
        Whether to divide by sqrt(k(x, x) k(y, y)).

    Notes
    -----
    `features(X)` gives I^(-1/2) g(x) as a table, for a linear classifier. A list of arrays is a list of sequences.

    Examples
    --------
    >>> from latently.cluster import GaussianMixture
    >>> X = np.array([[0.0], [1.0], [2.0], [9.0], [11.0]])
    >>> k = FisherKernel(GaussianMixture(1, reg_covar=0).fit(X))
    >>> K = k(X)
    >>> round(float(np.trace(K)) / 5, 6)  # the mean squared length of a gradient is the number of parameters
    2.0
    """

    model: Any
    _: KW_ONLY
    information: Information = "empirical"
    n_draws: int = 1000
    random_state: Any = 0
    normalize: bool = False

    def adapted(self, X: Any) -> Kernel:
        """The kernel with its information found from the rows."""
        if self.information not in _KINDS:
            raise ValueError(f"information must be one of {_KINDS}, got {self.information!r}")
        return FittedFisher(self.model, self._root(X), normalize=self.normalize)

    def features(self, X: Any, reference: Any = None) -> Array:
        """I^(-1/2) g(x) (n, r), whose inner products are the kernel; the information is of `reference`, or of X."""
        return np.asarray(fisher_scores(self.model, X) @ self._root(X if reference is None else reference))

    def _root(self, X: Any) -> Array:
        """(P, r) a square root of the inverse information; directions that nothing depends on are left out."""
        if self.information == "exact":
            gradients = fisher_scores(self.model, self._drawn(X))
        else:
            gradients = fisher_scores(self.model, X)
        if self.information == "none":
            return np.eye(gradients.shape[1])
        scale = np.sqrt((gradients**2).mean(axis=0))
        scale = np.where(scale > 0, scale, 1.0)
        if self.information == "diagonal":
            return np.diag(1.0 / scale)
        values, vectors = np.linalg.eigh((gradients / scale).T @ (gradients / scale) / len(gradients))
        kept = values > _ROUNDING * max(values[-1], 0.0)
        return np.asarray(vectors[:, kept] / np.sqrt(values[kept]) / scale[:, None])

    def _drawn(self, X: Any) -> Any:
        """Rows drawn from the model, as a table like X; of a model of sequences, sequences of ten rows."""
        if hasattr(self.model, "score_sequences"):
            seeds = np.random.default_rng(self.random_state).integers(2**31, size=self.n_draws)
            return [self.model.sample(10, random_state=int(seed))[0] for seed in seeds]
        model = copy(self.model)
        model.random_state = self.random_state
        named = {"like": X} if hasattr(model, "schema_") and frames.is_frame(X) else {}
        drawn = model.sample(self.n_draws, **named)
        return drawn[0] if isinstance(drawn, tuple) else drawn


@stores_parameters
class FittedFisher(FeatureKernel):
    """A Fisher kernel whose information is known: `root` (P, r) is a square root of its inverse."""

    model: Any
    root: Array
    _: KW_ONLY
    normalize: bool = False

    def _read(self, X: Any, Y: Any) -> tuple[Any, Any]:
        features = [None if each is None else fisher_scores(self.model, each) @ self.root for each in (X, Y)]
        return features[0], features[1]


def _sequences(X: Any) -> tuple[Any, ...]:
    """X, or the rows and lengths of a list of sequences."""
    if not (isinstance(X, list | tuple) and len(X) and np.ndim(X[0]) == 2):
        return (X,)
    return np.concatenate([np.asarray(part) for part in X]), np.array([len(part) for part in X])
