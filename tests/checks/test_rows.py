"""Models of sequences as scikit-learn's checks want estimators."""

import pickle

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from latently.checks import for_rows
from latently.sequence import CategoricalHMM, GaussianHMM

# Fits are stopped early here, which they tell.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X = np.random.default_rng(0).normal(size=(30, 2))


def test_other_estimators_come_back_as_they_are():
    plain = GaussianNB()
    assert for_rows(plain) is plain


def test_a_table_is_one_sequence_and_the_target_is_ignored():
    own, model = GaussianHMM(2, random_state=0).fit(X), for_rows(GaussianHMM(2, random_state=0))
    model.fit(X, np.arange(30) % 2)
    np.testing.assert_array_equal(model.means_, own.means_)
    assert model.score(X, np.zeros(30)) == own.score(X)
    assert repr(model) == repr(own)


def test_it_is_pickled_by_name():
    model = for_rows(GaussianHMM(2, random_state=0)).fit(X)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert type(again) is type(for_rows(GaussianHMM()))


def test_a_model_of_one_column_gets_the_first():
    codes = np.column_stack([np.arange(12) % 3, np.full(12, -7.5)])
    model = for_rows(CategoricalHMM(2, random_state=0)).fit(codes)
    own = CategoricalHMM(2, random_state=0).fit(codes[:, :1])
    np.testing.assert_array_equal(model.emissionprob_, own.emissionprob_)
    np.testing.assert_array_equal(model.predict(codes), own.predict(codes[:, :1]))
