"""Several answers for one question: the inverse of a sinusoid, by a mixture density network.

Draws neural_inverse_sinusoid.png.
"""

import matplotlib.pyplot as plt
import numpy as np

from latently.neural import MixtureDensityNetwork


def main() -> None:
    rng = np.random.default_rng(0)
    y = rng.uniform(0, 1, size=600)
    x = (y + 0.3 * np.sin(2 * np.pi * y) + rng.normal(scale=0.05, size=600))[:, None]
    model = MixtureDensityNetwork(4, n_iter_no_change=5, random_state=0).fit(x[:400], y[:400])
    single = MixtureDensityNetwork(1, n_iter_no_change=5, random_state=0).fit(x[:400], y[:400])
    print(f"held-out log-likelihood of the mixture {model.score_samples(x[400:], y[400:]).mean():.2f}")
    print(f"held-out log-likelihood of a Gaussian  {single.score_samples(x[400:], y[400:]).mean():.2f}")
    print(f"modes at x = 0.5: {model.modes([[0.5]])[0].ravel().round(2)}, mean {model.predict([[0.5]])[0]:.2f}")

    grid = np.linspace(0, 1, 80)
    places = np.repeat(grid, 80)[:, None], np.tile(grid, 80)
    figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
    ax.pcolormesh(grid, grid, np.exp(model.score_samples(*places)).reshape(80, 80).T, cmap="Blues")
    ax.plot(x, y, ".", markersize=2, color="0.4")
    ax.plot(grid, model.predict(grid[:, None]), color="C1", label="mean, which lies between the answers")
    ax.set(xlabel="x", ylabel="y", xlim=(0, 1), ylim=(0, 1))
    ax.legend()
    figure.savefig("neural_inverse_sinusoid.png", dpi=80)


if __name__ == "__main__":
    main()
