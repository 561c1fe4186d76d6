"""Densities by kernels around the rows of the fit."""
