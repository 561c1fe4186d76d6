"""Discrete joint distributions with labels."""
