"""Fisher kernels against their definition; scores are in test_fisher_scores."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.svm import SVC, LinearSVC

from latently.cluster import GaussianMixture
from latently.kernel import FisherKernel
from latently.kernel.fisher import fisher_scores
from latently.sequence import CategoricalHMM, GaussianHMM

IRIS = load_iris().data


def test_scores_are_zero_on_average_at_the_maximum():
    model = GaussianMixture(2, reg_covar=0, tol=1e-10, max_iter=2000, random_state=0).fit(IRIS)
    total = fisher_scores(model, IRIS)
    assert (np.abs(total.mean(axis=0)) < 1e-3 * np.sqrt((total**2).mean(axis=0))).all()


def test_the_kernel_is_its_definition_and_positive_semi_definite():
    model = GaussianMixture(2, random_state=0).fit(IRIS)
    g = fisher_scores(model, IRIS)
    information = g.T @ g / len(g)
    expected = g @ np.linalg.pinv(information, rcond=1e-10, hermitian=True) @ g.T
    K = FisherKernel(model)(IRIS)
    assert np.allclose(K, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
    assert np.linalg.eigvalsh(K)[0] > -1e-8 * np.abs(K).max()
    assert np.allclose(FisherKernel(model)(IRIS[:4], IRIS), K[:4])
    assert np.allclose(FisherKernel(model).diag(IRIS), np.diagonal(K))
    features = FisherKernel(model).features(IRIS)
    assert np.allclose(features @ features.T, K)


def test_exact_information_is_that_of_the_model():
    """One Gaussian: the information of the mean is the inverse covariance, so k has its Mahalanobis part."""
    model = GaussianMixture(1, covariance_type="spherical", reg_covar=0).fit(IRIS[:, :1])
    exact = FisherKernel(model, information="exact", n_draws=200_000)(IRIS[:, :1])
    z = (IRIS[:, 0] - model.means_[0, 0]) ** 2 / model.covariances_[0]
    expected = z + (z - 1) ** 2 / 2  # of the mean, and of the log variance
    assert np.allclose(np.diagonal(exact), expected, rtol=0.05, atol=0.05)


def test_hidden_markov_models_of_sequences_of_any_length():
    rng = np.random.default_rng(0)
    sequences = [rng.normal(size=(n, 1)) for n in (5, 9, 3, 7, 8, 6)]
    rows, lengths = np.concatenate(sequences), [len(s) for s in sequences]
    model = GaussianHMM(2, random_state=0, n_iter=5, tol=10.0).fit(rows, lengths)
    K = FisherKernel(model, normalize=True)(sequences)
    assert K.shape == (6, 6)
    assert np.allclose(np.diagonal(K), 1)
    assert np.linalg.eigvalsh(K)[0] > -1e-9


def test_a_linear_classifier_on_fisher_features_beats_the_generative_one():
    """Images as sequences of their rows: hidden Markov models of threes, eights and nines."""
    data = load_digits()
    chosen = np.flatnonzero(np.isin(data.target, (3, 8, 9)))[:240]
    rng = np.random.default_rng(0)
    sequences, y = [data.images[i] + rng.normal(0, 0.1, (8, 8)) for i in chosen], data.target[chosen]
    train, test = np.arange(0, 240, 2), np.arange(1, 240, 2)

    def joined(rows):
        return np.concatenate([sequences[i] for i in rows]), [8] * len(rows)

    models = [GaussianHMM(2, random_state=0, n_iter=50, tol=10.0).fit(*joined(train[y[train] == c])) for c in (3, 8, 9)]
    likelihoods = np.array([model.score_sequences(*joined(test)) for model in models])
    generative = (np.array([3, 8, 9])[likelihoods.argmax(axis=0)] == y[test]).mean()
    seen, new = [sequences[i] for i in train], [sequences[i] for i in test]
    kernels = [FisherKernel(model, information="diagonal") for model in models]
    svm = LinearSVC(C=0.01, random_state=0, max_iter=10_000).fit(
        np.hstack([k.features(seen) for k in kernels]), y[train]
    )
    fisher = svm.score(np.hstack([k.features(new, seen) for k in kernels]), y[test])
    assert fisher > generative + 0.03


def test_scikit_learn_takes_it():
    y = load_iris().target
    model = GaussianMixture(3, random_state=0).fit(IRIS)
    assert SVC(kernel=FisherKernel(model)).fit(IRIS, y).score(IRIS, y) > 0.95


def test_what_has_no_scores_is_told_what_to_do():
    with pytest.raises(TypeError, match="has no method fisher_scores"):
        FisherKernel(object())(IRIS)
    with pytest.raises(ValueError, match="information must be"):
        FisherKernel(GaussianMixture(1).fit(IRIS), information="guess")(IRIS)


def test_symbols():
    model = CategoricalHMM(2, random_state=0, n_iter=5, tol=10.0).fit([[0], [1], [1], [0], [1], [2]], [3, 3])
    assert FisherKernel(model)([np.array([[0], [1]]), np.array([[2], [1], [1]])]).shape == (2, 2)
