"""Which classes a file may name, and by what name.

A name in a file is only ever looked up: first among the classes that were registered by hand, then room by
room among latently's own modules. Nothing outside latently is imported because a file says so.
"""

import dataclasses
import importlib
import pkgutil
from types import ModuleType
from typing import Any, TypeVar

from latently.data.container import LoadError

# Rooms whose classes are tools, not models: no file has a reason to name them.
_CLOSED = frozenset({"checks", "cli", "compiled", "persist", "plot", "report"})
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
    """Name under which objects of a class are saved, public if it can be; None if they cannot be saved."""
    if _registered.get(full_name(cls)) is cls:
        return full_name(cls)
    if not is_storable(cls):
        return None
    public = ".".join([*cls.__module__.split(".")[:2], cls.__qualname__])
    return next((name for name in (public, full_name(cls)) if _find(name) is cls), None)


def class_of(name: Any, where: str) -> type:
    """Class that is saved under a name; an error if there is none here.

    Parameters
    ----------
    name
        As written by `name_of`.
    where
        Which field of the file it was found in, for the error.
    """
    try:
        cls = _registered.get(name) or _find(name) if isinstance(name, str) else None
    except ModuleNotFoundError as problem:
        raise LoadError(f"{where} is a {name}, which needs {problem.name}: install it") from problem
    if cls is None:
        raise LoadError(
            f"{where} names the class {name!r}, which this latently does not know: install the version of latently "
            "that wrote the file, or, if the class is your own, import the module that registers it "
            "(latently.persist.register)"
        )
    return cls


def _find(name: str) -> type | None:
    *path, last = name.split(".")
    if len(path) < 2 or path[0] != "latently" or path[1] in _CLOSED:
        return None
    module = importlib.import_module("latently")
    for part in path[1:]:
        # the name must be a module of the package's own folder before it is imported
        if part not in _modules_in(module):
            return None
        module = importlib.import_module(f"{module.__name__}.{part}")
    found = getattr(module, last, None)
    return found if is_storable(found) and found.__module__.startswith("latently.") else None


def _modules_in(package: ModuleType) -> set[str]:
    return {info.name for info in pkgutil.iter_modules(getattr(package, "__path__", []))}
