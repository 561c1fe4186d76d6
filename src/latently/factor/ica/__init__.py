"""Independent component analysis: one whitening, one estimator, four ways to find the rotation."""
