"""Several maps of the same points, each with a weight for every point."""
