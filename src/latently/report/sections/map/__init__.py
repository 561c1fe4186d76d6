"""The map of the rows: a linear view, and t-SNE beside it."""
