"""Mixtures over tables of mixed types."""
