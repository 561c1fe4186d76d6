"""A machine that switches between two ways of running: find them, follow them live, fill the gaps.

Run with ``python examples/sequence_states.py``; it draws sequence_states.png.
"""

import matplotlib.pyplot as plt
import numpy as np

from latently.distributions import Gaussian, Poisson
from latently.plot import StatePathDisplay, TransitionGraphDisplay
from latently.sequence import GaussianHMM, HiddenMarkovModel


def simulate(n: int = 400, seed: int = 0):
    """Vibration and temperature of a machine that is idle or under load."""
    rng = np.random.RandomState(seed)
    state = np.cumsum(rng.uniform(size=n) < 0.03) % 2
    means = np.array([[1.0, 20.0], [4.0, 35.0]])
    X = means[state] + rng.standard_normal((n, 2)) * [0.8, 3.0]
    X[150:165] = np.nan  # the logger was off
    X[rng.uniform(size=n) < 0.1, 1] = np.nan
    return X, state


def test_states_are_found():
    X, state = simulate()
    scores = {k: GaussianHMM(k, random_state=0, n_iter=100, n_init=3).fit(X).bic(X) for k in (1, 2, 3)}
    assert min(scores, key=scores.get) == 2
    model = GaussianHMM(2, "full", random_state=0, n_iter=100).fit(X)
    load = int(np.argmax(model.means_[:, 0]))
    assert ((model.predict(X) == load) == (state == 1)).mean() > 0.95
    filled = model.conditional_mean(X)
    assert not np.isnan(filled).any()


def test_states_are_followed_live():
    X, _ = simulate()
    model = GaussianHMM(2, random_state=0, n_iter=100).fit(X[:300])
    stream = model.stream()
    for row in X[300:]:
        stream.push(row)
    assert abs(stream.belief.sum() - 1) < 1e-9
    assert stream.predict_next(steps=5).mean.shape == (5, 2)


def test_durations_of_their_own():
    X, _ = simulate()
    model = HiddenMarkovModel(2, Gaussian(kind="diag"), duration=Poisson(), max_duration=25, random_state=0, n_iter=300)
    assert (model.fit(X).expected_durations() > 1).all()


def main() -> None:
    X, _ = simulate()
    model = GaussianHMM(2, "full", random_state=0, n_iter=100).fit(X)
    print("means", model.means_.round(2).tolist())
    print("expected durations", model.expected_durations().round(1).tolist())
    print("standard errors of the means", model.standard_errors(X)["means_"].round(3).tolist())
    print("state after the last row", model.filter(X)[-1].round(3).tolist())
    figure, axes = plt.subplots(2, 1, figsize=(9, 7), height_ratios=[3, 2], layout="constrained")
    StatePathDisplay.from_estimator(model, X, ax=axes[0])
    axes[0].set(ylabel="vibration", title="vibration, the most probable states, and how sure (bands below)")
    axes[0].legend(loc="upper left", ncols=2, fontsize="small", bbox_to_anchor=(0, 1))
    TransitionGraphDisplay.from_estimator(model, ax=axes[1])
    figure.savefig("sequence_states.png", dpi=80)


if __name__ == "__main__":
    main()
