"""Predicting one column of a table from the others, on rows held back."""
