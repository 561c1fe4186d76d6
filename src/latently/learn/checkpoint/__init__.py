"""Checkpoints of a fit, and parameters taken apart for them."""
