"""Every compiled kernel, one file each, loaded on first use so that importing a room does not import numba.

A file here stands alone: it calls nothing compiled in another file and imports no constants, because numba
caches a function by its own file only (`tests/compiled/test_rules.py` keeps these rules).
"""

import importlib
from types import ModuleType

_KERNELS = (
    "conditional",
    "gaussian",
    "gaussian_wide",
    "hmm",
    "hmm_diagonal",
    "hmm_emissions",
    "hmm_inputs",
    "hmm_logs",
    "hmm_paths",
    "hmm_runs",
    "kmeans",
    "kmeans_bounds",
    "mixture",
    "naive_bayes",
)


def __getattr__(name: str) -> ModuleType:
    if name in _KERNELS:
        importlib.import_module("latently.compiled._patience")
        return importlib.import_module(f"latently.compiled.{name}")
    raise AttributeError(f"module 'latently.compiled' has no attribute {name!r}")
