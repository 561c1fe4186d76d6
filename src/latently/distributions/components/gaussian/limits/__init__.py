"""Gaussian components of which parameters are fixed, bounded or tied."""
