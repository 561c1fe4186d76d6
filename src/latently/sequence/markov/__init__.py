"""Markov chains of observed symbols."""
