"""Multiple maps t-SNE: similarities that no single map can show."""

from collections.abc import Callable
from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from latently import compiled
from latently.embed.inputs import read_table
from latently.embed.multiple_maps.field import MapsField
from latently.embed.tsne import start
from latently.embed.tsne.affinities import checked_perplexity, conditional
from latently.embed.tsne.descent import Descent, MapStep, Phase
from latently.embed.tsne.inputs import find_neighbours, read_input, scaled_squares
from latently.geometry.distances import Array
from latently.learn.engine.cores import some_threads
from latently.learn.engine.progress import drawn
from latently.learn.estimator.parameters import Count, Seed, Verbose, checked, stores_parameters
from latently.learn.estimator.table import generator
from latently.learn.estimator.tags import DeclaredTags


@stores_parameters
class MultipleMapsTSNE(DeclaredTags, BaseEstimator):
    """Multiple maps t-SNE (van der Maaten and Hinton 2012): several maps, and a share of every point in each.

    Similarities need not be transitive: "bank" is close to "money" and to "river", which are far from one another. In
    one map that cannot be shown; with two, "bank" has a share in both. Nor can one map show a point that is the nearest
    of very many. Two points are as similar as the sum over the maps of the product of their shares times their
    similarity there. With one map it is t-SNE. All pairs of points are looked at: for some thousand points.

    Parameters
    ----------
    n_maps
        How many maps.
    n_components
        Columns of each map.
    perplexity
        About how many neighbours count for each row; not used with given affinities.
    affinity
        "perplexity", from distances; or "precomputed": X holds similarities (n, n) that are not negative, such as how
        often one word was associated with another. They need not be symmetric: each row is divided by its sum, then
        p_ij is the mean of both directions.
    early_exaggeration
        By what attraction is multiplied in the first 250 iterations. Above 1, points settle in a map before their
        shares have, and most of the gain of several maps is lost.
    learning_rate
        A number, or "auto": a quarter of the number of rows, less during exaggeration.
    max_iter
        Most iterations.
    metric
        Of distances between rows; "precomputed" if X is a matrix of distances.
    metric_params
        Further arguments of the metric.
    init
        "random", or an array (n_maps, n, n_components).
    verbose
        1 for a progress bar on a terminal.
    random_state
        Seed of the start.
    n_jobs
        How many threads; None for every core.

    Attributes
    ----------
    embeddings_
        (n_maps, n, n_components) the maps.
    weights_
        (n, n_maps) the share of each point in each map; sum 1 for every point.
    kl_divergence_
        Kullback-Leibler divergence of the similarities in all maps from the affinities.
    n_iter_
        How many iterations were done.

    Examples
    --------
    >>> words = ["bank", "money", "loan", "river", "water"]
    >>> associated = np.array([[0, 4, 4, 4, 4], [4, 0, 4, 0, 0], [4, 4, 0, 0, 0], [4, 0, 0, 0, 4], [4, 0, 0, 4, 0]])
    >>> found = MultipleMapsTSNE(2, affinity="precomputed", max_iter=300, random_state=0).fit(associated)
    >>> found.embeddings_.shape, found.weights_.sum(axis=1)
    ((2, 5, 2), array([1., 1., 1., 1., 1.]))
    """

    _tags: ClassVar[dict[str, Any]] = {
        "pairwise": lambda model: "precomputed" in (model.metric, model.affinity),
        "sparse": True,
    }
    _EXPLORATION_MAX_ITER: ClassVar[int] = 250
    _N_ITER_CHECK: ClassVar[int] = 50

    n_maps: Count = 2
    _: KW_ONLY
    n_components: Count = 2
    perplexity: Annotated[Any, Interval(Real, 0, None, closed="neither"), "array-like"] = 30.0
    affinity: Annotated[str, StrOptions({"perplexity", "precomputed"})] = "perplexity"
    early_exaggeration: Annotated[float, Interval(Real, 1, None, closed="left")] = 1.0
    learning_rate: Annotated[Any, StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")] = "auto"
    max_iter: Count = 1000
    metric: Annotated[Any, str, callable] = "euclidean"
    metric_params: Annotated[dict[str, Any] | None, dict, None] = None
    init: Annotated[Any, StrOptions({"random"}), np.ndarray] = "random"
    verbose: Verbose = 0
    random_state: Seed = None
    n_jobs: Annotated[int | None, None, Integral] = None

    @checked
    def fit(self, X: Any, y: Any = None, *, on_iteration: Callable[[MapStep], Any] | None = None) -> Self:
        """Make the maps.

        Parameters
        ----------
        X
            (n, d) rows, (n, n) distances, or (n, n) similarities.
        y
            Not used.
        on_iteration
            As in `TSNE.fit`; its `embedding` holds the columns of all maps, then the logarithms of the shares.
        """
        rng = generator(self.random_state)
        with some_threads(self.n_jobs):
            P = self._affinities(X, rng)
            field = MapsField(P, self.n_maps, self.n_components)
            state = field.state(self._start(len(P), rng), np.zeros((len(P), self.n_maps)))
            with drawn("multiple maps t-SNE", self.max_iter, self.verbose) as draw:
                show = None if draw is None else (lambda check: draw(check.iteration, f"divergence {check.cost:.4f}"))
                descent = Descent(field, self._N_ITER_CHECK, 1e-7, on_iteration, show)
                done = descent.run(state, self._phases(len(P)))
        self.embeddings_, self.weights_ = field.maps(done.embedding), field.shares(done.embedding)
        self.kl_divergence_, self.n_iter_ = done.cost, done.n_iter
        return self

    def similarities(self) -> Array:
        """How similar every two points are over all maps: q_ij (n, n), sum 1."""
        check_is_fitted(self)
        n = len(self.weights_)
        out = np.empty((n, n))
        compiled.embed.multiple_maps.similarities(self.embeddings_, self.weights_, 0, n, out)
        return np.asarray(out / out.sum())

    def _affinities(self, X: Any, rng: np.random.RandomState) -> Array:
        if self.affinity == "precomputed":
            return given_affinities(read_table(self, X, reset=True, min_rows=2))
        table = read_input(self, X, self.metric)
        n = table.shape[0]
        scales = checked_perplexity(self.perplexity, n)
        found = find_neighbours(table, min(n - 1, int(3 * max(scales) + 1)), self.metric, self.metric_params, rng)
        P = np.zeros((n, n))
        P[np.arange(n)[:, None], found.indices] = conditional(scaled_squares(found.distances), scales)
        return np.asarray((P + P.T) / (2 * n))

    def _start(self, n: int, rng: np.random.RandomState) -> Array:
        shape = (self.n_maps, n, self.n_components)
        if not isinstance(self.init, np.ndarray):
            return np.stack([start.random_start(n, self.n_components, rng) for _ in range(self.n_maps)])
        if self.init.shape != shape:
            raise ValueError(f"init has the shape {self.init.shape}, but the maps need {shape}")
        return np.stack([start.given_start(each, n, self.n_components) for each in self.init])

    def _phases(self, n: int) -> list[Phase]:
        early = min(self._EXPLORATION_MAX_ITER, self.max_iter)
        if self.learning_rate == "auto":
            first, then = n / self.early_exaggeration / 4, n / 4
        else:
            first = then = float(self.learning_rate)
        patience = self.max_iter
        return [
            Phase(early, self.early_exaggeration, 0.8, first, patience),
            Phase(self.max_iter - early, 1.0, 0.8, then, patience),
        ]

    def _expected_failed_checks(self) -> dict[str, str]:
        return {"law_row_order_does_not_matter": "maps start at random places, drawn in the order of the rows"}


def given_affinities(similar: Array) -> Array:
    """p_ij of similarities (n, n) that are not negative, whatever their scale and direction."""
    if similar.shape[0] != similar.shape[1]:
        raise ValueError(f"similarities must be a square matrix, their shape is {similar.shape}")
    if (similar < 0).any():
        i, j = np.argwhere(similar < 0)[0]
        raise ValueError(f"the similarity of {i} and {j} is negative ({similar[i, j]:.4g}): they must be at least 0")
    P = similar.copy()
    np.fill_diagonal(P, 0.0)
    sums = P.sum(axis=1)
    if (sums == 0).any():
        raise ValueError(f"item {int(np.argmin(sums))} is similar to no other: leave it out")
    P /= sums[:, None]
    return np.asarray((P + P.T) / (2 * len(P)))
