"""The decay length of particles seen through a window (MacKay, chapter 3).

Unstable particles leave a source and decay at distances with an exponential distribution of length lambda; decays
are seen only between 1 and 20 cm. What do six distances say about lambda?
"""

import matplotlib.pyplot as plt
import numpy as np

from latently.infer import Posterior
from latently.plot import PosteriorDisplay

SEEN = np.array([1.5, 2.0, 3.0, 4.0, 5.0, 12.0])
LOW, HIGH = 1.0, 20.0


def log_likelihood(length, x):
    """Log of the product of exp(-x / length) / Z(length), Z being the chance to be seen times the length."""
    seen = length * (np.exp(-LOW / length) - np.exp(-HIGH / length))
    return np.sum(-x / length) - len(x) * np.log(seen)


def main():
    posterior = Posterior({"length": (0.1, 100.0)}, log_likelihood, SEEN)
    for name, value in posterior.summary(0.9)["length"].items():
        print(f"{name:>13}: {np.round(value, 2)}")
    print(f"maximum likelihood: {posterior.maximum_likelihood()[0]:.2f} (the MAP of a flat prior)")
    print(f"log evidence: {posterior.log_evidence:.3f}")

    # by brute force: a fine sum over the same range
    grid = np.linspace(0.1, 100, 400_001)
    weights = np.exp([log_likelihood(value, SEEN) for value in grid[::40]])
    by_sum = np.average(grid[::40], weights=weights)
    print(f"mean {posterior.mean[0]:.3f}, by a sum over a grid {by_sum:.3f}")

    figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
    PosteriorDisplay.from_posterior(posterior, level=0.9, ax=ax)
    ax.set(xlabel="decay length in cm", xlim=(0, 40), title="six decays, seen between 1 and 20 cm")
    figure.savefig("infer_decay_length.png")
    return posterior, by_sum


def test_numbers():
    posterior, by_sum = main()
    assert abs(posterior.mean[0] - by_sum) < 1e-3 * by_sum
    assert abs(posterior.map[0] - posterior.maximum_likelihood()[0]) < 1e-4
    low, high = posterior.error_bars()[0]
    assert low < posterior.map[0] < high


if __name__ == "__main__":
    main()
