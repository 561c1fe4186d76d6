"""Sparse coding: rows as few atoms of a dictionary, and dictionaries that make them so."""
