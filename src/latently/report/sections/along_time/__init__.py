"""What columns do along time: trend and season, breaks, states."""
