"""Every compiled kernel, in folders that mirror the packages, imported on first use so that numba is, too.

A file here stands alone: it calls nothing compiled in another file and imports no constants, because numba
caches a function by its own file only (`tests/compiled/test_rules.py` keeps these rules).
"""

from latently.compiled._lazy import kernels

__getattr__ = kernels(__name__)
