"""Models on disk, in one file, without pickle, no code run on loading; and as ONNX graphs."""

from typing import Any

from latently.data.storage.container import LoadError
from latently.persist.classes import register
from latently.persist.store import FORMAT, load, read_manifest, save

__all__ = ["FORMAT", "LoadError", "load", "read_manifest", "register", "save", "to_onnx"]


def __getattr__(name: str) -> Any:
    if name == "to_onnx":  # loads the packages of all models that it knows
        from latently.persist.onnx import to_onnx

        return to_onnx
    raise AttributeError(f"module 'latently.persist' has no attribute {name!r}")
