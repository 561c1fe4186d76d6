"""Gaussian components side by side: parameters, moments, missing entries, priors and constraints."""
