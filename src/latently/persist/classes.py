"""Which classes a file may name, and by what name.

A name in a file is only ever looked up: among the classes that were registered by hand, the records that have a
name of their own (`records`), and the public names of the packages. Nothing else is imported because a file says so.
"""

import dataclasses
import importlib
import importlib.util
from functools import cache
from typing import Any, TypeVar

from latently.data.storage.container import LoadError
from latently.persist.records import FORMER, RECORDS

# The packages whose public classes are models or parts of models.
_OPEN = (
    "cluster", "data", "decide", "detect", "distributions", "embed", "factor", "impute", "infer", "kernel", "learn",
    "neural", "predict", "sequence", "structure",
)  # fmt: skip
_registered: dict[str, type] = {}

Class = TypeVar("Class", bound=type)


def register(cls: Class) -> Class:
    """Allow a class of your own to be saved and loaded; use it as a decorator.

    The class is an estimator (with `get_params`) or a frozen dataclass. A file that holds one can be loaded
    only after the module that registers it has been imported.

    Parameters
    ----------
    cls
        The class; it is given back unchanged.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @register
    ... @dataclass(frozen=True)
    ... class Reading:
    ...     value: float
    >>> Reading(0.5)
    Reading(value=0.5)
    """
    if not is_storable(cls):
        raise TypeError(f"{cls!r} is neither an estimator (with get_params) nor a frozen dataclass")
    _registered[full_name(cls)] = cls
    return cls


def is_storable(cls: Any) -> bool:
    """Whether objects of a class can be taken apart and put together without running code of theirs."""
    return isinstance(cls, type) and (is_record(cls) or is_estimator(cls))


def is_record(cls: type) -> bool:
    """Whether a class is a frozen dataclass."""
    return dataclasses.is_dataclass(cls) and cls.__dataclass_params__.frozen  # type: ignore[attr-defined]


def is_estimator(cls: type) -> bool:
    """Whether a class follows scikit-learn's convention for parameters."""
    return callable(getattr(cls, "get_params", None)) and callable(getattr(cls, "set_params", None))


def full_name(cls: type) -> str:
    """Name a class by its module."""
    return f"{cls.__module__}.{cls.__qualname__}"


def name_of(cls: type) -> str | None:
    """Name under which objects of a class are saved; None if they cannot be saved."""
    if _registered.get(full_name(cls)) is cls:
        return full_name(cls)
    if not is_storable(cls):
        return None
    path = f"{cls.__module__}:{cls.__qualname__}"
    if path in _record_names():
        return _record_names()[path]
    own = cls.__module__.split(".")[1:2]
    public = [f"latently.{package}.{cls.__qualname__}" for package in (*own, *_OPEN)]
    return next((name for name in public if _find(name) is cls), None)


@cache
def _record_names() -> dict[str, str]:
    return {path: name for name, path in RECORDS.items()}


def class_of(name: Any, where: str, maker: str) -> type:
    """Class that is saved under a name; an error if there is none here.

    Parameters
    ----------
    name
        As written by `name_of`.
    where
        Which field of the file it was found in, for the error.
    maker
        What wrote the file, for the error.
    """
    try:
        cls = _registered.get(name) or _find(name) if isinstance(name, str) else None
    except ModuleNotFoundError as problem:
        raise LoadError(f"{where} is a {name}, which needs {problem.name}: install it") from problem
    if cls is None:
        raise LoadError(
            f"{where} names {name!r}, which this latently does not know; the file was written by {maker}: install "
            "the version that wrote it, or, if the class is your own, import the module that registers it "
            "(latently.persist.register)"
        )
    return cls


def former(name: Any) -> Any:
    """What reads the fields of a record of an earlier version; None if the name is not one of those."""
    if not isinstance(name, str) or name not in FORMER:
        return None
    module, _, last = FORMER[name].partition(":")
    return getattr(importlib.import_module(module), last)


def _find(name: str) -> type | None:
    if name in RECORDS:
        module, _, last = RECORDS[name].partition(":")
        return getattr(importlib.import_module(module), last)
    top, _, rest = name.partition(".")
    package, _, last = rest.partition(".")
    if top != "latently" or package not in _OPEN or importlib.util.find_spec(f"latently.{package}") is None:
        return None
    module = importlib.import_module(f"latently.{package}")
    found = getattr(module, last, None) if last in module.__all__ else None
    return found if is_storable(found) else None
