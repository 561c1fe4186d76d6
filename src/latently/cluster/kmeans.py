"""K-means clustering."""

import math
import warnings
from dataclasses import KW_ONLY, replace
from functools import partial
from numbers import Real
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from latently.data.sources.chunks import Chunk, ChunkSource
from latently.data.tables.matrix import TINY, FloatArray
from latently.learn.engine.em import Hook
from latently.learn.engine.reduce import mapping, reducing
from latently.learn.estimator.online import nearest_order, refuse_other, refuse_strangers, weight_left
from latently.learn.estimator.parameters import CHOICES, COUNT, Count, Flag, Seed, Verbose, checked, stores_parameters
from latently.learn.estimator.sums import summing
from latently.learn.estimator.table import OutOfCoreMixin, check_fitted, seeds
from latently.learn.estimator.unconverged import warn_unconverged
from latently.learn.kmeans.best import best_run
from latently.learn.kmeans.model import LloydModel, LloydStatistics
from latently.learn.kmeans.result import Run
from latently.learn.kmeans.rows import Frame, Table, Unread, distances_to, frame_of, rows_at_once
from latently.learn.kmeans.run import labelled
from latently.learn.kmeans.start import given_start, start_centres
from latently.learn.kmeans.stored import read_table, start_table

Array = npt.NDArray[np.float64]
# The cost of rows that are complete, and of values that models take, is below this.
ORDINARY = 1e300


@stores_parameters
class KMeans(OutOfCoreMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """K-means clustering: each row belongs to the nearest centre, each centre is the mean of its rows.

    A drop-in replacement for scikit-learn's class of the same name, and finds the same clusters from the same centres.
    Rows may have missing values (NaN): distances are then taken over the coordinates that are observed and
    scaled up to all of them, and centres are the means that make the sum of those least.

    Parameters
    ----------
    n_clusters
        How many clusters.
    init
        Where to start: "k-means++" (rows far apart), "random" (random rows), an array of centres, or a function
        of X, n_clusters and random_state that returns one. From 16,384 complete rows on, "k-means++" draws from a
        sample, clusters samples of up to a quarter of the rows, and starts from the centres that these have come to;
        where all rows cost more than a sample has told, it draws from all of them instead.
    n_init
        How many starts, of which the best is kept; "auto" is 10 for "random" and for a function, else 1.
    max_iter
        Iterations at most; running out of them is told by a `ConvergenceWarning`.
    tol
        Converged when the squared movement of all centres is at most this share of the mean variance of the
        columns, or when no row changes its cluster.
    verbose
        1 shows a progress bar on a terminal, and a line for each iteration elsewhere.
    random_state
        Seed or generator.
    copy_x
        Accepted for scikit-learn's sake: X is never changed.
    algorithm
        Accepted for scikit-learn's sake: "lloyd" and "elkan" name the same, exact, search.
    empty
        What becomes of a cluster that no row is nearest to: "keep" leaves its centre where it is; "split" gives
        it the row that is farthest from its own centre, as scikit-learn does.

    Attributes
    ----------
    cluster_centers_
        (n_clusters, columns) centres.
    labels_
        (rows,) cluster of each row.
    inertia_
        Sum of weighted squared distances to the nearest centre.
    n_iter_, converged_, reason_
        How the best start ended: "converged", "max_iter", "stopped" or "interrupted" (Ctrl-C). Iterations are passes
        over all rows, without those over samples.
    trace_
        Free energy of all rows at the start of each iteration, and at the end: minus the inertia, up to a constant.
    cluster_weights_
        (n_clusters,) weight of the rows in each cluster, of all batches together after `partial_fit`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [1.0, 4.0], [1.0, np.nan], [10.0, 2.0], [10.0, 4.0], [10.0, 0.0]])
    >>> model = KMeans(n_clusters=2, random_state=0).fit(X)
    >>> model.predict([[0.0, 0.0], [np.nan, 3.0], [12.0, 3.0]]) == model.labels_[[0, 1, 3]]
    array([ True,  True,  True])
    >>> np.sort(model.cluster_centers_, axis=0)
    array([[ 1.,  2.], [10.,  3.]])
    """

    _tags: ClassVar[dict[str, Any]] = {
        "sparse": True,
        "allow_nan": True,
        "transformer_tags.preserves_dtype": ["float64", "float32"],
    }
    _is_iterative = True
    _within = math.inf  # of models stored without it: no row is known to be too far to have been learnt

    n_clusters: Count = 8
    _: KW_ONLY
    init: Annotated[Any, StrOptions({"k-means++", "random"}), callable, "array-like"] = "k-means++"
    n_init: Annotated[int | Literal["auto"], CHOICES, COUNT] = "auto"
    max_iter: Count = 300
    tol: Annotated[float, Interval(Real, 0, None, closed="left")] = 1e-4
    verbose: Verbose = 0
    random_state: Seed = None
    copy_x: Flag = True
    algorithm: Annotated[Literal["lloyd", "elkan"], CHOICES] = "lloyd"
    empty: Annotated[Literal["keep", "split"], CHOICES] = "keep"

    @checked
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, on_iteration: Hook | None = None) -> Self:
        """Find the clusters of the rows.

        Parameters
        ----------
        X
            Rows to cluster; NaN is missing. A sparse matrix is read in dense blocks, a file in chunks.
        y
            Not used.
        sample_weight
            Weight of each row.
        on_iteration
            Called after each iteration with its `latently.learn.Step`; a true return value stops the fit.
        """
        table = read_table(self, X, sample_weight, reset=True)
        self._check_rows(table)
        with reducing(table.source) as reduce:
            given = given_start(self.init, table, self.n_clusters)
            frame = frame_of(reduce, table.source.column_names, given, table.X.shape[0])
        starts = seeds(self.random_state, self._n_init)
        best = best_run(self, self.init, table, frame, self.n_clusters, starts, on_iteration)
        self._remember(best, table, frame)
        found = np.count_nonzero(best.stats.weight if isinstance(table.X, Unread) else np.bincount(best.labels))
        if found < self.n_clusters:
            warnings.warn(
                f"Number of distinct clusters ({found}) found smaller than n_clusters ({self.n_clusters}). "
                "Possibly due to duplicate points in X, or to centres that no row is nearest to.",
                ConvergenceWarning,
                stacklevel=3,
            )
        warn_unconverged(best.reason, "max_iter", self.max_iter)
        return self

    @checked
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from a further batch of rows: each centre becomes the mean of all rows it has been given so far.

        The first batch draws the start, so it needs at least as many rows as there are clusters. `labels_` and
        `inertia_` are those of the batch under the new centres.
        """
        begun = hasattr(self, "cluster_centers_")
        table = read_table(self, X, sample_weight, reset=not begun)
        if not begun:
            self._check_rows(table)
        init = self.cluster_centers_ if begun else self.init
        with reducing(table.source) as reduce:
            frame = frame_of(reduce, table.source.column_names, given_start(init, table, self.n_clusters))
            rng = seeds(self.random_state, 1)[0]
            start = start_centres(init, start_table(init, table, rng), frame, self.n_clusters, rng)
            model = LloydModel(frame, start)
            stats = reduce(partial(model.expect, model.params(start)))
        total = self._with_earlier(stats, start) if begun else stats
        step = labelled(model, total.means(start), table)
        within = (self._within if begun else 0.0) + stats.cost - _moved_by(step.centres - start, total.share)
        self._remember(replace(step, stats=total, n_iter=getattr(self, "n_iter_", 0) + 1), table, frame)
        self._within = max(within, 0.0)
        self.inertia_ = step.stats.cost
        return self

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Unlearn rows: each is taken out of the cluster whose centre is nearest to it now.

        Exact as long as these are the clusters that the rows came into; the other rows keep theirs. A `fit` to the rows
        that are left goes the rest of the way.

        Parameters
        ----------
        X
            Rows that were learnt from.
        y
            Not used.
        sample_weight
            The weights they had.

        Examples
        --------
        >>> KMeans(1).fit([[1.0], [2.0], [9.0]]).forget([[9.0]]).cluster_centers_
        array([[1.5]])
        """
        gone = self._labelled(X, sample_weight, summed=True)
        centres = self.cluster_centers_.astype(np.float64)
        had = float(self.cluster_weights_.sum())
        weight = weight_left(had, gone.stats.rows, self.cluster_weights_ - gone.stats.weight, unit="cluster")
        refuse_strangers(self._within, gone.stats.cost, float((gone.stats.share * centres**2).sum()))
        share = np.where(weight[:, None] > 0, np.maximum(self._share - gone.stats.share, 0.0), 0.0)
        # sums about each centre: what is left of them is how far the centre moves
        moved = np.divide(-gone.about_centres(), share, out=np.zeros_like(centres), where=share > 0)
        self._within = max(self._within - gone.stats.cost - _moved_by(moved, share), 0.0)
        return self._move(centres + moved, weight, share)

    def merge(self, other: Self) -> Self:
        """Add what another fitted model has learnt; its clusters go to those of ours whose centres are nearest.

        Exact as long as rows of both would be in the same clusters; they stay where each model has put them.
        """
        refuse_other(self, other)
        mine, theirs = (model.cluster_centers_.astype(np.float64) for model in (self, other))
        if len(mine) != len(theirs):
            raise ValueError(f"{len(theirs)} clusters cannot be merged into {len(mine)}: fit both with the same number")
        order = nearest_order(mine, theirs)
        share, added = np.broadcast_arrays(self._share, other._share[order])
        total = share + added
        gap = np.where(added > 0, theirs[order] - mine, 0.0)
        moved = np.divide(added * gap, total, out=np.zeros_like(mine), where=np.broadcast_to(total, mine.shape) > 0)
        both = np.divide(share * added, total, out=np.zeros(total.shape), where=total > 0)
        self._within += other._within + _moved_by(gap, both)
        return self._move(mine + moved, self.cluster_weights_ + other.cluster_weights_[order], total)

    def _move(self, centres: Array, weight: Array, share: Array) -> Self:
        """Take on centres of other rows than before; labels and inertia of no rows in particular are dropped."""
        self.cluster_centers_: FloatArray = centres.astype(self.cluster_centers_.dtype)
        self.cluster_weights_, self._share = weight, share
        for name in ("labels_", "inertia_"):
            self.__dict__.pop(name, None)
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> npt.NDArray[np.int32]:
        """Fit, and give the cluster of each row."""
        fitted = self.fit(X, sample_weight=sample_weight)
        return fitted.labels_ if hasattr(fitted, "labels_") else fitted.predict(X)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and give the distance of each row to each centre."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def predict(self, X: Any) -> npt.NDArray[np.int32]:
        """The cluster of each row: the nearest centre, the first of equals."""
        check_fitted(self)
        found = None if isinstance(X, ChunkSource) or issparse(X) else self._nearest(X)
        return self._labelled(X, told=True).labels if found is None else found

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the sum of weighted squared distances to the nearest centre."""
        return -float(self._cost(X, sample_weight=sample_weight))

    @summing
    def _cost(self, X: Any, sample_weight: Any = None) -> float:
        return self._labelled(X, sample_weight).stats.cost

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """(rows, n_clusters) distance of each row to each centre."""
        check_fitted(self)
        return distances_to(self.cluster_centers_, read_table(self, X, None, reset=False, most=rows_at_once))

    def _expected_failed_checks(self) -> dict[str, str]:
        drawn = "a start drawn from the rows depends on their order, which this check changes"
        kinds = ("dense", "sparse") if isinstance(self.init, str) else ()
        moved = "rows keep the clusters that they were given when they were seen"
        return {
            **{f"check_sample_weight_equivalence_on_{kind}_data": drawn for kind in kinds},
            "law_merge_equals_fit_on_both": moved,
        }

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _check_rows(self, table: Table) -> None:
        n = table.X.shape[0]
        if n < self.n_clusters:
            raise ValueError(f"n_samples={n} should be >= n_clusters={self.n_clusters}: ask for fewer clusters")
        many = callable(self.init) or (isinstance(self.init, str) and self.init == "random")
        self._n_init = (10 if many else 1) if self.n_init == "auto" else self.n_init
        if self._n_init > 1 and not (callable(self.init) or isinstance(self.init, str)):
            message = f"performing only one init in KMeans instead of n_init={self._n_init}."
            warnings.warn(f"Explicit initial center position passed: {message}", RuntimeWarning, stacklevel=5)
            self._n_init = 1
        if self.algorithm == "elkan" and self.n_clusters == 1:
            message = "algorithm='elkan' doesn't make sense for a single cluster: there is nothing to compare."
            warnings.warn(message, RuntimeWarning, stacklevel=5)

    def _remember(self, done: Run, table: Table, frame: Frame) -> None:
        self.cluster_centers_ = (done.centres + frame.origin).astype(table.X.dtype)
        self.labels_, self.inertia_ = done.labels, done.stats.cost
        if isinstance(table.X, Unread):
            del self.labels_  # they would grow with the table: `predict` writes them to a file
        self.cluster_weights_, self._share = done.stats.weight, done.stats.share
        self._within = done.stats.cost  # of all rows learnt, each about the centre of its cluster
        self.n_iter_, self.converged_, self.reason_ = done.n_iter, done.converged, done.reason
        self.trace_ = [*done.trace, done.stats.bound]

    def _fade(self, share: float) -> None:
        """Take the weight of earlier rows down to a share of it: centres then follow later rows faster."""
        self.cluster_weights_, self._share = self.cluster_weights_ * share, self._share * share
        self._within *= share

    def _with_earlier(self, stats: LloydStatistics, centres: Array) -> LloydStatistics:
        """Statistics of a batch and of everything before it: the centres are the means of that."""
        share = self._share + stats.share
        first = self._share * centres + stats.first
        return replace(stats, weight=self.cluster_weights_ + stats.weight, share=share, first=first)

    def _labelled(self, X: Any, sample_weight: Any = None, *, told: bool | None = None, summed: bool = False) -> Run:
        """Labels and cost of rows; the cost tells whether the values are ordinary, and only if not they are read."""
        check_fitted(self)
        table = read_table(self, X, sample_weight, reset=False, checked=False, most=rows_at_once)
        centres = self.cluster_centers_.astype(np.float64)
        frame = _frame_about(centres, table.X.shape[0])
        with np.errstate(over="ignore", invalid="ignore"):
            found = self._by_centres(centres, frame, table, told, summed)
        if found.stats.cost < ORDINARY:
            return found
        table = read_table(self, X, sample_weight, reset=False)
        with reducing(table.source) as reduce:
            frame = frame_of(reduce, table.source.column_names, centres)
        return self._by_centres(centres, frame, table, told, summed)

    def _nearest(self, X: Any) -> npt.NDArray[np.int32] | None:
        """The nearest centres of a table in memory; None if some values are not ordinary."""
        table = read_table(self, X, None, reset=False, checked=False, most=rows_at_once)
        centres = self.cluster_centers_.astype(np.float64)
        frame, labels = _frame_about(centres, len(table.X)), np.empty(len(table.X), np.int32)
        model = LloydModel(frame, centres - frame.origin, once=True)
        params = model.params(centres - frame.origin)

        def one(chunk: Chunk) -> float:
            labels[chunk.start : chunk.stop], stats = model.label(params, chunk, summed=False)
            return stats.cost

        with np.errstate(over="ignore", invalid="ignore"):
            if len(table.source) == 1:  # type: ignore[arg-type]
                cost = sum(map(one, table.source))
            else:
                with mapping(table.source) as over_chunks:
                    cost = sum(over_chunks(one))
        return labels if cost < ORDINARY else None

    def _by_centres(self, centres: Array, frame: Frame, table: Table, told: bool | None, summed: bool) -> Run:
        start = centres - frame.origin
        model = LloydModel(frame, start, once=True)
        return labelled(model, start, table, keep_memos=False, told=told, summed=summed)


def _frame_about(centres: Array, rows: int) -> Frame:
    """A frame that needs no look at the rows."""
    origin = centres.mean(axis=0)
    widest = float(np.abs(centres - origin).max())
    return Frame(origin, 1 / widest if widest > TINY else 1.0, 0.0, False, rows)


def _moved_by(gap: Array, share: Array) -> float:
    """What squared distances to centres gain by moving the centres away from the means."""
    return float((share * gap**2).sum())
