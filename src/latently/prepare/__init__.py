"""Tables made ready for models."""
