"""Invertible layers with log-determinants."""
