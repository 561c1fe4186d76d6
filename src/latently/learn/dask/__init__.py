"""Reductions on a Dask cluster."""
