"""Tables on disk or from iterators, read a chunk at a time."""
