"""Algorithms: they see a `Problem`, never a model."""
