import numpy as np
import pytest

from latently.plot.sequence import DurationsDisplay, StatePathDisplay, TransitionGraphDisplay
from latently.sequence import GaussianHMM

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(scope="module")
def fitted():
    X = np.r_[np.zeros(20), np.full(20, 5.0)][:, None] + np.random.RandomState(0).standard_normal((40, 1))
    return GaussianHMM(2, random_state=0).fit(X), X


@pytest.fixture(autouse=True)
def close():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def test_state_path(fitted):
    model, X = fitted
    display = StatePathDisplay.from_estimator(model, X)
    assert len(display.ax_.collections) == 3  # a band for each state, and the points
    assert [t.get_text() for t in display.ax_.get_legend().get_texts()] == ["state 0", "state 1"]
    with pytest.raises(ValueError, match="same number of rows"):
        StatePathDisplay.from_predictions([1.0], [[1.0], [1.0]], [0])


def test_transition_graph(fitted):
    model, _ = fitted
    display = TransitionGraphDisplay.from_estimator(model, least=0.0)
    labels = {t.get_text() for t in display.ax_.texts}
    assert f"{model.transmat_[0, 1]:.2f}" in labels
    assert f"0\n{model.transmat_[0, 0]:.2f}" in labels
    with pytest.raises(ValueError, match="square"):
        TransitionGraphDisplay.from_predictions([[0.5, 0.5]])


def test_durations(fitted):
    model, _ = fitted
    model.transmat_ = [[0.75, 0.25], [0.0, 1.0]]
    display = DurationsDisplay.from_estimator(model)
    assert [bar.get_height() for bar in display.ax_.patches] == [4.0, 0.0]
    assert display.ax_.texts[0].get_text() == "never left"
