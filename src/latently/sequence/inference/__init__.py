"""Forward-backward, Viterbi and their blocked forms for long sequences."""
