"""Factors as pictures: what components explain, what goes into them, pairs of scores, sources, atoms."""
