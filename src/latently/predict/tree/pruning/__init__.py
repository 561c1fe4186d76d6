"""How trees are pruned."""
