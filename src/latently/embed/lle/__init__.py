"""Locally linear embedding and its relatives: local pictures, aligned."""
