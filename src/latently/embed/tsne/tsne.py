"""t-distributed stochastic neighbour embedding."""

from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Annotated, Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from latently.embed.tsne.affinities import Affinities, checked_perplexity, joint
from latently.embed.tsne.base import NeighbourEmbedding
from latently.embed.tsne.dense import JointField
from latently.embed.tsne.descent import Phase
from latently.embed.tsne.forces import Forces
from latently.embed.tsne.inputs import find_neighbours, read_input
from latently.embed.tsne.kernels import Student
from latently.geometry.distances import Array
from latently.geometry.neighbours import Neighbours
from latently.learn.estimator.parameters import Count, Seed, Verbose, stores_parameters
from latently.learn.estimator.table import generator


@stores_parameters
class TSNE(NeighbourEmbedding):
    """t-distributed stochastic neighbour embedding (van der Maaten and Hinton 2008): a map that keeps neighbours.

    Drop-in replacement for scikit-learn's class of the same name. Neighbours are exact as long as that takes less than
    about a minute. Repulsion is summed over all pairs of few points and read from a potential on a grid for many, so
    that time and memory grow in proportion to the number of rows.

    Parameters
    ----------
    n_components
        Columns of the map.
    perplexity
        About how many neighbours count for each row. Several values give multiscale affinities, their mean.
    early_exaggeration
        By what attraction is multiplied in the first 250 iterations.
    learning_rate
        A number, for all iterations; or "auto": n / early_exaggeration / 4, at least 50, then n / 4 without it.
    max_iter
        Most iterations.
    n_iter_without_progress
        Iterations without progress after which the descent ends, once exaggeration is over.
    min_grad_norm
        Length of the gradient at which it ends.
    metric
        "euclidean", "precomputed" (X is then a matrix of distances, or a sparse graph of neighbours), or another that
        `sklearn.metrics.pairwise_distances` takes.
    metric_params
        Further arguments of the metric.
    init
        "pca", "random", "spectral" (eigenvectors of the affinities), or an array (n, n_components).
    verbose
        1 for a progress bar on a terminal, 2 for lines.
    random_state
        Seed of random starts and of approximate neighbours.
    method
        "barnes_hut", as scikit-learn calls it: affinities of nearest neighbours, and repulsion by whatever is fastest
        (never by trees); "exact": all pairs; "fft": repulsion from a grid for any number of rows.
    angle
        Not used: it is the opening angle of scikit-learn's trees, and repulsion is not by trees here.
    n_jobs
        How many threads; None for every core.

    Attributes
    ----------
    embedding_
        (n, n_components) the map.
    kl_divergence_
        Kullback-Leibler divergence of the map's similarities from the affinities.
    learning_rate_
        The learning rate, during early exaggeration.
    n_iter_
        Number of the last iteration, counted from 0 as in scikit-learn.

    See Also
    --------
    SNE : with Gaussians in the map.
    MultipleMapsTSNE : several maps, for similarities that no one map can show.
    map_quality : how far to trust a map.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> tsne = TSNE(random_state=0, max_iter=500).fit(X)
    >>> tsne.embedding_.shape, tsne.kl_divergence_ < 0.2
    ((150, 2), True)
    >>> tsne.transform(X[:2] + 0.01).shape
    (2, 2)
    """

    n_components: Count = 2
    _: KW_ONLY
    perplexity: Annotated[Any, Interval(Real, 0, None, closed="neither"), "array-like"] = 30.0
    early_exaggeration: Annotated[float, Interval(Real, 1, None, closed="left")] = 12.0
    learning_rate: Annotated[Any, StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")] = "auto"
    max_iter: Count = 1000
    n_iter_without_progress: Annotated[int, Interval(Integral, -1, None, closed="left")] = 300
    min_grad_norm: Annotated[float, Interval(Real, 0, None, closed="left")] = 1e-7
    metric: Annotated[Any, str, callable] = "euclidean"
    metric_params: Annotated[dict[str, Any] | None, dict, None] = None
    init: Annotated[Any, StrOptions({"pca", "random", "spectral"}), np.ndarray] = "pca"
    verbose: Verbose = 0
    random_state: Seed = None
    method: Annotated[str, StrOptions({"barnes_hut", "exact", "fft"})] = "barnes_hut"
    angle: Annotated[float, Interval(Real, 0, 1, closed="both")] = 0.5
    n_jobs: Annotated[int | None, None, Integral] = None

    def _fit(self, X: Any, on_iteration: Any) -> None:
        if self.method != "exact" and self.n_components > 3:
            raise ValueError(
                f"'n_components' should be at most 3 for method={self.method!r}, not {self.n_components}: "
                "use method='exact'"
            )
        self._check_start()
        if self.method == "exact" and self.metric == "precomputed" and hasattr(X, "nnz"):
            raise TypeError(
                "sparse precomputed distances need method='barnes_hut', since method='exact' takes all pairs"
            )
        table = read_input(self, X, self.metric)
        n, rng = table.shape[0], generator(self.random_state)
        scales = checked_perplexity(self.perplexity, n)
        self.learning_rate_ = self._rate(n)
        affinities = self._affinities(table, scales, rng)
        Y = self._start(table, affinities, rng)
        self._run(affinities, Y, on_iteration)
        self._rows = np.empty((n, 0)) if self.metric == "precomputed" else table

    def _affinities(self, table: Any, scales: list[float], rng: np.random.RandomState) -> Affinities:
        n = table.shape[0]
        k = n - 1 if self.method == "exact" else min(n - 1, int(3 * max(scales) + 1))
        self._say(f"Computing {k} nearest neighbors...")
        found = find_neighbours(table, k, self.metric, self.metric_params, rng)
        size = float(found.distances.max(initial=0.0)) or 1.0
        affinities = joint(Neighbours(found.distances / size, found.indices), scales)
        self._say(f"Computed conditional probabilities of {n} rows")
        return affinities

    def _rate(self, n: int) -> float:
        if self.learning_rate != "auto":
            return float(self.learning_rate)
        return max(n / self.early_exaggeration / 4, 50.0)

    def _phases(self, n: int) -> list[Phase]:
        late = max(n / 4, 50.0) if self.learning_rate == "auto" else self.learning_rate_
        early = min(self._EXPLORATION_MAX_ITER, self.max_iter)
        return [
            Phase(early, self.early_exaggeration, 0.8, self.learning_rate_, early),
            Phase(self.max_iter - early, 1.0, 0.8, late, self.n_iter_without_progress),
        ]

    def _run(self, affinities: Affinities, Y: Array, on_iteration: Any) -> None:
        field: Any
        if self.n_components > 3:
            field = JointField(affinities.matrix().toarray(), self._kernel())
        else:
            field = Forces(affinities, self.n_components, {"exact": True, "fft": False}.get(self.method))
            Y = field.widened(Y)
        done = self._descend(field, Y, self._phases(affinities.n), self.min_grad_norm, on_iteration)
        if done.reason == "no progress":
            self._say(f"did not make any progress during the last {self.n_iter_without_progress} episodes. Finished.")

    def _kernel(self) -> Student:
        return Student(max(self.n_components - 1, 1))
