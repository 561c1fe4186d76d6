"""Rows that do not belong: searches that need no model of the whole table."""
