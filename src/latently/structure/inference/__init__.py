"""The best labels and their probabilities, for scores of nodes and of pairs."""
