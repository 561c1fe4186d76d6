"""latently: learn what data leaves unsaid.

Packages and top-level verbs are loaded on first use, so `import latently` costs nothing but the names.
"""

import importlib
from typing import Any

from latently._version import __version__

_VERBS = {"explore": "latently.report", "save": "latently.persist", "load": "latently.persist"}
_PACKAGES = (
    "checks",
    "cluster",
    "compiled",
    "data",
    "decide",
    "detect",
    "distributions",
    "embed",
    "explain",
    "factor",
    "geometry",
    "impute",
    "infer",
    "kernel",
    "learn",
    "neural",
    "persist",
    "plot",
    "predict",
    "report",
    "sequence",
    "structure",
)

__all__ = ["__version__", "explore", "load", "save", *_PACKAGES]


def __getattr__(name: str) -> Any:
    if name in _VERBS:
        return getattr(importlib.import_module(_VERBS[name]), name)
    if name in _PACKAGES:
        return importlib.import_module(f"latently.{name}")
    raise AttributeError(f"module 'latently' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
