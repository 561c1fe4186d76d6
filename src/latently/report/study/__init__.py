"""What the sections of a report are made from: a table read, its columns judged, a model of it, and tests."""
