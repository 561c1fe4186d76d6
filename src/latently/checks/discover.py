"""Find every estimator of the library, so that a new one is checked without being listed."""

import importlib
import inspect
import pkgutil
from types import ModuleType
from typing import Any


def all_estimators() -> list[tuple[str, type[Any]]]:
    """Give the name and class of every public estimator, in the order of their names.

    A package is left out if an optional dependency of it is not installed.

    Examples
    --------
    >>> names = [name for name, _ in all_estimators()]
    >>> names == sorted(names)
    True
    """
    from sklearn.base import BaseEstimator

    found = {
        (name, thing)
        for package in _packages()
        for name in getattr(package, "__all__", ())
        if inspect.isclass(thing := getattr(package, name))
        and issubclass(thing, BaseEstimator)
        and not inspect.isabstract(thing)
    }
    return sorted(found, key=lambda pair: pair[0])


def _packages() -> list[ModuleType]:
    package = importlib.import_module("latently")
    names = [f"latently.{info.name}" for info in pkgutil.iter_modules(package.__path__) if info.ispkg]
    return [package for package in map(_imported, names) if package is not None]


def _imported(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as problem:
        if (problem.name or "latently").split(".")[0] == "latently":
            raise  # not an optional dependency: the package itself is broken
        return None
