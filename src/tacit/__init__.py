"""tacit: learn what data leaves unsaid.

Rooms and top-level verbs are loaded on first use, so `import tacit` costs nothing but the names.
"""

import importlib
from typing import Any

from tacit._version import __version__

_VERBS = {"explore": "tacit.report", "save": "tacit.persist", "load": "tacit.persist"}
_ROOMS = (
    "checks",
    "cluster",
    "compiled",
    "data",
    "decide",
    "distributions",
    "explain",
    "impute",
    "infer",
    "learn",
    "persist",
    "plot",
    "predict",
    "report",
    "sequence",
)

__all__ = ["__version__", "explore", "load", "save", *_ROOMS]


def __getattr__(name: str) -> Any:
    if name in _VERBS:
        return getattr(importlib.import_module(_VERBS[name]), name)
    if name in _ROOMS:
        return importlib.import_module(f"tacit.{name}")
    raise AttributeError(f"module 'tacit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
