"""Timing, apart from the tests."""
