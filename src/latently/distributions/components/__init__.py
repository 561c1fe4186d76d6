"""K members of one family side by side: what mixtures and other latent models are made of."""
