"""Affinities have the perplexity that was asked for, and are those of scikit-learn."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.manifold import _t_sne as peer

from latently.embed.tsne.affinities import conditional, joint
from latently.geometry import nearest


def table(n=60, d=5):
    return np.random.default_rng(0).normal(size=(n, d))


@pytest.mark.parametrize("perplexity", [2.0, 15.0, 29.0])
def test_every_row_has_the_perplexity(perplexity):
    p = conditional(nearest(table(), 30).distances ** 2, perplexity)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    entropy = -(p * np.log(np.maximum(p, 1e-300))).sum(axis=1)
    np.testing.assert_allclose(np.exp(entropy), perplexity, rtol=1e-6)


def test_joint_probabilities_are_those_of_scikit_learn():
    X = table()
    ours = joint(nearest(X, 59), 10.0).matrix().toarray()
    theirs = squareform(peer._joint_probabilities(squareform(pdist(X, "sqeuclidean")).astype(np.float32), 10.0, 0))
    np.testing.assert_allclose(ours, theirs, atol=1e-6)
    assert ours.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(ours, ours.T)


def test_several_perplexities_are_averaged():
    squares = nearest(table(), 30).distances ** 2
    each = [conditional(squares, scale) for scale in (3.0, 12.0)]
    np.testing.assert_allclose(conditional(squares, [3.0, 12.0]), np.mean(each, axis=0))


def test_duplicates_and_constants_share_their_probability():
    p = conditional(np.array([[0.0, 0.0, 0.0, 4.0], [5.0, 5.0, 5.0, 5.0]]), 2.0)
    np.testing.assert_allclose(p[0], [1 / 3, 1 / 3, 1 / 3, 0.0], atol=1e-12)  # no width makes it fewer than three
    np.testing.assert_allclose(p[1], 0.25)
