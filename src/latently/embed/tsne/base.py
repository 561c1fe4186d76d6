"""What TSNE and SNE share: from rows to a map."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from latently.embed.base import Embedding
from latently.embed.inputs import read_table
from latently.embed.tsne import start
from latently.embed.tsne.affinities import Affinities
from latently.embed.tsne.descent import Check, Descended, Descent, MapStep, Phase
from latently.embed.tsne.inputs import check_positive, scaled_squares
from latently.embed.tsne.kernels import Gaussian, Student
from latently.embed.tsne.placing import Placing
from latently.geometry.distances import Array
from latently.geometry.neighbours import nearest
from latently.learn.engine.cores import some_threads
from latently.learn.engine.progress import drawn
from latently.learn.estimator.parameters import checked


class NeighbourEmbedding(Embedding, ABC):
    """A map made by descending a divergence between neighbourhoods."""

    _tags: ClassVar[dict[str, Any]] = {"transformer_tags.preserves_dtype": []}
    _EXPLORATION_MAX_ITER: int = 250  # iterations of early exaggeration
    _N_ITER_CHECK: int = 50  # iterations from one look at the divergence to the next

    n_components: int
    perplexity: Any
    metric: Any
    metric_params: dict[str, Any] | None
    init: Any
    verbose: int
    n_jobs: int | None
    max_iter: int
    embedding_: Array
    _rows: Array

    @checked
    def fit(self, X: Any, y: Any = None, *, on_iteration: Callable[[MapStep], Any] | None = None) -> Self:
        """Make the map.

        Parameters
        ----------
        X
            (n, d) rows, or (n, n) distances.
        y
            Not used.
        on_iteration
            Called after every iteration with a record that has `iteration`, `embedding`, `attraction`, `repulsion`,
            `gradient_norm` and `exaggeration`. The fit ends if it returns True.
        """
        with some_threads(self.n_jobs):
            self._fit(X, on_iteration)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Array:
        """Make the map, and give it (n, n_components)."""
        return np.asarray(self.fit(X, **fit_params).embedding_)

    def transform(self, X: Any) -> Array:
        """Places (m, n_components) of new rows in the map, which stays as it is.

        Each is placed by itself, among its nearest rows of the fit; a row of the fit has its own place.

        Parameters
        ----------
        X
            (m, d) rows; for precomputed distances, (m, n) distances to the rows of the fit.
        """
        check_is_fitted(self)
        rows = read_table(self, X, reset=False)
        if self.metric == "precomputed":
            check_positive(rows)
        n = len(self.embedding_)
        scales = [min(scale, n - 1.0) for scale in np.atleast_1d(self.perplexity).tolist()]
        with some_threads(self.n_jobs):
            k = min(n, int(3 * max(scales) + 1))
            found = nearest(self._rows, k, rows, metric=self.metric, metric_params=self.metric_params)
            placing = Placing(self.embedding_, scales, self._kernel())
            placed = placing.place(found, scaled_squares(found.distances))
        return placed.astype(np.float32)

    @abstractmethod
    def _fit(self, X: Any, on_iteration: Any) -> None:
        """Find the map, and set what is fitted."""

    @abstractmethod
    def _kernel(self) -> Student | Gaussian:
        """The similarity of two places in the map."""

    def _start(self, table: Any, affinities: Affinities, rng: np.random.RandomState) -> Array:
        n = affinities.n
        if isinstance(self.init, np.ndarray):
            return start.given_start(self.init, n, self.n_components)
        if self.init == "pca":
            return start.pca_start(table, self.n_components, rng)
        if self.init == "spectral":
            return start.spectral_start(affinities, self.n_components, rng)
        return start.random_start(n, self.n_components, rng)

    def _check_start(self) -> None:
        if isinstance(self.init, str) and self.init == "pca" and self.metric == "precomputed":
            raise ValueError(
                'The parameter init="pca" cannot be used with metric="precomputed". '
                'Use init="random" or init="spectral"'
            )

    def _descend(self, field: Any, Y: Array, phases: list[Phase], least: float, on_iteration: Any) -> Descended:
        name = type(self).__name__
        with drawn(name, self.max_iter, self.verbose) as draw:

            def on_check(check: Check) -> None:
                if draw is not None:
                    draw(check.iteration, f"divergence {check.cost:.4f}")
                self._say(
                    f"Iteration {check.iteration}: error = {check.cost:.7f}, gradient norm = {check.gradient_norm:.7f}"
                )

            done = Descent(field, self._N_ITER_CHECK, least, on_iteration, on_check).run(Y, phases)
        self.embedding_ = np.asarray(done.embedding[:, : self.n_components], dtype=np.float32)
        self.kl_divergence_ = done.cost
        self.n_iter_ = done.n_iter - 1
        return done

    def _say(self, text: str) -> None:
        if self.verbose >= 2:
            print(f"[t-SNE] {text}")
