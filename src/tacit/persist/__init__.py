"""The persist room."""
