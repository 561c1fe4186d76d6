"""Numbers along time: how they are spaced, trend, season, breaks."""
