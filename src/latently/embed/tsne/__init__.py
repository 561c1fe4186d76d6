"""Stochastic neighbour embedding: affinities, forces, the descent, and the estimators made of them."""
