"""Posteriors of continuous parameters: exact, on a grid, by Laplace, by sampling."""
