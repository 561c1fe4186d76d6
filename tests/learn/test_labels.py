"""Labels as floats, with NaN, None or -1 for unknown, mean the same in every model that takes them."""

import numpy as np
import pytest

from latently.cluster import BernoulliMixture, GaussianMixture, Mixture
from latently.learn.estimator.labels import read_labels
from latently.sequence import GMMHMM, CategoricalHMM, GaussianHMM, HiddenMarkovModel, PoissonHMM

RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(80, 2)) + 5 * (np.arange(80) // 10 % 2)[:, None]
CODES = RNG.integers(0, 3, size=(80, 1)).astype(float)
KNOWN = np.where(np.arange(80) % 3 == 0, np.arange(80) // 10 % 2, -1)
MODELS = [
    (GaussianMixture(2, random_state=0), NUMBERS),
    (Mixture(2, random_state=0), NUMBERS),
    (BernoulliMixture(2, random_state=0), (CODES > 0).astype(float)),
    (GaussianHMM(2, random_state=0, n_iter=5), NUMBERS),
    (GMMHMM(2, random_state=0, n_iter=5), NUMBERS),
    (CategoricalHMM(2, random_state=0, n_iter=5), CODES),
    (PoissonHMM(2, random_state=0, n_iter=5), CODES),
    (HiddenMarkovModel(2, random_state=0, n_iter=5), NUMBERS),
]


@pytest.mark.filterwarnings("ignore:.*did not converge")
@pytest.mark.parametrize(("model", "X"), MODELS, ids=lambda part: type(part).__name__)
def test_labels_may_be_floats_and_unknown_ones_nan_none_or_minus_one(model, X):
    spellings = [
        KNOWN,
        KNOWN.astype(float),
        np.where(KNOWN < 0, np.nan, KNOWN),
        [None if label < 0 else int(label) for label in KNOWN],
    ]
    found = [model.fit(X, labels=labels).predict_proba(X) for labels in spellings]
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


@pytest.mark.parametrize(("model", "X"), MODELS, ids=lambda part: type(part).__name__)
def test_labels_that_are_no_components_name_their_row(model, X):
    wrong = KNOWN.astype(float)
    wrong[7] = 0.5
    with pytest.raises(ValueError, match=r"labels must be whole numbers from 0 to 1, or .*; row 7 has 0.5"):
        model.fit(X, labels=wrong)


def test_labels_of_the_wrong_shape_or_kind():
    assert read_labels(None, 3, 2) is None
    with pytest.raises(ValueError, match="one for each row"):
        read_labels([0, 1], 3, 2)
    with pytest.raises(ValueError, match="component numbers"):
        read_labels(["a", "b"], 2, 2)
