"""Rows: what they are called, which repeat another, and which do not belong, without a model of the whole table."""
