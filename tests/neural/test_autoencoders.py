"""Autoencoders: the subspace of PCA, sparse codes, noise removed, detectors."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from sklearn.datasets import load_digits, load_iris

from latently.factor import PCA
from latently.neural import Autoencoder, ConvAutoencoder

DIGITS = load_digits().images[:300]
FAST = {"n_iter_no_change": 2, "tol": 0.01, "random_state": 0}


def test_a_linear_autoencoder_finds_the_subspace_of_pca():
    X = load_iris().data
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    model = Autoencoder(
        2, hidden=(), activation="linear", early_stopping=False, batch_size=150, max_iter=3000, tol=1e-7,
        learning_rate=0.02, random_state=0,
    ).fit(X)  # fmt: skip
    pca = PCA(2).fit(Z)
    code = model.transform(X)
    assert subspace_angles(code - code.mean(axis=0), pca.transform(Z)).max() < 0.01
    assert model.score(X) == pytest.approx(-((Z - pca.inverse_transform(pca.transform(Z))) ** 2).mean(), rel=1e-3)
    bent = Autoencoder(2, hidden=(32,), n_iter_no_change=20, random_state=0).fit(X)
    assert bent.score(X) > model.score(X)  # what is not linear can do better


def test_sparse_codes_have_zeros_and_are_not_negative():
    X = DIGITS.reshape(300, -1)
    dense = Autoencoder(16, hidden=(), **FAST).fit(X).transform(X)
    sparse = Autoencoder(16, hidden=(), sparsity=0.5, alpha=1e-4, **FAST).fit(X).transform(X)
    assert (sparse >= 0).all()
    assert (sparse == 0).mean() > 0.3 > (np.abs(dense) < 1e-6).mean()


def test_denoising_beats_reconstructing():
    X = DIGITS.reshape(300, -1)[:, DIGITS.reshape(300, -1).std(axis=0) > 1]
    noisy = X + 4 * np.random.default_rng(0).normal(size=X.shape)
    errors = [
        ((Autoencoder(16, noise=noise, **FAST).fit(X).reconstruct(noisy) - X) ** 2).mean() for noise in (0.0, 0.8)
    ]
    assert errors[1] < errors[0] < ((noisy - X) ** 2).mean()


def test_the_reconstruction_score_tells_what_does_not_belong():
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, size=(300, 1))
    X = np.hstack([t, t**2, t**3]) + 0.02 * rng.normal(size=(300, 3))
    model = Autoencoder(1, n_iter_no_change=5, random_state=0).fit(X)
    strange = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, -1.0]])
    assert model.score_samples(strange).max() < np.quantile(model.score_samples(X), 0.01)


@pytest.mark.parametrize("connections", ["plain", "residual", "unet", "filters"])
def test_images_come_back(connections):
    images = DIGITS[:120, :, :7]
    model = ConvAutoencoder(hidden=(8,), connections=connections, sparsity=0.01, **FAST).fit(images)
    assert model.reconstruct(images).shape == images.shape
    assert model.score(images) > -0.5
    code = model.transform(images)
    assert code.shape == (120, model.get_feature_names_out().size)
    if connections == "unet":
        with pytest.raises(ValueError, match="reconstruct"):
            model.inverse_transform(code)
    else:
        assert np.allclose(model.inverse_transform(code)[:, 0], model.reconstruct(images), atol=1e-8)


def test_skip_connections_say_where():
    """A U-Net of the same code loses less than the network without skip connections."""
    fitted = [
        ConvAutoencoder(2, hidden=(8, 8), connections=kind, **FAST).fit(DIGITS[:120]).score(DIGITS[120:200])
        for kind in ("residual", "unet")
    ]
    assert fitted[1] > fitted[0] + 0.1


def test_a_code_of_the_wrong_width_is_refused():
    model = Autoencoder(2, **FAST).fit(np.random.default_rng(0).normal(size=(30, 3)))
    with pytest.raises(ValueError, match="a code has 2"):
        model.inverse_transform(np.zeros((1, 3)))
