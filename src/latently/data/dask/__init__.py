"""Dask collections as a source of chunks; the data stays on the workers."""
