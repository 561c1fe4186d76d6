"""The reference: a page for each package, and one for each public name."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import latently

PRIVATE = {"compiled", "prepare"}  # kernels; what `latently.data` offers


def packages() -> list[str]:
    """Names of the packages, `latently` itself first."""
    found = (info.name for info in pkgutil.iter_modules(latently.__path__) if info.ispkg)
    return ["latently", *(f"latently.{name}" for name in found if name not in PRIVATE)]


def public(package: ModuleType) -> list[str]:
    """Names that a package offers, its sub-packages apart."""
    names = [name for name in package.__all__ if not name.startswith("__")]
    return [name for name in names if not inspect.ismodule(getattr(package, name))]


def reference(used: dict[str, list[tuple[str, str]]]) -> dict[str, str]:
    """Write every page of the reference.

    Parameters
    ----------
    used
        For a full name, the examples that use it: (page in the gallery, title).

    Returns
    -------
    dict
        The text of each page, by its path below the folder of the reference.
    """
    pages, homes = {}, {}
    for package in map(importlib.import_module, packages()):
        for name in public(package):
            value = getattr(package, name)
            own = f"{package.__name__}.{name}"
            home = homes.setdefault(id(value), own) if callable(value) else own
            if home == own:
                pages[f"names/{own}.rst"] = _name_page(package.__name__, name, value, used.get(own, []))
            homes[own] = home
    for package in map(importlib.import_module, packages()):
        pages[f"{package.__name__}.rst"] = _package_page(package, homes)
    return pages | {"index.rst": _index()}


def _index() -> str:
    rows = ((f":doc:`{name} <{name}>`", _about(importlib.import_module(name))) for name in packages())
    words = "Every public name, by package. Anything that is not here may change without notice."
    return "\n".join([*_title("API reference"), words, "", *_table(rows), *_toctree(packages())])


def _package_page(package: ModuleType, homes: dict[Any, str]) -> str:
    named = [(name, homes[f"{package.__name__}.{name}"]) for name in public(package)]
    rows = [(f":doc:`{name} <names/{home}>`", _about(getattr(package, name))) for name, home in named]
    own = [f"names/{home}" for _, home in named if home.rpartition(".")[0] == package.__name__]
    return "\n".join([*_title(package.__name__), _about(package), "", *_table(rows), *_toctree(own)])


def _name_page(package: str, name: str, value: Any, used: list[tuple[str, str]]) -> str:
    lines = [*_title(f"{package}.{name}"), f".. currentmodule:: {package}", ""]
    if inspect.isclass(value):
        lines += _class(name, value)
    else:
        lines += [f".. auto{'function' if callable(value) else 'data'}:: {name}"]
    if used:
        shown = [f"* :doc:`{title} </gallery/{page}>`" for page, title in used]
        lines += ["", ".. rubric:: In the gallery", "", *shown]
    return "\n".join([*lines, ""])


def _class(name: str, value: type) -> list[str]:
    ours, theirs = [], []
    for method, owner in _methods(value):
        (ours if owner.startswith("latently") else theirs).append(method)
    lines = [f".. autoclass:: {name}"]
    if ours:
        lines.append(f"   :members: {', '.join(ours)}")
    if theirs:
        lines += ["", f"Besides, as in scikit-learn: {', '.join(f'``{method}``' for method in theirs)}."]
    return lines


def _methods(value: type) -> Iterator[tuple[str, str]]:
    """Public methods and properties of a class, each with the module that defines it."""
    for name in sorted(dir(value)):
        if name.startswith("_") or name.endswith("_request"):
            continue
        owner = next((base for base in value.__mro__ if name in vars(base)), None)
        found = None if owner is None else vars(owner)[name]
        if isinstance(found, property | classmethod | staticmethod) or inspect.isroutine(found) or callable(found):
            module = "" if owner is None else owner.__module__
            if module.startswith(("latently", "sklearn")):
                yield name, module


def _about(value: Any) -> str:
    """Give the first paragraph of a docstring, on one line."""
    text = inspect.getdoc(value) if callable(value) or inspect.ismodule(value) else ""
    return " ".join((text or "").split("\n\n")[0].split())


def _title(text: str) -> list[str]:
    return [text, "=" * len(text), ""]


def _table(rows: Any) -> list[str]:
    lines = [".. list-table::", "   :widths: 30 70", ""]
    for first, second in rows:
        lines += [f"   * - {first}", f"     - {second}"]
    return [*lines, ""]


def _toctree(pages: list[str]) -> list[str]:
    return [".. toctree::", "   :hidden:", "   :maxdepth: 1", "", *(f"   {page}" for page in pages), ""]
