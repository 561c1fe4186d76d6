"""Conjugate priors of the families."""
