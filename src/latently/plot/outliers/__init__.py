"""Detectors as pictures."""
