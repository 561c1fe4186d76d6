"""Stochastic neighbour embedding with Gaussians in the map."""

from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Annotated, Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from latently.embed.tsne.affinities import Affinities, checked_perplexity, conditional
from latently.embed.tsne.base import NeighbourEmbedding
from latently.embed.tsne.dense import ConditionalField, JointField
from latently.embed.tsne.descent import Phase
from latently.embed.tsne.inputs import find_neighbours, read_input, scaled_squares
from latently.embed.tsne.kernels import Gaussian
from latently.learn.estimator.parameters import Count, Flag, Seed, Verbose, stores_parameters
from latently.learn.estimator.table import generator


@stores_parameters
class SNE(NeighbourEmbedding):
    """Stochastic neighbour embedding (Hinton and Roweis 2002): Gaussian similarities among rows and in the map.

    All pairs of rows are looked at: time and memory grow with their square. `TSNE` takes more rows, and keeps clusters
    apart that Gaussians crowd together.

    Parameters
    ----------
    n_components
        Columns of the map.
    perplexity
        About how many neighbours count for each row. Several values give multiscale affinities, their mean.
    symmetric
        Whether the map shows joint probabilities p_ij (symmetric SNE) or each row's own p(j | i).
    early_exaggeration
        By what attraction is multiplied in the first 250 iterations.
    learning_rate
        A number, or "auto": a quarter of the number of rows, less during exaggeration.
    max_iter
        Most iterations.
    n_iter_without_progress
        Iterations without progress after which the descent ends, once exaggeration is over.
    min_grad_norm
        Length of the gradient at which it ends.
    metric, metric_params, init, verbose, random_state, n_jobs
        See `TSNE`.

    Attributes
    ----------
    embedding_
        (n, n_components) the map.
    kl_divergence_
        Of the map's joint probabilities from those of the rows if symmetric; otherwise the mean over rows of the
        divergence of q(. | i) from p(. | i).
    n_iter_
        Number of the last iteration, counted from 0 as in `TSNE`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> sne = SNE(max_iter=300, random_state=0).fit(X)
    >>> sne.embedding_.shape
    (150, 2)
    """

    n_components: Count = 2
    _: KW_ONLY
    perplexity: Annotated[Any, Interval(Real, 0, None, closed="neither"), "array-like"] = 30.0
    symmetric: Flag = False
    early_exaggeration: Annotated[float, Interval(Real, 1, None, closed="left")] = 4.0
    learning_rate: Annotated[Any, StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")] = "auto"
    max_iter: Count = 1000
    n_iter_without_progress: Annotated[int, Interval(Integral, -1, None, closed="left")] = 300
    min_grad_norm: Annotated[float, Interval(Real, 0, None, closed="left")] = 1e-7
    metric: Annotated[Any, str, callable] = "euclidean"
    metric_params: Annotated[dict[str, Any] | None, dict, None] = None
    init: Annotated[Any, StrOptions({"pca", "random", "spectral"}), np.ndarray] = "pca"
    verbose: Verbose = 0
    random_state: Seed = None
    n_jobs: Annotated[int | None, None, Integral] = None

    def _fit(self, X: Any, on_iteration: Any) -> None:
        self._check_start()
        table = read_input(self, X, self.metric)
        n, rng = table.shape[0], generator(self.random_state)
        scales = checked_perplexity(self.perplexity, n)
        found = find_neighbours(table, n - 1, self.metric, self.metric_params, rng)
        P = np.zeros((n, n))
        P[np.arange(n)[:, None], found.indices] = conditional(scaled_squares(found.distances), scales)
        joint = (P + P.T) / (2 * n)
        Y = self._start(table, Affinities.dense(joint), rng)
        field = JointField(joint, Gaussian()) if self.symmetric else ConditionalField(P)
        self._descend(field, Y, self._phases(n), self.min_grad_norm, on_iteration)
        self._rows = np.empty((n, 0)) if self.metric == "precomputed" else table

    def _phases(self, n: int) -> list[Phase]:
        rate = n / 4 if self.learning_rate == "auto" else float(self.learning_rate)
        first = rate / self.early_exaggeration if self.learning_rate == "auto" else rate
        early = min(self._EXPLORATION_MAX_ITER, self.max_iter)
        return [
            Phase(early, self.early_exaggeration, 0.5, first, early),
            Phase(self.max_iter - early, 1.0, 0.8, rate, self.n_iter_without_progress),
        ]

    def _kernel(self) -> Gaussian:
        return Gaussian()
