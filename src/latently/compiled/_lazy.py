"""Kernel files and their folders, imported when they are first asked for."""

import importlib
import pkgutil
from collections.abc import Callable
from types import ModuleType


def kernels(package: str) -> Callable[[str], ModuleType]:
    """Give a package's `__getattr__`: its files and folders by name."""

    def load(name: str) -> ModuleType:
        folder = importlib.import_module(package).__path__
        if name.startswith("_") or name not in {found.name for found in pkgutil.iter_modules(folder)}:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        importlib.import_module("latently.compiled._patience")
        return importlib.import_module(f"{package}.{name}")

    return load
