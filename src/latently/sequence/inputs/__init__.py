"""Hidden Markov models whose transitions depend on inputs."""
