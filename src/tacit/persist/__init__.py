"""Models on disk: safetensors and a JSON manifest in one file, no pickle, no code run on loading."""

from tacit.data.container import LoadError
from tacit.persist.classes import register
from tacit.persist.store import FORMAT, load, read_manifest, save

__all__ = ["FORMAT", "LoadError", "load", "read_manifest", "register", "save"]
