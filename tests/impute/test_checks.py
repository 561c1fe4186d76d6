"""The imputer is a scikit-learn transformer."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from latently.cluster import GaussianMixture
from latently.impute import Imputer


@parametrize_with_checks([Imputer(random_state=0), Imputer(GaussianMixture(2, random_state=0))])
def test_scikit_learn(estimator, check):
    check(estimator)
