"""How trees grow: bins, targets, settings, growth."""
