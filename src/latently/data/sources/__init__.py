"""Tables as chunks of rows: from memory, files, iterators and sequences."""
