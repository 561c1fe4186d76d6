"""The distributions room."""
