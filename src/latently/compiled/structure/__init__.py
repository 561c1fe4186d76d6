"""Kernels of structured output."""

from latently.compiled._lazy import kernels

__getattr__ = kernels(__name__)
