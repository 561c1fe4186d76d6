"""Inference and decision are apart: any mixture's responsibilities meet any rewards."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from latently.cluster import GaussianMixture
from latently.sequence import GaussianHMM

# Fits are stopped early here, which they tell.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_a_mixture_chooses_the_action_of_highest_expected_reward():
    X = load_iris().data
    mixture = GaussianMixture(3, random_state=0).fit(X)
    reward = np.array([[1.0, 0.0], [0.0, 1.0], [0.4, 0.6]])
    decision = mixture.decide(X, reward)
    expected = mixture.predict_proba(X) @ reward
    assert (decision.action == expected.argmax(axis=1)).all()


def test_a_hidden_markov_model_decides_on_what_was_seen_so_far():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, 50), rng.normal(5, 1, 50)])[:, None]
    model = GaussianHMM(2, random_state=0).fit(X)
    reward = np.eye(2)
    filtered = model.decide(X, reward, filtered=True)
    assert (filtered.action == model.filter(X).argmax(axis=1)).all()


def test_filtering_needs_a_sequence():
    mixture = GaussianMixture(2, random_state=0).fit(load_iris().data)
    with pytest.raises(TypeError, match="has no filter"):
        mixture.decide(load_iris().data, np.eye(2), filtered=True)
