"""How rows follow each other: memory, sorted files, copies, autoregressions."""
