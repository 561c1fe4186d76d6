"""What a model says about the rows of a table that is not in memory, written to a file chunk by chunk."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from latently.data.files.write import ParquetSink
from latently.data.sources.chunks import is_dask
from latently.data.stored.arrow import matrix_of, values_of
from latently.data.stored.batches import Cut
from latently.data.stored.source import StoredSource
from latently.data.tables import frames

Answer = Callable[..., Any]


def answered(
    estimator: Any,
    method: Answer,
    X: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    to: Any,
    columns: Sequence[str] | None,
    filters: Any,
    sequences_by: str | None,
    keep: Sequence[str],
) -> Any:
    """Write what a method says about every row to a Parquet file; give its path. Of Dask collections: a lazy one."""
    verb = method.func.__name__ if hasattr(method, "func") else "answer"
    if is_dask(X):
        return estimator._lazily(lambda part: method(part, *args, **kwargs), X)
    source = stored_source(estimator, X, columns=columns, filters=filters, sequences_by=sequences_by)
    if to is None:
        raise ValueError(f"{verb} of a table that is not in memory is written to a file: say where, to='out.parquet'")
    asking = Asking(estimator, method, source, args, kwargs)
    with ParquetSink(to, source.reader.files) as sink:
        for cut, answer in estimator._walk(asking, source.tables(keep)):
            sink.write(_named(estimator, verb, answer) | {name: cut.table().column(name) for name in keep})
    return sink.path


def stored_source(
    estimator: Any, X: Any, *, columns: Sequence[str] | None = None, filters: Any = None, **roles: str | None
) -> StoredSource:
    """Open a table that an estimator is asked about; `roles` name the columns that are no features."""
    if isinstance(X, StoredSource):
        source = X.with_roles(**roles)
    else:
        from latently.data.open import open_source

        names = getattr(estimator, "feature_names_in_", None) if columns is None else columns
        source = open_source(X, columns=names, filters=filters, **roles)  # type: ignore[assignment, arg-type]
    if estimator._of_sequences and source.sequences_by is None:
        raise ValueError(
            f"{type(estimator).__name__} is asked about whole sequences: name the column with the identifier of the "
            "sequence, as in latently.data.open_source(path, sequences_by='id')"
        )
    return source


@dataclass(frozen=True)
class Asking:
    """Asks an estimator about the rows of a chunk, as a frame if it knows its columns by name.

    Targets follow the rows if the name of their column is given.
    """

    estimator: Any
    method: Answer
    source: StoredSource
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    target: str | None = None

    def __call__(self, item: tuple[Cut, Any]) -> tuple[Cut, Any]:
        """Give the chunk, and what the method says about it."""
        cut, table = item
        by_name = hasattr(self.estimator, "feature_names_in_") or hasattr(self.estimator, "schema_")
        names = self.source.features
        rows = table.select(list(names)) if by_name else matrix_of(cut, names, np.float64)
        targets = () if self.target is None else (values_of(cut, self.target),)
        lengths = {} if cut.lengths is None else {"lengths": cut.lengths}
        return cut, self.method(rows, *targets, *self.args, **self.kwargs, **lengths)


def _named(estimator: Any, verb: str, answer: Any) -> dict[str, Any]:
    """Columns of an answer, by name."""
    if isinstance(answer, tuple):
        # a second answer, where there is one, is how sure the first is
        mean, std = answer
        return _named(estimator, verb, mean) | {f"{_NAMES.get(verb, verb)}_std": std}
    if frames.is_frame(answer):
        table = frames.to_arrow(answer)
        return {name: table.column(name) for name in table.column_names}
    values = np.asarray(answer)
    if values.ndim == 1:
        return {getattr(estimator, "_answer_names", _NAMES).get(verb, _NAMES.get(verb, verb)): values}
    return dict(zip(_names(estimator, verb, values.shape[1]), values.T, strict=True))


_NAMES = {"predict": "prediction", "score_samples": "log_density"}


def _names(estimator: Any, verb: str, width: int) -> Iterator[str]:
    if verb.startswith("predict"):
        classes = getattr(estimator, "classes_", range(width))
        return (f"{'p' if verb == 'predict_proba' else verb}_{label}" for label in classes)
    if hasattr(estimator, "get_feature_names_out"):
        return (str(name) for name in estimator.get_feature_names_out())
    return (f"{verb}_{j}" for j in range(width))
