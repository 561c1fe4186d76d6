"""A small estimator that validates through `as_matrix` passes scikit-learn's own checks."""

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted, validate_data

from latently.data import as_matrix, check_weights


class Centre(TransformerMixin, BaseEstimator):
    """Take the weighted mean away."""

    def _table(self, X, reset):
        A = as_matrix(X)
        validate_data(self, X, reset=reset, skip_check_array=True)  # names and number of the columns
        return A

    def fit(self, X, y=None, sample_weight=None):
        A = self._table(X, reset=True)
        self.mean_ = np.average(A, axis=0, weights=check_weights(sample_weight, len(A)))
        return self

    def transform(self, X):
        check_is_fitted(self)
        return self._table(X, reset=False) - self.mean_.astype(getattr(X, "dtype", float), copy=False)


@parametrize_with_checks([Centre()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
