"""Pictures of sources: what is drawn is what was found."""

from itertools import pairwise

import numpy as np
import pytest

from latently.factor import JADE, DictionaryLearning, ica_uncertainty
from latently.plot import AtomsDisplay, SeparabilityDisplay, SourcesDisplay

X = np.random.default_rng(0).laplace(size=(300, 3)) * [3, 2, 1]


def test_sources_are_drawn_without_overlap():
    model = JADE().fit(X)
    display = SourcesDisplay.from_estimator(model, X, time=np.arange(300) / 10)
    lines = [line.get_ydata() for line in display.ax_.lines]
    assert len(lines) == 3
    assert all(upper.min() > lower.max() for upper, lower in pairwise(lines))
    np.testing.assert_allclose(lines[0] - lines[0].mean(), model.transform(X)[:, 0], atol=1e-9)
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == ["jade0", "jade1", "jade2"]
    with pytest.raises(ValueError, match="one entry for each of the 300 rows"):
        SourcesDisplay.from_estimator(model, X, time=[1, 2])


def test_atoms_are_images():
    model = DictionaryLearning(5, random_state=0, max_iter=1000).fit(np.repeat(X, 2, axis=1)[:, :6])
    display = AtomsDisplay.from_estimator(model, (2, 3), n_columns=2)
    image = np.asarray(display.ax_.images[0].get_array())
    assert image.shape == (3 * 3 - 1, 2 * 4 - 1)
    first = model.components_[0].reshape(2, 3)
    np.testing.assert_allclose(image[:2, :3], first / np.abs(first).max())
    with pytest.raises(ValueError, match="no image of 2 x 2: give shape"):
        AtomsDisplay.from_estimator(model)


def test_separability_is_written_into_the_picture():
    found = ica_uncertainty(JADE(), X, 5, 0)
    display = SeparabilityDisplay.from_uncertainty(found)
    texts = [text.get_text() for text in display.ax_.texts]
    assert texts == [f"{value:.2f}" for value in found.separability.ravel()]
    assert display.blocks == found.blocks
