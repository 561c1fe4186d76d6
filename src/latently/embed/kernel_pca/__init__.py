"""Kernel principal components, their pre-images, and landmarks for many rows."""
