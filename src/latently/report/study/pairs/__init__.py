"""Pairs of columns: what tests see of a column, whether two depend on each other, and how much one tells of another."""
