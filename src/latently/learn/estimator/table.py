"""What every estimator does first: read the table, remember its columns, say what is wrong with it.

`OutOfCoreMixin` is the base class that lets an estimator take tables that are not in memory.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from latently.data.sources.chunks import ChunkSource, is_out_of_core
from latently.data.sources.table_source import TableSource
from latently.data.tables import frames
from latently.data.tables.matrix import FloatArray, as_matrix, check_size
from latently.learn.engine.reduce import mapping
from latently.learn.estimator.out_of_core import answering, learning
from latently.learn.estimator.tags import DeclaredTags


def read_rows(
    estimator: Any, X: Any, *, reset: bool, allow_nan: bool = False, min_rows: int = 1, checked: bool = True
) -> FloatArray:
    """The checked float table of `X`; sets (or compares) the estimator's number and names of columns.

    Without `checked` the values are not looked at: for methods whose arithmetic shows whether all are finite.
    """
    rows = as_matrix(X, allow_nan=allow_nan, min_rows=min_rows, checked=checked)
    note_columns(estimator, X if hasattr(X, "shape") else rows, reset=reset)
    return rows


def note_columns(estimator: Any, table: Any, *, reset: bool) -> None:
    """Remember the number and names of a table's columns, or compare them with those of the fit."""
    known = estimator.__dict__
    if type(table) is np.ndarray and "feature_names_in_" not in known:
        if reset:
            estimator.n_features_in_ = table.shape[1]
        if known.get("n_features_in_") == table.shape[1]:
            return
    # the rest, and the errors, are scikit-learn's
    validate_data(estimator, table, reset=reset, skip_check_array=True)


def check_fitted(estimator: Any) -> None:
    """scikit-learn's error if an estimator has not been fitted."""
    if "n_features_in_" not in estimator.__dict__ or hasattr(estimator, "__sklearn_is_fitted__"):
        check_is_fitted(estimator)


def read_source(
    estimator: Any, source: ChunkSource, *, reset: bool, allow_nan: bool, chunk_rows: int | None = None
) -> ChunkSource:
    """The checked source; sets (or compares) the estimator's number and names of columns.

    Parameters
    ----------
    estimator
        Whose columns they are.
    source
        Chunks of rows.
    reset
        Whether the columns are new to the estimator.
    allow_nan
        Whether NaN (missing) may be in it.
    chunk_rows
        Most rows in a chunk, as the estimator would cut a table in memory.
    """
    # Only an array has no names of its own.
    default = source.column_names == frames.default_names(source.n_columns)
    named = source.is_named if isinstance(source, TableSource) else not default
    adopt_columns(estimator, source.column_names, reset=reset, named=named)
    if not isinstance(source, TableSource):
        return source
    check_size((source.n_rows, source.n_columns), source.where)
    checked = source.checked(allow_nan=allow_nan)
    checked = checked if chunk_rows is None else checked.chunked_by(chunk_rows)
    return checked.for_many_passes() if getattr(estimator, "_is_iterative", False) else checked


def adopt_columns(estimator: Any, names: Sequence[str], *, reset: bool, named: bool = True) -> None:
    """Remember the columns of a source, or compare them with those of the fit."""
    if reset:
        estimator.n_features_in_ = len(names)
        estimator.__dict__.pop("feature_names_in_", None)
        if named:
            estimator.feature_names_in_ = np.array(names, dtype=object)
    elif len(names) != estimator.n_features_in_:
        raise ValueError(
            f"X has {len(names)} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    elif named and list(getattr(estimator, "feature_names_in_", names)) != list(names):
        raise ValueError(f"the columns are {list(names)}, but were {list(estimator.feature_names_in_)} at the fit")


def seeds(random_state: Any, n: int) -> list[np.random.RandomState]:
    """Independent generators for `n` restarts, all drawn before the first one runs."""
    rng = generator(random_state)
    return [seeded(int(rng.randint(np.iinfo(np.int32).max))) for _ in range(n)]


def generator(random_state: Any) -> np.random.RandomState:
    """The generator that a `random_state` means, as scikit-learn has it."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return seeded(int(random_state))
    rng: np.random.RandomState = check_random_state(random_state)
    return rng


class _Blank(ISeedSequence):
    """Stands for entropy that is not used: to gather some takes longer than a small fit."""

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        """Zeros; a tuple, of which numpy reads one number after the other in a thirtieth of the time."""
        return (0,) * n_words


def seeded(seed: int) -> np.random.RandomState:
    """The same generator as `numpy.random.RandomState(seed)`, in a fraction of the time.

    Examples
    --------
    >>> seeded(7).uniform() == np.random.RandomState(7).uniform()
    True
    """
    rng = np.random.RandomState(np.random.MT19937(_Blank()))  # type: ignore[arg-type]
    rng.seed(seed)
    return rng


class OutOfCoreMixin(DeclaredTags):
    """Base of estimators that take tables that are not in memory: files, patterns, sources of chunks, Dask collections.

    `fit` and `partial_fit` are given a `ChunkSource` in place of such a table, with weights and targets in its chunks
    where columns were named for them. Verbs that answer row by row are called for one chunk after the
    other, by all threads, and what they say is written to a file. A subclass does no more than handle a `ChunkSource`
    in `fit`.
    """

    _row_verbs: ClassVar[tuple[str, ...]] = (
        "predict", "predict_proba", "predict_log_proba", "score_samples", "transform",
    )  # fmt: skip
    _of_sequences: ClassVar[bool] = False
    """Whether rows mean something only as parts of whole sequences."""
    _is_iterative: ClassVar[bool] = False
    """Whether a fit takes many passes, so that it is worth a checkpoint."""

    def _walk(self, f: Callable[[Any], Any], items: Iterator[Any]) -> Iterator[Any]:
        """Give f(item) for each item, in order."""
        with mapping(items) as over_items:
            yield from over_items(f)

    def _lazily(self, f: Callable[[Any], Any], X: Any) -> Any:
        """Give f of the rows of a Dask collection, to be computed where they are."""
        from latently.learn.dask.reduce import lazy_map

        return lazy_map(f, X)

    def _storing(self, path: Any, every: int) -> AbstractContextManager[Any]:
        """Store a fit that is under way inside a `with` block, if a path is given."""
        if path is None:
            return nullcontext()
        if not self._is_iterative:
            raise ValueError(f"{type(self).__name__} learns in one pass: there is nothing to store in a checkpoint")
        from latently.learn.checkpoint.checkpoint import checkpointing

        return checkpointing(path, every)

    def _is_stored(self, X: Any) -> bool:
        """Whether X is a table that is not in memory."""
        return is_out_of_core(X)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        wrappers = {"fit": learning, "partial_fit": learning} | dict.fromkeys(cls._row_verbs, answering)
        for name, wrap in wrappers.items():
            method = getattr(cls, name, None)
            if inspect.isfunction(method) and not hasattr(method, "takes_out_of_core"):
                setattr(cls, name, wrap(method))
