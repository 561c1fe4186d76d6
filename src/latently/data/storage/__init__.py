"""Files of arrays with a JSON manifest."""
