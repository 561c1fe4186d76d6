"""Matrices that the sources diagonalise together: cumulants, and correlations at lags."""
