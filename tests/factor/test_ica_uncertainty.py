"""Uncertainty of components: angles, what cannot be separated, the same for any number of threads."""

import warnings

import numpy as np
import pytest
from scipy.linalg import expm
from sklearn.exceptions import ConvergenceWarning
from tests.factor.ica_signals import MIXING, coloured

from latently.factor import JADE, TDSEP, FastICA, InfoMax, ica_uncertainty
from latently.factor.ica.uncertainty import UNIDENTIFIED, rotation_angles, summary_of
from latently.learn import threads

ROWWISE = [FastICA(random_state=0), JADE(max_iter=1000), InfoMax(random_state=0)]


def quietly(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return function(*args, **kwargs)


@pytest.mark.parametrize("model", ROWWISE, ids=repr)
def test_gaussian_sources_make_a_block(model):
    rng = np.random.default_rng(1)
    S = np.column_stack([rng.laplace(size=3000), rng.uniform(-2, 2, size=3000), rng.normal(size=(3000, 2))])
    found = quietly(ica_uncertainty, model, S * [4, 3, 2, 1], 40, 0)
    assert found.blocks == ((0,), (1,), (2, 3))
    assert found.separability[2, 3] > 0.15
    assert found.uncertainty[:2].max() < 0.1
    np.testing.assert_array_equal(found.is_identified, [True, True, False, False])


def test_series_of_unlike_spectra_are_certain_for_tdsep_alone():
    X = coloured(5000, (0.9, -0.5, 0.3)) @ MIXING.T
    assert ica_uncertainty(TDSEP(), X, 30, 0).uncertainty.max() < 0.03
    for model in ROWWISE:
        assert quietly(ica_uncertainty, model, X, 30, 0).uncertainty.min() > 0.15


def test_angles_are_as_large_as_the_errors():
    """Root mean square angle over tables drawn anew, against what one table says of itself."""
    rng, n = np.random.default_rng(0), 2000
    errors = []
    for _ in range(60):
        S = rng.laplace(size=(n, 2))
        W = JADE().fit(S).components_
        turned = W / np.linalg.norm(W, axis=1, keepdims=True)
        errors.append(rotation_angles(turned)[0, 1])
    found = ica_uncertainty(JADE(), rng.laplace(size=(n, 2)), 100, 0).separability[0, 1]
    assert found == pytest.approx(np.sqrt(np.mean(np.square(errors))), rel=0.5)


def test_separability_falls_with_the_root_of_the_rows():
    rng = np.random.default_rng(0)
    X = rng.laplace(size=(16_000, 2))
    few, many = (ica_uncertainty(JADE(), X[:n], 100, 0).separability[0, 1] for n in (1000, 16_000))
    assert few / many == pytest.approx(4, rel=0.4)


@pytest.mark.parametrize("model", [FastICA(random_state=0), TDSEP(lags=3)], ids=repr)
def test_threads_change_nothing(model):
    X = coloured(500, (0.9, -0.5, 0.3)) @ MIXING.T
    found = []
    for n in (1, 2):
        with threads(n):
            found.append(quietly(ica_uncertainty, model, X, 10, 7).angles)
    assert np.array_equal(*found)


def test_angles_of_rotations():
    rng = np.random.default_rng(0)
    for k in (2, 3, 5):
        L = 0.2 * rng.normal(size=(k, k))
        L = L - L.T
        L *= 0.3 / np.abs(L).max()
        signs, order = rng.choice([-1, 1], size=k), rng.permutation(k)
        np.testing.assert_allclose(rotation_angles((expm(L) * signs[:, None])[order]), L, atol=1e-12)


def test_summary_by_hand():
    angles = np.zeros((2, 3, 3))
    angles[0, 0, 1], angles[1, 0, 1] = 0.3, -0.4
    angles[:, 1, 0] = -angles[:, 0, 1]
    found = summary_of(angles, 0.1)
    np.testing.assert_allclose(found.separability[0], [0, np.sqrt(0.125), 0])
    np.testing.assert_allclose(found.uncertainty, [np.sqrt(0.125), np.sqrt(0.125), 0])
    assert found.blocks == ((0, 1), (2,))
    assert pytest.approx(0.4534, abs=1e-4) == UNIDENTIFIED


def test_a_fitted_estimator_is_not_fitted_again():
    X = np.random.default_rng(0).laplace(size=(500, 2))
    model = JADE().fit(X)
    before = model.components_
    first = ica_uncertainty(model, X, 5, 0)
    assert model.components_ is before
    np.testing.assert_array_equal(ica_uncertainty(JADE(), X, 5, 0).angles, first.angles)


def test_other_estimators_are_refused():
    from sklearn.decomposition import FastICA as Peer

    with pytest.raises(TypeError, match="got FastICA"):
        ica_uncertainty(Peer(), np.zeros((5, 2)))
    with pytest.raises(ValueError, match="n_resamples must be at least 1"):
        ica_uncertainty(JADE(), np.zeros((5, 2)), 0)
