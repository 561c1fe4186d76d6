"""Canonical correlations: directions of two or more views that vary together."""
