"""The hidden Markov model as the engine sees it: expected counts, update, durations."""
