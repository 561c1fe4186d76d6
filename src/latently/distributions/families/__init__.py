"""One file per family, the same sections in the same order."""
