"""Methods that take tables which are not in memory: wrapped by `OutOfCoreMixin`, whatever they do with the rows."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final

from latently.data.sources.chunks import ChunkSource, is_dask
from latently.data.stored.source import StoredSource
from latently.learn.estimator.answers import answered

_FIT_OPTIONS: Final = {"columns": None, "filters": None, "sequences_by": None}
_CHECKPOINT: Final = {"checkpoint": None, "every": 10}
_ANSWER_OPTIONS: Final = {"to": None, "columns": None, "filters": None, "sequences_by": None, "keep": ()}
_FIT_TEXT: Final = """

Of a table that is not in memory (see `latently.data.open_source`): `columns` are the names of the features, `filters`
the rows to take, `y` and `sample_weight` may be names of columns, and `sequences_by` is the one that tells
sequences apart. With `checkpoint`, a path, an iterative fit is stored there after `every` iterations, and the same
call goes on where it was stopped."""
_ANSWER_TEXT: Final = """

Of a table that is not in memory (see `latently.data.open_source`): the answers are written to the Parquet file `to`,
chunk by chunk, beside the columns named by `keep`; the path is returned."""


def learning(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method that learns take tables that are not in memory."""

    @functools.wraps(method)
    def learn(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        options = {name: kwargs.pop(name, default) for name, default in _FIT_OPTIONS.items()}
        with self._storing(*(kwargs.pop(name, default) for name, default in _CHECKPOINT.items())):
            if not isinstance(X, ChunkSource) and not self._is_stored(X):
                _refuse(type(self).__name__, options)
                return method(self, X, *args, **kwargs)
            bound = signature.bind(self, X, *args, **kwargs)
            source = _opened(self, bound.arguments, options, new=method.__name__ == "fit")
            bound.arguments["X"] = source
            return method(*bound.args, **bound.kwargs)

    signature = inspect.signature(method)
    return _documented(learn, method, {**_FIT_OPTIONS, **_CHECKPOINT}, _FIT_TEXT)


def answering(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method that says something about every row take tables that are not in memory."""

    @functools.wraps(method)
    def answer(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        options = {name: kwargs.pop(name, default) for name, default in _ANSWER_OPTIONS.items()}
        if not isinstance(X, StoredSource) and not self._is_stored(X):
            _refuse(type(self).__name__, options)
            return method(self, X, *args, **kwargs)
        return answered(self, functools.partial(method, self), X, args, kwargs, **options)

    return _documented(answer, method, _ANSWER_OPTIONS, _ANSWER_TEXT)


def _documented(
    wrapper: Callable[..., Any], method: Callable[..., Any], options: dict[str, Any], text: str
) -> Callable[..., Any]:
    """The wrapper with what it takes in its signature and documentation."""
    signature = inspect.signature(method)
    given = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    rest = [p for p in signature.parameters.values() if p.kind is inspect.Parameter.VAR_KEYWORD]
    more = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=value) for n, value in options.items()]
    new = [p for p in more if p.name not in signature.parameters]
    wrapper.__signature__ = signature.replace(parameters=[*given, *new, *rest])  # type: ignore[attr-defined]
    wrapper.__doc__ = inspect.cleandoc(method.__doc__ or "") + text
    wrapper.takes_out_of_core = True  # type: ignore[attr-defined]
    return wrapper


def _refuse(who: str, options: dict[str, Any]) -> None:
    given = [name for name, value in options.items() if value not in (None, ())]
    if given:
        raise ValueError(f"{given[0]} is for tables that are not in memory: {who} was given one that is")


def _opened(estimator: Any, arguments: dict[str, Any], options: dict[str, Any], *, new: bool) -> ChunkSource:
    """The source of what is to be learnt from; named columns move from the arguments into it."""
    X, roles = arguments["X"], {"sequences_by": options["sequences_by"]}
    for argument, role in (("y", "target"), ("sample_weight", "weights")):
        value = arguments.get(argument)
        # weights go with the rows wherever they are; targets in memory are matched to rows by the estimator
        if isinstance(value, str) or is_dask(X) or (role == "weights" and not isinstance(X, ChunkSource)):
            roles[role] = value
            arguments |= {argument: None} if argument in arguments else {}
    chosen = {"columns": options["columns"], "filters": options["filters"]}
    if isinstance(X, ChunkSource):
        _refuse_twice(chosen)
        return _with_roles(X, roles)
    if not new and chosen["columns"] is None:
        chosen["columns"] = getattr(estimator, "feature_names_in_", None)
    from latently.data.open import open_source

    return open_source(X, **chosen, **roles)


def _with_roles(source: ChunkSource, roles: dict[str, Any]) -> ChunkSource:
    if isinstance(source, StoredSource):
        return source.with_roles(**roles)
    given = [name for name, value in roles.items() if value is not None]
    if given:
        raise ValueError(f"{type(source).__name__} has no columns by name: it cannot take {given[0]} from one")
    return source


def _refuse_twice(options: dict[str, Any]) -> None:
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise ValueError(f"X is a ChunkSource already: give {given[0]} when making it")
