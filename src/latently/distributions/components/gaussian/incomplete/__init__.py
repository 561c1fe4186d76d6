"""Rows of Gaussian components with missing values."""
