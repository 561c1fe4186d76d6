"""Which model: grids, criteria, warm starts."""
