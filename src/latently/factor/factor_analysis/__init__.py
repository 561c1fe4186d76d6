"""Factor analysis: few factors, and a noise variance for each column."""
