"""Maps are drawn with what their colours mean."""

import numpy as np
import pytest

from latently.embed import TSNE, map_quality
from latently.plot import MapDisplay

X = np.random.default_rng(0).normal(size=(60, 4))
PLACES = X[:, :2]


def test_labels_have_a_legend_and_a_colour_each():
    display = MapDisplay.from_predictions(PLACES, labels=np.array(["a", "b", "c"])[np.arange(60) % 3])
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["a", "b", "c"]
    assert sum(len(part.get_offsets()) for part in display.points_) == 60


def test_distrust_is_one_minus_trust_of_the_rows_that_were_looked_at():
    quality = map_quality(X, PLACES, max_rows=40)
    display = MapDisplay.from_predictions(PLACES, colour="distrust", quality=quality)
    np.testing.assert_allclose(display.values, 1 - quality.trust)
    np.testing.assert_array_equal(display.embedding, PLACES[quality.rows])
    assert "trustworthiness" in display.ax_.get_xlabel()


def test_density_counts_points_nearby():
    display = MapDisplay.from_predictions(np.repeat(PLACES[:6], 10, axis=0), colour="density")
    assert (display.values >= 10).all()


def test_a_fitted_map_is_drawn_with_its_quality():
    model = TSNE(perplexity=5, max_iter=260, random_state=0).fit(X)
    assert "continuity" in MapDisplay.from_estimator(model, X).ax_.get_xlabel()
    assert MapDisplay.from_estimator(model).note is None


def test_what_cannot_be_drawn_is_said():
    with pytest.raises(ValueError, match="two columns"):
        MapDisplay.from_predictions(X)
    with pytest.raises(ValueError, match="needs labels"):
        MapDisplay.from_predictions(PLACES, colour="label")
    with pytest.raises(ValueError, match="needs quality"):
        MapDisplay.from_predictions(PLACES, colour="distrust")
