"""Energy models: restricted Boltzmann machines with labels, chains of labels, partition functions."""
