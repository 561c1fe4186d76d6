"""Models on disk: safetensors and a JSON manifest in one file, no pickle, no code run on loading."""

from latently.data.storage.container import LoadError
from latently.persist.classes import register
from latently.persist.store import FORMAT, load, read_manifest, save

__all__ = ["FORMAT", "LoadError", "load", "read_manifest", "register", "save"]
