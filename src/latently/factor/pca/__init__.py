"""Principal component analysis: solvers, the number of components, missing values, outliers."""
