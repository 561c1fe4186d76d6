"""Kernels of Gaussian and table components."""

from latently.compiled._lazy import kernels

__getattr__ = kernels(__name__)
